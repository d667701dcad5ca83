//! An exchange as a stream of what it tells: straight code inside, polled in place by its owner.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::Stream;
use tokio::time::Sleep;

use super::control::{Control, Told};
use super::limits::GRACE;
use super::{End, HttpEvent};
use crate::web::Boxed;

/// One exchange. It goes on with its work only when it is asked for what comes next.
pub(super) struct Exchange {
    /// The post that it is of; `None` for a stream that is no post's.
    key: Option<u64>,
    control: Arc<Control>,
    stage: Stage,
}

enum Stage {
    Working(Boxed<'static, ()>),
    /// Its reply was taken: it may still end by itself.
    Finishing(Boxed<'static, ()>, Pin<Box<Sleep>>),
    Done,
}

impl Exchange {
    pub(super) fn new(key: Option<u64>, control: Arc<Control>, work: Boxed<'static, ()>) -> Self {
        Self {
            key,
            control,
            stage: Stage::Working(work),
        }
    }
}

impl Stream for Exchange {
    type Item = Told;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Told>> {
        let this = &mut *self;
        this.control.watch(cx);
        if this.control.is_hung_up() {
            this.stage = Stage::Done;
        }
        let (Stage::Working(work) | Stage::Finishing(work, _)) = &mut this.stage else {
            return Poll::Ready(None);
        };
        if work.as_mut().poll(cx).is_ready() {
            this.stage = Stage::Done;
        }
        if let Some(told) = this.control.take_told() {
            return Poll::Ready(Some(told));
        }
        if !this.control.is_finished() {
            return match this.stage {
                Stage::Done => Poll::Ready(None),
                _ => Poll::Pending,
            };
        }
        this.stage = match std::mem::replace(&mut this.stage, Stage::Done) {
            Stage::Working(work) => Stage::Finishing(work, Box::pin(tokio::time::sleep(GRACE))),
            stage => stage,
        };
        let Stage::Finishing(_, grace) = &mut this.stage else {
            return Poll::Ready(None);
        };
        ready!(grace.as_mut().poll(cx));
        this.stage = Stage::Done;
        Poll::Ready(this.key.map(|key| {
            let end = End::Complete { status: 200 };
            Told::Event(HttpEvent::Ended { key, end })
        }))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.control.shut();
    }
}

//! An exchange as a stream of what it tells: straight code inside, polled in place by its owner.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use tokio::time::{Sleep, sleep};

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
        if let Stage::Finishing(_, grace) = &mut this.stage
            && grace.as_mut().poll(cx).is_ready()
        {
            // First of all: what goes on after its reply may go on for ever.
            this.stage = Stage::Done;
            let end = End::Complete { status: 200 };
            let ended = this.key.map(|key| HttpEvent::Ended { key, end });
            return Poll::Ready(ended.map(Told::Event));
        }
        let (Stage::Working(work) | Stage::Finishing(work, _)) = &mut this.stage else {
            return Poll::Ready(None);
        };
        if work.as_mut().poll(cx).is_ready() {
            this.stage = Stage::Done;
        }
        let told = this.control.take_told();
        let ends = matches!(&told, Some(Told::Event(HttpEvent::Ended { .. })));
        if this.control.is_finished() && !ends {
            this.stage = match std::mem::replace(&mut this.stage, Stage::Done) {
                Stage::Working(work) => {
                    let mut grace = Box::pin(sleep(GRACE));
                    // It wakes from here on.
                    let _ = grace.as_mut().poll(cx);
                    Stage::Finishing(work, grace)
                }
                stage => stage,
            };
        }
        match (told, &this.stage) {
            (Some(told), _) => Poll::Ready(Some(told)),
            (None, Stage::Done) => Poll::Ready(None),
            (None, _) => Poll::Pending,
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.control.shut();
    }
}

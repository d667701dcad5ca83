//! How fast one server's announcements are acted on: what floods must not push others' events out of what is kept (H8).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// So many in each window; what is announced meanwhile is kept, each change once.
const BURST: u32 = 8;
const WINDOW: Duration = Duration::from_millis(250);

/// The announcements acted on in the current window.
#[derive(Default)]
pub(crate) struct Pace {
    taken: u32,
    ends: Option<Instant>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    /// Notes one that was taken.
    pub(crate) fn took(&mut self) {
        let now = Instant::now();
        if self.ends.is_none_or(|ends| ends <= now) {
            self.ends = Some(now + WINDOW);
            self.taken = 0;
        }
        self.taken += 1;
    }

    /// Waits until another may be taken.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(ends) = self.ends.filter(|_| self.taken >= BURST) else {
            return Poll::Ready(());
        };
        let pause = self
            .pause
            .get_or_insert_with(|| Box::pin(sleep_until(ends)));
        std::task::ready!(pause.as_mut().poll(context));
        *self = Self::default();
        Poll::Ready(())
    }
}

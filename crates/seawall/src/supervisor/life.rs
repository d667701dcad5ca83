//! A supervisor's future where its host can let go of it: a task that is aborted keeps what it owns until its runtime runs
//! again, which may be never.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::task::{Context, Poll};

use super::connector::BoxFuture;

/// The host's hold on a supervisor that runs.
pub(crate) struct Life(Arc<Mutex<Option<BoxFuture<()>>>>);

/// The task of a life.
///
/// # Drop behavior
/// It ends the life: whoever drops it, its runtime's end too.
struct Living(Life);

impl Life {
    /// A life, and the task that lives it.
    pub(crate) fn new(life: BoxFuture<()>) -> (Self, impl Future<Output = ()> + Send) {
        let shared = Arc::new(Mutex::new(Some(life)));
        let living = Living(Self(Arc::clone(&shared)));
        (Self(shared), living)
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_over(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Lets go of everything that the supervisor owns, its child with it, here and now. One that is running at this moment
    /// has a runtime, which does that.
    pub(crate) fn end(&self) {
        let life = match self.0.try_lock() {
            Ok(mut life) => life.take(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        };
        // Once the lock is released.
        drop(life);
    }
}

impl Future for Living {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut life = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        life.as_mut()
            .map_or(Poll::Ready(()), |life| life.as_mut().poll(context))
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        self.0.end();
    }
}

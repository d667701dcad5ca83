//! Turns at servers: of one run, one call at a time, in the order in which they came (F2).
//!
//! **Invariant:** who waits at one server never waits for another.
//! **Invariant:** a turn, and a place in the line for one, go with their value.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::supervisor::BoxFuture;

/// The lines of one run, by server.
#[derive(Default)]
pub(super) struct Turns(Mutex<HashMap<Arc<str>, Arc<Semaphore>>>);

/// The one call of a run that a server has.
pub(super) struct Turn {
    pub(super) server: Arc<str>,
    /// Given back when it is dropped, to the one who has waited longest.
    _permit: Option<OwnedSemaphorePermit>,
}

/// A place in the line: a future that ends in the turn.
pub(super) struct Place {
    server: Arc<str>,
    permit: BoxFuture<Option<OwnedSemaphorePermit>>,
}

impl Turns {
    /// Gets in line. The place counts from the first poll.
    pub(super) fn wait(&self, server: &Arc<str>) -> Place {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !lines.contains_key(server) {
            // Lines in which nobody stands, so that a long run does not remember every server there ever was.
            lines.retain(|_, line| Arc::strong_count(line) > 1);
        }
        let line = lines
            .entry(Arc::clone(server))
            .or_insert_with(|| Arc::new(Semaphore::new(1)));
        let line = Arc::clone(line);
        Place {
            server: Arc::clone(server),
            // It is an error only for a line that was closed, and none ever is.
            permit: Box::pin(async move { line.acquire_owned().await.ok() }),
        }
    }

    /// How many lines there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Future for Place {
    type Output = Turn;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Turn> {
        let server = Arc::clone(&self.server);
        let permit = self.permit.as_mut().poll(context);
        permit.map(|permit| Turn {
            server,
            _permit: permit,
        })
    }
}

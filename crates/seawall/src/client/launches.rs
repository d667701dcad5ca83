//! What the attempts of one connect started, held until it is confirmed gone.
//!
//! Whoever connects may fail, or be told to stop, at any moment; the children it started outlive its future by as long
//! as their end takes. Their owner keeps them here, and asks again where an end was not confirmed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::link::Tree;
use super::shared::Shared;
use crate::error::{Error, ErrorKind};

/// The launches of one connect. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Launches(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Whether the owner wants no more of them.
    closed: bool,
    launched: Vec<(Arc<Shared>, Tree)>,
}

impl Launches {
    /// Notes a launch; one that comes too late is told to end at once.
    pub(super) fn add(&self, shared: &Arc<Shared>, tree: &Tree) {
        let mut state = self.lock();
        state.launched.push((Arc::clone(shared), tree.clone()));
        if state.closed {
            shared.lock().state().closing = true;
        }
    }

    /// Whether no further attempt may begin.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Asks everything that was started to end, gently, and lets nothing more be started. Waits for nothing.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for (shared, _) in &state.launched {
            shared.lock().state().closing = true;
        }
    }

    /// Waits until everything that was started is gone; [`close`](Self::close) comes first.
    ///
    /// # Errors
    /// A child could not be reaped; a later call tries again.
    ///
    /// # Cancel safety
    /// The ends go on where they were; a later call waits for the same ones.
    pub(crate) async fn end(&self, server: &Arc<str>) -> Result<(), Error> {
        let launched = self.lock().launched.clone();
        let mut failed = None;
        for (shared, tree) in launched {
            shared.finished().await;
            let first = shared.lock().state().unreaped.take();
            let ended = match first {
                Some(unreaped) => Err(unreaped),
                None => tree.end().await,
            };
            if let Err(unreaped) = ended {
                failed = Some(Error::new(server, ErrorKind::Unreaped(unreaped)));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

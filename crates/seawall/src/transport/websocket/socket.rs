//! Both ends of one WebSocket, from its dial to its end.

use std::future::poll_fn;
use std::io::IoSlice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::BytesMut;
use tokio::time::timeout;

use super::dial::dial;
use super::limits::FAREWELL;
use super::open::Open;
use super::{WebSocketConfig, WebSocketFault};
use crate::web::Boxed;

/// Both ends of one WebSocket. Clones are the same one; all of them are polled by one task, so the lock is never waited
/// for.
#[derive(Clone)]
pub(crate) struct WebSocket(Arc<Mutex<Stage>>);

enum Stage {
    Dialing(Boxed<'static, Result<Open, WebSocketFault>>),
    Open(Box<Open>),
    /// It is gone, and why; that stays.
    Ended(WebSocketFault),
}

impl WebSocket {
    /// The WebSocket that `config` leads to. It is dialed by who reads from it first.
    pub(crate) fn new(config: WebSocketConfig) -> Self {
        let dialing = Box::pin(dial(config));
        Self(Arc::new(Mutex::new(Stage::Dialing(dialing))))
    }

    /// One that stands.
    #[cfg(test)]
    pub(super) fn standing(open: Open) -> Self {
        Self(Arc::new(Mutex::new(Stage::Open(Box::new(open)))))
    }

    /// Appends whole lines to `buffer`, each with its newline, and tells how many bytes.
    ///
    /// # Errors
    /// Why it did not come to stand, or ended. What came before that was appended before; it stays the same error.
    pub(crate) fn poll_read(
        &self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<Result<usize, WebSocketFault>> {
        let mut stage = self.stage();
        if let Stage::Dialing(dialing) = &mut *stage {
            *stage = match dialing.as_mut().poll(context) {
                Poll::Ready(Ok(open)) => Stage::Open(Box::new(open)),
                Poll::Ready(Err(fault)) => Stage::Ended(fault),
                Poll::Pending => return Poll::Pending,
            };
        }
        let before = buffer.len();
        if let Stage::Open(open) = &mut *stage {
            match open.poll_lines(context, buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(fault)) => *stage = Stage::Ended(fault),
            }
        }
        match (&*stage, buffer.len() - before) {
            (Stage::Ended(fault), 0) => Poll::Ready(Err(fault.clone())),
            (_, read) => Poll::Ready(Ok(read)),
        }
    }

    /// Takes lines, each of which ends with a newline, and tells how many bytes of them. What was taken is on its way.
    ///
    /// Before it stands and after its end nothing is taken; the end is told to who reads.
    pub(crate) fn poll_write(
        &self,
        context: &mut Context<'_>,
        lines: &[IoSlice<'_>],
    ) -> Poll<usize> {
        match &mut *self.stage() {
            Stage::Open(open) => open.poll_write(context, lines),
            Stage::Dialing(_) | Stage::Ended(_) => Poll::Pending,
        }
    }

    /// Writes what was taken, and has `context` woken to go on with it.
    pub(crate) fn poll_flush(&self, context: &mut Context<'_>) {
        if let Stage::Open(open) = &mut *self.stage() {
            let _ = open.poll_flush(context);
        }
    }

    /// Tells the server that it is over, waits a moment for its goodbye, and closes.
    ///
    /// Somebody has to read meanwhile.
    ///
    /// # Cancel safety
    /// It can be called again.
    pub(crate) async fn end(&self) {
        let mut told = false;
        let farewell = poll_fn(|context| match &mut *self.stage() {
            Stage::Open(open) => {
                told = told || open.poll_close(context).is_ready();
                Poll::Pending
            }
            Stage::Dialing(_) | Stage::Ended(_) => Poll::Ready(()),
        });
        // Nothing is lost by a timeout here but a goodbye.
        timeout(FAREWELL, farewell).await.ok();
        self.let_go();
    }

    /// Closes at once, whatever it is at.
    pub(crate) fn let_go(&self) {
        let mut stage = self.stage();
        if !matches!(*stage, Stage::Ended(_)) {
            *stage = Stage::Ended(WebSocketFault::LetGo);
        }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Ctrl-C and SIGTERM: asked for once, the work is let go of in order; asked for twice, at once.

use std::future::Future;
use std::io;

/// The signals that end the program. While it exists they no longer do so by themselves.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

/// A signal came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interrupted;

impl Interrupts {
    /// Listens from now on.
    ///
    /// # Errors
    /// The system's, if it gives no signal.
    pub(crate) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next signal.
    ///
    /// # Cancel safety
    /// A signal that came is not lost.
    async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits for `work`, or for a signal; then `work` stays as far as it came.
    ///
    /// # Errors
    /// [`Interrupted`] if a signal came first.
    pub(crate) async fn unless<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, Interrupted> {
        tokio::select! {
            biased;
            () = self.next() => Err(Interrupted),
            done = work => Ok(done),
        }
    }
}

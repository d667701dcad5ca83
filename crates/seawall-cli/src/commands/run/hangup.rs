//! SIGHUP: read the configuration again; or, where the terminal went, the end.

#[cfg(unix)]
use std::io::{self, IsTerminal};

/// What a SIGHUP means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Reload,
    /// The terminal that the program was started on is gone.
    TerminalGone,
}

/// Listens for SIGHUP. While it exists the signal no longer ends the program by itself.
pub(super) struct Hangup {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
    #[cfg(unix)]
    had_terminal: bool,
}

#[cfg(unix)]
impl Hangup {
    /// # Errors
    /// The system's, if it gives no signal.
    pub(super) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            signal: signal(SignalKind::hangup())?,
            had_terminal: is_on_terminal(),
        })
    }

    /// Waits for the next one.
    ///
    /// # Cancel safety
    /// A signal that came is not lost.
    pub(super) async fn next(&mut self) -> Meaning {
        if self.signal.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
        if self.had_terminal && !is_on_terminal() {
            return Meaning::TerminalGone;
        }
        Meaning::Reload
    }
}

/// A terminal that hung up is none any more.
#[cfg(unix)]
fn is_on_terminal() -> bool {
    io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal()
}

#[cfg(not(unix))]
impl Hangup {
    pub(super) fn listen() -> std::io::Result<Self> {
        Ok(Self {})
    }

    pub(super) async fn next(&mut self) -> Meaning {
        std::future::pending().await
    }
}

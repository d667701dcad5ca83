//! Ctrl-C, SIGTERM and the end of the terminal: asked for once, the work is let go of in order; asked for twice, at once.

use std::future::Future;
use std::io;

#[cfg(unix)]
use crate::failure::Status;

/// The signals that end the program. While it exists they no longer do so by themselves.
pub(crate) struct Interrupts {
    /// How many came.
    heard: u32,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    /// `None` where it is left to itself.
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

/// What SIGHUP is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hangups {
    /// The end of the terminal, and of the work.
    End,
    /// Not heard here.
    Leave,
}

/// A signal came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interrupted;

/// How long the second signal is left to the work itself.
#[cfg(unix)]
const ORDERLY: std::time::Duration = std::time::Duration::from_secs(1);

/// Ends the program a moment after the second signal, if that found it stuck: a write to a stdout that nobody reads can
/// block for ever. The children end with it, since the watchdog sees that it is gone.
#[cfg(unix)]
fn end_if_stuck(hangups: Hangups) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let twice = async {
        let mut interrupts = Interrupts::hear(hangups)?;
        interrupts.next().await;
        interrupts.next().await;
        tokio::time::sleep(ORDERLY).await;
        io::Result::Ok(())
    };
    if runtime.is_ok_and(|runtime| runtime.block_on(twice).is_ok()) {
        std::process::exit(Status::NoResponse as i32);
    }
}

impl Interrupts {
    /// Listens from now on.
    ///
    /// # Errors
    /// The system's, if it gives no signal.
    pub(crate) fn listen() -> io::Result<Self> {
        Self::listen_to(Hangups::End)
    }

    /// As [`listen`](Self::listen), but for SIGHUP, which somebody else hears.
    ///
    /// # Errors
    /// The system's, if it gives no signal.
    pub(crate) fn listen_but_for_hangups() -> io::Result<Self> {
        Self::listen_to(Hangups::Leave)
    }

    fn listen_to(hangups: Hangups) -> io::Result<Self> {
        #[cfg(unix)]
        std::thread::Builder::new()
            .name("interrupts".to_owned())
            .spawn(move || end_if_stuck(hangups))?;
        Self::hear(hangups)
    }

    #[cfg_attr(
        not(unix),
        expect(unused_variables, reason = "there is no such signal")
    )]
    fn hear(hangups: Hangups) -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self {
                heard: 0,
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hangup: (hangups == Hangups::End && hangup_counts())
                    .then(|| signal(SignalKind::hangup()))
                    .transpose()?,
            })
        }
        #[cfg(not(unix))]
        Ok(Self { heard: 0 })
    }

    /// Waits for the next signal.
    ///
    /// # Cancel safety
    /// A signal that came is not lost.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hung_up(&mut self.hangup) => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.heard = self.heard.saturating_add(1);
    }

    /// Whether the end was asked for twice: nothing more is waited for.
    pub(crate) fn is_urgent(&self) -> bool {
        self.heard > 1
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

/// Ends with the terminal; never where that does not count.
#[cfg(unix)]
async fn hung_up(hangup: &mut Option<tokio::signal::unix::Signal>) {
    match hangup {
        Some(hangup) => drop(hangup.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether the end of the terminal is heard. Whoever starts a program with `nohup` has it ignored, and listening would undo
/// that. Only Linux tells without unsafe code; elsewhere the signal does what it does by itself, and the watchdog ends the
/// children.
#[cfg(unix)]
fn hangup_counts() -> bool {
    static COUNTS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    // Read once, before anybody listens.
    *COUNTS.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // SIGHUP is signal 1, the lowest bit.
        ignored.is_some_and(|mask| mask & 1 == 0)
    })
}

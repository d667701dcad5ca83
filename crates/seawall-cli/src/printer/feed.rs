//! Lines to stdout while work goes on: written by a thread of its own, so that a stdout nobody reads holds up nothing.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

/// Lines that wait to be written; what comes on top of them is counted and dropped.
const MAX_WAITING: usize = 4096;
/// How long the end waits for what is left.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The way of lines to stdout.
pub(crate) struct Feed {
    lines: SyncSender<String>,
    dropped: u64,
    broken: Option<oneshot::Receiver<io::Error>>,
    ended: Receiver<()>,
}

impl Feed {
    /// # Errors
    /// No thread can be started.
    pub(crate) fn start(mut out: Box<dyn Write + Send>) -> io::Result<Self> {
        let (lines, waiting) = sync_channel::<String>(MAX_WAITING);
        let (tell, broken) = oneshot::channel();
        let (end, ended) = channel();
        thread::Builder::new()
            .name("feed".to_owned())
            .spawn(move || {
                for line in waiting {
                    let written = out.write_all(line.as_bytes()).and_then(|()| out.flush());
                    if let Err(error) = written {
                        // Who no longer waits does not want to know.
                        tell.send(error).ok();
                        return;
                    }
                }
                end.send(()).ok();
            })?;
        Ok(Self {
            lines,
            dropped: 0,
            broken: Some(broken),
            ended,
        })
    }

    /// Has a line written, soon. What could not be taken before it is told first, in the words of `missed`.
    pub(crate) fn line(&mut self, line: &str, missed: impl FnOnce(u64) -> String) {
        if self.dropped > 0 {
            let told = missed(self.dropped);
            if !self.offer(&told) {
                self.dropped += 1;
                return;
            }
            self.dropped = 0;
        }
        if !self.offer(line) {
            self.dropped += 1;
        }
    }

    fn offer(&self, line: &str) -> bool {
        let offered = self.lines.try_send(format!("{line}\n"));
        !matches!(offered, Err(TrySendError::Full(_)))
    }

    /// Waits until stdout takes no more; for ever, if it does not happen. Told once.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub(crate) async fn broken(&mut self) -> io::Error {
        if let Some(broken) = &mut self.broken {
            let error = broken.await;
            self.broken = None;
            if let Ok(error) = error {
                return error;
            }
        }
        std::future::pending().await
    }

    /// Waits for what is left, for a moment.
    pub(crate) fn finish(self) {
        drop(self.lines);
        // What is not written by then nobody reads.
        self.ended.recv_timeout(LAST_LINES).ok();
    }
}

#[cfg(test)]
mod tests;

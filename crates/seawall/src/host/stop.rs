//! A host's end (H4).

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::{EndedBy, Host, HostError};
use crate::supervisor::Command;

/// What a stop could not end.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", listed(failures))]
#[non_exhaustive]
pub struct StopError {
    /// One per server, naming it and, where there is one, its child; never empty.
    pub failures: Vec<HostError>,
}

fn listed(failures: &[HostError]) -> String {
    let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

impl Host {
    /// Ends every server, in parallel: connects in flight at once, sessions with their calls. New operations are refused
    /// from here on. Waits until everything that was started is confirmed gone, at most for `budget`.
    ///
    /// # Errors
    /// Every server that is not gone: its child could not be reaped, or time ran out, in which case its end goes on. A later
    /// stop waits for it again, and tries again to reap.
    ///
    /// # Cancel safety
    /// The ends go on without the caller; a later stop waits for the same ones.
    pub async fn stop(&self, budget: Duration) -> Result<(), StopError> {
        let until = Instant::now() + budget;
        let servers = self.0.world.registry.begin_stop();
        let mut asked = Vec::with_capacity(servers.len());
        let mut failures = Vec::new();
        for (server, entry) in servers {
            let (answer, answered) = oneshot::channel();
            let command = Command::Disconnect {
                server: Arc::clone(&server),
                by: EndedBy::Stop,
                answer: Some(answer),
            };
            let late = HostError::OutOfTime {
                server: Arc::clone(&server),
                state: entry.standing.borrow().state,
            };
            match timeout_at(until, entry.mailbox.send(command)).await {
                Ok(Ok(())) => asked.push((server, entry, answered)),
                // It went meanwhile.
                Ok(Err(_)) => {}
                Err(_) => failures.push(late),
            }
        }
        for (server, entry, answered) in asked {
            match timeout_at(until, answered).await {
                Ok(Ok(Ok(()))) | Ok(Err(_)) => {}
                Ok(Ok(Err(error))) => failures.push(error),
                Err(_) => {
                    let state = entry.standing.borrow().state;
                    failures.push(HostError::OutOfTime { server, state });
                }
            }
        }
        if !failures.is_empty() {
            return Err(StopError { failures });
        }
        // Every supervisor has answered, so joining them waits for nothing.
        let mut tasks = std::mem::take(&mut *self.tasks());
        while tasks.join_next().await.is_some() {}
        Ok(())
    }
}

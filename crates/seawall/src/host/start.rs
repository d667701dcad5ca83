//! A host's start: every configured server at once, and the verdict (H9).

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use seawall_proto::ErrorCode;

use super::stop::StopError;
use super::{Connected, EndedBy, Host, HostError};
use crate::config::{Reconnect, ServerConfig};
use crate::error::Error;

/// How the configured servers came out, each by its id. One that was disconnected meanwhile, or replaced by another entry,
/// is in none of these.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Started {
    /// Those that are up.
    pub up: Vec<String>,
    /// Those that failed and are tried again.
    pub retrying: Vec<(String, HostError)>,
    /// Those that failed for good although their entries ask for reconnect. The alert was raised.
    pub failed: Vec<(String, HostError)>,
}

/// A host that did not start; every server was ended.
#[derive(Debug, thiserror::Error)]
#[error("the host did not start: {}", listed(failures))]
#[non_exhaustive]
pub struct StartError {
    /// What failed, of servers without reconnect, of required ones and of those that the egress policy forbids; never
    /// empty.
    pub failures: Vec<HostError>,
    /// What the stop that followed could not end.
    pub stop: Option<StopError>,
}

fn listed(failures: &[HostError]) -> String {
    let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

impl Host {
    /// Connects the servers that the builder was given, all at once.
    ///
    /// `budget` is what the stop has that follows a failure.
    ///
    /// # Errors
    /// A server without reconnect failed, or a required one did in any way (H9), or the host's own egress policy forbids
    /// one, which no reconnect mends: `capability_refused`. The host is stopped then.
    ///
    /// # Cancel safety
    /// The connects go on without the caller.
    pub async fn start(&self, budget: Duration) -> Result<Started, StartError> {
        let servers = std::mem::take(
            &mut *self
                .0
                .servers
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        let begun: Vec<_> = servers
            .into_iter()
            .map(|config| (config.clone(), self.begin(config)))
            .collect();
        let mut started = Started::default();
        let mut failures = Vec::new();
        for (config, answered) in begun {
            let server: Arc<str> = config.server().into();
            let gone = HostError::NoRuntime { server };
            let result = match answered {
                Ok(answered) => answered.await.unwrap_or(Err(gone)),
                Err(error) => Err(error),
            };
            let id = config.server().to_owned();
            match result {
                Ok(Connected::Up) => started.up.push(id),
                Ok(Connected::Retrying(error)) if config.is_required() || is_forbidden(&error) => {
                    failures.push(HostError::Connect { error });
                }
                Ok(Connected::Retrying(error)) => {
                    started.retrying.push((id, HostError::Connect { error }));
                }
                // Somebody wanted it so: it is no failure of the server's.
                Err(HostError::Ended {
                    by: EndedBy::Disconnect,
                    ..
                }) => {}
                Err(error) if self.reconnects(&config) && !config.is_required() => {
                    started.failed.push((id, error));
                }
                Err(error) => failures.push(error),
            }
        }
        if failures.is_empty() {
            return Ok(started);
        }
        let stop = self.stop(budget).await.err();
        Err(StartError { failures, stop })
    }

    fn reconnects(&self, config: &ServerConfig) -> bool {
        match config.reconnect() {
            Reconnect::Unsaid => self.0.world.reconnect_default == Reconnect::On,
            said => said == Reconnect::On,
        }
    }
}

/// Whether the host's own policy stands in the way.
fn is_forbidden(error: &Error) -> bool {
    error.code() == ErrorCode::CapabilityRefused
}

//! A new configuration while the host runs: only what differs is touched.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Connected, Held, Host, HostError, ServerState};
use crate::config::ServerConfig;
use crate::supervisor::{Answered, prefixes_meet};

/// What a new configuration changed, each server by its id.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Applied {
    /// Servers that were new, and are up or tried again.
    pub connected: Vec<String>,
    /// Servers whose entries changed, and that are up by the new ones.
    pub restarted: Vec<String>,
    /// Servers that the configuration no longer has.
    pub disconnected: Vec<String>,
    /// What did not come out; each names its server.
    pub failed: Vec<HostError>,
}

impl Host {
    /// Makes the registered servers those of `configs`: disconnects what is no longer there, restarts what changed, connects
    /// what is new. A server that is down and whose entry did not change is left alone. One configuration is applied after
    /// the other, in the order in which they came; none waits for the connects of the one before it, but may end them.
    ///
    /// # Errors
    /// Two entries share an id, or their prefixes meet (H6); nothing was changed then. What one server's change fails
    /// with stands in [`Applied::failed`].
    ///
    /// # Cancel safety
    /// Changes that have begun go on without the caller; the others are not made.
    pub async fn apply(&self, configs: Vec<ServerConfig>) -> Result<Applied, HostError> {
        check(&configs)?;
        // It is an error only for a line that was closed, and this one never is.
        let turn = self.0.applying.acquire().await.ok();
        let registry = &self.0.world.registry;
        let mut present: BTreeMap<String, Arc<ServerConfig>> = registry
            .down()
            .into_iter()
            .map(|(config, _)| (config.server().to_owned(), config))
            .collect();
        let held = registry.servers();
        present.extend(
            held.iter()
                .map(|(id, entry)| (id.to_string(), Arc::clone(&entry.config))),
        );
        let wanted: BTreeMap<&str, &ServerConfig> = configs
            .iter()
            .map(|config| (config.server(), config))
            .collect();

        let mut gone = Vec::new();
        let (mut changed, mut added) = (Vec::new(), Vec::new());
        for id in present.keys() {
            if !wanted.contains_key(id.as_str()) {
                gone.push(id.clone());
            }
        }
        // What is being ended would go, though its entry did not change.
        let is_ending = |id: &str| {
            let held = held.iter().find(|(other, _)| **other == *id);
            held.is_some_and(|(_, entry)| entry.standing.borrow().state == ServerState::Closing)
        };
        for config in &configs {
            match present.get(config.server()) {
                None => added.push(config.clone()),
                Some(old) if **old == *config && !is_ending(config.server()) => {}
                Some(_) => {
                    let id = config.server();
                    let is_held = held.iter().any(|(other, _)| **other == *id);
                    // Where its new prefix is still another's, it can only come back after that one has changed too.
                    let blocked = held.iter().any(|(other, entry)| {
                        **other != *id
                            && prefixes_meet(entry.config.name_prefix(), config.name_prefix())
                    });
                    if is_held && !blocked {
                        changed.push(config.clone());
                    } else {
                        gone.push(id.to_owned());
                        added.push(config.clone());
                    }
                }
            }
        }

        let mut applied = Applied::default();
        let ends = gone.into_iter().map(|id| async move {
            let ended = self.disconnect(&id).await;
            (id, ended)
        });
        for (id, ended) in all(ends).await {
            match ended {
                Ok(()) if !wanted.contains_key(id.as_str()) => applied.disconnected.push(id),
                Ok(()) => {}
                Err(error) => applied.failed.push(error),
            }
        }
        let restarts = changed.into_iter().map(|config| async move {
            let id = config.server().to_owned();
            let begun = self.begin_replacement(&id, config).await;
            (id, begun)
        });
        let restarts = all(restarts).await;
        let connects: Vec<_> = added
            .into_iter()
            .map(|config| (config.server().to_owned(), self.begin(config)))
            .collect();
        // A server may take its time to come up, and the next configuration may be one without it.
        drop(turn);
        for (id, restarted) in all(restarts.into_iter().map(outcome)).await {
            match restarted {
                Ok(Connected::Up | Connected::Retrying(_)) => applied.restarted.push(id),
                Err(error) => applied.failed.push(error),
            }
        }
        for (id, connected) in all(connects.into_iter().map(outcome)).await {
            match connected {
                Ok(Connected::Up | Connected::Retrying(_)) => applied.connected.push(id),
                Err(error) => applied.failed.push(error),
            }
        }
        Ok(applied)
    }

    /// Restarts a server; one that is in no state for that, as in its first connect, is ended and connected. Waits until its
    /// connect by the new entry is under way.
    async fn begin_replacement(
        &self,
        id: &str,
        config: ServerConfig,
    ) -> Result<Answered, HostError> {
        let (answer, answered) = oneshot::channel();
        let (moved, has_moved) = oneshot::channel();
        let registry = &self.0.world.registry;
        let asked = registry.restart(id, &Arc::new(config.clone()), answer, Some(moved));
        let refused = match asked {
            Err(error) => error,
            Ok(()) if has_moved.await.is_ok() => return Ok(answered),
            // What did not move has failed.
            Ok(()) => match answered.await {
                Ok(Err(error)) => error,
                _ => HostError::NoRuntime { server: id.into() },
            },
        };
        match refused {
            HostError::NotNow { .. } => self.disconnect(id).await?,
            // It went meanwhile.
            HostError::NotRegistered { .. } => {}
            error => return Err(error),
        }
        self.begin(config)
    }
}

/// How a connect comes out that was begun.
async fn outcome(
    (id, begun): (String, Result<Answered, HostError>),
) -> (String, Result<Connected, HostError>) {
    let gone = || HostError::NoRuntime {
        server: id.as_str().into(),
    };
    let result = match begun {
        Ok(answered) => answered.await.unwrap_or_else(|_| Err(gone())),
        Err(error) => Err(error),
    };
    (id, result)
}

/// All of them at once; in their order.
async fn all<T>(futures: impl Iterator<Item: Future<Output = T>>) -> Vec<T> {
    futures_util::future::join_all(futures).await
}

/// Whether the entries can stand side by side.
fn check(configs: &[ServerConfig]) -> Result<(), HostError> {
    for (index, config) in configs.iter().enumerate() {
        for other in configs.iter().take(index) {
            let server = config.server().into();
            if other.server() == config.server() {
                return Err(HostError::Taken {
                    server,
                    held: Held::Twice,
                });
            }
            if prefixes_meet(other.name_prefix(), config.name_prefix()) {
                return Err(HostError::PrefixMeets {
                    server,
                    other: other.server().into(),
                    restarting: false,
                });
            }
        }
    }
    Ok(())
}

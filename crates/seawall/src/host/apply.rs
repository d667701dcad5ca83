//! A new configuration while the host runs: only what differs is touched.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Connected, Held, Host, HostError, ServerState};
use crate::config::ServerConfig;
use crate::supervisor::prefixes_meet;

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
    /// the other, in the order in which they came.
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
        let _turn = self.0.applying.acquire().await.ok();
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
            let restarted = self.replace(&id, config).await;
            (id, restarted)
        });
        for (id, restarted) in all(restarts).await {
            match restarted {
                Ok(()) => applied.restarted.push(id),
                Err(error) => applied.failed.push(error),
            }
        }
        let connects = added.into_iter().map(|config| async move {
            let id = config.server().to_owned();
            let connected = self.connect(config).await;
            (id, connected)
        });
        for (id, connected) in all(connects).await {
            match connected {
                Ok(Connected::Up | Connected::Retrying(_)) => applied.connected.push(id),
                Err(error) => applied.failed.push(error),
            }
        }
        Ok(applied)
    }

    /// Restarts a server; one that is in no state for that, as in its first connect, is ended and connected.
    async fn replace(&self, id: &str, config: ServerConfig) -> Result<(), HostError> {
        match self.restart(id, config.clone()).await {
            Err(HostError::NotNow { .. }) => self.disconnect(id).await?,
            // It went meanwhile.
            Err(HostError::NotRegistered { .. }) => {}
            other => return other,
        }
        self.connect(config).await.map(drop)
    }
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

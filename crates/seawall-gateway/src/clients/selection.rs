//! Which servers, and which of their tools and prompts, by name.

use std::collections::{HashMap, HashSet};

/// What is included, and then what is excluded. By default everything.
#[derive(Debug, Clone, Default)]
pub(super) struct Selection {
    /// `None` includes everything.
    included: Option<Names>,
    excluded: Names,
}

/// Names of servers, and names of some things of servers.
#[derive(Debug, Clone, Default)]
struct Names {
    servers: HashSet<String>,
    parts: HashMap<String, HashSet<String>>,
}

impl Selection {
    pub(super) fn include<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) {
        self.included.get_or_insert_default().add(names);
    }

    pub(super) fn exclude<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) {
        self.excluded.add(names);
    }

    pub(super) fn has(&self, server: &str, name: &str) -> bool {
        let included = self.included.as_ref();
        included.is_none_or(|names| names.hold(server, name)) && !self.excluded.hold(server, name)
    }

    /// Whether there may be something of the server in it.
    pub(super) fn has_any(&self, server: &str) -> bool {
        let included = self.included.as_ref();
        included
            .is_none_or(|names| names.servers.contains(server) || names.parts.contains_key(server))
            && !self.excluded.servers.contains(server)
    }

    pub(super) fn is_everything(&self) -> bool {
        self.included.is_none()
            && self.excluded.servers.is_empty()
            && self.excluded.parts.is_empty()
    }

    pub(super) fn has_server(&self, server: &str) -> bool {
        let included = self.included.as_ref();
        included.is_none_or(|names| names.servers.contains(server))
            && !self.excluded.servers.contains(server)
    }
}

impl Names {
    /// Neither a server's id nor a tool's name holds a `/`.
    fn add<T: AsRef<str>>(&mut self, names: impl IntoIterator<Item = T>) {
        for name in names {
            match name.as_ref().split_once('/') {
                None => {
                    self.servers.insert(name.as_ref().to_owned());
                }
                Some((server, part)) => {
                    let parts = self.parts.entry(server.to_owned()).or_default();
                    parts.insert(part.to_owned());
                }
            }
        }
    }

    fn hold(&self, server: &str, name: &str) -> bool {
        self.servers.contains(server)
            || self
                .parts
                .get(server)
                .is_some_and(|parts| parts.contains(name))
    }
}

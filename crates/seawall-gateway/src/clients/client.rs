//! One client.

use std::sync::{Arc, LazyLock};

#[cfg(feature = "host")]
use seawall::config::{ClientConfig, GatewayConfig};
#[cfg(feature = "host")]
use seawall::{Arguments, Envelope, Flow, Host, host::HostCall};

use super::selection::Selection;

#[cfg(feature = "host")]
static EVERYTHING: LazyLock<Envelope> = LazyLock::new(Envelope::everything);

/// A client: its name, what it may see and what it may call.
#[derive(Debug, Clone)]
pub struct Client {
    name: String,
    subject: Option<String>,
    selection: Selection,
    /// Whether it is offered a search in place of the list.
    searches: bool,
    #[cfg(feature = "host")]
    envelope: Envelope,
}

impl Client {
    /// The client that started the process, or that came over loopback where nobody is asked who they are. Nothing bounds it.
    #[must_use]
    pub fn local() -> Arc<Self> {
        static LOCAL: LazyLock<Arc<Client>> = LazyLock::new(|| Arc::new(Client::named("local")));
        Arc::clone(&LOCAL)
    }

    /// A client of this name, whom nothing bounds yet.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            subject: None,
            selection: Selection::default(),
            searches: false,
            #[cfg(feature = "host")]
            envelope: EVERYTHING.clone(),
        }
    }

    /// The same, on behalf of whom its token names. Two subjects share what the client may do, and no session.
    #[must_use]
    pub fn on_behalf_of(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }

    /// The same, who sees these only: `server` is all of that server's, `server/name` its tool or prompt of that name.
    #[must_use]
    pub fn including<T: AsRef<str>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.selection.include(names);
        self
    }

    /// The same, who does not see these, whatever it [sees](Self::including) else.
    #[must_use]
    pub fn excluding<T: AsRef<str>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.selection.exclude(names);
        self
    }

    /// The same, trusted with this only. Default: everything.
    #[cfg(feature = "host")]
    #[must_use]
    pub fn trusted_with(mut self, envelope: Envelope) -> Self {
        self.envelope = envelope;
        self
    }

    /// The same, offered a search for tools in place of the list of all.
    #[must_use]
    pub fn searching(mut self, searches: bool) -> Self {
        self.searches = searches;
        self
    }

    /// The client of an entry of a checked configuration.
    #[cfg(feature = "host")]
    #[must_use]
    pub fn of(said: &ClientConfig, gateway: &GatewayConfig) -> Self {
        let mut client = Self::named(&said.name)
            .excluding(&said.exclude)
            .trusted_with(said.envelope.clone())
            .searching(said.tool_search.unwrap_or(gateway.tool_search));
        if let Some(included) = &said.include {
            client = client.including(included);
        }
        client
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// On whose behalf it comes, if its token names somebody.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Whether both are one and the same: what was begun for one is kept for the other.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.subject == other.subject
    }

    /// Whether it may know that `server` has a tool, or a prompt, of this name.
    #[must_use]
    pub fn may_see(&self, server: &str, name: &str) -> bool {
        self.selection.has(server, name)
    }

    /// Whether there may be a tool or a prompt of `server` that it sees.
    #[must_use]
    pub fn may_see_any(&self, server: &str) -> bool {
        self.selection.has_any(server)
    }

    /// Whether it may know what else `server` has, such as its resources: all of the server is to be seen, but perhaps for
    /// tools that are excluded by name.
    #[must_use]
    pub fn may_see_server(&self, server: &str) -> bool {
        self.selection.has_server(server)
    }

    /// Whether it is offered a search for tools in place of the list of all.
    #[must_use]
    pub fn searches(&self) -> bool {
        self.searches
    }

    /// Whether there may be something that it does not see.
    #[must_use]
    pub fn is_narrowed(&self) -> bool {
        #[cfg(feature = "host")]
        if self.envelope != *EVERYTHING {
            return true;
        }
        !self.selection.is_everything()
    }

    /// Whether it may know of a tool of this name that `server` does not offer now, and of how that server stands. One whose
    /// envelope bounds what it sees may not: it would learn of a server that none of whose tools it may call.
    #[cfg(feature = "host")]
    #[must_use]
    pub fn may_ask_after(&self, server: &str, name: &str) -> bool {
        self.envelope == *EVERYTHING && self.may_see(server, name)
    }

    /// What it is trusted with.
    #[cfg(feature = "host")]
    #[must_use]
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Whether it may see the flow, and its envelope covers all that the flow declares. What it may not call it is not shown.
    #[cfg(feature = "host")]
    #[must_use]
    pub fn may_call(&self, flow: &Flow) -> bool {
        self.may_see(flow.server(), flow.tool())
            && self.envelope.first_refused(flow.capabilities()).is_none()
    }

    /// A call of the flow by this client, bounded by its envelope (F4). Each is a run of its own: a client's calls do not wait
    /// for each other.
    #[cfg(feature = "host")]
    pub fn call(&self, host: &Host, flow: &Flow, arguments: Arguments) -> HostCall {
        let call = if self.envelope == *EVERYTHING {
            host.call(flow.name(), arguments)
        } else {
            let caller = host.caller(self.envelope.clone());
            caller.call(flow.name(), arguments)
        };
        call.caller_name(&self.name)
    }
}

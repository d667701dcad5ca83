//! What a server can offer beside tools, as lists.

use seawall::Json;
use seawall::host::LiveSession;

use crate::clients::Client;

/// A list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Resources,
    Templates,
    Prompts,
}

impl Kind {
    /// The list that a method reads.
    pub(crate) fn of_method(method: &str) -> Option<Self> {
        match method {
            "resources/list" => Some(Self::Resources),
            "resources/templates/list" => Some(Self::Templates),
            "prompts/list" => Some(Self::Prompts),
            _ => None,
        }
    }

    /// The member of the result that has the entries.
    pub(super) fn member(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    /// The member of an entry that says which one it is.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
            Self::Prompts => "name",
        }
    }

    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "resource templates",
            Self::Prompts => "prompts",
        }
    }

    /// The server's capability, if it declares it: a server that does not is not asked.
    pub(super) fn declared(self, of: &LiveSession) -> Option<Json> {
        let name = match self {
            Self::Resources | Self::Templates => "resources",
            Self::Prompts => "prompts",
        };
        of.session.capabilities.member(name)
    }

    /// Whether a client may know what the server lists, and is trusted with all that the server's tools declare (F4). Which
    /// prompts it sees is decided one by one.
    pub(crate) fn is_for(self, client: &Client, of: &LiveSession) -> bool {
        let sees = match self {
            Self::Prompts => client.may_see_any(&of.server),
            Self::Resources | Self::Templates => client.may_see_server(&of.server),
        };
        sees && client.envelope().first_refused(&of.declares).is_none()
    }

    /// Whether the server announces changes of the list.
    pub(super) fn announces(self, of: &LiveSession) -> bool {
        is_on(self.declared(of), "listChanged")
    }
}

/// Whether the server tells of changes of a single resource.
pub(super) fn tells_updates(of: &LiveSession) -> bool {
    is_on(Kind::Resources.declared(of), "subscribe")
}

/// Whether the server completes arguments.
pub(super) fn completes(of: &LiveSession) -> bool {
    of.session.capabilities.member("completions").is_some()
}

fn is_on(capability: Option<Json>, name: &str) -> bool {
    let said = capability.and_then(|capability| capability.member(name));
    said.is_some_and(|said| said.as_str() == "true")
}

//! What servers offer beside tools, as clients see it: resources, resource templates, prompts, completion, and what they tell
//! of changes.
//!
//! A list asks the servers that declare such, side by side, each time; what was read is kept to tell whose a URI or a prompt
//! is. An entry is the server's own JSON with what is hidden in it made visible, and a prompt has another name; a result is
//! the server's own bytes. The main type is [`Offers`].
//!
//! **Invariant:** a client neither sees nor reaches what it may not know of.

mod ask;
mod failure;
mod follow;
mod kept;
mod kind;
mod list;
mod listing;
mod notice;
mod route;
mod shown;
mod template;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use seawall::Host;
use seawall::host::LiveSession;
use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;

use crate::clients::Client;
use crate::names::Names;
use crate::tools::RemoteErrors;
pub(crate) use follow::{Follower, Follows};
use kept::{Kept, Wanted};
pub(crate) use kind::Kind;
pub use notice::Notice;
use notice::Notices;

/// What the servers of a host offer beside tools.
#[derive(Debug)]
pub(crate) struct Offers {
    host: Host,
    names: Names,
    remote_errors: RemoteErrors,
    kept: Kept,
    follows: Follows,
    notices: Notices,
}

impl Offers {
    pub(crate) fn new(host: Host, names: Names, remote_errors: RemoteErrors) -> Self {
        Self {
            host,
            names,
            remote_errors,
            kept: Kept::default(),
            follows: Follows::default(),
            notices: Notices::default(),
        }
    }

    /// One page of a list, as the members of a result. The first page is asked for; the others are of what was read then, if
    /// nothing changed.
    pub(crate) async fn page(
        &self,
        client: &Client,
        kind: Kind,
        params: Option<&Json>,
    ) -> Result<String, ErrorObject> {
        let cursor = params.and_then(|params| params.member("cursor"));
        let wanted = match cursor {
            None => Wanted::Anew,
            Some(_) => Wanted::Kept,
        };
        let offered = self.offered(client, kind, wanted).await;
        offered.page(cursor.as_ref())
    }

    /// Whether the session's server lists such.
    pub(crate) fn has(kind: Kind, of: &LiveSession) -> bool {
        kind.declared(of).is_some()
    }

    /// The server announced that a list changed; templates are of its resources.
    pub(crate) fn changed(&self, server: &str, kind: Kind) {
        let kinds: &[Kind] = match kind {
            Kind::Prompts => &[Kind::Prompts],
            Kind::Resources | Kind::Templates => &[Kind::Resources, Kind::Templates],
        };
        self.kept.changed(server, kinds);
    }

    /// Changes may have been announced that were not heard.
    pub(crate) fn changed_perhaps(&self) {
        self.kept.changed_perhaps();
    }

    /// What is followed, and by whom.
    pub(crate) fn follows(&self) -> &Follows {
        &self.follows
    }

    /// Takes what the operator was not told yet.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        self.notices.take()
    }

    /// Has servers tell of what is followed, for as long as there is a host.
    pub(crate) async fn keep(&self, tell: impl Fn(&Arc<str>, &str)) {
        self.follows.keep(&self.host, tell).await;
    }
}

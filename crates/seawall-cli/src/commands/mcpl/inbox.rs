//! Who takes what servers push, and the messages of their channels.

use std::sync::Arc;

use seawall::inputs::BoxFuture;
use seawall::mcpl::Callbacks;
use seawall::mcpl::callbacks::{Delivery, Inbox, Reception};

/// What a server is told that speaks to a command which came for something else.
const NOT_LISTENING: &str = "not-listening";

/// Says the same to everything.
struct Always(Reception);

impl Inbox for Always {
    fn take(&self, _: &str, _: Delivery) -> BoxFuture<Reception> {
        let said = self.0.clone();
        Box::pin(async move { said })
    }
}

/// For commands that come and go: a server is granted what it would be granted by `seawall run`, so that it shows what it
/// has, and nothing that it sends meanwhile is taken. It may send that again.
pub(in crate::commands) fn visiting() -> Callbacks {
    of(Reception::refused(NOT_LISTENING))
}

/// For a run, which shows what servers send: that is all that becomes of it.
pub(in crate::commands) fn listening() -> Callbacks {
    of(Reception::accepted())
}

fn of(reception: Reception) -> Callbacks {
    Callbacks::default().with_inbox(Arc::new(Always(reception)))
}

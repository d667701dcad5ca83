//! What commands share that have to do with servers of MCP Live: who takes what those send, and waiting for them.

mod channels;
mod inbox;
mod publish;
mod shown;

use std::time::Duration;

use seawall::Mcpl;
use seawall::config::{Protocol, ServerConfig};
use seawall::mcpl::Capability;
use seawall::mcpl::channels::Channel;
use seawall::mcpl::session::Policy;
use tokio::time::{Instant, timeout_at};

pub(super) use channels::{of_server, run as channels};
pub(super) use inbox::{listening, visiting};
pub(super) use publish::{Publication, run as publish};
pub(super) use shown::{ShownChannel, denial, policy_words};

/// Whether an entry asks for MCP Live.
pub(super) fn is_live(config: &ServerConfig) -> bool {
    config.protocol() == Protocol::Mcpl
}

/// Waits until the policy exchange is over, and then for `enough` channels, so long at most; where the exchange stands then.
/// With `lists`, the server is asked for its own list meanwhile: what it registers at once is there before its answer.
///
/// # Cancel safety
/// Nothing is lost by dropping the future.
pub(super) async fn settle(
    mcpl: &Mcpl,
    wait: Duration,
    lists: bool,
    enough: impl Fn(&[Channel]) -> bool,
) -> Policy {
    let mut notices = mcpl.notices();
    let policy = mcpl.settled().await;
    if policy != Policy::InForce || !mcpl.grant().allows(Capability::ChannelsRegister) {
        return policy;
    }
    let until = Instant::now() + wait;
    if lists {
        // Whatever it answers, and whether it does: what counts is what it registered.
        timeout_at(until, mcpl.list_channels()).await.ok();
    }
    while mcpl.policy() == Policy::InForce && !enough(&mcpl.channels()) {
        match timeout_at(until, notices.next()).await {
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => break,
        }
    }
    mcpl.policy()
}

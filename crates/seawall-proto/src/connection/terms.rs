//! What a caller wants of one call, beside what is called and with what.

use std::time::Duration;

use super::Bound;
use crate::json::Json;
use crate::mcp::ClientCapabilities;

/// What a caller wants of one call. A bound, or a timeout, alone makes one.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Terms {
    /// How long it may take.
    pub bound: Bound,
    /// The caller's own `_meta`, a JSON object: it goes out with the request, unchanged but for the keys that say something of
    /// a connection or of one hop (`progressToken`, protocol version, client, capabilities, log level, subscription).
    /// Default: the one in the parameters, if there is one.
    ///
    /// Source: 2026-07-28, `basic/index`, `_meta`.
    pub meta: Option<Json>,
    /// What the server may ask for while it works on this. On 2026-07-28 exactly this is declared with the request; on
    /// earlier revisions it is without effect, since a session declares once. Default: what the host supplies.
    pub capabilities: Option<ClientCapabilities>,
    /// The server is to log from this level on: with the request on 2026-07-28; on earlier revisions the session's level
    /// becomes this, unless it tells more already. Default: as it is.
    pub log_level: Option<&'static str>,
    /// Whose the server's wishes for another round are. Default: this connection's.
    pub rounds: Rounds,
}

/// Whose a server's wishes for another round are (2026-07-28, `basic/patterns/mrtr`). Earlier revisions have no rounds.
#[derive(Debug, Clone, Default)]
pub enum Rounds {
    /// The connection's: what is asked for becomes inputs, and the request is said again with the answers.
    #[default]
    Ours,
    /// The caller's: a result that asks for input is the call's result, as it stands.
    Callers {
        /// The caller's `inputResponses`, a JSON object.
        responses: Option<Json>,
        /// The caller's `requestState`, a JSON string.
        state: Option<Json>,
    },
}

impl From<Bound> for Terms {
    fn from(bound: Bound) -> Self {
        Self {
            bound,
            ..Self::default()
        }
    }
}

impl From<Option<Duration>> for Terms {
    fn from(timeout: Option<Duration>) -> Self {
        Bound::from(timeout).into()
    }
}

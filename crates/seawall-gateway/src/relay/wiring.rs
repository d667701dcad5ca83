//! What a client's request has a call of the host carry.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use seawall::inputs::Relay;
use seawall::{Carried, LogLevel, Progress};
use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::jsonrpc::{ErrorObject, INVALID_PARAMS};
use seawall_proto::mcp::ClientCapabilities;
use tokio::sync::{mpsc, watch};

use super::levels::Levels;
use super::told::{Lines, Teller, Told};
use crate::service::{Answer, Exchange, Request};

/// A request of the host under way.
pub(crate) type Work = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// What a client's request has a call of the host carry.
pub(crate) struct Wiring {
    pub(super) relay: Arc<dyn Relay>,
    meta: Option<Json>,
    level: Option<LogLevel>,
    progress: Option<watch::Sender<Option<Progress>>>,
    pub(super) rounds: Option<(Option<Json>, Option<Json>)>,
}

/// What comes back beside the answer.
#[derive(Debug)]
pub(super) struct Beside {
    pub(super) told: mpsc::Receiver<Told>,
    pub(super) progress: watch::Receiver<Option<Progress>>,
}

impl Wiring {
    /// The wiring of a request.
    ///
    /// # Errors
    /// -32602: what its client brought for another round is none.
    pub(super) fn of(
        request: &Request,
        exchange: &Exchange,
        levels: &Levels,
    ) -> Result<(Self, Beside), ErrorObject> {
        let meta = &request.meta;
        let capabilities = ClientCapabilities::of(&meta.capabilities);
        let is_modern = !meta.revision.is_legacy();
        let (rounds, level, lines) = if is_modern {
            let level = meta.log_level.and_then(LogLevel::of);
            let lines = level.map_or(Lines::None, Lines::From);
            let rounds = (
                brought(request, "inputResponses", Kind::Object)?,
                brought(request, "requestState", Kind::String)?,
            );
            (Some(rounds), level, lines)
        } else {
            let level = exchange.session().and_then(|session| levels.of(session));
            (None, level, level.map_or(Lines::All, Lines::From))
        };
        let (teller, told) = Teller::new(capabilities, party(exchange), lines);
        let (progress, newest) = watch::channel(None);
        // A request that goes on with this one may want it where this one does not.
        let may_be_parked = is_modern && capabilities != ClientCapabilities::default();
        let wants_progress = meta.progress_token.is_some() || may_be_parked;
        let params = request.params.as_ref();
        let theirs = params.and_then(|params| params.member("_meta"));
        let wiring = Self {
            relay: Arc::new(teller),
            meta: theirs.filter(|meta| meta.kind() == Kind::Object),
            level,
            progress: wants_progress.then_some(progress),
            rounds,
        };
        let beside = Beside {
            told,
            progress: newest,
        };
        Ok((wiring, beside))
    }

    /// As a call of the host carries it.
    pub(crate) fn carried(self) -> Carried {
        let mut carried = Carried::default().relay(self.relay);
        if let Some(meta) = self.meta {
            carried = carried.meta(meta);
        }
        if let Some(level) = self.level {
            carried = carried.log_level(level);
        }
        if let Some(teller) = self.progress {
            carried = carried.on_progress(move |progress| {
                teller.send_replace(Some(progress));
            });
        }
        if let Some((responses, state)) = self.rounds {
            carried = carried.one_leg(responses, state);
        }
        carried
    }
}

/// What a client brought for another round.
pub(super) fn brought(
    request: &Request,
    member: &str,
    kind: Kind,
) -> Result<Option<Json>, ErrorObject> {
    let params = request.params.as_ref();
    match params.and_then(|params| params.member(member)) {
        Some(value) if value.kind() != kind => {
            let what = match kind {
                Kind::Object => "an object",
                _ => "a string",
            };
            let message = format!("Invalid params: {member} is not {what}");
            Err(ErrorObject::new(INVALID_PARAMS, message, None))
        }
        value => Ok(value),
    }
}

/// Who is at the other end: one client, where all its requests come by one way. Of a request that comes by itself nobody
/// knows whose others are the same client's.
fn party(exchange: &Exchange) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    match exchange.session() {
        Some(session) => session.id().number() << 1,
        None => (NEXT.fetch_add(1, Ordering::Relaxed) << 1) | 1,
    }
}

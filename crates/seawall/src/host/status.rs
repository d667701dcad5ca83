//! How every server stands (H7).

use seawall_proto::connection::RevisionRefusal;
use seawall_proto::mcp::Revision;

use super::{Host, ServerState};
use crate::client::{Report, Transport};
use crate::config::{Endpoint, Protocol, ServerConfig};
use crate::error::Error;
use crate::redact::shown_url;
use crate::supervisor::{Standing, Totals};

/// How one server stands, at one moment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The id.
    pub server: String,
    /// How it stands.
    pub state: ServerState,
    /// What its entry says about how it is spoken to.
    pub protocol: Protocol,
    /// The revision of the live session.
    pub revision: Option<Revision>,
    /// How messages reach it, in the live session.
    pub transport: Option<Transport>,
    /// Its URL, as it may be shown.
    pub url: Option<String>,
    /// What both sides speak, where they have no revision in common (S4).
    pub refusal: Option<RevisionRefusal>,
    /// The last failure, also after the server came back.
    pub last_error: Option<Error>,
    /// Which of the host's connections its live session is.
    pub generation: Option<u64>,
    /// Sessions that there were so far.
    pub connects: u64,
    /// Failures in a row.
    pub failures: u32,
    /// Whether its entry says that the host is nothing without it. `required`.
    pub required: bool,
    /// What all its sessions counted.
    pub totals: Totals,
    /// Published flows.
    pub flows: usize,
    /// Tools left out because of what their entries break, by their index in the listing, and everything else that the
    /// live session measured (L7).
    pub report: Option<Report>,
}

impl Host {
    /// How every server stands: those that are registered, and those that failed since, until they are disconnected or
    /// connected again. In the order of their ids.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        let registry = &self.0.world.registry;
        let held = registry
            .servers()
            .into_iter()
            .map(|(_, entry)| status(&entry.config, &entry.standing.borrow()));
        let down = registry.down();
        let down = down
            .iter()
            .map(|(config, standing)| status(config, standing));
        let mut all: Vec<ServerStatus> = held.chain(down).collect();
        all.sort_by(|one, other| one.server.cmp(&other.server));
        all
    }
}

fn status(config: &ServerConfig, standing: &Standing) -> ServerStatus {
    let session = standing.session.as_ref();
    let report = session.and_then(|(_, session)| Some(session.client()?.report()));
    let refusal = standing
        .last_error
        .as_ref()
        .and_then(Error::revision_refusal);
    let url = match config.endpoint() {
        Endpoint::Stdio(_) => None,
        Endpoint::Http(entry) | Endpoint::WebSocket(entry) => Some(shown_url(&entry.url)),
    };
    ServerStatus {
        server: config.server().to_owned(),
        state: standing.state,
        protocol: config.protocol(),
        revision: report.as_ref().map(|report| report.revision),
        transport: report.as_ref().map(|report| report.transport),
        url,
        refusal: refusal.cloned(),
        last_error: standing.last_error.clone(),
        generation: session.map(|(generation, _)| *generation),
        connects: standing.connects,
        failures: standing.failures,
        required: config.is_required(),
        totals: match &report {
            Some(report) => standing.past + Totals::of(report),
            None => standing.past,
        },
        flows: session.map_or(0, |(_, session)| session.flows().len()),
        report,
    }
}

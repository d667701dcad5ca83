//! The steps of a connect: `initialize`, `notifications/initialized`, `tools/list` through every page (S1, S4).

use std::sync::Arc;

use super::outbox::Purpose;
use super::{
    CloseReason, Connection, Event, Exchange, HandshakeFault, RevisionRefusal, Session, Stage,
    Step, Time, wire,
};
use crate::framing::Kind;
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, Reply, UNSUPPORTED_PROTOCOL_VERSION};
use crate::mcp::Revision;
use crate::mcp::catalog::CatalogBuilder;
use crate::mcp::revision::has_revision_form;

/// A refusal lists at most so many of the server's revisions.
const MAX_OFFERED_REVISIONS: usize = 16;

/// The tool list, under way.
#[derive(Debug)]
pub(super) struct Listing {
    session: Arc<Session>,
    catalog: CatalogBuilder,
    page: usize,
    since: Time,
}

impl Connection {
    pub(super) fn begin_initialize(&mut self, now: Time) {
        let id = self.new_id();
        let revision = self.proposed();
        let frame = wire::initialize(id, revision, self.config.version);
        self.stage = Stage::Initializing { since: now };
        let limit = self.config.limits.max_outbound_frame_bytes;
        if frame.len() - 1 > limit {
            let step = Step::Initialize;
            self.close(CloseReason::RequestTooLong { step, limit });
            return;
        }
        self.exchange(now, id, frame);
    }

    pub(super) fn has_batches(&self) -> bool {
        let session = match &self.stage {
            Stage::Listing(listing) => &listing.session,
            Stage::Ready { session, .. } => session,
            _ => return false,
        };
        session.revision.has_batches()
    }

    /// The step under way.
    pub(super) fn step(&self) -> Step {
        match &self.stage {
            Stage::Listing(listing) => Step::ListTools { page: listing.page },
            _ => Step::Initialize,
        }
    }

    /// Takes the answer to the handshake request under way.
    pub(super) fn handshake_answer(&mut self, now: Time, answer: Result<Reply, ErrorObject>) {
        let step = self.step();
        self.exchange.deadline = None;
        let since = match &self.stage {
            Stage::Initializing { since, .. } => *since,
            Stage::Listing(listing) => listing.since,
            _ => return,
        };
        self.stats.handshake.push((step, now.since(since)));
        let reply = match answer {
            Ok(reply) => reply,
            Err(error) => {
                let reason = self.refusal(step, &error);
                self.diagnose(|| Event::RemoteError(error));
                self.close(reason);
                return;
            }
        };
        let next = match std::mem::replace(&mut self.stage, Stage::Initializing { since }) {
            Stage::Initializing { .. } => self.initialized(now, &reply.result),
            Stage::Listing(listing) => self.listed(now, *listing, &reply.result),
            other => Ok(other),
        };
        match next {
            Ok(stage) => self.enter(stage),
            Err(reason) => self.close(reason),
        }
    }

    fn enter(&mut self, stage: Stage) {
        if self.is_closed() {
            return;
        }
        if matches!(stage, Stage::Ready { .. }) {
            self.exchange.request = 0;
            self.events.push_back(Event::Ready);
        }
        self.stage = stage;
    }

    /// `initialize` was answered: check it, announce that we are ready, ask for the first page.
    fn initialized(&mut self, now: Time, result: &Json) -> Result<Stage, CloseReason> {
        let fault = CloseReason::Handshake;
        if result.kind() != Kind::Object {
            return Err(fault(HandshakeFault::NotAnObject));
        }
        let [version, capabilities, server_info, instructions] = result
            .pick([
                "protocolVersion",
                "capabilities",
                "serverInfo",
                "instructions",
            ])
            .map_err(|_| fault(HandshakeFault::DuplicateKey))?;
        let version = version
            .and_then(|version| version.string().map(|text| text.into_owned()))
            .ok_or(fault(HandshakeFault::NoVersion))?;
        let revision = self.agreed(&version)?;
        let capabilities = capabilities
            .filter(|capabilities| capabilities.kind() == Kind::Object)
            .ok_or(fault(HandshakeFault::NoCapabilities))?;
        let [tools] = capabilities
            .pick(["tools"])
            .map_err(|_| fault(HandshakeFault::DuplicateKey))?;
        if tools.is_none_or(|tools| tools.kind() != Kind::Object) {
            return Err(fault(HandshakeFault::NoTools));
        }
        let session = Arc::new(Session {
            revision,
            capabilities,
            server_info,
            instructions,
        });
        self.send(wire::initialized(), Purpose::Notification);
        self.list(now, session, CatalogBuilder::default(), 1, None)
    }

    /// One page was answered: take it, follow its cursor or finish.
    fn listed(&mut self, now: Time, listing: Listing, result: &Json) -> Result<Stage, CloseReason> {
        let Listing {
            session,
            mut catalog,
            page,
            ..
        } = listing;
        let cursor = catalog
            .page(result, &self.config.limits)
            .map_err(CloseReason::Catalog)?;
        match cursor {
            None => Ok(Stage::Ready {
                session,
                catalog: Arc::new(catalog.finish()),
            }),
            Some(cursor) => self.list(now, session, catalog, page + 1, Some(&cursor)),
        }
    }

    fn list(
        &mut self,
        now: Time,
        session: Arc<Session>,
        catalog: CatalogBuilder,
        page: usize,
        cursor: Option<&Json>,
    ) -> Result<Stage, CloseReason> {
        let id = self.new_id();
        let frame = wire::list_tools(id, cursor);
        let limit = self.config.limits.max_outbound_frame_bytes;
        if frame.len() - 1 > limit {
            return Err(CloseReason::RequestTooLong {
                step: Step::ListTools { page },
                limit,
            });
        }
        self.exchange(now, id, frame);
        Ok(Stage::Listing(Box::new(Listing {
            session,
            catalog,
            page,
            since: now,
        })))
    }

    fn exchange(&mut self, now: Time, id: u64, frame: Vec<u8>) {
        self.exchange = Exchange {
            request: id,
            dispatched: false,
            deadline: Some(self.handshake_deadline(now)),
        };
        self.send(frame, Purpose::Request(id));
    }

    fn proposed(&self) -> Revision {
        self.config
            .pin
            .filter(|pin| pin.is_legacy())
            .unwrap_or(Revision::NEWEST_LEGACY)
    }

    fn agreed(&self, version: &str) -> Result<Revision, CloseReason> {
        let revision = version
            .parse::<Revision>()
            .ok()
            .filter(|known| known.is_legacy());
        match (revision, self.config.pin) {
            (Some(revision), None) => Ok(revision),
            (Some(revision), Some(pin)) if revision == pin => Ok(revision),
            _ => Err(self.refused(vec![version.to_owned()], None)),
        }
    }

    /// The verdict on a revision; texts that are not revisions are left out (S1).
    fn refused(&self, mut offered: Vec<String>, error: Option<&ErrorObject>) -> CloseReason {
        offered.retain(|text| has_revision_form(text));
        CloseReason::Revision(Arc::new(RevisionRefusal {
            proposed: self.proposed(),
            pinned: self.config.pin.is_some(),
            offered,
            code: error.map(|error| error.code),
            data: error.and_then(|error| error.data.clone()),
        }))
    }

    fn refusal(&self, step: Step, error: &ErrorObject) -> CloseReason {
        if step == Step::Initialize && error.code == UNSUPPORTED_PROTOCOL_VERSION {
            let supported = error
                .data
                .as_ref()
                .and_then(|data| data.member("supported"));
            let offered = supported
                .iter()
                .flat_map(Json::elements)
                .filter_map(|revision| revision.string().map(|text| text.into_owned()))
                .filter(|text| has_revision_form(text))
                .take(MAX_OFFERED_REVISIONS)
                .collect();
            return self.refused(offered, Some(error));
        }
        CloseReason::HandshakeRefused {
            step,
            code: error.code,
        }
    }
}

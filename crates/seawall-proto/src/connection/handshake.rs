//! The steps of a connect (S1 to S4): which era the server is of, what it offers, and its tools through every page.
//! Afterwards the same steps read the list again, and make a session anew that the server forgot.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::outbox::Purpose;
use super::wire::{self, Meta};
use super::{
    Binding, CloseReason, Connection, Era, Event, Exchange, ExchangeFault, HandshakeFault,
    RevisionRefusal, Route, Session, Stage, Step, Time, ToolsNeed,
};
use crate::framing::Kind;
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, METHOD_NOT_FOUND, Reply, UNSUPPORTED_PROTOCOL_VERSION};
use crate::mcp::catalog::{CatalogBuilder, Rules};
use crate::mcp::revision::has_revision_form;
use crate::mcp::{Catalog, Revision};

/// A refusal lists at most so many of the server's revisions.
const MAX_OFFERED_REVISIONS: usize = 16;
/// How long a server that may be of either era has to answer the probe; a legacy one may stay silent (S3).
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The tool list, under way.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) session: Arc<Session>,
    catalog: CatalogBuilder,
    pub(super) page: usize,
    cursor: Option<Json>,
    since: Time,
}

/// A session whose handshake is over.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) session: Arc<Session>,
    pub(super) catalog: Arc<Catalog>,
    under: Under,
}

/// What a ready session has under way.
#[derive(Debug)]
enum Under {
    Nothing,
    /// Its list is read again.
    Relisting(Box<Listing>),
    /// The server forgot the session, and another is made.
    Renewing,
}

impl Ready {
    pub(super) fn is_renewing(&self) -> bool {
        matches!(self.under, Under::Renewing)
    }
}

impl Connection {
    pub(super) fn start(&mut self, now: Time) {
        match self.config.era {
            Era::Legacy => self.begin_initialize(now),
            Era::Modern | Era::Auto => {
                self.meta = Meta::modern(
                    Revision::V2026_07_28,
                    self.config.version,
                    &self.config.capabilities,
                );
                self.discover(now);
            }
        }
    }

    fn discover(&mut self, now: Time) {
        let id = self.new_id();
        let frame = wire::Request {
            id,
            method: "server/discover",
            params: None,
            members: &[],
            meta: &self.meta,
            token: false,
        }
        .frame();
        self.stage = Stage::Discovering { since: now };
        self.exchange(now, id, frame, "server/discover", Step::Discover);
        if self.config.era == Era::Auto {
            let probe = now.after(PROBE_TIMEOUT);
            self.exchange.deadline = self.exchange.deadline.map(|by| by.min(probe));
        }
    }

    fn begin_initialize(&mut self, now: Time) {
        self.meta = Meta::default();
        self.stage = Stage::Initializing { since: now };
        self.send_initialize(now, self.proposed());
    }

    fn send_initialize(&mut self, now: Time, revision: Revision) {
        let id = self.new_id();
        let capabilities = &self.config.capabilities;
        let frame = wire::initialize(id, revision, self.config.version, capabilities);
        self.exchange(now, id, frame, "initialize", Step::Initialize);
    }

    pub(super) fn is_initializing(&self) -> bool {
        match &self.stage {
            Stage::Initializing { .. } => true,
            Stage::Ready(ready) => ready.is_renewing(),
            _ => false,
        }
    }

    /// Whether what is spoken, or tried, is a stateless revision.
    pub(super) fn is_modern(&self) -> bool {
        match &self.stage {
            Stage::Discovering { .. } => true,
            _ => self
                .known_session()
                .is_some_and(|session| !session.revision.is_legacy()),
        }
    }

    /// The session, as soon as its revision is agreed on.
    pub(super) fn known_session(&self) -> Option<&Arc<Session>> {
        match &self.stage {
            Stage::Listing(listing) => Some(&listing.session),
            Stage::Ready(ready) => Some(&ready.session),
            _ => None,
        }
    }

    pub(super) fn has_batches(&self) -> bool {
        self.known_session()
            .is_some_and(|session| session.revision.has_batches())
    }

    /// The step under way.
    pub(super) fn step(&self) -> Step {
        match &self.stage {
            Stage::Discovering { .. } => Step::Discover,
            Stage::Listing(listing) => Step::ListTools { page: listing.page },
            Stage::Ready(Ready {
                under: Under::Relisting(listing),
                ..
            }) => Step::ListTools { page: listing.page },
            _ => Step::Initialize,
        }
    }

    /// Takes the answer to the handshake request under way.
    pub(super) fn handshake_answer(&mut self, now: Time, answer: Result<Reply, ErrorObject>) {
        self.exchange.deadline = None;
        self.finish_exchange(self.exchange.request);
        let since = match &self.stage {
            Stage::Discovering { since } | Stage::Initializing { since } => Some(*since),
            Stage::Listing(listing) => Some(listing.since),
            _ => None,
        };
        if let Some(since) = since {
            self.stats.handshake.push((self.step(), now.since(since)));
        }
        match answer {
            Err(error) => {
                self.handshake_refused(now, &error);
                self.diagnose(|| Event::RemoteError(error));
            }
            Ok(reply) => self.handshake_result(now, &reply.result),
        }
    }

    fn handshake_result(&mut self, now: Time, result: &Json) {
        let placeholder = Stage::Initializing { since: now };
        let next = match std::mem::replace(&mut self.stage, placeholder) {
            Stage::Discovering { .. } => self.discovered(now, result),
            Stage::Initializing { .. } => self.initialized(now, result),
            Stage::Listing(listing) => self.listed(now, *listing, result),
            Stage::Ready(Ready {
                session,
                catalog,
                under: Under::Renewing,
            }) => self.renewed(session, catalog, result),
            Stage::Ready(Ready {
                session,
                catalog,
                under: Under::Relisting(listing),
            }) => Ok(self.relisted(now, session, catalog, *listing, result)),
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
        self.stage = stage;
        if let Stage::Ready(ready) = &self.stage
            && matches!(ready.under, Under::Nothing)
        {
            self.exchange.request = 0;
            self.after_relist();
        }
    }

    /// The handshake is over.
    fn ready(&mut self, session: Arc<Session>, catalog: Arc<Catalog>) -> Stage {
        self.events.push_back(Event::Ready);
        Stage::Ready(Ready {
            session,
            catalog,
            under: Under::Nothing,
        })
    }

    /// `server/discover` was answered: the server is a modern one.
    fn discovered(&mut self, now: Time, result: &Json) -> Result<Stage, CloseReason> {
        let fault = CloseReason::Discovery;
        if result.kind() != Kind::Object {
            return Err(fault(HandshakeFault::NotAnObject));
        }
        let [versions, capabilities, server_info, instructions, meta] = result
            .pick([
                "supportedVersions",
                "capabilities",
                "serverInfo",
                "instructions",
                "_meta",
            ])
            .map_err(|_| fault(HandshakeFault::DuplicateKey))?;
        let offered: Vec<String> = versions
            .filter(|versions| versions.kind() == Kind::Array)
            .ok_or(fault(HandshakeFault::NoVersion))?
            .elements()
            .iter()
            .filter_map(|version| version.string().map(|text| text.into_owned()))
            .collect();
        if !offered
            .iter()
            .any(|version| version == Revision::V2026_07_28.as_str())
        {
            return Err(self.refused(Revision::V2026_07_28, offered, None));
        }
        let capabilities = capabilities
            .filter(|capabilities| capabilities.kind() == Kind::Object)
            .ok_or(fault(HandshakeFault::NoCapabilities))?;
        let server_info = meta
            .and_then(|meta| meta.member(SERVER_INFO))
            .or(server_info);
        let session = Session {
            revision: Revision::V2026_07_28,
            capabilities,
            server_info,
            instructions,
        };
        self.agreed_on(now, session, fault)
    }

    /// `initialize` was answered: check it, announce that we are ready, ask for the first page.
    fn initialized(&mut self, now: Time, result: &Json) -> Result<Stage, CloseReason> {
        let session = self.introduced(result, self.config.pin)?;
        self.send(wire::initialized(), Purpose::Initialized, None);
        self.agreed_on(now, session, CloseReason::Handshake)
    }

    /// What the server said of itself in its answer to `initialize`.
    fn introduced(&self, result: &Json, pin: Option<Revision>) -> Result<Session, CloseReason> {
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
        let revision = version
            .parse::<Revision>()
            .ok()
            .filter(|known| known.is_legacy() && pin.is_none_or(|pin| pin == *known))
            .ok_or_else(|| self.refused(self.proposed(), vec![version], None))?;
        let capabilities = capabilities
            .filter(|capabilities| capabilities.kind() == Kind::Object)
            .ok_or(fault(HandshakeFault::NoCapabilities))?;
        Ok(Session {
            revision,
            capabilities,
            server_info,
            instructions,
        })
    }

    /// The revision stands: listen to changes, and read the tool list, if there is one.
    fn agreed_on(
        &mut self,
        now: Time,
        session: Session,
        fault: fn(HandshakeFault) -> CloseReason,
    ) -> Result<Stage, CloseReason> {
        let [tools] = session
            .capabilities
            .pick(["tools"])
            .map_err(|_| fault(HandshakeFault::DuplicateKey))?;
        // Before the list is read, so that no change of it is missed.
        self.listen(&session);
        let offers = tools.is_some_and(|tools| tools.kind() == Kind::Object);
        let session = Arc::new(session);
        if !offers {
            return match self.config.tools {
                ToolsNeed::Required => Err(fault(HandshakeFault::NoTools)),
                ToolsNeed::Optional => Ok(self.ready(session, Arc::default())),
            };
        }
        let listing = Listing {
            catalog: CatalogBuilder::new(self.list_rules(&session)),
            session,
            page: 1,
            cursor: None,
            since: now,
        };
        self.list(now, &listing)?;
        Ok(Stage::Listing(Box::new(listing)))
    }

    fn list_rules(&self, session: &Session) -> Rules {
        let modern = !session.revision.is_legacy();
        Rules {
            header_params: modern && self.config.binding == Binding::Http,
            empty_cursor: modern,
        }
    }

    /// One page was answered: take it, follow its cursor or finish.
    fn listed(
        &mut self,
        now: Time,
        mut listing: Listing,
        result: &Json,
    ) -> Result<Stage, CloseReason> {
        if !self.take_page(now, &mut listing, result)? {
            return Ok(Stage::Listing(Box::new(listing)));
        }
        let catalog = Arc::new(listing.catalog.finish());
        Ok(self.ready(listing.session, catalog))
    }

    /// Takes one page and asks for the next; true at the end of the list.
    fn take_page(
        &mut self,
        now: Time,
        listing: &mut Listing,
        result: &Json,
    ) -> Result<bool, CloseReason> {
        let cursor = listing
            .catalog
            .page(result, &self.config.limits)
            .map_err(CloseReason::Catalog)?;
        let Some(cursor) = cursor else {
            return Ok(true);
        };
        listing.page += 1;
        listing.cursor = Some(cursor);
        listing.since = now;
        self.list(now, listing)?;
        Ok(false)
    }

    fn list(&mut self, now: Time, listing: &Listing) -> Result<(), CloseReason> {
        let id = self.new_id();
        let members = listing
            .cursor
            .as_ref()
            .map(|cursor| ("cursor", cursor.as_bytes()));
        let frame = wire::Request {
            id,
            method: "tools/list",
            params: None,
            members: members.as_slice(),
            meta: &self.meta,
            token: false,
        }
        .frame();
        let step = Step::ListTools { page: listing.page };
        let limit = self.config.limits.max_outbound_frame_bytes;
        if frame.len() - 1 > limit {
            return Err(CloseReason::RequestTooLong { step, limit });
        }
        self.exchange(now, id, frame, "tools/list", step);
        Ok(())
    }

    /// Reads the tool list again, if nothing else is under way. [`Event::Relisted`] tells that a new one is there.
    pub fn relist(&mut self, now: Time) {
        let Stage::Ready(ready) = &self.stage else {
            return;
        };
        if !matches!(ready.under, Under::Nothing) {
            return;
        }
        let session = Arc::clone(&ready.session);
        let listing = Listing {
            catalog: CatalogBuilder::new(self.list_rules(&session)),
            session,
            page: 1,
            cursor: None,
            since: now,
        };
        if self.list(now, &listing).is_ok()
            && let Stage::Ready(ready) = &mut self.stage
        {
            ready.under = Under::Relisting(Box::new(listing));
        }
    }

    fn relisted(
        &mut self,
        now: Time,
        session: Arc<Session>,
        catalog: Arc<Catalog>,
        mut listing: Listing,
        result: &Json,
    ) -> Stage {
        let (catalog, under) = match self.take_page(now, &mut listing, result) {
            Ok(false) => (catalog, Under::Relisting(Box::new(listing))),
            Ok(true) => {
                let newer = Arc::new(listing.catalog.finish());
                self.events.push_back(Event::Relisted(Arc::clone(&newer)));
                (newer, Under::Nothing)
            }
            Err(reason) => {
                self.events.push_back(Event::RelistFailed(reason));
                (catalog, Under::Nothing)
            }
        };
        Stage::Ready(Ready {
            session,
            catalog,
            under,
        })
    }

    /// The server forgot the session: another one, on the same revision.
    pub(super) fn renew(&mut self, now: Time) {
        let Stage::Ready(ready) = &mut self.stage else {
            return;
        };
        if ready.is_renewing() {
            return;
        }
        ready.under = Under::Renewing;
        let revision = ready.session.revision;
        self.send_initialize(now, revision);
    }

    fn renewed(
        &mut self,
        session: Arc<Session>,
        catalog: Arc<Catalog>,
        result: &Json,
    ) -> Result<Stage, CloseReason> {
        self.introduced(result, Some(session.revision))?;
        self.send(wire::initialized(), Purpose::Initialized, None);
        // Another session may have other tools; whoever keeps a list has to read it again.
        self.changed(super::Change::Tools);
        Ok(Stage::Ready(Ready {
            session,
            catalog,
            under: Under::Nothing,
        }))
    }

    /// Sends a request of the handshake, and sets its deadline.
    fn exchange(&mut self, now: Time, id: u64, frame: Vec<u8>, method: &str, step: Step) {
        let limit = self.config.limits.max_outbound_frame_bytes;
        if frame.len() - 1 > limit {
            self.close(CloseReason::RequestTooLong { step, limit });
            return;
        }
        self.exchange = Exchange {
            deadline: Some(now.after(self.config.limits.handshake_timeout)),
            ..Exchange::of(id)
        };
        let route = self.route_of(method);
        self.send(frame, Purpose::Request(id), route);
    }

    pub(super) fn route_of(&self, method: &str) -> Option<Box<Route>> {
        (self.config.binding == Binding::Http).then(|| Route::of_method(method))
    }

    fn proposed(&self) -> Revision {
        self.config
            .pin
            .filter(|pin| pin.is_legacy())
            .unwrap_or(Revision::NEWEST_LEGACY)
    }

    /// The verdict on a revision; texts that are not revisions are left out (S1).
    fn refused(
        &self,
        proposed: Revision,
        mut offered: Vec<String>,
        error: Option<&ErrorObject>,
    ) -> CloseReason {
        offered.retain(|text| has_revision_form(text));
        offered.truncate(MAX_OFFERED_REVISIONS);
        CloseReason::Revision(Arc::new(RevisionRefusal {
            proposed,
            pinned: self.config.pin.is_some() || self.config.era == Era::Modern,
            offered,
            code: error.map(|error| error.code),
            data: error.and_then(|error| error.data.clone()),
        }))
    }

    /// A request of the handshake was answered with an error.
    fn handshake_refused(&mut self, now: Time, error: &ErrorObject) {
        let step = self.step();
        let code = error.code;
        let offered = offered_by(error);
        let modern = self.is_modern();
        let speaks_ours = offered
            .iter()
            .any(|version| version == Revision::V2026_07_28.as_str());
        match &mut self.stage {
            Stage::Ready(ready) if !ready.is_renewing() => {
                ready.under = Under::Nothing;
                let reason = CloseReason::HandshakeRefused { step, code };
                self.events.push_back(Event::RelistFailed(reason));
                self.after_relist();
            }
            Stage::Discovering { .. } | Stage::Listing(_)
                if code == UNSUPPORTED_PROTOCOL_VERSION
                    && speaks_ours
                    && modern
                    && !self.exchange.retried =>
            {
                // It names the very revision that was asked for: once more, as the revision wants it.
                self.ask_again(now);
                self.exchange.retried = true;
            }
            Stage::Discovering { .. } if !error.is_modern() => {
                if code == METHOD_NOT_FOUND && self.exchange.status == Some(404) {
                    // Only a modern server tells an unknown method so; this one has no discovery.
                    self.undiscovered(now);
                } else if self.config.era == Era::Auto {
                    self.begin_initialize(now);
                } else {
                    self.close(CloseReason::HandshakeRefused { step, code });
                }
            }
            Stage::Discovering { .. } if code == UNSUPPORTED_PROTOCOL_VERSION => {
                let reason = self.refused(Revision::V2026_07_28, offered, Some(error));
                self.close(reason);
            }
            Stage::Initializing { .. } if code == UNSUPPORTED_PROTOCOL_VERSION => {
                let reason = self.refused(self.proposed(), offered, Some(error));
                self.close(reason);
            }
            _ => self.close(CloseReason::HandshakeRefused { step, code }),
        }
    }

    /// A modern server without `server/discover`: what it offers is found out by asking for it.
    fn undiscovered(&mut self, now: Time) {
        let session = Session {
            revision: Revision::V2026_07_28,
            // Nothing is known but that it is asked for its tools.
            capabilities: Json::part_of_checked(Bytes::from_static(b"{\"tools\":{}}")),
            server_info: None,
            instructions: None,
        };
        match self.agreed_on(now, session, CloseReason::Discovery) {
            Ok(stage) => self.enter(stage),
            Err(reason) => self.close(reason),
        }
    }

    /// Says the request of the handshake under way again.
    pub(super) fn ask_again(&mut self, now: Time) {
        let placeholder = Stage::Initializing { since: now };
        match std::mem::replace(&mut self.stage, placeholder) {
            Stage::Discovering { .. } => self.discover(now),
            Stage::Listing(listing) => {
                let asked = self.list(now, &listing);
                self.stage = Stage::Listing(listing);
                if let Err(reason) = asked {
                    self.close(reason);
                }
            }
            other => self.stage = other,
        }
    }

    /// The exchange of a handshake request brought no answer.
    pub(super) fn exchange_failed(&mut self, now: Time, fault: ExchangeFault) {
        let step = self.step();
        let status = fault.status;
        let deadline = self.exchange.deadline.take();
        match &mut self.stage {
            Stage::Ready(ready) if !ready.is_renewing() => {
                ready.under = Under::Nothing;
                let reason = CloseReason::Exchange { step, fault };
                self.events.push_back(Event::RelistFailed(reason));
                self.after_relist();
            }
            Stage::Discovering { .. }
                if self.config.era == Era::Auto && status.is_some_and(is_era_evidence) =>
            {
                self.begin_initialize(now);
            }
            // Reading a list does nothing, so it may be asked for again.
            Stage::Listing(_) | Stage::Discovering { .. }
                if matches!(status, Some(429 | 503))
                    && deadline > Some(now.after(fault.retry_after)) =>
            {
                self.exchange.deadline = deadline;
                self.exchange.again_at = Some(now.after(fault.retry_after));
            }
            _ => self.close(CloseReason::Exchange { step, fault }),
        }
    }

    /// The handshake request under way was not answered in time.
    pub(super) fn exchange_expired(&mut self, now: Time) {
        let step = self.step();
        self.exchange.deadline = None;
        self.cancel_exchange();
        let timeout = CloseReason::HandshakeTimeout {
            step,
            limit_ms: self.config.limits.handshake_timeout.as_millis(),
        };
        match &mut self.stage {
            Stage::Discovering { .. } if self.config.era == Era::Auto => {
                // Silence is what some legacy servers answer.
                self.begin_initialize(now);
            }
            Stage::Ready(ready) if !ready.is_renewing() => {
                ready.under = Under::Nothing;
                self.events.push_back(Event::RelistFailed(timeout));
                self.after_relist();
            }
            _ => self.close(timeout),
        }
    }

    /// Tells the server that the handshake request under way is given up; `initialize` never is (S8).
    fn cancel_exchange(&mut self) {
        let request = self.exchange.request;
        if self.exchange.is_dispatched() && !self.is_initializing() {
            self.cancel(request);
        } else {
            self.hang_up(request);
        }
    }
}

/// Whether this status of a probe says that the server is not a modern one. A refusal of our credentials, of our pace, or
/// an outage says nothing about it.
fn is_era_evidence(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 401 | 403 | 407 | 408 | 429)
}

/// The revisions that an error of -32022 names.
fn offered_by(error: &ErrorObject) -> Vec<String> {
    let supported = error
        .data
        .as_ref()
        .and_then(|data| data.member("supported"));
    supported
        .iter()
        .flat_map(Json::elements)
        .filter_map(|revision| revision.string().map(|text| text.into_owned()))
        .filter(|text| has_revision_form(text))
        .take(MAX_OFFERED_REVISIONS)
        .collect()
}

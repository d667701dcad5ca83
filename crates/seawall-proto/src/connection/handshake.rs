//! The steps of a connect (S1 to S4): which era the server is of, what it offers, and its tools through every page.
//! Afterwards the same steps read the list again, and make a session anew that the server forgot.

use std::sync::Arc;
use std::time::Duration;

use super::asking::Exchange;
use super::listing::Listing;
use super::wire::{self, Meta};
use super::{
    CloseReason, Connection, Era, Event, HandshakeFault, Session, Stage, Step, Time, ToolsNeed,
};
use crate::framing::Kind;
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, Reply};
use crate::mcp::{Catalog, CatalogFault, ClientCapabilities, Revision};

/// How long a server over a stream that may be of either era has to answer the probe; a legacy one may stay silent (S3).
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// A session that stood this long was a good one.
const LONG_ENOUGH: Duration = Duration::from_secs(10);
/// The first pause before a session is made anew that was forgotten at once; it doubles.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// A session whose handshake is over.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) session: Arc<Session>,
    pub(super) catalog: Arc<Catalog>,
    pub(super) under: Under,
}

/// What a ready session has under way.
#[derive(Debug)]
pub(super) enum Under {
    Nothing,
    /// Its list is read again.
    Relisting(Box<Listing>),
    /// The server forgot the session, and another is made.
    Renewing {
        /// Whether the list was being read, which has to begin anew.
        relist: bool,
    },
}

/// How often sessions are made anew (T3).
#[derive(Debug, Default)]
pub(super) struct Renewals {
    last: Option<Time>,
    /// How many in a row followed the one before them at once.
    hasty: u32,
}

impl Renewals {
    /// How long the next one waits, which begins now: the first not at all, and then the longer the sooner it is
    /// forgotten. What a server forgets at once is not worth a handshake after the other.
    fn pause(&mut self, now: Time) -> Duration {
        let hasty = self
            .last
            .is_some_and(|last| now.since(last) < LONG_ENOUGH.saturating_add(self.rest()));
        self.hasty = if hasty {
            self.hasty.saturating_add(1)
        } else {
            0
        };
        self.last = Some(now);
        self.rest()
    }

    fn rest(&self) -> Duration {
        match self.hasty.checked_sub(1) {
            None => Duration::ZERO,
            Some(doublings) => FIRST_PAUSE
                .saturating_mul(1 << doublings.min(16))
                .min(LONGEST_PAUSE),
        }
    }
}

impl Ready {
    pub(super) fn is_renewing(&self) -> bool {
        matches!(self.under, Under::Renewing { .. })
    }

    /// Whether the list is being read, in a session that was not made for that purpose already.
    pub(super) fn may_be_renewed(&self) -> bool {
        matches!(&self.under, Under::Relisting(listing) if !listing.anew)
    }
}

impl Connection {
    pub(super) fn start(&mut self, now: Time) {
        match self.config.era {
            Era::Legacy => self.begin_initialize(now),
            Era::Modern | Era::Auto => {
                self.meta = self.modern_meta(None);
                self.discover(now);
            }
        }
    }
    pub(super) fn modern_meta(&self, log_level: Option<&str>) -> Meta {
        self.meta_of(&self.config.capabilities, log_level)
    }

    pub(super) fn meta_of(
        &self,
        capabilities: &ClientCapabilities,
        log_level: Option<&str>,
    ) -> Meta {
        let version = self.config.version;
        Meta::modern(Revision::V2026_07_28, version, capabilities, log_level)
    }

    pub(super) fn discover(&mut self, now: Time) {
        let id = self.new_id();
        let frame = wire::Request {
            id,
            method: "server/discover",
            params: None,
            theirs: None,
            members: &[],
            meta: &self.meta,
            token: false,
        }
        .frame();
        self.stage = Stage::Discovering { since: now };
        self.exchange(now, id, frame, "server/discover", Step::Discover);
        if self.may_be_silent() {
            let probe = now.after(PROBE_TIMEOUT);
            self.exchange.deadline = self.exchange.deadline.map(|by| by.min(probe));
        }
    }

    pub(super) fn begin_initialize(&mut self, now: Time) {
        self.meta = Meta::default();
        self.stage = Stage::Initializing { since: now };
        self.send_initialize(now, self.proposed());
    }

    fn send_initialize(&mut self, now: Time, revision: Revision) {
        let id = self.new_id();
        let capabilities = self.config.declared();
        let experiment = self.config.experiment.as_ref();
        let version = self.config.version;
        let frame = wire::initialize(id, revision, version, &capabilities, experiment);
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

    /// Notes how long the exchange of the handshake took that is over now.
    pub(super) fn exchange_took(&mut self, now: Time) {
        let since = match &self.stage {
            Stage::Discovering { since } | Stage::Initializing { since } => *since,
            Stage::Listing(listing) => listing.since,
            _ => return,
        };
        self.stats.handshake.push((self.step(), now.since(since)));
    }

    /// Takes the answer to the handshake request under way.
    pub(super) fn handshake_answer(&mut self, now: Time, answer: Result<Reply, ErrorObject>) {
        let deadline = self.exchange.deadline.take();
        self.finish_exchange(self.exchange.request);
        self.exchange_took(now);
        match answer {
            Err(error) => {
                self.handshake_refused(now, deadline, &error);
                self.diagnose(|| Event::RemoteError(error));
            }
            Ok(reply) => self.handshake_result(now, &reply),
        }
    }

    fn handshake_result(&mut self, now: Time, reply: &Reply) {
        // Nothing asked for here may be answered with a wish for another round (2026-07-28, `basic/patterns/mrtr`).
        let complete = !self.is_modern()
            || reply
                .result_type
                .as_ref()
                .is_none_or(|kind| kind.string().as_deref() == Some("complete"));
        let result = &reply.result;
        let placeholder = Stage::Initializing { since: now };
        let next = match std::mem::replace(&mut self.stage, placeholder) {
            Stage::Discovering { .. } if !complete => {
                Err(CloseReason::Discovery(HandshakeFault::ResultType))
            }
            Stage::Listing(_) if !complete => Err(CloseReason::Catalog(CatalogFault::ResultType)),
            Stage::Discovering { .. } if self.config.era == Era::Auto && !is_discovery(result) => {
                // Whatever answered so does not know the question.
                self.begin_initialize(now);
                return;
            }
            Stage::Discovering { .. } => self.discovered(now, result),
            Stage::Initializing { .. } => self.initialized(now, result),
            Stage::Listing(listing) => self.listed(now, *listing, result),
            Stage::Ready(Ready {
                session,
                catalog,
                under: Under::Renewing { relist },
            }) => match self.renewed(now, session, catalog, result) {
                Ok(stage) => {
                    self.enter(stage);
                    if relist {
                        self.relist_anew(now);
                    }
                    return;
                }
                Err(reason) => Err(reason),
            },
            Stage::Ready(Ready {
                session,
                catalog,
                under: Under::Relisting(listing),
            }) => {
                let result = complete.then_some(result);
                Ok(self.relisted(now, session, catalog, *listing, result))
            }
            other => Ok(other),
        };
        match next {
            Ok(stage) => self.enter(stage),
            Err(reason) => self.close(reason),
        }
    }

    pub(super) fn enter(&mut self, stage: Stage) {
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
    pub(super) fn ready(&mut self, session: Arc<Session>, catalog: Arc<Catalog>) -> Stage {
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
            extension: None,
        };
        self.agreed_on(now, session, fault)
    }

    /// `initialize` was answered: check it, announce that we are ready, ask for the first page.
    fn initialized(&mut self, now: Time, result: &Json) -> Result<Stage, CloseReason> {
        let session = self.introduced(result, self.config.pin)?;
        self.introduce(now);
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
        let extension = self
            .declared_too(&capabilities)
            .map_err(|_| fault(HandshakeFault::DuplicateKey))?;
        Ok(Session {
            revision,
            capabilities,
            server_info,
            instructions,
            extension,
        })
    }

    /// The revision stands: listen to changes, and read the tool list, if there is one.
    pub(super) fn agreed_on(
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
        if session.extension.is_some() {
            self.events.push_back(Event::Extended(Arc::clone(&session)));
        }
        if !offers {
            return match self.config.tools {
                ToolsNeed::Required if session.extension.is_none() => {
                    Err(fault(HandshakeFault::NoTools))
                }
                _ => Ok(self.ready(session, Arc::default())),
            };
        }
        let rules = self.list_rules(&session);
        let listing = Listing::of(session, rules, now);
        self.list(now, &listing)?;
        Ok(Stage::Listing(Box::new(listing)))
    }

    /// The server forgot the session before its tools were read: another one, once, and the connect goes on in it (T3).
    pub(super) fn connect_anew(&mut self, now: Time) {
        self.sessions += 1;
        self.begin_initialize(now);
    }

    /// The server forgot the session: another one, on the same revision.
    pub(super) fn renew(&mut self, now: Time) {
        let Stage::Ready(ready) = &mut self.stage else {
            return;
        };
        if ready.is_renewing() {
            return;
        }
        let revision = ready.session.revision;
        let relist = matches!(ready.under, Under::Relisting(_));
        ready.under = Under::Renewing { relist };
        if relist {
            self.let_go_of_exchange();
        }
        let pause = self.renewals.pause(now);
        if pause.is_zero() {
            self.send_initialize(now, revision);
        } else {
            let until = now.after(pause);
            self.exchange = Exchange::default();
            self.exchange
                .rest(until, until.after(self.config.limits.handshake_timeout));
        }
    }

    /// The session is made anew now, after a rest.
    pub(super) fn renew_after_rest(&mut self, now: Time) {
        if let Some(session) = self.known_session() {
            self.send_initialize(now, session.revision);
        }
    }

    fn renewed(
        &mut self,
        now: Time,
        session: Arc<Session>,
        catalog: Arc<Catalog>,
        result: &Json,
    ) -> Result<Stage, CloseReason> {
        let next = self.introduced(result, self.config.pin)?;
        if next.revision != session.revision {
            // Whoever has the session counts on its revision; a new connect may agree on the other.
            return Err(CloseReason::Handshake(HandshakeFault::OtherRevision));
        }
        self.introduce(now);
        self.sessions += 1;
        // Another session may have other tools; whoever keeps a list has to read it again.
        self.changed(super::Change::Tools);
        self.restore(now, &session);
        Ok(Stage::Ready(Ready {
            session,
            catalog,
            under: Under::Nothing,
        }))
    }

    pub(super) fn proposed(&self) -> Revision {
        self.config
            .pin
            .filter(|pin| pin.is_legacy())
            .unwrap_or(Revision::NEWEST_LEGACY)
    }
}

/// Whether this answers `server/discover`.
fn is_discovery(result: &Json) -> bool {
    result
        .member("supportedVersions")
        .is_some_and(|versions| versions.kind() == Kind::Array)
}

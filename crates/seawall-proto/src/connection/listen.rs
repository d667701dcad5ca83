//! What a server tells without being asked: its lists changed, a resource changed, a line of its log.
//!
//! Legacy servers send it as they please; modern ones over `subscriptions/listen`, which is kept open here.
//! Source: 2025-11-25, `server/tools`, "List Changed Notification"; 2026-07-28, `basic/patterns/subscriptions`.

use std::collections::BTreeSet;
use std::time::Duration;

use super::handover::Handover;
use super::ledger::{Leg, Pending, Subject};
use super::outbox::Purpose;
use super::{Connection, Event, Session, Time, wire};
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, METHOD_NOT_FOUND, Reply};
use crate::limits::{MAX_CHANGED_URI_BYTES, MAX_SUBSCRIPTIONS};

/// The first pause before a stream is opened again; it doubles.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The longest pause that a server may ask for.
const LONGEST_ASKED_PAUSE: Duration = Duration::from_secs(3_600);
/// A stream that was open this long worked; the pauses begin anew.
const LONG_ENOUGH: Duration = Duration::from_secs(10);
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// What changed at the server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// Its tools.
    Tools,
    /// Its prompts.
    Prompts,
    /// Its list of resources.
    Resources,
    /// One resource: its URI, the server's text.
    Resource(String),
}

/// The stream that a modern server tells its changes on.
#[derive(Debug, Default)]
pub(super) struct Listen {
    state: State,
    /// How often it ended since it last worked.
    failures: u32,
    /// Whether it was open before, so that changes may have been missed.
    was_open: bool,
    /// The resources that are followed.
    uris: BTreeSet<String>,
}

#[derive(Debug, Default)]
enum State {
    /// Not asked yet.
    #[default]
    Off,
    /// Nothing to listen to.
    Idle,
    /// The server cannot.
    Never,
    Waiting {
        until: Time,
    },
    Asked {
        id: u64,
        way: Way,
    },
    Open {
        id: u64,
        since: Time,
    },
}

/// How far the request is on its way.
#[derive(Debug)]
enum Way {
    /// Its frame, of this number in the outbox, is not begun.
    Queued {
        frame: u64,
    },
    Handed(Handover),
    Dispatched,
}

impl Listen {
    pub(super) fn next(&self) -> Option<Time> {
        match self.state {
            State::Waiting { until } => Some(until),
            _ => None,
        }
    }

    fn id(&self) -> Option<u64> {
        match self.state {
            State::Asked { id, .. } | State::Open { id, .. } => Some(id),
            _ => None,
        }
    }

    /// The stream's id, if the server has the request, or may have it.
    fn live_id(&self) -> Option<u64> {
        match &self.state {
            State::Asked { id, way } => match way {
                Way::Queued { .. } => None,
                Way::Handed(handover) => handover.is_begun().then_some(*id),
                Way::Dispatched => Some(*id),
            },
            State::Open { id, .. } => Some(*id),
            _ => None,
        }
    }

    /// The transport took its first byte.
    pub(super) fn dispatched(&mut self) {
        self.move_on(Way::Dispatched);
    }

    /// The transport has its frame.
    pub(super) fn handed(&mut self, handover: &Handover) {
        self.move_on(Way::Handed(handover.clone()));
    }

    fn move_on(&mut self, to: Way) {
        if let State::Asked { way, .. } = &mut self.state {
            *way = to;
        }
    }
}

impl Connection {
    /// Follows the resources of these URIs from now on, the first [`MAX_SUBSCRIPTIONS`] of them; changes of them are
    /// [`Change::Resource`]. On legacy revisions `resources/subscribe` is a request of its own.
    ///
    /// Source: 2026-07-28, `basic/patterns/subscriptions`, "Notification Filter".
    pub fn follow(&mut self, uris: impl IntoIterator<Item = String>) {
        let uris: BTreeSet<String> = uris.into_iter().take(MAX_SUBSCRIPTIONS).collect();
        if uris == self.listen.uris || self.is_closed() {
            return;
        }
        self.listen.uris = uris;
        if matches!(self.listen.state, State::Never) {
            return;
        }
        self.stop_listening();
        if let Some(session) = self.known_session().cloned() {
            self.listen(&session);
        }
    }

    /// The URIs that are followed.
    pub fn followed(&self) -> impl Iterator<Item = &str> {
        self.listen.uris.iter().map(String::as_str)
    }

    /// A legacy session was made anew: what was asked of the one before is asked of it too, and whatever changed
    /// meanwhile was missed.
    pub(super) fn restore(&mut self, now: Time, session: &Session) {
        for (_, change) in announced(session) {
            self.changed(change);
        }
        let followed: Vec<String> = self.listen.uris.iter().cloned().collect();
        for uri in followed {
            let value = serde_json::Value::from(uri.as_str()).to_string();
            self.ask_aside(now, "resources/subscribe", ("uri", &value));
            self.changed(Change::Resource(uri));
        }
        if let Some(level) = self.log_level.clone() {
            let value = serde_json::Value::from(level).to_string();
            self.ask_aside(now, "logging/setLevel", ("level", &value));
        }
    }

    /// Sends a request that nobody waits for. It has a deadline like any other, and is not said again: a session that is
    /// made anew is asked anew.
    pub(super) fn ask_aside(
        &mut self,
        now: Time,
        method: &'static str,
        (key, value): (&'static str, &str),
    ) {
        let id = self.new_id();
        let frame = wire::Request {
            id,
            method,
            params: None,
            theirs: None,
            members: &[(key, value.as_bytes())],
            meta: &self.meta,
            token: false,
        }
        .frame();
        let route = self.route_of(method);
        let frame = self.send(frame, Purpose::Request(id), route);
        let timeout = self.config.limits.request_timeout;
        let deadline = now.after(timeout);
        self.calls.insert(
            id,
            Pending {
                leg: Leg::Queued { frame },
                wire: id,
                rounds: 0,
                again: true,
                subject: Subject::Aside,
                kept: None,
                deadline,
                total: deadline,
                timeout,
                whole: timeout,
                waker: None,
                progress: None,
            },
        );
    }

    /// Takes the request for the stream back, or ends the stream.
    fn stop_listening(&mut self) {
        match std::mem::take(&mut self.listen.state) {
            State::Asked {
                way: Way::Queued { frame },
                ..
            } => self.outbox.withdraw(frame),
            State::Asked {
                id,
                way: Way::Handed(handover),
            } if handover.withdraw() => self.hang_up(id),
            State::Asked { id, .. } | State::Open { id, .. } => self.cancel(id),
            State::Off | State::Idle | State::Never | State::Waiting { .. } => {}
        }
    }

    /// Opens the stream, if there is anything to listen to.
    pub(super) fn listen(&mut self, session: &Session) {
        let idle = matches!(
            self.listen.state,
            State::Off | State::Idle | State::Waiting { .. }
        );
        if session.revision.is_legacy() || !idle {
            return;
        }
        let kinds: Vec<&'static str> = announced(session).iter().map(|(key, _)| *key).collect();
        if kinds.is_empty() && self.listen.uris.is_empty() {
            self.listen.state = State::Idle;
            return;
        }
        let filter = wire::listen_filter(
            kinds.into_iter(),
            self.listen.uris.iter().map(String::as_str),
        );
        let id = self.new_id();
        let frame = wire::Request {
            id,
            method: "subscriptions/listen",
            params: None,
            theirs: None,
            members: &[("notifications", filter.as_bytes())],
            meta: &self.meta,
            token: false,
        }
        .frame();
        if frame.len() - 1 > self.config.limits.max_outbound_frame_bytes {
            self.listen.state = State::Idle;
            return;
        }
        let route = self.route_of("subscriptions/listen");
        let frame = self.send(frame, Purpose::Listen(id), route);
        let way = Way::Queued { frame };
        self.listen.state = State::Asked { id, way };
    }

    /// Opens the stream again, once its pause is over.
    pub(super) fn listen_again(&mut self, now: Time) {
        if self.listen.next().is_some_and(|until| until <= now)
            && let Some(session) = self.known_session().cloned()
        {
            self.listen(&session);
        }
    }

    /// Whether request `id` is the stream.
    pub(super) fn is_listen(&self, id: u64) -> bool {
        self.listen.id() == Some(id)
    }

    /// Whether request `id` is the stream, and the server has it, or may have it.
    pub(super) fn is_live_listen(&self, id: u64) -> bool {
        self.listen.live_id() == Some(id)
    }

    /// The stream was answered, which ends it.
    pub(super) fn listen_answered(&mut self, now: Time, answer: Result<Reply, ErrorObject>) {
        if let Some(id) = self.listen.id() {
            self.finish_exchange(id);
        }
        match answer {
            Err(error) if error.code == METHOD_NOT_FOUND => self.listen.state = State::Never,
            _ => self.listen_ended(now),
        }
    }

    /// The stream ended; it is opened again after a pause.
    pub(super) fn listen_ended(&mut self, now: Time) {
        self.listen_refused(now, Duration::ZERO);
    }

    /// The stream ended, and is opened again after a pause, which is as long as the server asks for, within reason.
    pub(super) fn listen_refused(&mut self, now: Time, retry_after: Duration) {
        if let State::Open { since, .. } = self.listen.state
            && now.since(since) >= LONG_ENOUGH
        {
            self.listen.failures = 0;
        }
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.listen.failures.min(16));
        let pause = doubled
            .min(LONGEST_PAUSE)
            .max(retry_after.min(LONGEST_ASKED_PAUSE));
        // Servers that went together must not be asked together: up to a quarter more, spread by the id.
        let spread = self.next_id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
        let jitter = pause / 1024 * u32::try_from(spread).unwrap_or(0);
        self.listen.failures = self.listen.failures.saturating_add(1);
        self.listen.state = State::Waiting {
            until: now.after(pause + jitter),
        };
    }

    /// A notification that is neither progress nor anything that a call waits for.
    pub(super) fn told(&mut self, now: Time, method: &str, params: Option<&Json>, on: Option<u64>) {
        let change = match method {
            "notifications/tools/list_changed" => Change::Tools,
            "notifications/prompts/list_changed" => Change::Prompts,
            "notifications/resources/list_changed" => Change::Resources,
            "notifications/resources/updated" => {
                let uri = params.and_then(|params| params.member("uri"));
                match uri.as_ref().and_then(Json::string) {
                    Some(uri) if uri.len() <= MAX_CHANGED_URI_BYTES => {
                        Change::Resource(uri.into_owned())
                    }
                    _ => return,
                }
            }
            "notifications/subscriptions/acknowledged" => {
                self.acknowledged(now, params);
                return;
            }
            "notifications/cancelled" => {
                if let Some(params) = params {
                    self.cancelled_by_server(now, params);
                }
                return;
            }
            "notifications/message" => {
                if let Some(params) = params.cloned() {
                    self.logged(params, on);
                }
                return;
            }
            _ => {
                self.extension_told(method, params);
                return;
            }
        };
        // On modern revisions nothing is told but on a stream that was asked for it, and acknowledged.
        if self.is_modern() && !self.is_subscribed(params, &change) {
            return;
        }
        self.changed(change);
    }

    fn is_subscribed(&self, params: Option<&Json>, change: &Change) -> bool {
        let State::Open { id, .. } = self.listen.state else {
            return false;
        };
        let asked_for = match change {
            // What changed may be a part of what is followed.
            Change::Resource(_) => !self.listen.uris.is_empty(),
            list => self
                .known_session()
                .is_some_and(|session| announced(session).iter().any(|(_, one)| one == list)),
        };
        asked_for && names_subscription(params, id)
    }

    fn acknowledged(&mut self, now: Time, params: Option<&Json>) {
        if matches!(self.listen.state, State::Open { .. }) {
            return;
        }
        let Some(id) = self
            .listen
            .live_id()
            .filter(|id| names_subscription(params, *id))
        else {
            return;
        };
        self.listen.state = State::Open { id, since: now };
        if std::mem::replace(&mut self.listen.was_open, true) {
            // Whatever changed while nobody listened was missed.
            let missed = self
                .known_session()
                .map(|session| announced(session))
                .unwrap_or_default();
            for (_, change) in missed {
                self.changed(change);
            }
        }
    }

    fn cancelled_by_server(&mut self, now: Time, params: &Json) {
        if !self.is_modern() {
            self.server_cancelled(params);
            return;
        }
        let id = params
            .member("requestId")
            .and_then(|id| id.as_str().parse::<u64>().ok());
        if let Some(id) = id.filter(|id| self.is_live_listen(*id)) {
            self.hang_up(id);
            self.listen_ended(now);
        }
    }

    /// Tells a change, once until it is taken.
    pub(super) fn changed(&mut self, change: Change) {
        let known = self
            .events
            .iter()
            .any(|event| matches!(event, Event::Changed(waiting) if *waiting == change));
        let waiting = self
            .events
            .iter()
            .filter(|event| matches!(event, Event::Changed(_)))
            .count();
        if !known && waiting < MAX_SUBSCRIPTIONS {
            self.events.push_back(Event::Changed(change));
        }
    }
}

/// The lists whose changes the server announces, by the filter's key.
fn announced(session: &Session) -> Vec<(&'static str, Change)> {
    let announces = |name| {
        let changed = session
            .capabilities
            .member(name)
            .and_then(|capability| capability.member("listChanged"));
        changed.is_some_and(|changed| changed.as_bytes() == b"true")
    };
    [
        ("tools", "toolsListChanged", Change::Tools),
        ("prompts", "promptsListChanged", Change::Prompts),
        ("resources", "resourcesListChanged", Change::Resources),
    ]
    .into_iter()
    .filter(|(name, ..)| announces(name))
    .map(|(_, key, change)| (key, change))
    .collect()
}

fn names_subscription(params: Option<&Json>, id: u64) -> bool {
    params
        .and_then(|params| params.member("_meta"))
        .and_then(|meta| meta.member(SUBSCRIPTION_ID))
        .is_some_and(|named| named.as_str().parse() == Ok(id))
}

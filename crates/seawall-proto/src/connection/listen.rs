//! What a server tells without being asked: its lists changed, a resource changed, a line of its log.
//!
//! Legacy servers send it as they please; modern ones over `subscriptions/listen`, which is kept open here.
//! Source: 2025-11-25, `server/tools`, "List Changed Notification"; 2026-07-28, `basic/patterns/subscriptions`.

use std::collections::BTreeSet;
use std::time::Duration;

use super::outbox::Purpose;
use super::{Connection, Event, Session, Time, wire};
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, METHOD_NOT_FOUND, Reply};
use crate::limits::MAX_SUBSCRIPTIONS;

/// The first pause before a stream is opened again; it doubles.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
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
    uris: BTreeSet<String>,
}

#[derive(Debug, Default)]
enum State {
    /// Not asked yet.
    #[default]
    Off,
    /// Nothing to listen to, or a server that cannot.
    Never,
    Waiting {
        until: Time,
    },
    Asked {
        id: u64,
    },
    Open {
        id: u64,
    },
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
            State::Asked { id } | State::Open { id } => Some(id),
            _ => None,
        }
    }
}

impl Connection {
    /// Follows the resources of these URIs from now on; changes of them are [`Change::Resource`]. On legacy revisions
    /// `resources/subscribe` is a request of its own.
    ///
    /// Source: 2026-07-28, `basic/patterns/subscriptions`, "Notification Filter".
    pub fn follow(&mut self, uris: impl IntoIterator<Item = String>) {
        self.listen.uris = uris.into_iter().take(MAX_SUBSCRIPTIONS).collect();
        if let Some(id) = self.listen.id() {
            self.cancel(id);
        }
        self.listen.state = State::Off;
        if let Some(session) = self.known_session().cloned() {
            self.listen(&session);
        }
    }

    /// Opens the stream, if there is anything to listen to.
    pub(super) fn listen(&mut self, session: &Session) {
        let idle = matches!(self.listen.state, State::Off | State::Waiting { .. });
        if session.revision.is_legacy() || !idle {
            return;
        }
        let kinds: Vec<&'static str> = announced(session).iter().map(|(key, _)| *key).collect();
        if kinds.is_empty() && self.listen.uris.is_empty() {
            self.listen.state = State::Never;
            return;
        }
        let filter = wire::listen_filter(
            kinds.into_iter(),
            self.listen.uris.iter().map(String::as_str),
        );
        let id = self.next_id;
        self.next_id += 1;
        let frame = wire::Request {
            id,
            method: "subscriptions/listen",
            params: None,
            members: &[("notifications", filter.as_bytes())],
            meta: self.meta(),
            token: false,
        }
        .frame();
        if frame.len() - 1 > self.config.limits.max_outbound_frame_bytes {
            self.listen.state = State::Never;
            return;
        }
        let route = self.route_of("subscriptions/listen");
        self.send(frame, Purpose::Request(id), route);
        self.listen.state = State::Asked { id };
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
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.listen.failures.min(16));
        let pause = doubled.min(LONGEST_PAUSE);
        // Servers that went together must not be asked together: up to a quarter more, spread by the id.
        let spread = self.next_id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
        let jitter = pause / 1024 * u32::try_from(spread).unwrap_or(0);
        self.listen.failures = self.listen.failures.saturating_add(1);
        self.listen.state = State::Waiting {
            until: now.after(pause + jitter),
        };
    }

    /// A notification that is neither progress nor anything that a call waits for.
    pub(super) fn told(&mut self, now: Time, method: &str, params: Option<&Json>) {
        let change = match method {
            "notifications/tools/list_changed" => Change::Tools,
            "notifications/prompts/list_changed" => Change::Prompts,
            "notifications/resources/list_changed" => Change::Resources,
            "notifications/resources/updated" => {
                let uri = params.and_then(|params| params.member("uri"));
                match uri.as_ref().and_then(Json::string) {
                    Some(uri) => Change::Resource(uri.into_owned()),
                    None => return,
                }
            }
            "notifications/subscriptions/acknowledged" => {
                self.acknowledged(params);
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
                    self.diagnose(|| Event::Log(params));
                }
                return;
            }
            _ => return,
        };
        // On modern revisions nothing is told but on a stream that was asked for and acknowledged.
        if self.is_modern() && !self.is_subscribed(params) {
            return;
        }
        self.changed(change);
    }

    fn is_subscribed(&self, params: Option<&Json>) -> bool {
        let State::Open { id } = self.listen.state else {
            return false;
        };
        names_subscription(params, id)
    }

    fn acknowledged(&mut self, params: Option<&Json>) {
        let State::Asked { id } = self.listen.state else {
            return;
        };
        if !names_subscription(params, id) {
            return;
        }
        self.listen.state = State::Open { id };
        self.listen.failures = 0;
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
        if id.is_some() && id == self.listen.id() {
            if let Some(id) = id {
                self.hang_up(id);
            }
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

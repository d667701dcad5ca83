//! Who is told of changes: sessions by themselves, clients of 2026-07-28 by subscription (H5).
//!
//! Source: 2026-07-28, `basic/patterns/subscriptions`; 2025-11-25, `server/tools`, "List Changed Notification", and the like
//! of prompts and resources.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use seawall::Flow;
use seawall::host::{EventKind, Events, Heard, HostEvent, Listing, LiveSession, Snapshot};
use seawall::limits::MAX_SUBSCRIPTIONS;
use seawall_proto::Json;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use super::{Gateway, Stage};
use crate::clients::Client;
use crate::offers::{Follower, Kind, Offers};
use crate::service::{Answer, Exchange, Request, Session, SessionId};
use crate::tools;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const RESOURCES: &str = "resourceSubscriptions";
/// So many resources of one subscription at most are followed; it is told which.
const MAX_FOLLOWED: usize = 4 * MAX_SUBSCRIPTIONS;

/// What changed.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// These tools came, went or are others now.
    Tools(Flows),
    /// A list of this server's.
    List(Kind, Arc<LiveSession>),
    /// One resource of a server: its URI, the server's text.
    Resource(Arc<str>, Arc<str>),
}

impl Change {
    /// Whether a client that wants to know of such may: of one resource it is told if it follows it.
    fn concerns(&self, client: &Client) -> bool {
        match self {
            Self::Tools(flows) => flows.0.iter().any(|flow| client.may_call(flow)),
            Self::List(kind, of) => kind.is_for(client, of),
            Self::Resource(server, _) => client.may_see_server(server),
        }
    }
}

/// How a change is said.
struct Said {
    method: &'static str,
    params: Option<Json>,
}

impl Said {
    fn of(change: &Change) -> Self {
        match change {
            Change::Tools(_) => Self::list("notifications/tools/list_changed"),
            Change::List(Kind::Prompts, _) => Self::list("notifications/prompts/list_changed"),
            Change::List(..) => Self::list("notifications/resources/list_changed"),
            Change::Resource(_, uri) => Self::resource(uri),
        }
    }

    fn list(method: &'static str) -> Self {
        let params = None;
        Self { method, params }
    }

    fn resource(uri: &str) -> Self {
        Self {
            method: "notifications/resources/updated",
            params: Json::of(&json!({ "uri": uri })).ok(),
        }
    }
}

/// Tools. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct Flows(Arc<[Flow]>);

impl Flows {
    /// The tools that one of two snapshots alone has, or that another entry is of; of a server that listed the same once more,
    /// since it announced a change, all.
    fn changed(before: &Snapshot, after: &Snapshot) -> Self {
        let servers: BTreeSet<&str> = before
            .listings()
            .chain(after.listings())
            .map(Listing::server)
            .collect();
        let mut changed = Vec::new();
        for server in servers {
            let [old, new] = [before, after].map(|snapshot| {
                let mut listings = snapshot.listings();
                listings.find(|listing| listing.server() == server)
            });
            if let (Some(old), Some(new)) = (old, new)
                && old.generation() == new.generation()
                && std::ptr::eq(old.flows(), new.flows())
            {
                continue;
            }
            let [old, new] = [old, new].map(|listing| listing.map_or(&[][..], Listing::flows));
            let known = changed.len();
            changed.extend(missing(old, new).chain(missing(new, old)).cloned());
            if changed.len() == known {
                changed.extend_from_slice(new);
            }
        }
        Self(changed.into())
    }
}

/// The flows that are not among the others, as they are.
fn missing<'f>(flows: &'f [Flow], others: &'f [Flow]) -> impl Iterator<Item = &'f Flow> {
    let key = |flow: &'f Flow| (flow.name(), flow.digest(), flow.entry().as_str());
    let others: HashSet<_> = others.iter().map(key).collect();
    flows
        .iter()
        .filter(move |flow| !others.contains(&key(flow)))
}

impl PartialEq for Flows {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Flows {}

/// The sessions that are told.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<HashMap<SessionId, Session>>);

impl Told {
    pub(super) fn add(&self, session: &Session) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| !session.is_closed());
        sessions.insert(session.id(), session.clone());
    }

    /// The sessions that are.
    pub(super) fn count(&self) -> usize {
        self.all().len()
    }

    fn all(&self) -> Vec<Session> {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| !session.is_closed());
        sessions.values().cloned().collect()
    }
}

impl Gateway {
    /// Tells everybody who may know, and wants to.
    fn tell(&self, change: &Change) {
        let follows = self.offers.follows();
        let said = Said::of(change);
        for session in self.told.all() {
            let is_told = match change {
                Change::Tools(_) | Change::List(..) => change.concerns(session.client()),
                Change::Resource(server, uri) => {
                    follows.is_told(Follower::Session(session.id()), server, uri)
                }
            };
            if is_told {
                // One that does not read is not told, and asks anew when it does.
                let _ = session.notify(said.method, said.params.as_ref());
            }
        }
        // Nobody may be subscribed.
        let _ = self.changes.send(change.clone());
    }

    /// Changes may have been announced that were not heard.
    fn tell_all(&self) {
        self.offers.changed_perhaps();
        for one in self.host.sessions() {
            lists(&Arc::new(one)).for_each(|change| self.tell(&change));
        }
        for (server, uri) in self.offers.follows().all() {
            self.tell(&Change::Resource(server, uri.into()));
        }
    }

    fn heard(&self, event: HostEvent) {
        let (server, kind) = match event.kind {
            EventKind::PromptsChanged => (event.server, Kind::Prompts),
            EventKind::ResourcesChanged => (event.server, Kind::Resources),
            EventKind::ResourceChanged { uri } => {
                self.tell(&Change::Resource(event.server, uri.reveal().into()));
                return;
            }
            _ => return,
        };
        self.offers.changed(&server, kind);
        // One that is gone by now is told of as such.
        let mut live = self.host.sessions().into_iter();
        if let Some(of) = live.find(|one| one.server == server) {
            self.tell(&Change::List(kind, Arc::new(of)));
        }
    }
}

/// The lists that a server has, as changed.
fn lists(of: &Arc<LiveSession>) -> impl Iterator<Item = Change> + use<> {
    let of = Arc::clone(of);
    let kinds = [Kind::Resources, Kind::Prompts].into_iter();
    let kinds = kinds.filter(|kind| Offers::has(*kind, &of));
    let kinds: Vec<Kind> = kinds.collect();
    kinds
        .into_iter()
        .map(move |kind| Change::List(kind, Arc::clone(&of)))
}

/// Tells of changes, for as long as there is a host.
pub(super) async fn announce(gateway: &Gateway) {
    let tell = |server: &Arc<str>, uri: &str| {
        gateway.tell(&Change::Resource(Arc::clone(server), uri.into()));
    };
    tokio::select! {
        () = hear(gateway, gateway.host.events()) => {}
        () = gateway.offers.keep(tell) => {}
    }
}

async fn hear(gateway: &Gateway, mut events: Events) {
    let mut snapshots = gateway.host.watch_tools();
    let mut known = Known::default();
    let mut before = Arc::clone(&snapshots.borrow_and_update());
    known.learn(&before, gateway.host.sessions());
    loop {
        tokio::select! {
            changed = snapshots.changed() => {
                if changed.is_err() {
                    return;
                }
                let snapshot = Arc::clone(&snapshots.borrow_and_update());
                gateway.tell(&Change::Tools(Flows::changed(&before, &snapshot)));
                for change in known.learn(&snapshot, gateway.host.sessions()) {
                    gateway.tell(&change);
                }
                before = snapshot;
            }
            heard = events.next() => match heard {
                None => return,
                Some(Heard::Event(event)) => gateway.heard(event),
                Some(Heard::Missed(_)) => gateway.tell_all(),
            },
        }
    }
}

/// The sessions of servers that are known of, by their numbers: what comes and goes with one is a change too.
#[derive(Default)]
struct Known(HashMap<u64, Arc<LiveSession>>);

impl Known {
    /// Takes who is there now; what changed with it.
    fn learn(&mut self, snapshot: &Snapshot, live: Vec<LiveSession>) -> Vec<Change> {
        let mut changes = Vec::new();
        let numbers: BTreeSet<u64> = snapshot.listings().map(Listing::generation).collect();
        self.0.retain(|number, gone| {
            let stays = numbers.contains(number);
            if !stays {
                changes.extend(lists(gone));
            }
            stays
        });
        for one in live {
            if numbers.contains(&one.generation) && !self.0.contains_key(&one.generation) {
                let one = Arc::new(one);
                changes.extend(lists(&one));
                self.0.insert(one.generation, one);
            }
        }
        changes
    }
}

/// What a subscription is told of.
struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    followed: Vec<String>,
}

impl Filter {
    /// What it asks for; resources are followed, where they can be.
    async fn of(gateway: &Gateway, request: &Request, listener: u64) -> Self {
        let wanted = request.params.as_ref();
        let wanted = wanted.and_then(|params| params.member("notifications"));
        let member = |key| wanted.as_ref().and_then(|wanted| wanted.member(key));
        let is_on = |key| member(key).is_some_and(|wanted| wanted.as_str() == "true");
        let uris = member(RESOURCES).map(|uris| uris.elements());
        let uris = uris.unwrap_or_default();
        let mut seen = BTreeSet::new();
        let uris = uris
            .iter()
            .filter_map(|uri| uri.string().map(std::borrow::Cow::into_owned))
            .filter(|uri| seen.insert(uri.clone()))
            .take(MAX_FOLLOWED);
        let uris: Vec<String> = uris.collect();
        if !uris.is_empty() {
            gateway.begun().await;
        }
        let followed = gateway.offers.follow_all(&request.client, uris, listener);
        Self {
            followed: followed.await,
            tools: is_on("toolsListChanged"),
            prompts: is_on("promptsListChanged"),
            resources: is_on("resourcesListChanged"),
        }
    }

    fn has(&self, change: &Change, leaves: &Leaves<'_>, request: &Request) -> bool {
        match change {
            Change::Tools(_) => self.tools && change.concerns(&request.client),
            Change::List(kind, _) => {
                let is_wanted = match kind {
                    Kind::Prompts => self.prompts,
                    Kind::Resources | Kind::Templates => self.resources,
                };
                is_wanted && change.concerns(&request.client)
            }
            Change::Resource(server, uri) => {
                let follows = leaves.0.offers.follows();
                follows.is_told(Follower::Listener(leaves.1), server, uri)
            }
        }
    }

    /// Everything that it is told of, when it is not known what it missed.
    fn all(&self) -> Vec<Said> {
        let lists = [
            (self.tools, "notifications/tools/list_changed"),
            (self.prompts, "notifications/prompts/list_changed"),
            (self.resources, "notifications/resources/list_changed"),
        ];
        let lists = lists.into_iter().filter(|(is_on, _)| *is_on);
        let lists = lists.map(|(_, method)| Said::list(method));
        let followed = self.followed.iter().map(|uri| Said::resource(uri));
        lists.chain(followed).collect()
    }

    fn json(&self) -> Value {
        let mut filter = json!({});
        for (key, is_on) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if is_on {
                filter[key] = json!(true);
            }
        }
        if !self.followed.is_empty() {
            filter[RESOURCES] = json!(self.followed);
        }
        filter
    }
}

/// Follows nothing any longer once the subscription ends.
struct Leaves<'g>(&'g Gateway, u64);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        let listener = Follower::Listener(self.1);
        self.0.offers.follows().leave(listener);
    }
}

/// `subscriptions/listen`: tells the client of each change until it cancels, or the gateway ends.
pub(super) async fn listen(gateway: &Gateway, request: &Request, exchange: &Exchange) -> Answer {
    let full = |_| tools::not_taken("too many subscriptions are open");
    let _permit = gateway.listeners.try_acquire().map_err(full)?;
    let id = Json::check(request.id.as_json().to_owned()).map_err(|_| tools::internal())?;
    let part = |value| Json::of(&value).map_err(|_| tools::internal());
    let meta = Json::empty_object().with_first("io.modelcontextprotocol/subscriptionId", &id);
    let mut changes = gateway.changes.subscribe();
    let leaves = Leaves(gateway, gateway.next_listener());
    let filter = Filter::of(gateway, request, leaves.1).await;

    let acknowledged = part(json!({"notifications": filter.json()}))?.with_first("_meta", &meta);
    // A client that left is not told.
    let _ = exchange.notify(ACKNOWLEDGED, Some(&acknowledged)).await;
    let mut stage = gateway.stage.subscribe();
    loop {
        let heard = tokio::select! {
            biased;
            _ = stage.wait_for(|stage| *stage == Stage::Ending) => break,
            heard = changes.recv() => heard,
        };
        let told = match heard {
            Ok(change) if filter.has(&change, &leaves, request) => vec![Said::of(&change)],
            Ok(_) => continue,
            Err(RecvError::Lagged(_)) => filter.all(),
            Err(RecvError::Closed) => break,
        };
        for Said { method, params } in told {
            let params = params.unwrap_or_else(Json::empty_object);
            let params = params.with_first("_meta", &meta);
            let _ = exchange.notify(method, Some(&params)).await;
        }
    }
    let complete = part(json!({"resultType": "complete"}))?;
    Ok(complete.with_first("_meta", &meta))
}

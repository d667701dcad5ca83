//! What one connection with a server of MCP Live is: the policy exchange, what is granted by it, and the one place where
//! everything is admitted that the server sends.
//!
//! A plain state machine: what came goes in, and what is to be done comes out. It knows no clock, waits for nothing and sends
//! nothing itself. A program sees it through [`Mcpl`](crate::Mcpl).
//!
//! **Invariant:** what is not in force is not admitted; what is in force is never more than the server was told, and acknowledged.
//! **Invariant:** what is taken away is taken away before the server is told; what is added counts only after its receipt.
//! **Invariant:** every request is answered once, unless the server takes it back.
//! **Invariant:** a session is of one connection, and nothing survives it.
//!
//! Source: MCP Live 0.5.0-draft §5.3, §5.4, §6.7, §17.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, METHOD_NOT_FOUND};

use super::capability::{Advertisement, Capability, CapabilitySet, manifest_of};
use super::channels::{Incoming, Registry};
use super::content::References;
use super::features::Selection;
use super::grant::Grant;
use super::inference::{InferenceRequest, Turns};
use super::lifecycle::{Narrowings, Observer};
use super::manifest::{Accepted, FETCH_TIMEOUT, Fetching, Manifest};
use super::policy::McplPolicy;
use super::push::{PushEvent, Seen};

mod admit;
mod channels;
mod exchange;
mod held;
mod inbound;
mod notice;
mod outbound;
mod refetch;

#[cfg(test)]
mod tests;

pub use exchange::{Policy, Refusal};
pub use notice::{Defect, Notice, Outcome};
pub use outbound::{CallPhase, Unsent};

pub(crate) use inbound::Decision;

use channels::Subscribing;
use exchange::Standing;
use held::Held;
use inbound::Waiting;

/// How long a server has to acknowledge what it is granted.
pub const POLICY_TIMEOUT: Duration = Duration::from_secs(15);

/// The state of one connection. `K` names a request of the server.
#[derive(Debug)]
pub(crate) struct Session<K> {
    policy: McplPolicy,
    /// What this host implements and somebody here takes.
    offered: CapabilitySet,
    /// Whether the server has tools: MCP's own word, outside the manifest.
    has_tools: bool,
    manifest: Manifest,
    selection: Selection,
    /// The ontologies that somebody accepted.
    accepted: Accepted,
    /// The tags that the host's own rules name.
    named: BTreeSet<String>,
    /// What the server is to have.
    wanted: Grant,
    /// What it has: the only thing that admits.
    in_force: Grant,
    standing: Standing,
    fetching: Fetching,
    /// Whether it was told that it announces too much.
    flooded: bool,
    held: Held<K>,
    /// What the embedding program is asked.
    waiting: BTreeMap<u64, Waiting<K>>,
    next: u64,
    /// Events, and messages of channels, that came before.
    pushed: Seen,
    received: Seen,
    registry: Registry,
    subscribing: Subscribing,
    references: References,
    /// What the server is told of the calls of others.
    observer: Observer,
    turns: Turns,
    /// Hooks under way.
    hooks: usize,
    /// Whether it was told that injections are deprecated.
    injected: bool,
    acts: VecDeque<Act<K>>,
}

/// Something to do.
#[derive(Debug)]
pub(crate) enum Act<K> {
    /// Ask the server; its answer goes to [`Session::answered`].
    Ask(Ask, Json),
    /// Answer the server.
    Reply(K, Result<Json, ErrorObject>),
    /// Ask the embedding program; what it says goes to [`Session::decided`] with the number.
    Consult(u64, K, Question),
    /// The server took back what the embedding program is asked under this number.
    Forget(u64),
    /// Tell whoever listens.
    Tell(Notice),
    /// End the connection: the server does not go on without what it was refused.
    Close,
}

/// A request of the host's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ask {
    /// `featureSets/update`.
    Policy,
    /// `mcpl/manifest`.
    Manifest,
    /// `channels/open`, of a channel that the configuration subscribes to.
    Open(String),
}

impl Ask {
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Policy => "featureSets/update",
            Self::Manifest => "mcpl/manifest",
            Self::Open(_) => "channels/open",
        }
    }

    /// How long it may take, if not as long as any other request.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        match self {
            Self::Policy => Some(POLICY_TIMEOUT),
            Self::Manifest => Some(FETCH_TIMEOUT),
            Self::Open(_) => None,
        }
    }
}

/// How a request of the host's own ended.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Result(Json),
    /// A JSON-RPC error of this code.
    Error(i64),
    /// There is none, or it cannot be used.
    None,
}

/// What the embedding program is asked.
#[derive(Debug, Clone)]
pub(crate) enum Question {
    /// Whether an event is taken.
    Push(Arc<PushEvent>),
    /// Which of these messages are taken.
    Messages(Vec<Arc<Incoming>>),
    /// What a model says.
    Inference(InferenceRequest),
    /// Which model it is.
    Model,
}

/// What a session begins with.
#[derive(Debug)]
pub(crate) struct Terms<'a> {
    /// The server's id.
    pub(crate) server: &'a str,
    pub(crate) policy: McplPolicy,
    /// What this host implements and somebody here takes.
    pub(crate) offered: CapabilitySet,
    /// The tags that the host's own rules name.
    pub(crate) named: BTreeSet<String>,
}

impl<K: Clone + PartialEq> Session<K> {
    /// The session with a server of these `capabilities`; `None` if it does not speak MCP Live.
    pub(crate) fn new(terms: Terms<'_>, capabilities: &Json) -> Option<Self> {
        let Terms {
            server,
            policy,
            offered,
            named,
        } = terms;
        let manifest = Manifest::of(&manifest_of(capabilities)?).ok()?;
        let advertised = Advertisement::of_server(capabilities)?;
        let has_tools = advertised.has(Capability::Tools);
        let wanted = Grant::of(&advertised, &offered, &policy);
        let selection = Selection::of(manifest.features(), &wanted, &policy);
        let narrowings = Narrowings::of(&policy.tool_lifecycle);
        Some(Self {
            policy,
            offered,
            has_tools,
            manifest,
            selection,
            accepted: Accepted::new(),
            named,
            wanted,
            in_force: Grant::none(),
            standing: Standing::New,
            fetching: Fetching::new(),
            flooded: false,
            held: Held::default(),
            waiting: BTreeMap::new(),
            next: 0,
            pushed: Seen::new(),
            received: Seen::new(),
            registry: Registry::new(),
            subscribing: Subscribing::default(),
            references: References::new(),
            observer: Observer::new(server, narrowings),
            turns: Turns::default(),
            hooks: 0,
            injected: false,
            acts: VecDeque::new(),
        })
    }

    /// The next thing to do.
    pub(crate) fn poll(&mut self) -> Option<Act<K>> {
        self.acts.pop_front()
    }

    /// Whether there is something to do.
    pub(crate) fn has_acts(&self) -> bool {
        !self.acts.is_empty()
    }

    /// Takes the answer to a request of the host's own.
    pub(crate) fn answered(&mut self, now: Instant, ask: &Ask, answer: Answer) {
        match ask {
            Ask::Policy => self.policy_answered(now, answer),
            Ask::Manifest => self.manifest_answered(now, answer),
            Ask::Open(channel) => self.opened_by_itself(channel, answer),
        }
    }

    /// Does what is due.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.fetch_if_due(now);
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do next.
    pub(crate) fn poll_timeout(&self, now: Instant) -> Option<Instant> {
        self.fetch_due(now)
    }

    /// What is granted now.
    pub(crate) fn grant(&self) -> &Grant {
        &self.in_force
    }

    /// What the server is to be granted, and what not and why, once it agrees.
    pub(crate) fn wanted(&self) -> &Grant {
        &self.wanted
    }

    /// Which of its feature sets are on.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn references(&self) -> &References {
        &self.references
    }

    fn act(&mut self, act: Act<K>) {
        self.acts.push_back(act);
    }

    fn tell(&mut self, notice: Notice) {
        self.act(Act::Tell(notice));
    }

    fn defect(&mut self, defect: Defect) {
        self.tell(Notice::Defect(defect));
    }
}

fn unknown_method() -> ErrorObject {
    ErrorObject::new(METHOD_NOT_FOUND, "Method not found", None)
}

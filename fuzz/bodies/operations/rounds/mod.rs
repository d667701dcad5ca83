//! A program of operations on a connection of either era and either binding: calls of several rounds, inputs, streams of
//! changes, sessions that are lost, and messages that a transport takes each by itself.
//!
//! Every call ends exactly once; `not_sent` is never said of what was begun, and what was taken back never begins; state
//! never leaks from call to call; what is held is bounded.

mod server;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};
use std::time::Duration;

use seawall_proto::connection::{
    Abandoned, Binding, CallError, CallId, ClientConfig, CloseReason, Connection, Era, Event,
    InputId, Order, Time, Transmit, TransmitKind,
};
use seawall_proto::jsonrpc::Reply;
use seawall_proto::limits::{Limits, MAX_INPUTS, MAX_SUBSCRIPTIONS, MAX_WAITING_DIAGNOSTICS};
use seawall_proto::mcp::ClientCapabilities;
use seawall_proto::{Json, Outcome};

use super::{Flag, Input, SMALL, json, number};

const MODERN: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":true}}}"#;
const LEGACY: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}}}"#;
const TOOLS: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"h":{"type":"string","x-mcp-header":"H"}}}}]}"#;

pub(super) fn run(input: Input<'_>) {
    let mut world = World::new(input);
    while let Some(operation) = world.input.next() {
        world.step(operation);
        world.check();
    }
    world.finish();
}

struct Call {
    handle: CallId,
    flag: Option<Arc<Flag>>,
}

/// A message that the transport has.
struct Exchange {
    transmit: Transmit,
    begun: bool,
}

struct World<'a> {
    input: Input<'a>,
    connection: Connection,
    /// Whether each message goes by itself.
    http: bool,
    probed: bool,
    limits: Limits,
    now: Time,
    next_call: u64,
    /// Calls that were neither taken nor abandoned, by the number that their arguments hold.
    calls: BTreeMap<u64, Call>,
    gone: Vec<CallId>,
    /// Calls of which a leg was begun.
    begun: HashSet<u64>,
    /// Calls that nothing may be sent of any more.
    unsent: HashSet<u64>,
    /// Ids of our requests, and the call of each.
    requests: BTreeMap<u64, Option<u64>>,
    exchanges: BTreeMap<u64, Exchange>,
    inputs: BTreeSet<InputId>,
    states: u64,
    closed: usize,
    slack: usize,
}

impl<'a> World<'a> {
    fn new(mut input: Input<'a>) -> Self {
        let flags = input.byte();
        let mut limits = Limits::default();
        limits.queue_capacity = usize::from(input.byte() % 8) + 1;
        limits.max_buffered_bytes = 1_024 + 64 * usize::from(input.byte());
        limits.max_outbound_frame_bytes = 400 + 4 * usize::from(input.byte());
        limits.request_timeout = Duration::from_millis(u64::from(input.byte()) * 8 + 1);
        limits.handshake_timeout = Duration::from_millis(2_000);
        let mut config = ClientConfig::new("0");
        config.limits = limits.clone();
        config.diagnostics = flags & 1 != 0;
        config.binding = if flags & 2 == 0 {
            Binding::Stream
        } else {
            Binding::Http
        };
        config.era = [Era::Legacy, Era::Modern, Era::Auto, Era::Modern][usize::from(flags / 4 % 4)];
        if flags & 16 == 0 {
            let mut capabilities = ClientCapabilities::default();
            capabilities.elicitation_form = true;
            capabilities.roots = true;
            config.capabilities = capabilities;
        }
        if flags & 32 != 0 {
            config.max_total_timeout = Duration::from_millis(3_000);
        }
        let http = config.binding == Binding::Http;
        let probed = config.era == Era::Auto;
        let now = Time::from_epoch(Duration::from_millis(1));
        let mut world = Self {
            input,
            connection: Connection::client(now, config),
            http,
            probed,
            limits,
            now,
            next_call: 0,
            calls: BTreeMap::new(),
            gone: Vec::new(),
            begun: HashSet::new(),
            unsent: HashSet::new(),
            requests: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            inputs: BTreeSet::new(),
            states: 0,
            closed: 0,
            slack: 0,
        };
        if flags & 64 == 0 {
            for _ in 0..8 {
                world.send_all();
                world.answer_handshake();
            }
        }
        world
    }

    fn step(&mut self, operation: u8) {
        match operation % 20 {
            0 | 1 => self.call(),
            2 => self.send(),
            3 | 4 => self.send_all(),
            5 => self.abandon(),
            6 => self.take(),
            7 => self.poll(),
            8 => {
                let by = u64::from(self.input.byte()) * 4;
                self.pass(Duration::from_millis(by));
            }
            9 => {
                if let Some(next) = self.connection.poll_timeout() {
                    let by = next.since(self.now);
                    self.pass(by);
                }
            }
            10..=12 => self.answer(),
            13 => self.answer_handshake(),
            14 => self.tell(),
            15 => self.supply(),
            16 => self.end_exchange(),
            17 => match self.input.byte() % 8 {
                0 => self.connection.handle_closed(CloseReason::StdoutClosed),
                1 | 2 => {
                    let uri = self.input.byte() % 3;
                    self.connection.follow((0..uri).map(|at| at.to_string()));
                }
                _ => self.connection.relist(self.now),
            },
            18 => {
                let length = usize::from(self.input.byte());
                let frame = self.input.take(length).to_vec();
                self.receive(None, 200, &frame);
            }
            _ => self.drain(),
        }
    }

    fn call(&mut self) {
        let call = self.next_call;
        self.next_call += 1;
        let size = usize::from(self.input.byte());
        let arguments = format!(r#"{{"n":{call},"h":"{}"}}"#, "x".repeat(size));
        let arguments = Json::check(arguments).expect("it is JSON");
        let timeout = match self.input.byte() {
            byte @ 0..100 => Some(Duration::from_millis(u64::from(byte) * 10)),
            255 => Some(Duration::MAX),
            _ => None,
        };
        match self.connection.call(self.now, "echo", &arguments, timeout) {
            Ok(handle) => {
                self.calls.insert(call, Call { handle, flag: None });
            }
            Err(error) => assert_eq!(error.outcome(), Outcome::NotSent),
        }
    }

    /// The transport takes one message, and perhaps begins it.
    fn send(&mut self) {
        if self.http {
            self.orders();
            let requests = !self.input.byte().is_multiple_of(4);
            if let Some(transmit) = self.connection.poll_transmit(requests) {
                let begin = self.input.byte().is_multiple_of(2);
                self.hand_over(transmit, begin);
            }
            return;
        }
        let frame = self.connection.transmit().next().map(<[u8]>::to_vec);
        if let Some(frame) = frame {
            self.begin(&frame);
            self.connection.handle_written(frame.len());
        }
    }

    fn send_all(&mut self) {
        if self.http {
            self.orders();
            while let Some(transmit) = self.connection.poll_transmit(true) {
                self.hand_over(transmit, true);
            }
            let waiting: Vec<u64> = self.exchanges.keys().copied().collect();
            for key in waiting {
                self.begin_exchange(key);
            }
        } else {
            while !self.connection.is_idle_out() {
                self.send();
            }
        }
    }

    fn hand_over(&mut self, transmit: Transmit, begin: bool) {
        assert!(self.closed_reason().is_none());
        let key = transmit.key;
        let message = json(&transmit.body);
        let method = message.member("method");
        if !transmit.route.method.is_empty() {
            let method = method.as_ref().and_then(Json::string);
            assert_eq!(method.as_deref(), Some(transmit.route.method.as_str()));
        }
        if matches!(
            transmit.kind,
            TransmitKind::Request | TransmitKind::Listen | TransmitKind::Initialize
        ) {
            assert_eq!(number(&message, "id"), Some(key));
        }
        let exchange = Exchange {
            transmit,
            begun: false,
        };
        assert!(
            self.exchanges.insert(key, exchange).is_none(),
            "a key twice"
        );
        if begin {
            self.begin_exchange(key);
        }
    }

    fn begin_exchange(&mut self, key: u64) {
        let Some(exchange) = self.exchanges.get_mut(&key) else {
            return;
        };
        if exchange.begun {
            return;
        }
        if !exchange.transmit.handover.begin() {
            self.exchanges.remove(&key);
            return;
        }
        exchange.begun = true;
        let body = exchange.transmit.body.clone();
        self.begin(&body);
    }

    /// The first byte of a frame is taken.
    fn begin(&mut self, frame: &[u8]) {
        assert!(frame.len() <= self.limits.max_outbound_frame_bytes + 1);
        let message = json(frame);
        assert!(message.depth() <= 128);
        let modern = self
            .connection
            .negotiated()
            .is_some_and(|one| !one.is_legacy());
        let Some(method) = message.member("method") else {
            // A probed server may have asked before it was known to be a modern one.
            assert!(!modern || self.probed, "a modern client sends no replies");
            return;
        };
        let Some(id) = number(&message, "id") else {
            assert!(
                !(modern && self.http),
                "a modern client notifies of nothing over exchanges"
            );
            return;
        };
        let params = message.member("params");
        let call = params
            .as_ref()
            .and_then(|params| params.member("arguments"))
            .and_then(|arguments| number(&arguments, "n"));
        assert!(self.requests.insert(id, call).is_none(), "an id twice");
        if let (Some(call), Some(params)) = (call, &params) {
            assert_eq!(method.as_str(), "\"tools/call\"");
            assert!(!self.unsent.contains(&call), "it was said not to be sent");
            self.begun.insert(call);
            if let Some(state) = params.member("requestState") {
                let state = state.string().map(|state| state.into_owned());
                let prefix = format!("s{call}-");
                assert!(state.is_some_and(|state| state.starts_with(&prefix)));
            }
        }
    }

    fn orders(&mut self) {
        while let Some(order) = self.connection.poll_order() {
            if let Order::HangUp(key) = order {
                self.exchanges.remove(&key);
            }
        }
    }

    fn pick_call(&mut self) -> Option<u64> {
        let choice = usize::from(self.input.byte());
        let count = self.calls.len().max(1);
        self.calls.keys().nth(choice % count).copied()
    }

    fn abandon(&mut self) {
        let Some((id, call)) = self
            .pick_call()
            .and_then(|id| Some((id, self.calls.remove(&id)?)))
        else {
            return;
        };
        match self.connection.abandon(call.handle) {
            Abandoned::NotSent => {
                assert!(!self.begun.contains(&id));
                self.unsent.insert(id);
            }
            Abandoned::NoResponse | Abandoned::BetweenLegs | Abandoned::Refused => {
                assert!(self.begun.contains(&id));
            }
            Abandoned::Ended(result) => self.judge(id, &call, &result),
            Abandoned::Unknown => panic!("the connection lost a call"),
        }
        self.forget(call.handle);
    }

    fn take(&mut self) {
        self.poll();
    }

    fn poll(&mut self) {
        let Some(id) = self.pick_call() else {
            return;
        };
        let Some(handle) = self.calls.get(&id).map(|call| call.handle) else {
            return;
        };
        let flag = Arc::new(Flag::default());
        let waker = Waker::from(Arc::clone(&flag));
        match self.connection.poll_request(handle, &waker) {
            Poll::Ready(Some(result)) => self.ended(id, &result),
            Poll::Ready(None) => panic!("the connection lost a call"),
            Poll::Pending => {
                if let Some(call) = self.calls.get_mut(&id) {
                    call.flag = Some(flag);
                }
            }
        }
    }

    fn ended(&mut self, id: u64, result: &Result<Reply, CallError>) {
        let call = self.calls.remove(&id).expect("it is one of ours");
        self.judge(id, &call, result);
        self.forget(call.handle);
    }

    /// Whether an end says what became of the call.
    fn judge(&mut self, id: u64, call: &Call, result: &Result<Reply, CallError>) {
        let mut wakers = Vec::new();
        self.connection.drain_wakers(&mut wakers);
        wakers.into_iter().for_each(Waker::wake);
        if let Some(flag) = &call.flag {
            assert!(flag.0.load(Ordering::Relaxed), "whoever waits is woken");
        }
        let begun = self.begun.contains(&id);
        match result {
            Ok(_) => assert!(begun),
            Err(error) => {
                assert!(!format!("{error} {error:?}").contains("MARKER"));
                match error.outcome() {
                    Outcome::NotSent => {
                        assert!(!begun, "not_sent is never said of what was begun: {error}");
                        self.unsent.insert(id);
                    }
                    _ => assert!(begun, "something was sent: {error}"),
                }
            }
        }
    }

    fn forget(&mut self, handle: CallId) {
        assert!(self.connection.take(handle).is_none(), "it ends once");
        self.gone.push(handle);
    }

    fn pass(&mut self, by: Duration) {
        self.now = self.now.after(by);
        self.connection.handle_timeout(self.now);
        let next = self.connection.poll_timeout();
        let end = Time::from_epoch(Duration::MAX);
        assert!(
            next.is_none_or(|next| next > self.now || next == end),
            "{next:?}"
        );
    }

    fn drain(&mut self) {
        let mut events = 0;
        while let Some(event) = self.connection.poll_event() {
            events += 1;
            assert!(!format!("{event:?}").contains("MARKER"));
            match event {
                Event::Input { id, .. } => assert!(self.inputs.insert(id), "asked for twice"),
                Event::InputWithdrawn { id } => {
                    // What was supplied is not taken back.
                    assert!(self.inputs.remove(&id), "taken back twice");
                }
                Event::Closed => self.closed += 1,
                _ => {}
            }
        }
        // What the server causes; beside that, each operation of ours causes two at most.
        let bound = MAX_WAITING_DIAGNOSTICS + MAX_SUBSCRIPTIONS + 3 * MAX_INPUTS;
        assert!(events <= bound + 512, "events wait without bound");
        assert!(self.closed <= 1);
        assert!(self.inputs.len() <= MAX_INPUTS || self.closed == 1);
    }

    fn closed_reason(&self) -> Option<&CloseReason> {
        self.connection.close_reason()
    }

    /// What holds after every operation.
    fn check(&mut self) {
        if let Some(reason) = self.closed_reason() {
            assert!(!format!("{reason} {reason:?}").contains("MARKER"));
            assert!(self.connection.is_idle_out());
            assert!(self.connection.poll_transmit(true).is_none());
            assert_eq!(self.connection.poll_timeout(), None);
            assert_eq!(self.connection.pending_calls(), 0);
        }
        assert!(self.connection.pending_calls() <= self.calls.len());
        // Beside the budget: what makes a session, replies and cancellations up to the queue, the stream of changes, and
        // the legs that a paused call, which is counted, turns into.
        let frames = self.limits.queue_capacity + 4;
        let bound = self.limits.max_buffered_bytes
            + frames * (self.limits.max_outbound_frame_bytes + SMALL)
            + self.calls.len() * (self.limits.max_outbound_frame_bytes + SMALL);
        let held = self.connection.buffered_bytes();
        assert!(
            held <= bound + self.slack,
            "{held} of {bound} and {}",
            self.slack
        );
    }

    /// Time passes or the session ends, and every call has ended.
    fn finish(&mut self) {
        if self.next_call.is_multiple_of(2) {
            self.connection.handle_closed(CloseReason::DriverGone);
        } else {
            self.pass(Duration::MAX);
        }
        self.check();
        assert_eq!(self.connection.pending_calls(), 0);
        let ids: Vec<u64> = self.calls.keys().copied().collect();
        for id in ids {
            let handle = self.calls[&id].handle;
            match self.connection.poll_request(handle, Waker::noop()) {
                Poll::Ready(Some(result)) => self.ended(id, &result),
                _ => panic!("every call ends"),
            }
        }
        for handle in std::mem::take(&mut self.gone) {
            assert!(self.connection.take(handle).is_none());
            assert_eq!(self.connection.abandon(handle), Abandoned::Unknown);
        }
        self.drain();
        // What was taken back never begins.
        self.send_all();
        if self.closed_reason().is_some() || !self.http {
            assert_eq!(
                self.connection.buffered_bytes(),
                0,
                "nothing is left behind"
            );
        }
    }
}

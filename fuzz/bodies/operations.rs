//! A program of operations on one connection, and what holds after each of them.
//!
//! Every call ends exactly once, with what became of it; the first terminal reason is the only one; what is buffered is
//! bounded; a deadline is never in the past once it was handled.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use seawall_proto::connection::{
    Abandoned, CallError, CallId, ClientConfig, CloseReason, Connection, Event, ExitReason, Time,
};
use seawall_proto::jsonrpc::{Inbound, classify, for_each_element};
use seawall_proto::limits::{Limits, MAX_WAITING_DIAGNOSTICS};
use seawall_proto::mcp::ToolResult;
use seawall_proto::{Json, Outcome};

/// More than a frame of ours, or what is counted beside a frame that is held.
const SMALL: usize = 512;

/// The input is a program; its first bytes choose the limits and whether the handshake is done before it.
pub(crate) fn run(data: &[u8]) {
    let mut world = World::new(Input(data));
    while let Some(operation) = world.input.next() {
        world.step(operation);
        world.check();
    }
    world.finish();
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn byte(&mut self) -> u8 {
        self.next().unwrap_or(0)
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[usize::from(self.byte()) % from.len()]
    }
}

/// Set once its waker was woken.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Call {
    handle: CallId,
    deadline: Time,
    /// Whose waker the connection holds since the call was last found pending.
    flag: Option<Arc<Flag>>,
}

struct World<'a> {
    input: Input<'a>,
    connection: Connection,
    limits: Limits,
    now: Time,
    /// Calls that were neither taken nor abandoned, by the id of their request.
    calls: HashMap<u64, Call>,
    /// Handles that the connection must not know any more.
    gone: Vec<CallId>,
    last_id: u64,
    /// What is left of the frame that was begun.
    rest: Vec<u8>,
    /// Requests of which the transport took a byte.
    begun: HashSet<u64>,
    cancelled: HashSet<u64>,
    /// Begun requests that an answer came for.
    answered: HashSet<u64>,
    /// Requests that may be cancelled: their caller is gone, or their deadline passed.
    given_up: HashSet<u64>,
    handshake_ids: u64,
    reason: Option<CloseReason>,
    ready: usize,
    closed: usize,
    /// By how much one inbound frame may pass the bound on memory.
    slack: usize,
}

impl<'a> World<'a> {
    fn new(mut input: Input<'a>) -> Self {
        let mut limits = Limits::default();
        let flags = input.byte();
        limits.queue_capacity = usize::from(input.byte() % 8) + 1;
        limits.max_buffered_bytes = 256 + 64 * usize::from(input.byte());
        limits.max_outbound_frame_bytes = 170 + 4 * usize::from(input.byte());
        limits.request_timeout = Duration::from_millis(u64::from(input.byte()) + 1);
        limits.handshake_timeout = Duration::from_millis(200);
        let mut config = ClientConfig::new("0");
        config.limits = limits.clone();
        config.diagnostics = flags & 1 != 0;
        let now = Time::from_epoch(Duration::from_millis(1));
        let mut world = Self {
            input,
            connection: Connection::client(now, config),
            limits,
            now,
            calls: HashMap::new(),
            gone: Vec::new(),
            last_id: 0,
            rest: Vec::new(),
            begun: HashSet::new(),
            cancelled: HashSet::new(),
            answered: HashSet::new(),
            given_up: HashSet::new(),
            handshake_ids: u64::MAX,
            reason: None,
            ready: 0,
            closed: 0,
            slack: 0,
        };
        world.check();
        if flags & 2 != 0 {
            let revision = ["2025-03-26", "2025-11-25"][usize::from(flags & 4 != 0)];
            world.write(usize::MAX);
            world.receive(&initialized(1, revision));
            world.write(usize::MAX);
            world.receive(&listed(2));
            world.check();
        }
        world
    }

    fn step(&mut self, operation: u8) {
        match operation % 16 {
            0 | 1 => self.call(),
            2 => {
                let bytes = usize::from(self.input.byte());
                self.write(bytes);
            }
            3 => {
                let frames = usize::from(self.input.byte() % 4);
                let bytes = self
                    .connection
                    .transmit()
                    .take(frames)
                    .map(<[u8]>::len)
                    .sum();
                self.write(bytes);
            }
            4 => self.write(usize::MAX),
            5 => self.abandon(),
            6 => self.take(),
            7 => self.poll(),
            8 => {
                let by = u64::from(self.input.byte()) / 2;
                self.pass(Duration::from_millis(by));
            }
            9 => {
                if let Some(next) = self.connection.poll_timeout() {
                    let by = next.since(self.now);
                    self.pass(by);
                }
            }
            10 | 11 => self.answer(),
            12 => self.hostile(),
            13 => {
                let length = usize::from(self.input.byte());
                let frame = self.input.take(length);
                self.receive(frame);
            }
            14 => {
                let reason = [
                    CloseReason::ScopeClosed,
                    CloseReason::ChildExited(ExitReason::Code(1)),
                    CloseReason::StdoutClosed,
                    CloseReason::StdinClosed,
                ];
                let choice = usize::from(self.input.byte());
                if let Some(reason) = reason.into_iter().nth(choice % 16) {
                    self.connection.handle_closed(reason);
                }
            }
            _ => self.drain(),
        }
    }

    fn call(&mut self) {
        let tool = self.input.pick(&["echo", "echo", "echo", "other", ""]);
        let size = usize::from(self.input.byte());
        let arguments = match self.input.byte() % 8 {
            0 => String::from("[]"),
            1 => format!("{{\"a\":\n\"{}\"}}", "x".repeat(4 * size)),
            2 => format!("{}{{}}{}", "{\"a\":".repeat(size / 2), "}".repeat(size / 2)),
            _ => String::from("{}"),
        };
        let arguments = Json::check(arguments).expect("it is JSON");
        let timeout = match self.input.byte() {
            byte @ 0..100 => Some(Duration::from_millis(byte.into())),
            255 => Some(Duration::MAX),
            _ => None,
        };
        let before = self.outbound();
        match self.connection.call(self.now, tool, &arguments, timeout) {
            Ok(handle) => {
                assert!(self.reason.is_none());
                let after = self.outbound();
                assert_eq!(after[..before.len()], before);
                let frame = after.last().expect("a frame was queued");
                assert_eq!(after.len(), before.len() + 1);
                assert!(frame.len() - 1 <= self.limits.max_outbound_frame_bytes);
                let id = number(&json(frame), "id").expect("a request has an id");
                assert!(id > self.last_id, "ids are never used again");
                self.handshake_ids = self.handshake_ids.min(id);
                self.last_id = id;
                let deadline = self
                    .now
                    .after(timeout.unwrap_or(self.limits.request_timeout));
                self.calls.insert(
                    id,
                    Call {
                        handle,
                        deadline,
                        flag: None,
                    },
                );
            }
            Err(error) => {
                assert_eq!(error.outcome(), Outcome::NotSent);
                assert_eq!(self.outbound(), before, "a refused call sends nothing");
                match (&self.reason, error) {
                    (Some(first), CallError::Closed { reason, .. }) => assert_eq!(&reason, first),
                    (Some(_), error) => panic!("not the terminal reason: {error}"),
                    (None, CallError::Closed { reason, .. }) => panic!("still open: {reason}"),
                    (None, _) => {}
                }
            }
        }
    }

    /// The transport takes some bytes.
    fn write(&mut self, bytes: usize) {
        let frames = self.outbound();
        let total: usize = frames.iter().map(Vec::len).sum();
        let bytes = bytes.min(total);
        let mut left = bytes;
        for frame in frames {
            if left == 0 {
                break;
            }
            if self.rest.is_empty() {
                self.begin(&frame);
            }
            let taken = left.min(frame.len());
            self.rest = frame[taken..].to_vec();
            left -= taken;
        }
        self.connection.handle_written(bytes);
    }

    /// The transport takes the first byte of a frame.
    fn begin(&mut self, frame: &[u8]) {
        let message = json(frame);
        let method = message.member("method");
        match method.as_ref().map(Json::as_str) {
            Some("\"notifications/cancelled\"") => {
                let params = message.member("params").expect("it names its request");
                let id = number(&params, "requestId").expect("it names its request");
                assert!(self.begun.contains(&id), "only what was sent is cancelled");
                assert!(id >= self.handshake_ids, "the handshake is never cancelled");
                assert!(!self.answered.contains(&id), "never after a reply");
                assert!(self.given_up.contains(&id), "only what was given up");
                assert!(self.cancelled.insert(id), "cancelled once");
            }
            Some("\"notifications/initialized\"") => {}
            Some(_) => {
                let id = number(&message, "id").expect("a request has an id");
                assert!(
                    !self.given_up.contains(&id),
                    "an abandoned call is not begun"
                );
                assert!(self.begun.insert(id), "sent once");
            }
            None => assert!(message.member("id").is_some(), "it is a reply"),
        }
    }

    fn pick_call(&mut self) -> Option<u64> {
        let mut ids: Vec<u64> = self.calls.keys().copied().collect();
        ids.sort_unstable();
        let choice = usize::from(self.input.byte());
        (!ids.is_empty()).then(|| ids[choice % ids.len()])
    }

    fn abandon(&mut self) {
        let Some((id, call)) = self
            .pick_call()
            .and_then(|id| Some((id, self.calls.remove(&id)?)))
        else {
            return;
        };
        match self.connection.abandon(call.handle) {
            Abandoned::NotSent => assert!(!self.begun.contains(&id)),
            Abandoned::NoResponse => assert!(self.begun.contains(&id)),
            Abandoned::Ended(result) => self.judge(id, &call, &result),
            Abandoned::Unknown => panic!("the connection lost a call"),
        }
        self.given_up.insert(id);
        self.forget(call.handle);
    }

    fn take(&mut self) {
        let Some((id, handle)) = self
            .pick_call()
            .and_then(|id| Some((id, self.calls.get(&id)?.handle)))
        else {
            return;
        };
        if let Some(result) = self.connection.take(handle) {
            self.ended(id, &result);
        } else {
            assert!(self.reason.is_none(), "an end ends every call");
        }
    }

    fn poll(&mut self) {
        let Some((id, handle)) = self
            .pick_call()
            .and_then(|id| Some((id, self.calls.get(&id)?.handle)))
        else {
            return;
        };
        let flag = Arc::new(Flag::default());
        match self
            .connection
            .poll_call(handle, &Waker::from(Arc::clone(&flag)))
        {
            Poll::Ready(Some(result)) => self.ended(id, &result),
            Poll::Ready(None) => panic!("the connection lost a call"),
            Poll::Pending => {
                if let Some(call) = self.calls.get_mut(&id) {
                    call.flag = Some(flag);
                }
                let _ = self.connection.take_progress(handle);
            }
        }
    }

    fn ended(&mut self, id: u64, result: &Result<ToolResult, CallError>) {
        let call = self.calls.remove(&id).expect("it is one of ours");
        self.judge(id, &call, result);
        self.forget(call.handle);
    }

    /// Whether an end says what became of the call.
    fn judge(&mut self, id: u64, call: &Call, result: &Result<ToolResult, CallError>) {
        self.wake();
        if let Some(flag) = &call.flag {
            assert!(flag.0.load(Ordering::Relaxed), "whoever waits is woken");
        }
        let begun = self.begun.contains(&id);
        let outcome = result.as_ref().map_err(CallError::outcome);
        match outcome {
            Err(Outcome::NotSent) => assert!(!begun, "not_sent is never said of what was begun"),
            Err(Outcome::NoResponse) => assert!(begun, "no_response is never said of what was not"),
            _ => assert!(self.answered.contains(&id), "an answer came"),
        }
        match result {
            Err(CallError::Closed { reason, .. }) => assert_eq!(Some(reason), self.reason.as_ref()),
            Err(CallError::Timeout { .. }) => assert!(call.deadline <= self.now),
            Err(CallError::Refused { .. } | CallError::Unusable(_)) | Ok(_) => {}
            Err(error) => panic!("an accepted call does not end so: {error}"),
        }
    }

    fn forget(&mut self, handle: CallId) {
        assert!(self.connection.take(handle).is_none(), "it ends once");
        assert!(matches!(
            self.connection.poll_call(handle, Waker::noop()),
            Poll::Ready(None)
        ));
        self.gone.push(handle);
    }

    fn pass(&mut self, by: Duration) {
        self.now = self.now.after(by);
        self.connection.handle_timeout(self.now);
        self.note_end();
        let next = self.connection.poll_timeout();
        assert!(next.is_none_or(|next| next > self.now || next == Time::from_epoch(Duration::MAX)));
        for (id, call) in &self.calls {
            if call.deadline <= self.now {
                self.given_up.insert(*id);
            }
        }
    }

    fn answer(&mut self) {
        let id = match self.input.byte() {
            byte @ 0..200 => {
                let mut begun: Vec<u64> = self.begun.difference(&self.answered).copied().collect();
                begun.sort_unstable();
                match begun.len() {
                    0 => u64::from(byte),
                    count => begun[usize::from(byte) % count],
                }
            }
            byte => u64::from(byte - 200),
        };
        let shape = self.input.byte();
        let text = if shape & 128 == 0 {
            id.to_string()
        } else {
            format!("\"{id}\"")
        };
        let body = match shape % 16 {
            0 => r#""error":{"code":-32602,"message":"Unknown tool: MARKER"}"#.to_owned(),
            1 => {
                r#""error":{"code":-32022,"message":"MARKER","data":{"supported":["2024-11-05"]}}"#
                    .to_owned()
            }
            2 => r#""result":{"MARKER":1}"#.to_owned(),
            3 => r#""result":{"tools":[],"nextCursor":"MARKER"}"#.to_owned(),
            4 => format!(
                r#""pad":"{}","result":{{"content":[]}}"#,
                "p".repeat(16 * usize::from(self.input.byte()))
            ),
            5 | 6 => return self.receive(&initialized(id, "2025-03-26")),
            7 | 8 => return self.receive(&listed(id)),
            _ => format!(
                r#""result":{{"content":["{}"]}}"#,
                "x".repeat(8 * usize::from(self.input.byte()))
            ),
        };
        let frame = format!(r#"{{"jsonrpc":"2.0",{body},"id":{text}}}"#);
        if shape & 64 == 0 {
            self.receive(frame.as_bytes());
        } else {
            let other =
                self.input
                    .pick(&["7", "[]", r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#]);
            self.receive(format!("[{other},{frame},{other}]").as_bytes());
        }
    }

    fn hostile(&mut self) {
        let id = self.last_id;
        let frame = match self.input.byte() % 24 {
            0 => String::new(),
            1 => String::from("\u{feff}noise MARKER"),
            2 => String::from("[]"),
            3 => String::from("{\"log\":\"MARKER\"}"),
            4..=8 => format!(
                r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#,
                "i".repeat(self.input.byte().into())
            ),
            9 => {
                String::from(r#"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"MARKER"}"#)
            }
            10 => String::from(r#"{"jsonrpc":"2.0","error":{"code":1,"message":"MARKER"}}"#),
            11 | 12 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1,"message":"x"}}}}"#
            ),
            13 => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#),
            14 => String::from(r#"{"jsonrpc":"2.0","id":0,"result":{"content":[]}}"#),
            15 => format!(
                "[{}0]",
                r#"{"jsonrpc":"2.0","id":1,"method":"ping"},"#.repeat(self.input.byte().into())
            ),
            16 => String::from(r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#),
            17 => format!(r#"{{"jsonrpc":"2.0","id":{id},"id":{id},"result":{{}}}}"#),
            18 => String::from(r#"{"jsonrpc":"2.0","method":"x","params":[1e999]}"#),
            19 => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}},"error":{{}}}}"#)
            }
            _ => String::from(
                r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"MARKER"}}"#,
            ),
        };
        self.receive(frame.as_bytes());
    }

    /// A frame arrives, if the connection reads.
    fn receive(&mut self, frame: &[u8]) {
        if !self.connection.wants_read() {
            return;
        }
        let frame = Bytes::copy_from_slice(frame);
        let mut elements = Vec::new();
        if matches!(classify(&frame), Ok(Inbound::Array)) {
            for_each_element(&frame, |element| elements.push(element));
        }
        // While the list is under way the revision is not told; there are no calls yet to be answered.
        let batches = self
            .connection
            .session()
            .is_some_and(|session| session.revision.has_batches());
        let messages = elements.iter().filter(|_| batches).chain([&frame]);
        for message in messages {
            if let Ok(Inbound::Response { id, .. }) = classify(message)
                && let Some(id) = id.as_ours().filter(|id| self.begun.contains(id))
            {
                self.answered.insert(id);
            }
        }
        // It reads, so what it held before was within the bound.
        self.slack = frame.len() + (elements.len() + 1) * SMALL;
        self.connection.handle_frame(self.now, &frame);
    }

    fn drain(&mut self) {
        let mut events = 0;
        while let Some(event) = self.connection.poll_event() {
            events += 1;
            assert!(!format!("{event:?}").contains("MARKER"));
            match event {
                Event::Ready => self.ready += 1,
                Event::Closed => self.closed += 1,
                _ => {}
            }
        }
        assert!(
            events <= MAX_WAITING_DIAGNOSTICS + 2,
            "events wait without bound"
        );
        assert!(self.ready <= 1 && self.closed <= 1);
    }

    fn wake(&mut self) {
        let mut wakers = Vec::new();
        self.connection.drain_wakers(&mut wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn outbound(&self) -> Vec<Vec<u8>> {
        self.connection.transmit().map(<[u8]>::to_vec).collect()
    }

    fn note_end(&mut self) {
        let reason = self.connection.close_reason();
        match (&self.reason, reason) {
            (None, found) => self.reason = found.cloned(),
            (first, found) => assert_eq!(first.as_ref(), found, "the first reason stays"),
        }
    }

    /// What holds after every operation.
    fn check(&mut self) {
        self.note_end();
        let frames = self.outbound();
        assert_eq!(frames.is_empty(), self.connection.is_idle_out());
        if let Some(reason) = &self.reason {
            assert!(!format!("{reason} {reason:?}").contains("MARKER"));
            assert!(frames.is_empty(), "nothing is written after the end");
            assert_eq!(self.connection.poll_timeout(), None);
            assert_eq!(self.connection.pending_calls(), 0);
            assert!(self.connection.catalog().is_none());
            self.rest.clear();
        }
        if let Some(first) = frames.first().filter(|_| !self.rest.is_empty()) {
            assert_eq!(first, &self.rest, "a begun frame is finished");
        }
        for frame in &frames {
            assert_eq!(
                frame.iter().position(|byte| *byte == b'\n'),
                Some(frame.len() - 1)
            );
        }
        // Each frame is the last one once; what is begun is read in `begin`.
        if let Some(last) = frames
            .get(usize::from(!self.rest.is_empty())..)
            .and_then(<[_]>::last)
        {
            assert!(json(last).depth() <= 128);
        }
        assert!(self.connection.pending_calls() <= self.calls.len());
        let bound = self.limits.max_buffered_bytes + self.limits.queue_capacity * SMALL;
        let held = self.connection.buffered_bytes();
        assert!(
            held <= bound + self.slack,
            "{held} of {bound} and {}",
            self.slack
        );
    }

    /// Time passes or the session ends, and every call has ended.
    fn finish(&mut self) {
        if self.input.0.len().is_multiple_of(2) && self.last_id.is_multiple_of(2) {
            self.connection.handle_closed(CloseReason::DriverGone);
            self.note_end();
        } else {
            self.pass(Duration::MAX);
        }
        self.check();
        assert_eq!(self.connection.pending_calls(), 0);
        let mut ids: Vec<u64> = self.calls.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            let handle = self.calls[&id].handle;
            let result = self.connection.take(handle).expect("every call ends");
            self.ended(id, &result);
        }
        for handle in std::mem::take(&mut self.gone) {
            assert!(self.connection.take(handle).is_none());
            assert_eq!(self.connection.abandon(handle), Abandoned::Unknown);
        }
        self.write(usize::MAX);
        assert_eq!(
            self.connection.buffered_bytes(),
            0,
            "nothing is left behind"
        );
        self.drain();
        assert_eq!(self.closed, usize::from(self.reason.is_some()));
    }
}

fn initialized(id: u64, revision: &str) -> Vec<u8> {
    format!(r#"{{"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}}}},"jsonrpc":"2.0","id":{id}}}"#).into_bytes()
}

fn listed(id: u64) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"echo","inputSchema":{{"type":"object"}}}}]}}}}"#).into_bytes()
}

/// A frame of ours as JSON.
fn json(frame: &[u8]) -> Json {
    Json::check(frame.to_vec()).expect("what we write is JSON")
}

fn number(object: &Json, member: &str) -> Option<u64> {
    object.member(member)?.as_str().parse().ok()
}

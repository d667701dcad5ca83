//! A program of operations on one connection, and what holds after each of them.
//!
//! Every call ends exactly once, with what became of it; the first terminal reason is the only one; what is buffered is
//! bounded; a deadline is never in the past once it was handled.

mod calls;
mod rounds;
mod server;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

use seawall_proto::Json;
use seawall_proto::connection::{
    Abandoned, CallId, ClientConfig, CloseReason, Connection, Event, ExitReason, Time,
};
use seawall_proto::limits::{Limits, MAX_WAITING_DIAGNOSTICS};
use server::{initialized, listed};

/// More than a frame of ours, or what is counted beside a frame that is held.
const SMALL: usize = 512;

/// The input is a program; its first bytes choose the limits and whether the handshake is done before it. The highest bit
/// of the first one chooses [`rounds`].
pub(crate) fn run(data: &[u8]) {
    if let Some((first, rest)) = data.split_first()
        && first & 128 != 0
    {
        return rounds::run(Input(rest));
    }
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

/// A frame of ours as JSON.
fn json(frame: &[u8]) -> Json {
    Json::check(frame.to_vec()).expect("what we write is JSON")
}

fn number(object: &Json, member: &str) -> Option<u64> {
    object.member(member)?.as_str().parse().ok()
}

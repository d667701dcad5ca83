//! The streams of one session: one for each message that held requests, and one for what belongs to none. What is told is
//! kept for a while, so that a client whose connection broke comes back for it.
//!
//! Source: 2025-11-25, `basic/transports`, "Resumability and Redelivery".
//!
//! **Invariant:** each message is in one stream, and a stream is read by one connection, the newest.
//! **Invariant:** what is kept is bounded; an answer is dropped last.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use seawall_proto::server::{Lane, Outbound, RequestKey};

use super::events;
use crate::service::session::Sort;

/// The stream of what belongs to no request.
pub(super) const ASIDE: u64 = 0;
/// So many messages of one stream are kept.
const MAX_EVENTS: usize = 256;
/// Past so many bytes in all of a session's streams nothing but answers is kept.
const MAX_BYTES: usize = 16 << 20;
/// So many streams that are over are kept, for clients that did not get their end.
const MAX_OVER: usize = 16;

#[derive(Debug)]
pub(super) struct Streams(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    streams: HashMap<u64, Stream>,
    of: HashMap<RequestKey, u64>,
    next: u64,
    over: VecDeque<u64>,
    bytes: usize,
    closed: bool,
}

#[derive(Debug, Default)]
struct Stream {
    /// Messages with their numbers, which begin at 1.
    events: VecDeque<(u64, Bytes)>,
    last: u64,
    /// Requests that are not answered.
    open: usize,
    /// Counts the connections that read it: an older one ends.
    reader: u64,
    connected: bool,
    /// The connection that reads it ends, once it told what there is.
    hang_up: bool,
    waker: Option<Waker>,
}

/// What a stream begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum First {
    /// One answer, and it is over.
    Whole(Bytes),
    /// Something else.
    Stream,
}

impl Streams {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Inner {
            streams: HashMap::from([(ASIDE, Stream::default())]),
            of: HashMap::new(),
            next: ASIDE + 1,
            over: VecDeque::new(),
            bytes: 0,
            closed: false,
        }))
    }

    /// A stream for the answers to these requests, begun with what is said of the rest of their message.
    pub(super) fn begin(&self, requests: &[RequestKey]) -> u64 {
        let mut inner = self.lock();
        let number = inner.next;
        inner.next += 1;
        inner.of.extend(requests.iter().map(|key| (*key, number)));
        let stream = Stream {
            open: requests.len(),
            ..Stream::default()
        };
        inner.streams.insert(number, stream);
        number
    }

    /// Puts a message into a stream.
    pub(super) fn push(&self, number: u64, frame: Bytes) {
        self.lock().push(number, frame);
    }

    /// Forgets a stream that was answered whole.
    pub(super) fn forget(&self, number: u64) {
        self.lock().remove(number);
    }

    pub(super) fn poll_first(&self, number: u64, cx: &Context<'_>) -> Poll<First> {
        let mut inner = self.lock();
        let Some(stream) = inner.streams.get_mut(&number) else {
            return Poll::Ready(First::Stream);
        };
        match stream.events.front() {
            Some((1, frame)) if stream.open == 0 && stream.last == 1 => {
                Poll::Ready(First::Whole(frame.clone()))
            }
            None if stream.open > 0 && !stream.hang_up => {
                stream.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            _ => Poll::Ready(First::Stream),
        }
    }

    /// Whether somebody reads one of them.
    pub(super) fn is_connected(&self) -> bool {
        self.lock().streams.values().any(|stream| stream.connected)
    }

    /// Every stream ends.
    pub(super) fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        for stream in inner.streams.values_mut() {
            stream.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sort for Arc<Streams> {
    fn sort(&self, outbound: Outbound) {
        let mut inner = self.lock();
        match outbound.lane {
            Lane::Answer(key) => {
                if let Some(number) = inner.of.remove(&key) {
                    inner.push(number, outbound.frame);
                    inner.end_one(number);
                }
            }
            Lane::During(key) => {
                if let Some(number) = inner.of.get(&key).copied() {
                    inner.push_if_room(number, outbound.frame);
                }
            }
            _ => inner.push_if_room(ASIDE, outbound.frame),
        }
    }

    fn cancelled(&self, key: RequestKey) {
        let mut inner = self.lock();
        if let Some(number) = inner.of.remove(&key) {
            inner.end_one(number);
        }
    }

    fn hang_up(&self, key: RequestKey) {
        let mut inner = self.lock();
        let number = inner.of.get(&key).copied();
        if let Some(stream) = number.and_then(|number| inner.streams.get_mut(&number)) {
            stream.hang_up = true;
            stream.wake();
        }
    }
}

impl Inner {
    fn push_if_room(&mut self, number: u64, frame: Bytes) {
        if self.bytes.saturating_add(frame.len()) <= MAX_BYTES {
            self.push(number, frame);
        }
    }

    fn push(&mut self, number: u64, frame: Bytes) {
        let Some(stream) = self.streams.get_mut(&number) else {
            return;
        };
        self.bytes += frame.len();
        stream.last += 1;
        stream.events.push_back((stream.last, frame));
        if stream.events.len() > MAX_EVENTS
            && let Some((_, oldest)) = stream.events.pop_front()
        {
            self.bytes -= oldest.len();
        }
        stream.wake();
    }

    /// A request of a stream ended; one with no other is over.
    fn end_one(&mut self, number: u64) {
        let Some(stream) = self.streams.get_mut(&number) else {
            return;
        };
        stream.open -= 1;
        stream.wake();
        if stream.open > 0 {
            return;
        }
        self.over.push_back(number);
        while self.over.len() > MAX_OVER {
            let streams = &self.streams;
            let unread = |number: &u64| streams.get(number).is_none_or(|one| !one.connected);
            let Some(at) = self.over.iter().position(unread) else {
                return;
            };
            if let Some(number) = self.over.get(at).copied() {
                self.remove(number);
            }
        }
    }

    fn remove(&mut self, number: u64) {
        self.over.retain(|over| *over != number);
        if let Some(stream) = self.streams.remove(&number) {
            self.bytes -= stream
                .events
                .iter()
                .map(|(_, frame)| frame.len())
                .sum::<usize>();
        }
    }
}

impl Stream {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// A place in a stream, as `Last-Event-ID` tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) stream: u64,
    pub(super) event: u64,
}

impl Place {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (stream, event) = text.split_once('-')?;
        Some(Self {
            stream: stream.parse().ok()?,
            event: event.parse().ok()?,
        })
    }

    fn id(self) -> String {
        format!("{}-{}", self.stream, self.event)
    }
}

/// One connection that reads a stream. Dropping it leaves the stream as it is.
#[derive(Debug)]
pub(super) struct Reading {
    streams: Arc<Streams>,
    place: Place,
    reader: u64,
    /// What a client is told first, of a revision that has it.
    priming: Option<Duration>,
}

impl Reading {
    /// Reads on from a place; `None` if there is no such stream. Whoever read it before ends.
    pub(super) fn begin(
        streams: &Arc<Streams>,
        place: Place,
        priming: Option<Duration>,
    ) -> Option<Self> {
        let mut inner = streams.lock();
        let stream = inner.streams.get_mut(&place.stream)?;
        stream.reader += 1;
        stream.connected = true;
        stream.wake();
        let reader = stream.reader;
        drop(inner);
        Some(Self {
            streams: Arc::clone(streams),
            place,
            reader,
            priming,
        })
    }
}

impl events::Events for Reading {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(retry) = self.priming.take() {
            return Poll::Ready(Some(events::priming(&self.place.id(), retry)));
        }
        let mut inner = self.streams.lock();
        let closed = inner.closed;
        let Some(stream) = inner.streams.get_mut(&self.place.stream) else {
            return Poll::Ready(None);
        };
        if stream.reader != self.reader {
            return Poll::Ready(None);
        }
        let next = stream
            .events
            .iter()
            .find(|(number, _)| *number > self.place.event);
        if let Some((number, frame)) = next {
            self.place.event = *number;
            return Poll::Ready(Some(events::message(Some(&self.place.id()), frame)));
        }
        let over = self.place.stream != ASIDE && stream.open == 0;
        if over || closed || std::mem::take(&mut stream.hang_up) {
            return Poll::Ready(None);
        }
        stream.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut inner = self.streams.lock();
        let stream = inner.streams.get_mut(&self.place.stream);
        if let Some(stream) = stream.filter(|stream| stream.reader == self.reader) {
            stream.connected = false;
        }
    }
}

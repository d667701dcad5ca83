//! Frames on their way out, and the moment at which each one begins.
//!
//! Over one stream all of them go in one lane, in order. Where each message goes by itself they need no order, and what
//! may not wait behind others has a lane of its own, so that the next one is found without a walk.
//!
//! **Invariant:** a frame is begun when the transport took its first byte, and only then; a begun frame is finished.

use std::collections::VecDeque;

use super::{Binding, Route, Time};

/// Counted against the byte budget for each frame and each result held, beside its own bytes.
pub(super) const ENTRY_OVERHEAD_BYTES: usize = 128;

/// What a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The handshake request with this id, or one that reads the list again.
    Handshake(u64),
    /// The request with this id: a leg of a call.
    Request(u64),
    /// The stream of changes, request of this id.
    Listen(u64),
    /// An answer to a request of the server; it must find room by then (S7).
    Reply { room_by: Time },
    /// The cancellation of the request with this id (S8).
    Cancel(u64),
    /// `notifications/initialized`.
    Initialized,
    /// Any other notification.
    Notice,
}

#[derive(Debug)]
pub(super) struct Frame {
    /// Its place in the order in which frames were pushed. The queue is sorted by it, so that one is found without a
    /// walk: a server that does not read can make the queue very long.
    pub(super) number: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) purpose: Purpose,
    /// What goes into its headers, where the transport has some.
    pub(super) route: Option<Box<Route>>,
}

/// Who may go before whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Calls; over one stream, everything.
    Main,
    /// What makes a session: nothing else goes before it.
    First,
    /// Replies and cancellations, which wait for no room for requests.
    Aside,
}

/// The frames not yet written whole, in order. The first `capacity` are the queue; the rest wait for room in it.
#[derive(Debug)]
pub(super) struct Outbox {
    binding: Binding,
    frames: VecDeque<Frame>,
    /// Empty over one stream, as is `aside`.
    first: VecDeque<Frame>,
    aside: VecDeque<Frame>,
    capacity: usize,
    /// How much of the first frame is written; it is begun once this is positive.
    written: usize,
    bytes: usize,
    pushed: u64,
    /// The numbers of the replies among the frames, and when each must have found room.
    replies: VecDeque<(u64, Time)>,
}

impl Outbox {
    pub(super) fn new(binding: Binding, capacity: usize) -> Self {
        Self {
            binding,
            frames: VecDeque::new(),
            first: VecDeque::new(),
            aside: VecDeque::new(),
            capacity,
            written: 0,
            bytes: 0,
            pushed: 0,
            replies: VecDeque::new(),
        }
    }

    /// Appends a frame, which ends with its newline; tells its number.
    pub(super) fn push(
        &mut self,
        bytes: Vec<u8>,
        purpose: Purpose,
        route: Option<Box<Route>>,
    ) -> u64 {
        let number = self.pushed;
        self.pushed += 1;
        self.bytes += bytes.len() + ENTRY_OVERHEAD_BYTES;
        if let Purpose::Reply { room_by } = purpose {
            self.replies.push_back((number, room_by));
        }
        let lane = match (self.binding, purpose) {
            (Binding::Stream, _) => Lane::Main,
            (Binding::Http, Purpose::Handshake(_) | Purpose::Initialized) => Lane::First,
            (Binding::Http, Purpose::Reply { .. } | Purpose::Cancel(_) | Purpose::Notice) => {
                Lane::Aside
            }
            (Binding::Http, Purpose::Request(_) | Purpose::Listen(_)) => Lane::Main,
        };
        self.lane_mut(lane).push_back(Frame {
            number,
            bytes,
            purpose,
            route,
        });
        number
    }

    fn lane_mut(&mut self, lane: Lane) -> &mut VecDeque<Frame> {
        match lane {
            Lane::Main => &mut self.frames,
            Lane::First => &mut self.first,
            Lane::Aside => &mut self.aside,
        }
    }

    /// The lane that replies and cancellations wait in.
    fn asides(&self) -> &VecDeque<Frame> {
        match self.binding {
            Binding::Stream => &self.frames,
            Binding::Http => &self.aside,
        }
    }

    /// Takes out the first frame of a lane, for a transport that sends each message by itself.
    pub(super) fn take(&mut self, lane: Lane) -> Option<Frame> {
        self.remove(lane, 0)
    }

    /// Whether a cancellation or a notification appended now would have to wait for room.
    pub(super) fn is_full(&self) -> bool {
        self.asides().len() >= self.capacity
    }

    /// Frames held, waiting ones included.
    pub(super) fn len(&self) -> usize {
        self.frames.len() + self.first.len() + self.aside.len()
    }

    /// Bytes held, with the overhead of each frame.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What is left to write, frame by frame.
    pub(super) fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let first = self.written;
        self.frames.iter().enumerate().map(move |(at, frame)| {
            frame
                .bytes
                .get(if at == 0 { first } else { 0 }..)
                .unwrap_or_default()
        })
    }

    /// The transport took `taken` bytes of [`slices`](Self::slices); tells the purpose of each frame begun by them,
    /// with the length of the frame.
    pub(super) fn written(&mut self, mut taken: usize, mut begun: impl FnMut(Purpose, usize)) {
        while taken > 0 {
            let Some(first) = self.frames.front() else {
                return;
            };
            if self.written == 0 {
                begun(first.purpose, first.bytes.len());
            }
            let left = first.bytes.len() - self.written;
            if taken < left {
                self.written += taken;
                return;
            }
            taken -= left;
            self.written = 0;
            self.remove(Lane::Main, 0);
        }
    }

    /// Takes back the frame of this number; a begun one stays, for half a frame would poison the stream.
    pub(super) fn withdraw(&mut self, number: u64) {
        for lane in [Lane::Main, Lane::First, Lane::Aside] {
            let found = self
                .lane_mut(lane)
                .binary_search_by_key(&number, |frame| frame.number);
            if let Ok(at) = found
                && (at > 0 || self.written == 0)
            {
                self.remove(lane, at);
                return;
            }
        }
    }

    /// Takes back the cancellation of a request that was answered meanwhile; a begun one stays.
    pub(super) fn withdraw_cancel(&mut self, id: u64) {
        // A cancellation is queued only where there is room, so it never stands further back.
        let mut queue = self.asides().iter().take(self.capacity);
        if let Some(frame) = queue.find(|frame| frame.purpose == Purpose::Cancel(id)) {
            self.withdraw(frame.number);
        }
    }

    /// When the first reply that still waits for room must have found it.
    pub(super) fn room_by(&self) -> Option<Time> {
        let first_waiting = self.asides().get(self.capacity)?.number;
        let at = self
            .replies
            .partition_point(|(number, _)| *number < first_waiting);
        self.replies.get(at).map(|(_, room_by)| *room_by)
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.frames = VecDeque::new();
        self.first = VecDeque::new();
        self.aside = VecDeque::new();
        self.replies = VecDeque::new();
        self.written = 0;
        self.bytes = 0;
    }

    fn remove(&mut self, lane: Lane, at: usize) -> Option<Frame> {
        let frame = self.lane_mut(lane).remove(at)?;
        self.bytes -= frame.bytes.len() + ENTRY_OVERHEAD_BYTES;
        if let Purpose::Reply { .. } = frame.purpose {
            // Replies leave in their order: nothing withdraws one.
            self.replies.pop_front();
        }
        Some(frame)
    }
}

//! Frames on their way out, and the moment at which each one begins.
//!
//! **Invariant:** a frame is begun when the transport took its first byte, and only then; a begun frame is finished.

use std::collections::VecDeque;

use super::Time;

/// Counted against the byte budget for each frame and each result held, beside its own bytes.
pub(super) const ENTRY_OVERHEAD_BYTES: usize = 128;

/// What a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The request with this id.
    Request(u64),
    /// An answer to a request of the server; it must find room by then (S7).
    Reply { room_by: Time },
    /// The cancellation of the request with this id (S8).
    Cancel(u64),
    /// Another notification of ours.
    Notification,
}

#[derive(Debug)]
struct Frame {
    bytes: Vec<u8>,
    purpose: Purpose,
}

/// The frames not yet written whole, in order. The first `capacity` are the queue; the rest wait for room in it.
#[derive(Debug)]
pub(super) struct Outbox {
    frames: VecDeque<Frame>,
    capacity: usize,
    /// How much of the first frame is written; it is begun once this is positive.
    written: usize,
    bytes: usize,
    replies: usize,
}

impl Outbox {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            frames: VecDeque::new(),
            capacity,
            written: 0,
            bytes: 0,
            replies: 0,
        }
    }

    /// Appends a frame, which ends with its newline.
    pub(super) fn push(&mut self, bytes: Vec<u8>, purpose: Purpose) {
        self.account(&purpose, bytes.len(), true);
        self.frames.push_back(Frame { bytes, purpose });
    }

    /// Whether a frame appended now would have to wait for room.
    pub(super) fn is_full(&self) -> bool {
        self.frames.len() >= self.capacity
    }

    /// Frames held, waiting ones included.
    pub(super) fn len(&self) -> usize {
        self.frames.len()
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
            if let Some(frame) = self.frames.pop_front() {
                self.account(&frame.purpose, frame.bytes.len(), false);
            }
        }
    }

    /// Takes back the frame of a request; a begun one stays, for half a frame would poison the stream.
    pub(super) fn withdraw(&mut self, id: u64) {
        self.take_back(Purpose::Request(id), self.frames.len());
    }

    /// Takes back the cancellation of a request that was answered meanwhile; a begun one stays.
    pub(super) fn withdraw_cancel(&mut self, id: u64) {
        // A cancellation is queued only where there is room, so it never stands further back.
        self.take_back(Purpose::Cancel(id), self.capacity);
    }

    fn take_back(&mut self, purpose: Purpose, reach: usize) {
        let begun = usize::from(self.written > 0);
        let found = self
            .frames
            .iter()
            .take(reach)
            .skip(begun)
            .position(|frame| frame.purpose == purpose);
        if let Some(frame) = found.and_then(|at| self.frames.remove(at + begun)) {
            self.account(&frame.purpose, frame.bytes.len(), false);
        }
    }

    /// When the first reply that still waits for room must have found it.
    pub(super) fn room_by(&self) -> Option<Time> {
        if self.replies == 0 {
            return None;
        }
        self.frames
            .iter()
            .skip(self.capacity)
            .find_map(|frame| match frame.purpose {
                Purpose::Reply { room_by } => Some(room_by),
                _ => None,
            })
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    fn account(&mut self, purpose: &Purpose, length: usize, added: bool) {
        let cost = length + ENTRY_OVERHEAD_BYTES;
        let reply = matches!(purpose, Purpose::Reply { .. });
        if added {
            self.bytes += cost;
            self.replies += usize::from(reply);
        } else {
            self.bytes -= cost;
            self.replies -= usize::from(reply);
        }
    }
}

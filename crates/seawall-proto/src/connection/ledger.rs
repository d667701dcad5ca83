//! The ledger of calls: `Queued → (Handed) → Dispatched → Ended`, with pauses between legs.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::task::Waker;
use std::time::Duration;

use super::handover::Handover;
use super::kept::Kept;
use super::left::{Before, Left};
use super::legs::Pause;
use super::outbox::ENTRY_OVERHEAD_BYTES;
use super::request::Continuation;
use super::wire::{self, Meta};
use super::{CallError, CloseReason, Time};
use crate::json::Json;
use crate::jsonrpc::Reply;
use crate::limits::MAX_PROGRESS_TEXT_BYTES;

/// A call on its connection. Unique per connection, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub(super) u64);

/// What was left of a call when its caller let go of it.
#[derive(Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart where it is returned; a box would cost an allocation"
)]
pub enum Abandoned {
    /// It had not been dispatched; it never will be.
    NotSent,
    /// It had been dispatched; a cancellation is on its way if the queue had room (S8).
    NoResponse,
    /// The server had begun it, and asked for another round (O4): nothing was in flight.
    BetweenLegs,
    /// The server had refused it without carrying it out, and it was about to be said again (T2, T3).
    Refused,
    /// It had ended before.
    Ended(Result<Reply, CallError>),
    /// The connection does not know it: its result was taken.
    Unknown,
}

/// The newest progress that a server reported for a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How far it is, in units of the server's choice.
    pub progress: f64,
    /// How far it goes, if the server said.
    pub total: Option<f64>,
    /// The server's text, if any.
    pub message: Option<String>,
}

/// Where a call stands.
#[derive(Debug)]
pub(super) enum Leg {
    /// Its frame, of this number in the outbox, is not begun.
    Queued {
        frame: u64,
    },
    /// A transport that sends each message by itself has its frame, and may have begun it.
    Handed {
        handover: Handover,
        /// Which session it goes to, counted from 0: a server may forget one, and another is made (T3).
        session: u32,
    },
    Dispatched,
    /// The server asked for another round, which is not said yet: nothing is in flight (O4).
    Paused(Pause),
    Ended {
        result: Result<Reply, CallError>,
        /// Bytes that the result keeps alive, counted until it is taken (L8).
        held: usize,
    },
}

/// Whose rules a refusal follows (O3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Tool,
    Other,
    /// Nobody waits for it, so nothing is kept of its end.
    Aside,
}

#[derive(Debug)]
pub(super) struct Pending {
    pub(super) leg: Leg,
    /// The id of the leg under way, or of the last one.
    pub(super) wire: u64,
    /// Rounds that the server asked for (O4).
    pub(super) rounds: u32,
    /// Whether it is said again because of a refusal that proves it was not carried out (T2, T3): once, not oftener.
    pub(super) again: bool,
    pub(super) subject: Subject,
    /// The request, where it may have to be said again.
    pub(super) kept: Option<Box<Kept>>,
    pub(super) deadline: Time,
    /// Progress moves the deadline, but never past this (O4).
    pub(super) total: Time,
    pub(super) timeout: Duration,
    /// What `total` is of.
    pub(super) whole: Duration,
    pub(super) waker: Option<Waker>,
    pub(super) progress: Option<Progress>,
}

/// Spreads ids that we gave out ourselves, one after the other: nobody can choose them to collide.
#[derive(Debug, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, id: u64) {
        // Fibonacci hashing: neighbours go far apart, in the high bits too, which the table looks at.
        self.0 = (self.0 ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// All calls that have not ended, or whose result nobody took.
#[derive(Debug, Default)]
pub(super) struct Calls {
    entries: HashMap<u64, Pending, BuildHasherDefault<IdHasher>>,
    /// The call of each leg but the first, by the leg's id.
    legs: HashMap<u64, u64, BuildHasherDefault<IdHasher>>,
    deadlines: BTreeSet<(Time, u64)>,
    /// How many of them nobody waits for.
    asides: usize,
    /// When a round without inputs may go on, by call.
    pub(super) paces: BTreeSet<(Time, u64)>,
    pub(super) result_bytes: usize,
    /// Wakers of calls that something happened to.
    pub(super) ready: Vec<Waker>,
}

impl Calls {
    pub(super) fn pending(&self) -> usize {
        self.deadlines.len() - self.asides
    }

    pub(super) fn result_bytes(&self) -> usize {
        self.result_bytes
    }

    pub(super) fn next_deadline(&self) -> Option<Time> {
        let deadline = self.deadlines.first().map(|(deadline, _)| *deadline);
        let pace = self.paces.first().map(|(pace, _)| *pace);
        deadline.into_iter().chain(pace).min()
    }

    pub(super) fn insert(&mut self, call: u64, pending: Pending) {
        self.deadlines.insert((pending.deadline, call));
        self.asides += usize::from(pending.subject == Subject::Aside);
        self.result_bytes += pending.held();
        self.entries.insert(call, pending);
    }

    pub(super) fn get(&self, call: u64) -> Option<&Pending> {
        self.entries.get(&call)
    }

    pub(super) fn get_mut(&mut self, call: u64) -> Option<&mut Pending> {
        self.entries.get_mut(&call)
    }

    /// Pauses a call between two legs.
    pub(super) fn pause(&mut self, call: u64, pause: Pause) {
        let Some(pending) = self.entries.get_mut(&call) else {
            return;
        };
        self.legs.remove(&pending.wire);
        if let Pause::Pace { until, .. } = &pause {
            self.paces.insert((*until, call));
        }
        self.result_bytes -= pending.held();
        pending.leg = Leg::Paused(pause);
        self.result_bytes += pending.held();
    }

    /// The frame of the next leg of a call, request `wire`; `None` if the call cannot be said again.
    pub(super) fn next_frame(&mut self, call: u64, wire: u64, meta: &Meta) -> Option<Vec<u8>> {
        let pending = self.entries.get_mut(&call)?;
        let kept = pending.kept.as_deref_mut()?;
        self.result_bytes -= kept.held;
        match &mut pending.leg {
            Leg::Paused(Pause::Inputs {
                wanted,
                state,
                held,
            }) => {
                let answers = wanted
                    .iter()
                    .filter_map(|wanted| Some((wanted.key.as_str(), wanted.answer.as_ref()?)));
                let responses = wire::input_responses(answers);
                kept.held = *held + responses.len();
                kept.more = Continuation {
                    responses: Some(responses),
                    state: state.take(),
                };
            }
            Leg::Paused(Pause::Pace { state, held, .. }) => {
                kept.held = *held;
                kept.more = Continuation {
                    responses: None,
                    state: state.take(),
                };
            }
            // The leg was refused without being carried out: it is said again as it was.
            _ => {}
        }
        self.result_bytes += kept.held;
        let meta = kept.meta.as_ref().unwrap_or(meta);
        Some(kept.request.frame(wire, meta, &kept.more))
    }

    /// The next leg of a call is queued: request `wire`, in the frame of this number.
    pub(super) fn begin_leg(&mut self, call: u64, wire: u64, frame: u64, may_repeat: bool) {
        if let Some(pending) = self.entries.get_mut(&call) {
            forget_legs(&mut self.legs, &mut self.paces, call, pending);
            self.result_bytes -= pending.held();
            pending.wire = wire;
            pending.leg = Leg::Queued { frame };
            if let Some(kept) = pending.kept.as_deref_mut()
                && !may_repeat
            {
                kept.forget_continuation();
            }
            self.result_bytes += pending.held();
            self.legs.insert(wire, call);
        }
    }

    /// Keeps `waker` for a call that has not ended; false if it has, or is not known.
    pub(super) fn wait(&mut self, call: CallId, waker: &Waker) -> bool {
        match self.entries.get_mut(&call.0) {
            Some(pending) if !matches!(pending.leg, Leg::Ended { .. }) => {
                match &mut pending.waker {
                    Some(kept) => kept.clone_from(waker),
                    none => *none = Some(waker.clone()),
                }
                true
            }
            _ => false,
        }
    }

    /// How many rounds of a call are over.
    pub(super) fn rounds(&self, id: u64) -> u32 {
        self.entries.get(&id).map_or(0, |pending| pending.rounds)
    }

    /// The end of a call, if it ended and was not taken before.
    pub(super) fn take(&mut self, call: CallId) -> Option<Result<Reply, CallError>> {
        if !matches!(self.entries.get(&call.0)?.leg, Leg::Ended { .. }) {
            return None;
        }
        match self.entries.remove(&call.0)?.leg {
            Leg::Ended { result, held } => {
                self.result_bytes -= held;
                Some(result)
            }
            _ => None,
        }
    }

    /// Drops a call that has not ended.
    pub(super) fn forget(&mut self, call: CallId) {
        if let Some(pending) = self.entries.remove(&call.0) {
            self.deadlines.remove(&(pending.deadline, call.0));
            self.result_bytes -= pending.held();
            forget_legs(&mut self.legs, &mut self.paces, call.0, &pending);
        }
    }

    /// The call whose leg under way, or last one, has this id.
    fn of_leg(&self, wire: u64) -> Option<(u64, &Pending)> {
        let call = self.legs.get(&wire).copied().unwrap_or(wire);
        let pending = self.entries.get(&call)?;
        (pending.wire == wire).then_some((call, pending))
    }

    /// The call whose request `wire` the server has, or may have.
    pub(super) fn in_flight(&self, wire: u64) -> Option<(u64, &Pending)> {
        self.of_leg(wire)
            .filter(|(_, pending)| pending.is_in_flight())
    }

    /// The call whose request `wire` the transport has.
    pub(super) fn handed(&self, wire: u64) -> Option<(u64, &Pending)> {
        self.of_leg(wire)
            .filter(|(_, pending)| matches!(pending.leg, Leg::Handed { .. }))
    }

    pub(super) fn dispatched(&mut self, wire: u64) {
        self.advance(wire, Leg::Dispatched);
    }

    /// Moves a queued leg on.
    pub(super) fn advance(&mut self, wire: u64, to: Leg) {
        let call = self.legs.get(&wire).copied().unwrap_or(wire);
        if let Some(pending) = self.entries.get_mut(&call)
            && pending.wire == wire
            && matches!(pending.leg, Leg::Queued { .. })
        {
            pending.leg = to;
        }
    }

    /// Calls that have not ended, in no order.
    pub(super) fn open(&self) -> Vec<u64> {
        self.deadlines.iter().map(|(_, id)| *id).collect()
    }

    /// Ends a call that has not ended; tells what is left of it. `frame_bytes` is the length of the frame that a result
    /// is a slice of.
    pub(super) fn end(
        &mut self,
        id: u64,
        frame_bytes: usize,
        result: impl FnOnce(Left, Duration) -> Result<Reply, CallError>,
    ) -> Option<Left> {
        let pending = self.entries.get_mut(&id)?;
        let left = Left::of(pending)?;
        self.deadlines.remove(&(pending.deadline, id));
        if pending.wire != id || matches!(pending.leg, Leg::Paused(_)) {
            forget_legs(&mut self.legs, &mut self.paces, id, pending);
        }
        self.result_bytes -= pending.held();
        pending.kept = None;
        if pending.subject == Subject::Aside {
            self.asides -= 1;
            self.entries.remove(&id);
            return Some(left);
        }
        let result = result(left, pending.bound());
        let held = result
            .as_ref()
            .map_or(0, |_| frame_bytes + ENTRY_OVERHEAD_BYTES);
        self.result_bytes += held;
        pending.leg = Leg::Ended { result, held };
        self.ready.extend(pending.waker.take());
        Some(left)
    }

    /// Ends every call whose deadline passed.
    pub(super) fn expire(&mut self, now: Time) -> Vec<(u64, Left)> {
        let mut expired = Vec::new();
        while let Some((deadline, id)) = self.deadlines.first().copied()
            && deadline <= now
        {
            let ended = self.end(id, 0, |left, timeout| Err(left.timeout(timeout)));
            match ended {
                Some(left) => expired.push((id, left)),
                // A deadline without a call cannot be; dropping it keeps the loop finite whatever happens.
                None => drop(self.deadlines.pop_first()),
            }
        }
        expired
    }

    /// Ends every call with the connection's reason.
    pub(super) fn close(&mut self, reason: &CloseReason) {
        for id in self.open() {
            self.end(id, 0, |left, _| Err(left.closed(reason.clone())));
        }
    }

    /// Keeps the newest progress of the call whose token this is.
    pub(super) fn progress(&mut self, now: Time, params: &Json) {
        let picked = params.pick(["progressToken", "progress", "total", "message"]);
        let Ok([token, progress, total, message]) = picked else {
            return;
        };
        let token = token.and_then(|token| token.as_str().parse().ok());
        let progress = progress.and_then(|progress| progress.as_str().parse().ok());
        let (Some(token), Some(progress)) = (token, progress) else {
            return;
        };
        let Some((call, _)) = self.in_flight(token) else {
            return;
        };
        let Some(pending) = self.entries.get_mut(&call) else {
            return;
        };
        let later = now.after(pending.timeout).min(pending.total);
        if later > pending.deadline {
            self.deadlines.remove(&(pending.deadline, call));
            self.deadlines.insert((later, call));
            pending.deadline = later;
        }
        pending.progress = Some(Progress {
            progress,
            total: total.and_then(|total| total.as_str().parse().ok()),
            message: message.and_then(|message| message.string().map(|text| cut(&text).to_owned())),
        });
        self.ready.extend(pending.waker.take());
    }
}

/// Drops what a call of several rounds keeps beside its entry.
fn forget_legs(
    legs: &mut HashMap<u64, u64, BuildHasherDefault<IdHasher>>,
    paces: &mut BTreeSet<(Time, u64)>,
    call: u64,
    pending: &Pending,
) {
    legs.remove(&pending.wire);
    if let Leg::Paused(Pause::Pace { until, .. }) = &pending.leg {
        paces.remove(&(*until, call));
    }
}

impl Pending {
    /// Which of its bounds the deadline is.
    fn bound(&self) -> Duration {
        if self.deadline < self.total {
            self.timeout
        } else {
            self.whole
        }
    }

    /// Bytes that a pause, or what must be said again, keeps alive (L8).
    fn held(&self) -> usize {
        let pause = match &self.leg {
            Leg::Paused(pause) => pause.held(),
            _ => 0,
        };
        pause + self.kept.as_ref().map_or(0, |kept| kept.held)
    }

    pub(super) fn before(&self) -> Before {
        match (self.rounds, self.again) {
            (0, false) => Before::Nothing,
            (0, true) => Before::Refused,
            _ => Before::Asked,
        }
    }

    /// Whether the server has the request, or may have it.
    pub(super) fn is_in_flight(&self) -> bool {
        match &self.leg {
            Leg::Dispatched => true,
            Leg::Handed { handover, .. } => handover.is_begun(),
            _ => false,
        }
    }
}

/// The start of a progress report's text.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_PROGRESS_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

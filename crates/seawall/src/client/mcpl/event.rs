//! What happens on a connection, for whoever watches many of them: bounded in size and in number.
//!
//! **Invariant:** remote text is redacted, then cut, and hidden.
//! **Invariant:** a server that does much costs who watches no more than `BURST` events at once and one each
//! `REFILL`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::client::secrets::Secrets;
use crate::events::{Hidden, shown_message};
use crate::mcpl::grant::Change;
use crate::mcpl::manifest::Receipt;
use crate::mcpl::session::{Defect, Notice, Outcome, Policy};

/// So many events may come at once.
pub(super) const BURST: u32 = 128;
/// How long it takes until another may come.
const REFILL: Duration = Duration::from_millis(20);

/// Something that happened on a connection of MCP Live. Remote text in it is redacted, cut, and hidden.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum McplEvent {
    /// The policy exchange came to an end.
    Policy(Policy),
    /// What is granted changed.
    Grant(Change),
    /// An event was pushed.
    Pushed(Said),
    /// A message came in on a channel.
    Message(Said),
    /// The server's channels changed.
    Channels,
    /// What the server offers changed.
    Manifest(Receipt),
    /// The server did something that it should not.
    Defect(Defect),
    /// So many events were withheld, as there were too many of this server.
    Withheld(u64),
}

/// What a server said unasked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Said {
    /// The feature set of an event, the channel of a message.
    pub from: Hidden,
    /// The id of it.
    pub id: Hidden,
    /// Who wrote a message, as the server says.
    pub author: Option<Hidden>,
    /// What it says: its texts, and what stands for everything else in it.
    pub text: Hidden,
    /// What became of it.
    pub outcome: Outcome,
}

/// Where events go: called under no lock, by whoever sees it happen.
pub(crate) type Sink = Arc<dyn Fn(McplEvent) + Send + Sync>;

/// Tells a sink what happens on one connection.
pub(super) struct Teller {
    sink: Sink,
    state: Mutex<State>,
}

struct State {
    secrets: Secrets,
    left: u32,
    since: Instant,
    withheld: u64,
}

impl Teller {
    pub(super) fn new(sink: Sink, secrets: Secrets, now: Instant) -> Self {
        Self {
            sink,
            state: Mutex::new(State {
                secrets,
                left: BURST,
                since: now,
                withheld: 0,
            }),
        }
    }

    pub(super) fn tell(&self, notice: &Notice, now: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // What is granted is known to the end; there is little of it.
        let always = matches!(notice, Notice::Policy(_) | Notice::Grant(_));
        if !always && !state.may_tell(now) {
            state.withheld += 1;
            return;
        }
        let withheld = std::mem::take(&mut state.withheld);
        let event = state.event(notice);
        drop(state);
        if withheld > 0 {
            (self.sink)(McplEvent::Withheld(withheld));
        }
        (self.sink)(event);
    }
}

impl State {
    fn may_tell(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.since).as_millis();
        let more = u32::try_from(passed / REFILL.as_millis()).unwrap_or(u32::MAX);
        if more > 0 {
            self.left = self.left.saturating_add(more).min(BURST);
            self.since = now;
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    fn event(&mut self, notice: &Notice) -> McplEvent {
        let redactor = self.secrets.redactor();
        let shown = |text: &str| shown_message(text, redactor);
        match notice {
            Notice::Policy(policy) => McplEvent::Policy(*policy),
            Notice::Grant(change) => McplEvent::Grant(change.clone()),
            Notice::Pushed { event, outcome } => McplEvent::Pushed(Said {
                from: shown(event.feature_set()),
                id: shown(event.event_id()),
                author: None,
                text: shown(&event.content().shown()),
                outcome: outcome.clone(),
            }),
            Notice::Message { message, outcome } => McplEvent::Message(Said {
                from: shown(message.channel_id()),
                id: shown(message.message_id()),
                author: Some(shown(&message.author().name)),
                text: shown(&message.content().shown()),
                outcome: outcome.clone(),
            }),
            Notice::Channels => McplEvent::Channels,
            Notice::Manifest(receipt) => McplEvent::Manifest(receipt.clone()),
            Notice::Defect(Defect::Undeclared {
                feature_set,
                capability,
            }) => McplEvent::Defect(Defect::Undeclared {
                feature_set: shown(feature_set.reveal()),
                capability: *capability,
            }),
            Notice::Defect(defect) => McplEvent::Defect(defect.clone()),
        }
    }
}

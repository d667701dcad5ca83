//! Who calls: an envelope that bounds what, and a run whose calls to one server take turns (F2, F4).

use std::fmt;
use std::sync::Arc;

use super::call::Who;
use super::turns::Turns;
use super::{Host, HostCall};
use crate::client::Arguments;
use crate::flows::Flow;
use crate::policy::Envelope;

/// One run of a caller of a host: what it may call, and its calls to one server one after the other. Clones share the run.
///
/// A flow is called only if the envelope covers every capability that it declares. Where the declaration says
/// [`OnConflict::Serialize`](crate::policy::OnConflict::Serialize), which it does unless the server's entry says
/// `"onConflict": "allow"`, a call waits until every earlier one of the run to the same server has ended; the wait counts
/// against its deadline. Earlier is what was polled first. Another server, and another run, are never waited for.
///
/// A call has ended when its future has, or was dropped. What was abandoned after it was sent may still be carried out
/// while the next call runs: nobody can know. A call that is polled once and then neither polled nor dropped holds up the
/// run's calls to that server until their deadlines.
///
/// # Drop behavior
/// It is a clone of the [`Host`] too, as is each of its calls that has not ended.
#[derive(Clone)]
pub struct Caller(Arc<Run>);

pub(super) struct Run {
    pub(super) host: Host,
    pub(super) envelope: Envelope,
    pub(super) turns: Turns,
}

impl Host {
    /// Begins a run of a caller that may use what `envelope` covers.
    #[must_use]
    pub fn caller(&self, envelope: Envelope) -> Caller {
        Caller(Arc::new(Run {
            host: self.clone(),
            envelope,
            turns: Turns::default(),
        }))
    }
}

impl Caller {
    /// Calls a published flow, by its name, with a JSON object. Nothing happens before the call is polled.
    ///
    /// # Errors
    /// The future's. `capability_refused` (`not_sent`): the envelope does not cover what the flow declares; it is checked
    /// as the call begins, and again after it has waited for its turn. `timeout` (`not_sent`): its turn did not come
    /// within its deadline. Else as [`Host::call`].
    pub fn call(&self, flow: &str, arguments: impl Into<Arguments>) -> HostCall {
        HostCall::new(Who::Run(Arc::clone(&self.0)), flow, arguments.into())
    }

    /// The published flows that the caller may call, at this moment, server by server.
    #[must_use]
    pub fn tools(&self) -> Vec<Flow> {
        let snapshot = self.0.host.tools();
        let may_call = |flow: &&Flow| {
            let refused = self.0.envelope.first_refused(flow.capabilities());
            refused.is_none()
        };
        snapshot.flows().filter(may_call).cloned().collect()
    }

    /// What the caller may use.
    #[must_use]
    pub fn envelope(&self) -> &Envelope {
        &self.0.envelope
    }

    /// How many servers the run keeps a line for.
    #[cfg(test)]
    pub(super) fn lines(&self) -> usize {
        self.0.turns.len()
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("envelope", &self.0.envelope)
            .finish_non_exhaustive()
    }
}

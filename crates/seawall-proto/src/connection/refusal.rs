//! What a handshake request that was not answered with a result means: for its era, for the session (S3, S4).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{
    Binding, CloseReason, Connection, Era, ExchangeFault, HeldUp, Obstacle, RevisionRefusal,
    Session, Stage, Time,
};
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION};
use crate::mcp::Revision;
use crate::mcp::revision::has_revision_form;

/// A refusal lists at most so many of the server's revisions.
const MAX_OFFERED_REVISIONS: usize = 16;
/// A busy server is left alone at least this long, whatever it says.
const SHORTEST_REST: Duration = Duration::from_millis(100);

impl Connection {
    /// The verdict on a revision; texts that are not revisions are left out (S1).
    pub(super) fn refused(
        &self,
        proposed: Revision,
        mut offered: Vec<String>,
        error: Option<&ErrorObject>,
    ) -> CloseReason {
        offered.retain(|text| has_revision_form(text));
        offered.truncate(MAX_OFFERED_REVISIONS);
        CloseReason::Revision(Arc::new(RevisionRefusal {
            proposed,
            pinned: self.config.pin.is_some() || self.config.era == Era::Modern,
            offered,
            code: error.map(|error| error.code),
            data: error.and_then(|error| error.data.clone()),
        }))
    }

    /// A request of the handshake was answered with an error.
    pub(super) fn handshake_refused(
        &mut self,
        now: Time,
        deadline: Option<Time>,
        error: &ErrorObject,
    ) {
        let step = self.step();
        let code = error.code;
        let status = self.exchange.status.filter(|status| *status >= 400);
        let reason = CloseReason::HandshakeRefused { step, code, status };
        let modern = self.is_modern();
        match &self.stage {
            Stage::Ready(ready) if !ready.is_renewing() => self.relist_failed(reason),
            Stage::Discovering { .. } | Stage::Listing(_)
                if modern && code == UNSUPPORTED_PROTOCOL_VERSION =>
            {
                let proposed = Revision::V2026_07_28;
                let offered = offered_by(error);
                if !self.exchange.retried && offered.iter().any(|one| one == proposed.as_str()) {
                    // It names the very revision that was asked for: once more, as the revision wants it.
                    self.exchange.retried = true;
                    self.say_exchange_again(now, deadline);
                } else {
                    let reason = self.refused(proposed, offered, Some(error));
                    self.close(reason);
                }
            }
            Stage::Discovering { .. }
                if code == METHOD_NOT_FOUND && self.exchange.status == Some(404) =>
            {
                // Only a modern server tells an unknown method so; this one has no discovery.
                self.undiscovered(now);
            }
            Stage::Discovering { .. } if self.config.era == Era::Auto && !error.is_modern() => {
                self.begin_initialize(now);
            }
            Stage::Initializing { .. } if code == UNSUPPORTED_PROTOCOL_VERSION => {
                let reason = self.refused(self.proposed(), offered_by(error), Some(error));
                self.close(reason);
            }
            _ => self.close(reason),
        }
    }

    /// A modern server without `server/discover`: what it offers is found out by asking for it.
    fn undiscovered(&mut self, now: Time) {
        let session = Session {
            revision: Revision::V2026_07_28,
            // Nothing is known but that it is asked for its tools.
            capabilities: Json::part_of_checked(Bytes::from_static(b"{\"tools\":{}}")),
            server_info: None,
            instructions: None,
            extension: None,
        };
        match self.agreed_on(now, session, CloseReason::Discovery) {
            Ok(stage) => self.enter(stage),
            Err(reason) => self.close(reason),
        }
    }

    /// The exchange of a handshake request brought no answer.
    pub(super) fn exchange_failed(&mut self, now: Time, fault: ExchangeFault) {
        let step = self.step();
        let deadline = self.exchange.deadline.take();
        let busy = fault.is_busy();
        // A server may close a connection that it kept in the very moment at which it is used again.
        let broke = fault.obstacle == Some(Obstacle::Lost) && fault.status.is_none();
        let again = busy || (broke && !self.exchange.broke);
        let rest = if busy {
            fault.retry_after.max(SHORTEST_REST)
        } else {
            SHORTEST_REST
        };
        let rested = now.after(rest);
        match (&self.stage, deadline) {
            // Reading a list does nothing, so it may be asked for again.
            (Stage::Listing(_) | Stage::Discovering { .. }, Some(deadline))
                if again && rested < deadline =>
            {
                self.exchange.broke |= broke;
                self.exchange.rest(rested, deadline);
            }
            (Stage::Ready(ready), Some(deadline))
                if again && rested < deadline && !ready.is_renewing() =>
            {
                self.exchange.broke |= broke;
                self.exchange.rest(rested, deadline);
            }
            (Stage::Ready(ready), _) if !ready.is_renewing() => {
                self.relist_failed(CloseReason::Exchange { step, fault });
            }
            (Stage::Discovering { .. }, _)
                if self.config.era == Era::Auto && fault.status.is_some_and(is_era_evidence) =>
            {
                self.exchange_took(now);
                self.begin_initialize(now);
            }
            _ => self.close(CloseReason::Exchange { step, fault }),
        }
    }

    /// The handshake request under way was not answered in time.
    pub(super) fn exchange_expired(&mut self, now: Time) {
        let step = self.step();
        let limit_ms = self.config.limits.handshake_timeout.as_millis();
        let timeout = match self.held_up() {
            Some(held_up) => CloseReason::HandshakeUnsent {
                step,
                limit_ms,
                held_up,
            },
            None => CloseReason::HandshakeTimeout { step, limit_ms },
        };
        self.exchange.deadline = None;
        self.let_go_of_exchange();
        match &self.stage {
            Stage::Discovering { .. } if self.may_be_silent() => {
                self.exchange_took(now);
                self.begin_initialize(now);
            }
            Stage::Ready(ready) if !ready.is_renewing() => self.relist_failed(timeout),
            _ => self.close(timeout),
        }
    }

    /// What the handshake request under way waits for, if the server does not have it.
    fn held_up(&self) -> Option<HeldUp> {
        let begun = self.exchange.is_dispatched();
        if self.exchange.is_authorising() {
            Some(HeldUp::Credentials { refused: begun })
        } else if begun {
            None
        } else if self.introducing.is_some() {
            Some(HeldUp::Introduction)
        } else {
            Some(HeldUp::Transport)
        }
    }

    /// Whether silence may be the answer of a legacy server to the probe. Over HTTP such a one refuses it with a status; what
    /// says nothing there is slow, or was not even asked yet.
    ///
    /// Source: 2026-07-28, `basic/versioning`, "Backward Compatibility".
    pub(super) fn may_be_silent(&self) -> bool {
        self.config.era == Era::Auto && self.config.binding == Binding::Stream
    }

    /// Whether a refusal of this status is left to the end of its exchange: whatever its body says, it is about our
    /// credentials, our pace or an outage, and no answer to the request.
    pub(super) fn is_refused_by_status(&self, key: u64, status: u16) -> bool {
        matches!(status, 401 | 403 | 407)
            || (self.exchange.is_open(key) && status >= 400 && !is_era_evidence(status))
            // How long it wants to be left alone is told by the end of the exchange.
            || (matches!(status, 429 | 503) && (self.is_listen(key) || self.reads_a_list(key)))
    }

    /// Whether request `key` is one for a list, which may be asked for again (O4).
    fn reads_a_list(&self, key: u64) -> bool {
        let kept = self
            .calls
            .in_flight(key)
            .and_then(|(_, pending)| pending.kept.as_ref());
        kept.is_some_and(|kept| kept.request.method().ends_with("/list"))
    }
}

/// Whether this status of a probe says that the server is not a modern one. A refusal of our credentials, of our pace, or
/// an outage says nothing about it.
fn is_era_evidence(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 401 | 403 | 407 | 408 | 429)
}

/// The revisions that an error of -32022 names.
fn offered_by(error: &ErrorObject) -> Vec<String> {
    let supported = error
        .data
        .as_ref()
        .and_then(|data| data.member("supported"));
    supported
        .iter()
        .flat_map(Json::elements)
        .filter_map(|revision| revision.string().map(|text| text.into_owned()))
        .filter(|text| has_revision_form(text))
        .take(MAX_OFFERED_REVISIONS)
        .collect()
}

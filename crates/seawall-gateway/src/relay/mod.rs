//! What a server asks and says while it works for a client, carried to that client, across eras.
//!
//! A legacy client is asked by requests, while its own request is under way. A client of 2026-07-28 is asked by a result
//! that wants another round: a server of that revision gets the answers with the client's next request, and nothing is kept
//! here; the call of a legacy server is [parked](Parked) meanwhile, and goes on with that request.
//!
//! Source: 2026-07-28, `basic/patterns/mrtr`; 2025-11-25, `client/elicitation`, `client/sampling`, `client/roots`.
//!
//! **Invariant:** what is asked or told for one client goes to no other.
//! **Invariant:** a client is asked for what it declared only; a server is told of nothing that its client did not declare.

mod carry;
mod levels;
mod parked;
mod told;
mod visits;
mod wiring;

#[cfg(test)]
mod tests;

pub(crate) use parked::not_parked;
pub(crate) use wiring::{Wiring, Work};

use levels::Levels;
use parked::Parked;
use seawall_proto::jsonrpc::ErrorObject;

use crate::service::{Answer, Exchange, Request, Session};

/// What is kept of clients between their requests.
#[derive(Debug, Default)]
pub(crate) struct Relays {
    parked: Parked,
    levels: Levels,
}

impl Relays {
    /// Serves a request by the host's that `begin` makes, or by the one that the request's state stands for.
    pub(crate) async fn carry<F>(
        &self,
        request: &Request,
        exchange: &Exchange,
        begin: impl FnOnce(Wiring) -> F,
    ) -> Answer
    where
        F: Future<Output = Result<Work, ErrorObject>>,
    {
        carry::carry(&self.parked, &self.levels, request, exchange, begin).await
    }

    /// Answers `logging/setLevel`.
    pub(crate) fn set_level(&self, request: &Request, session: Option<&Session>) -> Answer {
        self.levels.set(request, session)
    }

    /// Gives up the calls that wait for their clients' answers.
    pub(crate) fn end(&self) {
        self.parked.end();
    }
}

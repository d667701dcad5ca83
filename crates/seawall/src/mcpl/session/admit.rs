//! The one choke point: whether a message of the server is admitted, and whether one of the host's may be sent.

use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;
use serde_json::json;

use super::exchange::Standing;
use super::{Session, unknown_method};
use crate::mcpl::capability::{Capability, Direction, Need, needed_for};
use crate::mcpl::grant::{CAPABILITY_DENIED, Shortfall};

/// The proof that a message was admitted: only [`Session::admit`] makes one, and nothing is done with a message without.
#[derive(Debug)]
pub(super) struct Admitted(());

/// What becomes of a message that is not refused.
#[derive(Debug)]
pub(super) enum Admission {
    /// It is taken now.
    Now(Admitted),
    /// It waits for the receipt, by which it would be admitted.
    Later,
}

impl<K: Clone + PartialEq> Session<K> {
    /// Whether a message of the server is admitted, as things are at this moment (§5.4).
    pub(super) fn admit(
        &self,
        method: &str,
        params: Option<&Json>,
    ) -> Result<Admission, ErrorObject> {
        let need = needed_for(Direction::FromServer, method, params).ok_or_else(unknown_method)?;
        if need == Need::Nothing || self.in_force.admits(need).is_ok() {
            return Ok(Admission::Now(Admitted(())));
        }
        match self.standing {
            // Whoever speaks before it was heard what it is granted is not turned away for that.
            Standing::New | Standing::Asking(_) if self.wanted.admits(need).is_ok() => {
                Ok(Admission::Later)
            }
            _ => Err(match self.in_force.admits(need) {
                Err(shortfall) => denied_by(shortfall),
                Ok(()) => unknown_method(),
            }),
        }
    }

    /// Whether a message of the host's may be sent now: what a server was not granted is not sent to it.
    pub(super) fn may_send(&self, method: &str) -> Result<(), Option<Capability>> {
        let need = needed_for(Direction::ToServer, method, None).ok_or(None)?;
        match self.in_force.admits(need) {
            Ok(()) => Ok(()),
            Err(shortfall) => Err(shortfall.capability()),
        }
    }
}

/// The error of a message that the grant does not cover (§6.6).
fn denied_by(shortfall: Shortfall) -> ErrorObject {
    let Some(capability) = shortfall.capability() else {
        let why = "Capability denied: requires host-owned authority";
        return ErrorObject::new(CAPABILITY_DENIED, why, None);
    };
    let data = json!({ "capability": capability.as_str() });
    ErrorObject::new(CAPABILITY_DENIED, "Capability denied", Json::of(&data).ok())
}

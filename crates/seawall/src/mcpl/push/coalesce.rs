//! The member `coalesce`, as far as a host needs it that does not coalesce.
//!
//! Source: RFC-006, sections 10 and 13.

use seawall_proto::Json;
use seawall_proto::framing::Kind;

use crate::mcpl::wire::{Fault, Invalid, boolean, members, present, required};

/// The longest key of a subject, in bytes.
const MAX_KEY_BYTES: usize = 256;

/// The message that carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mcpl) enum Lane {
    /// `push/event`
    Push,
    /// A message of `channels/incoming`.
    Incoming,
}

/// Whether the message may be taken as an ordinary one.
pub(in crate::mcpl) fn check(coalesce: &Json, lane: Lane) -> Result<(), Invalid> {
    let names = ["key", "channelId", "deferred", "retract", "data"];
    let [key, channel, deferred, retract, data] = members(coalesce, "coalesce", names)?;
    let key_field = "coalesce.key";
    let key = required(key_field, key)?;
    let key = key.string().ok_or(Invalid::new(key_field, Fault::Kind))?;
    match key.len() {
        0 => return Err(Invalid::new(key_field, Fault::Empty)),
        bytes if bytes > MAX_KEY_BYTES => return Err(Invalid::new(key_field, Fault::TooLong)),
        _ => {}
    }
    // On a channel's message neither of them has a place; on an event both need what is not offered.
    let fault = match lane {
        Lane::Push => Fault::NotOffered,
        Lane::Incoming => Fault::Contradiction,
    };
    let deferred = flag("coalesce.deferred", deferred)?;
    let retract = flag("coalesce.retract", retract)?;
    if present(channel).is_some() {
        return Err(Invalid::new("coalesce.channelId", fault));
    }
    if deferred && retract {
        return Err(Invalid::new("coalesce.retract", Fault::Contradiction));
    }
    if deferred {
        return Err(Invalid::new("coalesce.deferred", fault));
    }
    if data.is_some() {
        return Err(Invalid::new("coalesce.data", Fault::Contradiction));
    }
    Ok(())
}

fn flag(field: &'static str, member: Option<Json>) -> Result<bool, Invalid> {
    match member {
        None => Ok(false),
        Some(member) if member.kind() == Kind::Null => Ok(false),
        Some(member) => boolean(&member).ok_or(Invalid::new(field, Fault::Kind)),
    }
}

//! Channels: places that a server brings messages from and takes messages to (SPEC, section 14; RFC-011).
//!
//! * [`Descriptor`] is what a server says of one channel, checked.
//! * [`Registry`] are the channels of one connection; each descriptor is judged for itself, so that nothing is let in with
//!   another one.
//! * [`receive`] takes a batch of messages apart, each checked against the channels that are registered at that moment.
//! * [`Publication`] asks for a message to be delivered, and its [`Delivery`] is what became of it.
//!
//! **Invariant:** a message of a channel that is not registered is never taken.
//! **Invariant:** a thread is named only to a channel that declared that it honours one.

mod descriptor;
mod incoming;
mod params;
mod publish;
mod registry;

#[cfg(test)]
mod tests;

use std::fmt;

pub use descriptor::{ChannelCapabilities, Descriptor, Direction, MAX_DESCRIPTOR_BYTES, Target};
pub use incoming::{Author, Incoming, MAX_MESSAGES, MessageResult, Received, receive, results};
pub use params::{Intent, TypingOp, acknowledge, chunk, close, complete, open, typing};
pub use publish::{Delivery, Place, Publication, PublishError, text_blocks};
pub use registry::{Changed, Channel, ChannelState, MAX_CHANNELS, Registry, Verdict, verdicts};

/// Why a descriptor or a message is not taken. The word goes to the server (`reason`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A member is missing, is not what it has to be, or passes its bound.
    Invalid,
    /// The operator does not allow it.
    Denied,
    /// The connection has as many channels as it may have.
    TooMany,
    /// The same id stands twice in one request.
    Repeated,
    /// The channel is not registered.
    UnknownChannel,
    /// The channel is declared for messages from the host only.
    Outbound,
    /// The channel is declared to have no threads, and the message stands in one.
    ThreadOnRoot,
    /// There is nothing in it that a reader would see.
    EmptyContent,
    /// It was received before.
    Duplicate,
    /// Nobody here takes it.
    NotTaken,
    /// Its `coalesce` is malformed, or has a member that has no place on a message.
    Coalesce,
}

impl Reason {
    /// The reason as the wire has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Denied => "capability_denied",
            Self::TooMany => "too_many_channels",
            Self::Repeated => "repeated_in_request",
            Self::UnknownChannel => "unknown_channel",
            Self::Outbound => "channel_not_permitted",
            Self::ThreadOnRoot => "thread_on_root_channel",
            Self::EmptyContent => "empty_content",
            Self::Duplicate => "duplicate",
            Self::NotTaken => "not_taken",
            Self::Coalesce => "coalesce_invalid",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

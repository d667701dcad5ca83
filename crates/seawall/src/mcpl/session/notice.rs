//! What is told of a connection, to whoever listens.

use std::sync::Arc;

use super::exchange::Policy;
use crate::events::Hidden;
use crate::mcpl::callbacks::Reception;
use crate::mcpl::capability::Capability;
use crate::mcpl::channels::Incoming;
use crate::mcpl::grant::Change;
use crate::mcpl::hooks::Position;
use crate::mcpl::manifest::Receipt;
use crate::mcpl::push::PushEvent;

/// Something that happened. What a server wrote is in it as it is, and hidden from Debug.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Notice {
    /// The policy exchange came to an end.
    Policy(Policy),
    /// What is granted changed.
    Grant(Change),
    /// An event was pushed, and taken or not.
    Pushed {
        /// The event.
        event: Arc<PushEvent>,
        /// What became of it.
        outcome: Outcome,
    },
    /// A message came in on a channel, and was taken or not.
    Message {
        /// The message.
        message: Arc<Incoming>,
        /// What became of it.
        outcome: Outcome,
    },
    /// The server's channels changed.
    Channels,
    /// What the server offers changed; told once per change, however much of it changed.
    Manifest(Receipt),
    /// The server did something that it should not.
    Defect(Defect),
}

/// What became of something that a server sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It came before.
    Duplicate,
    /// Whoever takes such things was asked.
    Received(Reception),
}

/// Something that a server should not do. It was refused, dropped or passed over as the specification says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Defect {
    /// It does not know the policy exchange; the configuration takes it all the same.
    #[error(
        "it does not know featureSets/update; \"mcplPolicy\": \"legacy\" takes what it is granted as accepted"
    )]
    Before05,
    /// It used a capability that its feature set does not declare.
    #[error("a feature set used {capability}, which it does not declare")]
    Undeclared {
        /// The feature set, by the server's name.
        feature_set: Hidden,
        /// The capability.
        capability: Capability,
    },
    /// A notification was dropped: what it needs is not granted, it has to be a request, or it is malformed.
    #[error("a notification was dropped")]
    Dropped,
    /// Channels that it announced by a notification were not taken; a request would have told it.
    #[error("{0} channels that it announced were not taken")]
    ChannelsRefused(usize),
    /// It announces changes of what it offers faster than they are looked at.
    #[error("it announces changes of its manifest faster than they are fetched")]
    Announcements,
    /// What it says that it offers cannot be read; what it said before stands.
    #[error("its manifest cannot be read")]
    Manifest,
    /// It announced a change and does not say what it offers now.
    #[error("it does not answer mcpl/manifest")]
    NoManifest,
    /// What it answered to a hook is malformed, or of a feature set that is not enabled.
    #[error("its answer to context/beforeInference is not usable")]
    Contribution,
    /// It added to a context where it may not.
    #[error("it added to a context at a position that it is not granted")]
    Injection {
        /// Where.
        position: Position,
    },
    /// It adds to contexts at all, which is to go away with MCP Live 0.6. Told once.
    #[error("it adds to contexts, which is deprecated")]
    Deprecated,
    /// It did not answer a hook, or not in time; the turn went on without it.
    #[error("it did not answer context/beforeInference")]
    Hook,
    /// It asked for inference while a hook waited for it.
    #[error("it asked for inference from within a hook")]
    Loop,
    /// What it answered to a request of the host's cannot be used.
    #[error("its answer to {0} cannot be used")]
    Answer(&'static str),
}

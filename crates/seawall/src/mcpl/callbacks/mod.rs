//! What the program around this library decides for servers of MCP Live: traits, gathered in [`Callbacks`].
//!
//! What nobody decides is refused, and what nobody takes is not even offered to a server. Each question is bounded: one that
//! is not answered in time, or whose answer panics, is answered as if the program had said no.
//!
//! **Invariant:** nothing here grants anything: whoever is asked is asked about what was admitted already.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::capability::{Capability, CapabilitySet};
use super::channels::Incoming;
use super::inference::{InferenceRequest, Inferred, Model};
use super::push::PushEvent;
use super::tags::{Rules, Tags};
use crate::inputs::BoxFuture;

/// How long [`Wake`] has to decide; nothing wakes then.
pub const WAKE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long [`Inbox`] has to take something; it is not taken then.
pub const INBOX_TIMEOUT: Duration = Duration::from_secs(10);
/// How long all messages of one batch have; those after it are not taken.
pub const BATCH_TIMEOUT: Duration = Duration::from_secs(30);
/// How long [`Models`] have to say which model it is; the server is refused then.
pub const MODEL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long [`Inference`] has; the server is refused then.
pub const INFERENCE_TIMEOUT: Duration = Duration::from_secs(300);

/// Who decides and takes what. The default is nobody; clones share them.
#[derive(Clone)]
pub struct Callbacks {
    pub(crate) inbox: Option<Arc<dyn Inbox>>,
    pub(crate) wake: Option<Arc<dyn Wake>>,
    pub(crate) inference: Option<Arc<dyn Inference>>,
    pub(crate) models: Option<Arc<dyn Models>>,
    pub(crate) treatments: Arc<Rules<String>>,
}

/// Takes what servers push, and the messages of their channels. Without one, neither is offered to a server.
pub trait Inbox: Send + Sync {
    /// Takes it, or not: soon, within [`INBOX_TIMEOUT`]. Its text is a server's.
    ///
    /// # Cancel safety
    /// The future is dropped when the time is over, the server takes its message back, or the connection ends. Then it counts as
    /// not taken, and the same may come again.
    fn take(&self, server: &str, delivery: Delivery) -> BoxFuture<Reception>;
}

/// Decides what may wake a model. Without one, everything may that is treated no other way.
pub trait Wake: Send + Sync {
    /// Whether this may lead to inference.
    ///
    /// # Cancel safety
    /// As [`Inbox::take`].
    fn should_wake(&self, server: &str, delivery: &Delivery) -> BoxFuture<bool>;
}

/// Runs a model for servers. Without one, inference is not offered.
pub trait Inference: Send + Sync {
    /// What the model says; `None` refuses. Pieces for a request that [streams](InferenceRequest::stream) go to `chunks`.
    ///
    /// # Cancel safety
    /// The future is dropped when the time is over, the server takes its request back, or the connection ends.
    fn infer(
        &self,
        server: &str,
        request: InferenceRequest,
        chunks: Chunks,
    ) -> BoxFuture<Option<Inferred>>;

    /// Whether pieces are told: `inferenceRequest.streaming`. Default: not.
    fn streams(&self) -> bool {
        false
    }
}

/// Tells servers which model they speak to. Without one, that is not offered.
pub trait Models: Send + Sync {
    /// The model; `None` refuses.
    fn model(&self, server: &str) -> BoxFuture<Option<Model>>;
}

/// Something that was admitted, for whoever takes it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Delivery {
    /// What it is.
    pub what: Delivered,
    /// Its tags, with what the core vocabulary implies (§16.3). Claims of the server; they authorise nothing.
    pub tags: Tags,
    /// How the first matching rule of [`Callbacks::with_treatments`] wants it treated.
    pub treatment: Option<String>,
    /// Whether it may wake a model.
    pub wakes: bool,
}

/// What was admitted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Delivered {
    /// A pushed event.
    Push(Arc<PushEvent>),
    /// A message of a registered channel.
    Message(Arc<Incoming>),
}

/// Whether something was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reception {
    /// It was. The server is told the inference that it led to, or the conversation that it went into, if there is one.
    Accepted {
        /// That id.
        id: Option<String>,
    },
    /// It was not, for this reason, which the server is told.
    Refused {
        /// A word or two. Of a message of a channel the server is told `not_taken` alone. Of a message of a channel the server is told `not_taken` alone.
        reason: String,
    },
}

impl Delivery {
    pub(crate) fn new(what: Delivered, tags: Tags, treatment: Option<String>) -> Self {
        Self {
            what,
            tags,
            treatment,
            wakes: true,
        }
    }
}

impl Reception {
    /// Taken, and nothing more is said.
    #[must_use]
    pub fn accepted() -> Self {
        Self::Accepted { id: None }
    }

    /// Not taken.
    #[must_use]
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused {
            reason: reason.into(),
        }
    }

    /// Whether it was taken.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted { .. })
    }
}

/// Takes the pieces of an answer, for a server that asked for them.
#[derive(Clone)]
pub struct Chunks(Option<Arc<Tell>>);

type Tell = dyn Fn(&str) -> bool + Send + Sync;

impl Chunks {
    /// Nobody asked for pieces.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    pub(crate) fn to(tell: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    /// Tells the server the next piece. False if it was not sent: nobody asked for it, there is no room for it, or the
    /// connection ended. The whole text goes with the answer in any case.
    pub fn tell(&self, delta: &str) -> bool {
        self.0.as_ref().is_some_and(|tell| tell(delta))
    }
}

impl Default for Callbacks {
    fn default() -> Self {
        Self {
            inbox: None,
            wake: None,
            inference: None,
            models: None,
            treatments: Arc::new(Rules::new([])),
        }
    }
}

impl Callbacks {
    /// With who takes pushes and messages.
    #[must_use]
    pub fn with_inbox(mut self, inbox: Arc<dyn Inbox>) -> Self {
        self.inbox = Some(inbox);
        self
    }

    /// With who decides what wakes a model.
    #[must_use]
    pub fn with_wake(mut self, wake: Arc<dyn Wake>) -> Self {
        self.wake = Some(wake);
        self
    }

    /// With a model for servers.
    #[must_use]
    pub fn with_inference(mut self, inference: Arc<dyn Inference>) -> Self {
        self.inference = Some(inference);
        self
    }

    /// With who knows the model.
    #[must_use]
    pub fn with_models(mut self, models: Arc<dyn Models>) -> Self {
        self.models = Some(models);
        self
    }

    /// With rules that say how tagged things are treated, the first that matches first (§16.7).
    #[must_use]
    pub fn with_treatments(mut self, treatments: Rules<String>) -> Self {
        self.treatments = Arc::new(treatments);
        self
    }

    /// What is offered to servers with these: what is built in, and what somebody here takes.
    #[must_use]
    pub fn offered(&self) -> CapabilitySet {
        let streams = self.inference.as_ref().is_some_and(|one| one.streams());
        let is_offered = |capability: &Capability| match capability {
            Capability::PushEvents | Capability::ChannelsIncoming => self.inbox.is_some(),
            Capability::InferenceRequest => self.inference.is_some(),
            Capability::InferenceRequestStreaming => streams,
            Capability::ModelInfo => self.models.is_some(),
            _ => true,
        };
        Capability::ALL.iter().copied().filter(is_offered).collect()
    }
}

impl fmt::Debug for Callbacks {
    /// What is offered, not by whom.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Callbacks").field(&self.offered()).finish()
    }
}

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chunks").field(&self.0.is_some()).finish()
    }
}

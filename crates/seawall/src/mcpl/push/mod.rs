//! What a server tells unasked: `push/event` (SPEC, section 9).
//!
//! Order: [`PushEvent::of`], then the feature set and the grant, then [`Seen::first`] with the event's id, so that an event
//! that was refused may come again; then [`References::admit`](super::content::References::admit) with its content.
//!
//! Event coalescing (RFC-006) is not offered: a well-formed `coalesce` that needs none of it is ignored, and the event is an
//! ordinary one; one that is malformed, or needs what is not offered, is refused.

mod coalesce;

#[cfg(test)]
mod tests;

use std::fmt;

use seawall_proto::Json;
use serde_json::json;

use super::content::Content;
use super::tags::Tags;
use super::wire::{self, Fault, Invalid};

pub use super::wire::{MAX_SEEN, Seen};
pub(super) use coalesce::{Lane, check};

/// An event, checked. Debug shows no text of the server's but its names.
#[derive(Clone)]
pub struct PushEvent {
    feature_set: String,
    event_id: String,
    timestamp: String,
    origin: Option<Json>,
    tags: Tags,
    content: Content,
}

impl PushEvent {
    /// Reads the parameters of `push/event`. Members that are not known are ignored.
    ///
    /// # Errors
    /// A member is missing, is not what it has to be or passes its bound (SPEC, section 9.2); the content shows a reader
    /// nothing; or `coalesce` is malformed or asks for what is not offered. The answer is [`Invalid::error`].
    pub fn of(params: &Json) -> Result<Self, Invalid> {
        let names = [
            "featureSet",
            "eventId",
            "timestamp",
            "origin",
            "tags",
            "payload",
            "coalesce",
        ];
        let [
            feature_set,
            event_id,
            timestamp,
            origin,
            tags,
            payload,
            coalesce,
        ] = wire::members(params, "params", names)?;
        let payload = wire::required("payload", payload)?;
        let [content] = wire::members(&payload, "payload", ["content"])?;
        let field = "payload.content";
        let content = Content::of_blocks(field, &wire::required(field, content)?)?;
        let event = Self {
            feature_set: wire::name("featureSet", feature_set)?,
            event_id: wire::name("eventId", event_id)?,
            timestamp: wire::date("timestamp", timestamp)?,
            origin: wire::optional_object("origin", origin)?,
            tags: Tags::of(tags.as_ref()),
            content,
        };
        if let Some(coalesce) = coalesce {
            check(&coalesce, Lane::Push)?;
        }
        if event.content.is_visibly_empty() {
            return Err(Invalid::new(field, Fault::NoContent));
        }
        Ok(event)
    }

    /// The feature set that it says it belongs to; at most [`MAX_NAME_BYTES`](super::MAX_NAME_BYTES) bytes.
    #[must_use]
    pub fn feature_set(&self) -> &str {
        &self.feature_set
    }

    /// Its id: the same event told again has the same one.
    #[must_use]
    pub fn event_id(&self) -> &str {
        &self.event_id
    }

    /// When it happened, as the server wrote it; at most 64 characters, and not checked to be a date.
    #[must_use]
    pub fn timestamp(&self) -> &str {
        &self.timestamp
    }

    /// Where it comes from, as the server has it: an object of at most 16 KiB. It decides nothing.
    #[must_use]
    pub fn origin(&self) -> Option<&Json> {
        self.origin.as_ref()
    }

    /// Its tags, with what the specification's own imply. They decide nothing.
    #[must_use]
    pub fn tags(&self) -> &Tags {
        &self.tags
    }

    /// What it says.
    #[must_use]
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// What it says, to give its references their ids.
    pub fn content_mut(&mut self) -> &mut Content {
        &mut self.content
    }
}

impl fmt::Debug for PushEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushEvent")
            .field("feature_set", &self.feature_set)
            .field("event_id", &self.event_id)
            .field("content", &self.content)
            .finish_non_exhaustive()
    }
}

/// The answer to an event that was taken; with the inference that it led to, if it did (SPEC, section 9.3).
#[must_use]
pub fn accepted(inference_id: Option<&str>) -> Json {
    let mut answer = json!({ "accepted": true });
    if let (Some(id), Some(members)) = (inference_id, answer.as_object_mut()) {
        members.insert("inferenceId".to_owned(), id.into());
    }
    answer_of(&answer)
}

/// The answer to an event that was seen before.
#[must_use]
pub fn duplicate() -> Json {
    refused("duplicate")
}

/// The answer to an event that is well-formed and not taken; `reason` is the host's own word.
#[must_use]
pub fn refused(reason: &str) -> Json {
    answer_of(&json!({ "accepted": false, "reason": reason }))
}

fn answer_of(answer: &serde_json::Value) -> Json {
    Json::of(answer).unwrap_or_else(|_| Json::empty_object())
}

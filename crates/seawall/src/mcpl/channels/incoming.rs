//! Messages of channels: a batch taken apart, each message judged for itself.
//!
//! Source: SPEC, sections 14.3 and 14.5; RFC-006, sections 3.1 and 13; RFC-011, section 3.

use std::fmt;

use seawall_proto::Json;
use serde_json::{Value, json};

use super::Reason;
use super::descriptor::Target;
use super::registry::Registry;
use crate::mcpl::content::Content;
use crate::mcpl::push::{self, Lane};
use crate::mcpl::tags::Tags;
use crate::mcpl::wire::{self, Invalid, Seen};

/// So many messages may stand in one batch.
pub const MAX_MESSAGES: usize = 256;

/// A message of a channel, checked. Debug shows no text of the server's but its names.
#[derive(Clone)]
pub struct Incoming {
    channel_id: String,
    message_id: String,
    event_id: Option<String>,
    thread_id: Option<String>,
    author: Author,
    timestamp: String,
    metadata: Option<Json>,
    tags: Tags,
    content: Content,
}

/// Who wrote a message, as the server says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Author {
    /// The author's id on the platform.
    pub id: String,
    /// What they are called; the id, if the server does not say.
    pub name: String,
}

/// One message of a batch.
#[derive(Debug, Clone)]
pub struct Received {
    /// Its id, if it can be told.
    pub message_id: Option<String>,
    /// The message, or why it is not taken.
    pub outcome: Result<Incoming, Reason>,
}

/// What is told of one message (SPEC, section 14.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageResult {
    /// Its id, if it can be told.
    pub message_id: Option<String>,
    /// The conversation that it went to, if it is taken and there is one; or why it is not taken.
    pub outcome: Result<Option<String>, Reason>,
}

/// Takes the parameters of `channels/incoming` apart. Each message is checked against the channels that are registered now;
/// what was received before, by its `eventId` or else its `messageId`, is a duplicate. The grant is not looked at.
///
/// # Errors
/// `messages` is no array, or has more than [`MAX_MESSAGES`] elements; nothing is received then.
pub fn receive(
    params: &Json,
    registry: &Registry,
    seen: &mut Seen,
) -> Result<Vec<Received>, Invalid> {
    let [messages] = wire::members(params, "params", ["messages"])?;
    let messages = wire::required("messages", messages)?;
    let messages = wire::elements("messages", &messages, MAX_MESSAGES)?;
    Ok(messages
        .iter()
        .map(|json| {
            let [id] = wire::members(json, "message", ["messageId"]).unwrap_or([None]);
            let outcome = Incoming::of(json, registry).and_then(|incoming| {
                if seen.first(&incoming.occurrence()) {
                    Ok(incoming)
                } else {
                    Err(Reason::Duplicate)
                }
            });
            Received {
                message_id: wire::name("messageId", id).ok(),
                outcome,
            }
        })
        .collect())
}

/// The result of `channels/incoming`: one entry per message, in their order.
#[must_use]
pub fn results(results: &[MessageResult]) -> Json {
    let results: Vec<Value> = results
        .iter()
        .map(|result| {
            let id = &result.message_id;
            match &result.outcome {
                Ok(Some(conversation)) => {
                    json!({ "messageId": id, "accepted": true, "conversationId": conversation })
                }
                Ok(None) => json!({ "messageId": id, "accepted": true }),
                Err(reason) => {
                    json!({ "messageId": id, "accepted": false, "reason": reason.as_str() })
                }
            }
        })
        .collect();
    Json::of(&json!({ "results": results })).unwrap_or_else(|_| Json::empty_object())
}

impl Incoming {
    fn of(json: &Json, registry: &Registry) -> Result<Self, Reason> {
        let (message, coalesce) = Self::read(json).map_err(|_| Reason::Invalid)?;
        let channel = registry.get(&message.channel_id);
        let descriptor = channel.ok_or(Reason::UnknownChannel)?.descriptor();
        if !descriptor.direction().brings() {
            return Err(Reason::Outbound);
        }
        if message.thread_id.is_some() && descriptor.capabilities().target == Some(Target::Root) {
            return Err(Reason::ThreadOnRoot);
        }
        if let Some(coalesce) = coalesce {
            push::check(&coalesce, Lane::Incoming).map_err(|_| Reason::Coalesce)?;
        }
        if message.content.is_visibly_empty() {
            return Err(Reason::EmptyContent);
        }
        Ok(message)
    }

    fn read(json: &Json) -> Result<(Self, Option<Json>), Invalid> {
        let names = [
            "channelId",
            "messageId",
            "eventId",
            "threadId",
            "author",
            "timestamp",
            "content",
            "metadata",
            "tags",
            "coalesce",
        ];
        let [
            channel_id,
            message_id,
            event_id,
            thread_id,
            author,
            timestamp,
            content,
            metadata,
            tags,
            coalesce,
        ] = wire::members(json, "message", names)?;
        let author = wire::required("author", author)?;
        let [author_id, author_name] = wire::members(&author, "author", ["id", "name"])?;
        let message = Self {
            channel_id: wire::name("channelId", channel_id)?,
            message_id: wire::name("messageId", message_id)?,
            event_id: wire::optional_text("eventId", event_id, wire::MAX_NAME_BYTES)?,
            thread_id: wire::optional_text("threadId", thread_id, wire::MAX_NAME_BYTES)?,
            author: Author::of(author_id, author_name)?,
            timestamp: wire::date("timestamp", timestamp)?,
            metadata: wire::optional_object("metadata", metadata)?,
            tags: Tags::of(tags.as_ref()),
            content: Content::of_blocks("content", &wire::required("content", content)?)?,
        };
        Ok((message, coalesce))
    }

    /// What tells this occurrence from every other one of the connection.
    pub(in crate::mcpl) fn occurrence(&self) -> String {
        let (kind, id) = match &self.event_id {
            Some(event) => ("event", event),
            None => ("message", &self.message_id),
        };
        // The length keeps the two texts apart, whatever is in them.
        format!("{}:{}:{kind}:{id}", self.channel_id.len(), self.channel_id)
    }

    /// The channel, which was registered when the message was received.
    #[must_use]
    pub fn channel_id(&self) -> &str {
        &self.channel_id
    }

    /// Its id on the platform: replies name it.
    #[must_use]
    pub fn message_id(&self) -> &str {
        &self.message_id
    }

    /// The thread that it stands in.
    #[must_use]
    pub fn thread_id(&self) -> Option<&str> {
        self.thread_id.as_deref()
    }

    /// Who wrote it, as the server says.
    #[must_use]
    pub fn author(&self) -> &Author {
        &self.author
    }

    /// When it was written, as the server wrote it; at most 64 characters, and not checked to be a date.
    #[must_use]
    pub fn timestamp(&self) -> &str {
        &self.timestamp
    }

    /// What else the server says of it: an object of at most 16 KiB. It decides nothing.
    #[must_use]
    pub fn metadata(&self) -> Option<&Json> {
        self.metadata.as_ref()
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

impl Author {
    /// Without a name, an author is called by the id.
    fn of(id: Option<Json>, name: Option<Json>) -> Result<Self, Invalid> {
        let id = wire::name("author.id", id)?;
        let name = name.filter(|name| name.as_str() != "\"\"");
        let name = wire::optional_text("author.name", name, wire::MAX_NAME_BYTES)?;
        Ok(Self {
            name: name.unwrap_or_else(|| id.clone()),
            id,
        })
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("channel_id", &self.channel_id)
            .field("message_id", &self.message_id)
            .field("content", &self.content)
            .finish_non_exhaustive()
    }
}

//! A message to a channel, and what became of it.
//!
//! Source: SPEC, section 14.3; RFC-011, sections 4 and 5.

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use serde::Serialize;
use serde_json::json;

use super::descriptor::Target;
use super::registry::Registry;
use crate::mcpl::content::Content;
use crate::mcpl::wire::{self, Invalid};

/// Where in a channel a message is to stand.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Place {
    /// Where the server likes. `threadId` is not sent.
    #[default]
    Anywhere,
    /// At the root, in no thread. `threadId` is `null`.
    Root,
    /// In this thread.
    Thread(String),
}

/// A message that may be sent: `channels/publish` is always a request here, so that what became of it is known.
#[derive(Debug, Clone)]
pub struct Publication {
    params: Json,
    place: Place,
}

/// Why a message is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The channel is not registered (-32023).
    #[error("the channel is not registered")]
    UnknownChannel,
    /// The channel is declared for messages to the host only (-32017).
    #[error("the channel takes no messages")]
    Inbound,
    /// The channel does not say that it honours a place, so a server may put the message anywhere (RFC-011, section 4).
    #[error("the channel does not say that it puts a message where it is told to")]
    NoTarget,
    /// The channel has no threads.
    #[error("the channel has no threads")]
    NoThreads,
    /// A thread's id is empty or longer than 512 bytes.
    #[error("that is no id of a thread")]
    Thread,
    /// The content is no array of blocks, or shows a reader nothing.
    #[error("there is no content that a reader would see")]
    Content,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// It was delivered, and where it was to stand.
    Delivered {
        /// Its id on the platform, if the server says one.
        message_id: Option<String>,
    },
    /// The server refused it, and nothing was posted. Its reason is in the answer, and is remote text.
    Refused,
    /// Something may have been posted, and nobody can say where: the answer contradicts itself, is no answer, or names
    /// another place. So is every error, timeout and lost connection once it was sent.
    Unconfirmed,
}

impl Publication {
    /// A message to a registered channel. `content` is an array of blocks; [`text_blocks`] makes one of a text.
    ///
    /// # Errors
    /// [`PublishError`]; nothing may be sent then.
    pub fn to(
        registry: &Registry,
        conversation_id: &str,
        channel_id: &str,
        place: Place,
        content: &Json,
    ) -> Result<Self, PublishError> {
        let channel = registry
            .get(channel_id)
            .ok_or(PublishError::UnknownChannel)?;
        let descriptor = channel.descriptor();
        if !descriptor.direction().takes() {
            return Err(PublishError::Inbound);
        }
        match (&place, descriptor.capabilities().target) {
            (Place::Thread(id), _) if id.is_empty() || id.len() > wire::MAX_NAME_BYTES => {
                return Err(PublishError::Thread);
            }
            (Place::Anywhere, _)
            | (Place::Root, Some(_))
            | (Place::Thread(_), Some(Target::Exact)) => {}
            (Place::Thread(_), Some(Target::Root)) => return Err(PublishError::NoThreads),
            (Place::Root | Place::Thread(_), None) => return Err(PublishError::NoTarget),
        }
        let blocks = Content::of_blocks("content", content);
        if blocks.is_ok_and(|blocks| !blocks.is_visibly_empty()) {
            let params = Params {
                conversation_id,
                channel_id,
                thread_id: place.thread_id(),
                stream: false,
                content,
            };
            let params = Json::of(&params).map_err(|_| PublishError::Content)?;
            return Ok(Self { params, place });
        }
        Err(PublishError::Content)
    }

    /// The parameters of the request.
    #[must_use]
    pub fn params(&self) -> &Json {
        &self.params
    }

    /// What the answer says became of it. `null` or an error is no answer: [`Delivery::Unconfirmed`].
    #[must_use]
    pub fn delivery(&self, result: &Json) -> Delivery {
        Delivery::of(result, &self.place).unwrap_or(Delivery::Unconfirmed)
    }
}

impl Delivery {
    fn of(result: &Json, place: &Place) -> Result<Self, Invalid> {
        let names = ["delivered", "messageId", "threadId"];
        let [delivered, message_id, thread_id] = wire::members(result, "result", names)?;
        let message_id = wire::present(message_id);
        Ok(match delivered.as_ref().and_then(wire::boolean) {
            Some(true) if place.is(thread_id.as_ref()) => Self::Delivered {
                message_id: wire::optional_text("messageId", message_id, wire::MAX_NAME_BYTES)
                    .unwrap_or_default(),
            },
            Some(false) if message_id.is_none() => Self::Refused,
            _ => Self::Unconfirmed,
        })
    }
}

impl Place {
    /// `threadId` as the wire has it; `None` leaves it out.
    #[expect(clippy::option_option, reason = "absent and null are two things here")]
    pub(super) fn thread_id(&self) -> Option<Option<&str>> {
        match self {
            Self::Anywhere => None,
            Self::Root => Some(None),
            Self::Thread(id) => Some(Some(id)),
        }
    }

    /// Whether that is where the server says that it stands.
    fn is(&self, thread_id: Option<&Json>) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Root => thread_id.is_some_and(|said| said.kind() == Kind::Null),
            Self::Thread(id) => thread_id
                .and_then(Json::string)
                .is_some_and(|said| said == id.as_str()),
        }
    }
}

/// The content of one text.
#[must_use]
pub fn text_blocks(text: &str) -> Json {
    Json::of(&json!([{ "type": "text", "text": text }])).unwrap_or_else(|_| Json::empty_object())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    conversation_id: &'a str,
    channel_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<Option<&'a str>>,
    stream: bool,
    content: &'a Json,
}

//! Parameters of what the host asks of channels and tells them.
//!
//! Source: SPEC, section 14.3; RFC-011, section 6. `channels/acknowledge` and `channels/typing` are named in the SPEC, and
//! their members are those of hosts in the field.

use seawall_proto::Json;
use serde::Serialize;
use serde_json::json;

use super::descriptor::Descriptor;
use super::publish::Place;
use crate::mcpl::wire;

/// What an acknowledgement is to say of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Intent<'a> {
    /// The intent's word, as `seen`.
    pub word: &'a str,
    /// Its value, where the channel takes one.
    pub value: Option<&'a str>,
}

/// Whether somebody begins to write or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypingOp {
    /// `start`
    Start,
    /// `stop`
    Stop,
}

/// `channels/open` for a channel that is registered: its type, address and metadata as the server described them, and its id.
#[must_use]
pub fn open(descriptor: &Descriptor) -> Json {
    let described = descriptor.json();
    let part = |name| wire::present(described.member(name));
    object(&Open {
        kind: descriptor.kind(),
        address: part("address"),
        metadata: part("metadata"),
        channel_id: descriptor.id(),
    })
}

/// `channels/close`.
#[must_use]
pub fn close(channel_id: &str) -> Json {
    object(&json!({ "channelId": channel_id }))
}

/// `channels/acknowledge`.
#[must_use]
pub fn acknowledge(channel_id: &str, message_id: &str, intent: Intent<'_>) -> Json {
    let mut params =
        json!({ "channelId": channel_id, "messageId": message_id, "intent": intent.word });
    if let (Some(value), Some(members)) = (intent.value, params.as_object_mut()) {
        members.insert("value".to_owned(), value.into());
    }
    object(&params)
}

/// `channels/typing`.
#[must_use]
pub fn typing(channel_id: &str, op: TypingOp) -> Json {
    let op = match op {
        TypingOp::Start => "start",
        TypingOp::Stop => "stop",
    };
    object(&json!({ "channelId": channel_id, "op": op }))
}

/// `channels/outgoing/chunk`. `index` counts the chunks of one inference over all its channels.
#[must_use]
pub fn chunk(
    [inference_id, conversation_id, channel_id]: [&str; 3],
    place: &Place,
    index: u64,
    delta: &str,
) -> Json {
    object(&Outgoing {
        inference_id,
        conversation_id,
        channel_id,
        thread_id: place.thread_id(),
        index: Some(index),
        delta: Some(delta),
        content: None,
    })
}

/// `channels/outgoing/complete`, with the whole text as blocks.
#[must_use]
pub fn complete(
    [inference_id, conversation_id, channel_id]: [&str; 3],
    place: &Place,
    content: &Json,
) -> Json {
    object(&Outgoing {
        inference_id,
        conversation_id,
        channel_id,
        thread_id: place.thread_id(),
        index: None,
        delta: None,
        content: Some(content),
    })
}

fn object(params: &impl Serialize) -> Json {
    Json::of(params).unwrap_or_else(|_| Json::empty_object())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Open<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Json>,
    channel_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outgoing<'a> {
    inference_id: &'a str,
    conversation_id: &'a str,
    channel_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a Json>,
}

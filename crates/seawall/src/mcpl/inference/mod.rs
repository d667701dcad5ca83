//! Inference that a server asks the host for, the model that does it, and what a server is told of turns: their beginnings
//! and ends, never what is said in them.
//!
//! **Invariant:** what a server is told of a turn has no place for content.
//!
//! Source: MCP Live 0.5.0-draft §10.5, §11, §12.

use std::collections::BTreeMap;

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use serde_json::{Map, Value, json};

use super::wire::{
    Fault, Invalid, boolean, elements, members, name, optional_object, optional_text,
};

#[cfg(test)]
mod tests;

/// At most this many messages in one request for inference.
pub const MAX_MESSAGES: usize = 1_024;
/// At most this many turns of a server are open at once; the oldest is forgotten then, and its end is not told.
pub const MAX_OPEN_TURNS: usize = 256;

/// What a server asks inference for. Every text is the server's.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InferenceRequest {
    /// The feature set that asks.
    pub feature_set: String,
    /// The conversation that it belongs to, if the server says so.
    pub conversation_id: Option<String>,
    /// Whether the answer is wanted in pieces too. Only ever true where that is granted.
    pub stream: bool,
    /// The messages: an array of objects with `role` and `content`, as the server wrote it.
    pub messages: Json,
    /// The server's wishes, an object; none of them binds.
    pub preferences: Option<Json>,
}

impl InferenceRequest {
    /// Reads the parameters of `inference/request`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn of(params: &Json) -> Result<Self, Invalid> {
        let names = [
            "featureSet",
            "conversationId",
            "stream",
            "messages",
            "preferences",
        ];
        let [feature_set, conversation, stream, messages, preferences] =
            members(params, "params", names)?;
        let stream = match super::wire::present(stream) {
            None => false,
            Some(stream) => boolean(&stream).ok_or(Invalid::new("stream", Fault::Kind))?,
        };
        let messages = super::wire::required("messages", messages)?;
        let all = elements("messages", &messages, MAX_MESSAGES)?;
        if all.is_empty() {
            return Err(Invalid::new("messages", Fault::Empty));
        }
        for message in &all {
            let [role, content] = members(message, "messages", ["role", "content"])?;
            name("messages.role", role)?;
            let content = super::wire::required("messages.content", content)?;
            if !matches!(content.kind(), Kind::String | Kind::Array) {
                return Err(Invalid::new("messages.content", Fault::Kind));
            }
        }
        Ok(Self {
            feature_set: name("featureSet", feature_set)?,
            conversation_id: optional_text(
                "conversationId",
                conversation,
                super::wire::MAX_NAME_BYTES,
            )?,
            stream,
            messages,
            preferences: optional_object("preferences", preferences)?,
        })
    }
}

/// What came of a request for inference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferred {
    /// What the model wrote.
    pub content: String,
    /// The model that wrote it.
    pub model: String,
    /// Why it stopped.
    pub finish: Finish,
    /// What it took.
    pub usage: Usage,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// It was done.
    EndTurn,
    /// It may write no more.
    MaxTokens,
    /// It wrote what it stops at.
    StopSequence,
}

/// Tokens that a turn took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

impl Inferred {
    pub(super) fn to_value(&self) -> Value {
        let finish = match self.finish {
            Finish::EndTurn => "end_turn",
            Finish::MaxTokens => "max_tokens",
            Finish::StopSequence => "stop_sequence",
        };
        json!({
            "content": self.content,
            "model": self.model,
            "finishReason": finish,
            "usage": self.usage.to_value(),
        })
    }
}

impl Usage {
    fn to_value(self) -> Value {
        json!({ "inputTokens": self.input_tokens, "outputTokens": self.output_tokens })
    }
}

/// What is told of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its id.
    pub id: String,
    /// Who makes it.
    pub vendor: Option<String>,
    /// How many tokens it takes at once.
    pub context_window: Option<u64>,
    /// What it can do: `vision`, `tools`.
    pub capabilities: Vec<String>,
}

impl Model {
    pub(super) fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.insert("id".to_owned(), self.id.as_str().into());
        if let Some(vendor) = &self.vendor {
            value.insert("vendor".to_owned(), vendor.as_str().into());
        }
        if let Some(window) = self.context_window {
            value.insert("contextWindow".to_owned(), window.into());
        }
        value.insert("capabilities".to_owned(), self.capabilities.clone().into());
        Value::Object(value)
    }
}

/// A turn of a model, as servers are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Unique for each inference.
    pub inference_id: String,
    /// The same for all turns of a conversation.
    pub conversation_id: String,
    /// Counted from 0.
    pub index: u64,
    /// The model; told only where `modelInfo` is granted.
    pub model: Option<Model>,
}

/// Where a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// It begins.
    Started,
    /// It came to its end, and took this.
    Completed(Option<Usage>),
    /// Somebody stopped it.
    Aborted,
    /// It failed.
    Failed,
}

impl Phase {
    fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Completed(_) => "completed",
            Self::Aborted => "aborted",
            Self::Failed => "failed",
        }
    }
}

/// The turns that a server was told the beginning of and not the end.
#[derive(Debug, Default)]
pub(super) struct Turns {
    open: BTreeMap<u64, String>,
    begun: u64,
}

impl Turns {
    /// The parameters of `inference/lifecycle`; `None` of an end whose beginning was not told, of a second end, and of a
    /// second beginning.
    pub(super) fn tell(&mut self, turn: &Turn, phase: Phase, with_model: bool) -> Option<Value> {
        let id = turn.inference_id.as_str();
        let known = self.open.iter().find(|(_, open)| *open == id);
        let known = known.map(|(place, _)| *place);
        match (phase, known) {
            (Phase::Started, None) => {
                self.open.insert(self.begun, id.to_owned());
                self.begun += 1;
                if self.open.len() > MAX_OPEN_TURNS {
                    self.open.pop_first();
                }
            }
            (Phase::Started, Some(_)) | (_, None) => return None,
            (_, Some(place)) => drop(self.open.remove(&place)),
        }
        let mut params = Map::new();
        params.insert("inferenceId".to_owned(), id.into());
        let conversation = turn.conversation_id.as_str();
        params.insert("conversationId".to_owned(), conversation.into());
        params.insert("turnIndex".to_owned(), turn.index.into());
        params.insert("phase".to_owned(), phase.as_str().into());
        if let Some(model) = turn.model.as_ref().filter(|_| with_model) {
            params.insert("model".to_owned(), model.to_value());
        }
        if let Phase::Completed(Some(usage)) = phase {
            params.insert("usage".to_owned(), usage.to_value());
        }
        Some(Value::Object(params))
    }

    /// Nobody is told the end of what was told before.
    pub(super) fn forget(&mut self) {
        self.open.clear();
    }
}

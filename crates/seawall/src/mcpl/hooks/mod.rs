//! The hook before each inference: what a server is shown, and what it may add to the context.
//!
//! **Invariant:** the user's message is shown only to who may observe; the member is `null` to all others.
//! **Invariant:** what is added is authorised one by one, by its position, when the answer is there.
//!
//! Source: MCP Live 0.5.0-draft §10.

use std::time::Duration;

use seawall_proto::Json;
use serde_json::{Map, Value};

use super::capability::Capability;
use super::content::Content;
use super::inference::Turn;
use super::wire::{Fault, Invalid, elements, members, name, optional_object, required};

#[cfg(test)]
mod tests;

/// How long a server has to answer the hook; the turn goes on without it then.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// At most this many injections in one answer.
pub const MAX_INJECTIONS: usize = 64;

/// What a server is asked before an inference.
#[derive(Debug, Clone, PartialEq)]
pub struct BeforeInference {
    /// The turn, with its model.
    pub turn: Turn,
    /// What the user said, if this turn answers it. Shown only to servers that may observe.
    pub user_message: Option<String>,
    /// Where the turn comes from and what it may answer to, if channels are known: `{incoming, defaultOutgoing,
    /// candidates}` (§14.4), an object. It names channels and messages, so it too is shown only to who may observe.
    pub channels: Option<Json>,
}

impl BeforeInference {
    /// The parameters of `context/beforeInference`.
    pub(super) fn params(&self, observes: bool) -> Value {
        let mut params = Map::new();
        let mut put = |key: &str, value: Value| params.insert(key.to_owned(), value);
        put("inferenceId", self.turn.inference_id.as_str().into());
        put("conversationId", self.turn.conversation_id.as_str().into());
        put("turnIndex", self.turn.index.into());
        let message = self.user_message.as_deref().filter(|_| observes);
        put("userMessage", message.into());
        if let Some(model) = &self.turn.model {
            put("model", model.to_value());
        }
        if let Some(channels) = self.channels.as_ref().filter(|_| observes)
            && let Ok(channels) = channels.parse()
        {
            put("channels", channels);
        }
        Value::Object(params)
    }
}

/// Where an injection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Position {
    /// Among the system's words.
    System,
    /// Before the user's message.
    BeforeUser,
    /// After it.
    AfterUser,
}

impl Position {
    fn of(word: &str) -> Option<Self> {
        match word {
            "system" => Some(Self::System),
            "beforeUser" => Some(Self::BeforeUser),
            "afterUser" => Some(Self::AfterUser),
            _ => None,
        }
    }

    /// What a server needs to write there.
    #[must_use]
    pub fn needs(self) -> Capability {
        match self {
            Self::System => Capability::InjectSystem,
            Self::BeforeUser => Capability::InjectBeforeUser,
            Self::AfterUser => Capability::InjectAfterUser,
        }
    }
}

/// What a server adds to a context. Every text in it is the server's.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Injection {
    /// Whose kind of text it is, by the server's own word.
    pub namespace: String,
    /// Where it goes.
    pub position: Position,
    /// What it says.
    pub content: Content,
    /// An object.
    pub metadata: Option<Json>,
}

/// What a server answered to the hook; nothing of it is authorised yet.
#[derive(Debug)]
pub(super) struct Contribution {
    pub(super) feature_set: String,
    /// What stands there, in order; those that are none are not in here.
    pub(super) injections: Vec<Injection>,
    /// How many were none.
    pub(super) invalid: usize,
}

impl Contribution {
    /// Reads the result of `context/beforeInference`.
    pub(super) fn of(result: &Json) -> Result<Self, Invalid> {
        let names = ["featureSet", "contextInjections"];
        let [feature_set, injections] = members(result, "result", names)?;
        let injections = required("contextInjections", injections)?;
        let injections = elements("contextInjections", &injections, MAX_INJECTIONS)?;
        let all = injections.len();
        let injections: Vec<Injection> = injections
            .iter()
            .filter_map(|injection| injection_of(injection).ok())
            .collect();
        Ok(Self {
            feature_set: name("featureSet", feature_set)?,
            invalid: all - injections.len(),
            injections,
        })
    }
}

fn injection_of(injection: &Json) -> Result<Injection, Invalid> {
    let names = ["namespace", "position", "content", "metadata"];
    let [namespace, position, content, metadata] = members(injection, "contextInjections", names)?;
    let position = required("position", position)?;
    let position = position.string().and_then(|word| Position::of(&word));
    let content = Content::of(&required("content", content)?)?;
    Ok(Injection {
        namespace: name("namespace", namespace)?,
        position: position.ok_or(Invalid::new("position", Fault::Kind))?,
        content,
        metadata: optional_object("metadata", metadata)?,
    })
}

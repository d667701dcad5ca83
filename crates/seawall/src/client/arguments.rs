//! The arguments of a call, as JSON text.

use bytes::Bytes;
use seawall_proto::Json;
use seawall_proto::connection::CallError;
use seawall_proto::json::JsonError;
use serde_json::{Map, Value};

/// The arguments of a call: a JSON object, kept as the text that goes on the wire.
///
/// What is no object, nests too deep or is too long is refused when the call is polled, and nothing is sent (L4).
#[derive(Debug, Clone)]
pub struct Arguments(Result<Json, CallError>);

impl Arguments {
    /// No arguments: `{}`.
    #[must_use]
    pub fn none() -> Self {
        Self::text("{}")
    }

    /// JSON text, sent as it stands: numbers keep every digit.
    pub fn text(text: impl Into<Bytes>) -> Self {
        Self(Json::check(text).map_err(|error| match error {
            JsonError::TooDeep => CallError::ArgumentsTooDeep,
            _ => CallError::ArgumentsKind,
        }))
    }

    /// The text, unless it is refused.
    pub(crate) fn json(&self) -> Option<&Json> {
        self.0.as_ref().ok()
    }

    pub(super) fn into_json(self) -> Result<Json, CallError> {
        self.0
    }
}

impl From<Json> for Arguments {
    fn from(json: Json) -> Self {
        Self(Ok(json))
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self::text(value.to_string())
    }
}

impl From<Map<String, Value>> for Arguments {
    fn from(map: Map<String, Value>) -> Self {
        Self::from(Value::Object(map))
    }
}

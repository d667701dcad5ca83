//! One request as the fixture's parts see it, and what they answer.

use seawall_gateway::Exchange;
use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, INVALID_PARAMS};
use seawall_proto::server::RequestMeta;
use serde_json::{Value, json};

/// A request whose parameters were read.
pub(crate) struct Call {
    pub(crate) params: Value,
    pub(crate) meta: RequestMeta,
    pub(crate) exchange: Exchange,
}

/// A result, or why there is none yet.
pub(crate) type Done = Result<Value, Stop>;

/// Why there is no result.
pub(crate) enum Stop {
    /// An error of JSON-RPC.
    Error(ErrorObject),
    /// The client is to supply something and ask again.
    Inputs(Value),
}

impl Call {
    pub(crate) fn is_modern(&self) -> bool {
        !self.meta.revision.is_legacy()
    }

    /// A string among the parameters.
    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.params.pointer(pointer).and_then(Value::as_str)
    }

    pub(crate) fn needs(&self, pointer: &str) -> Result<&str, Stop> {
        let missing = || invalid(&format!("{pointer} is missing"), None);
        self.text(pointer).ok_or_else(missing)
    }

    /// Whether the client can be asked for something: `sampling`, `elicitation`, `roots`.
    pub(crate) fn can(&self, capability: &str) -> bool {
        self.meta.capabilities.member(capability).is_some()
    }

    /// Tells the client something. One that left is not told.
    pub(crate) async fn tell(&self, method: &str, params: &Value) {
        if let Ok(params) = Json::of(params) {
            let _ = self.exchange.notify(method, Some(&params)).await;
        }
    }

    /// Reports progress, if it is wanted.
    pub(crate) async fn progress(&self, progress: u32) {
        let token = self.meta.progress_token.as_ref();
        if let Some(token) = token.and_then(|token| token.parse::<Value>().ok()) {
            let message = format!("Completed step {progress} of 100");
            let params = json!({"progressToken": token, "progress": progress, "total": 100, "message": message});
            self.tell("notifications/progress", &params).await;
        }
    }
}

/// -32602.
pub(crate) fn invalid(message: &str, data: Option<&Value>) -> Stop {
    error(INVALID_PARAMS, message, data)
}

pub(crate) fn error(code: i64, message: &str, data: Option<&Value>) -> Stop {
    let data = data.and_then(|data| Json::of(data).ok());
    Stop::Error(ErrorObject::new(code, message, data))
}

/// A tool's result of one text.
pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}

//! What a client is told of a call that failed.
//!
//! **Invariant:** the text is Seawall's own, but for what follows `; it said: `, which the host redacted; everything in `data`
//! is Seawall's.

use seawall::host::{ServerState, ServerStatus};
use seawall::visible::{Place, visible};
use seawall::{ErrorCode, Outcome};
use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::jsonrpc::{
    ErrorObject, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY,
    URL_ELICITATION_REQUIRED,
};
use seawall_proto::mcp::ClientCapabilities;
use seawall_proto::server::RequestMeta;
use serde_json::{Value, json};

use crate::observe::Ended;
use crate::relay::not_parked;

/// Codes of JSON-RPC and of MCP itself: said by a server behind the gateway they would be taken for the gateway's own.
const OURS: std::ops::RangeInclusive<i64> = -32_099..=-32_000;
const OF_JSON_RPC: std::ops::RangeInclusive<i64> = -32_768..=-32_100;

/// What clients see of a server's error text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RemoteErrors {
    /// The text, after redaction and bounding, with what is hidden in it made visible. The default.
    #[default]
    Redacted,
    /// Nothing: the code alone.
    Withheld,
}

/// How a call that failed so is counted.
pub(super) fn counted(error: &seawall::Error) -> Ended {
    match error.outcome() {
        Outcome::NotSent => Ended::NotSent,
        Outcome::ErrorResponse => Ended::ErrorResponse,
        Outcome::Answered => Ended::Answered,
        _ => Ended::NoResponse,
    }
}

/// The error of a call that failed: the server's own code where it has one that is of the tool's making, Seawall's text, and
/// in `data` Seawall's code and what became of the call.
pub(crate) fn refused(error: &seawall::Error, remote: RemoteErrors) -> ErrorObject {
    if error.has_no_rounds() {
        return not_parked();
    }
    let theirs = error.json_rpc_code();
    let code = match (error.code(), theirs) {
        (ErrorCode::ToolNotFound, _) => INVALID_PARAMS,
        (_, Some(INVALID_PARAMS)) => INVALID_PARAMS,
        (_, Some(code)) if !OURS.contains(&code) && !OF_JSON_RPC.contains(&code) => code,
        _ => INTERNAL_ERROR,
    };
    let mut data = data(error.code(), error.outcome());
    if !error.server().is_empty() {
        data["server"] = json!(error.server());
    }
    if let Some(code) = theirs {
        data["jsonRpcCode"] = json!(code);
    }
    if let Some(status) = error.http_status() {
        data["httpStatus"] = json!(status);
    }
    let mut message = error.to_string();
    if error.outcome() == Outcome::NoResponse && !message.contains("verify") {
        message.push_str("; it may have been carried out: verify state before retrying");
    }
    if let (RemoteErrors::Redacted, Some(told)) = (remote, error.remote_message())
        && !told.is_empty()
    {
        message.push_str("; it said: ");
        message.push_str(&visible(told.reveal(), Place::Block));
    }
    with_data(code, message, &data)
}

/// The same, where it is an error of the protocol that its client is to act on: then with the code and with what it acts on.
/// Pages to be visited become a round on 2026-07-28, where whoever carries the request makes one of this.
///
/// Source: 2026-07-28, `basic/index`, "Capabilities"; 2025-11-25, `client/elicitation`, "URL Elicitation Required Error".
pub(crate) fn acted_on(
    told: ErrorObject,
    error: &seawall::Error,
    meta: &RequestMeta,
) -> ErrorObject {
    let of_legacy = meta.revision.is_legacy();
    let (code, name, kind) = match error.json_rpc_code() {
        Some(MISSING_CLIENT_CAPABILITY) if !of_legacy => (
            MISSING_CLIENT_CAPABILITY,
            "requiredCapabilities",
            Kind::Object,
        ),
        Some(URL_ELICITATION_REQUIRED)
            if ClientCapabilities::of(&meta.capabilities).elicitation_url =>
        {
            (URL_ELICITATION_REQUIRED, "elicitations", Kind::Array)
        }
        _ => return told,
    };
    let theirs = error.remote_data().and_then(|data| data.member(name));
    let Some(theirs) = theirs.filter(|theirs| theirs.kind() == kind) else {
        return told;
    };
    let data = told.data.unwrap_or_else(Json::empty_object);
    ErrorObject::new(code, told.message, Some(data.with_first(name, &theirs)))
}

/// -32602: no such tool. Its name is the client's text, and not repeated.
pub(super) fn unknown_tool() -> ErrorObject {
    let data = data(ErrorCode::ToolNotFound, Outcome::NotSent);
    let message = "Unknown tool: no connected server offers one of this name; nothing was sent";
    with_data(INVALID_PARAMS, message.to_owned(), &data)
}

/// The server that a tool's name says it is of is not up.
pub(super) fn down(status: &ServerStatus) -> ErrorObject {
    let server = &status.server;
    let next = match status.state {
        ServerState::Connecting => "it is being connected",
        ServerState::Waiting => "it is tried again by itself",
        _ => "it is not tried again by itself",
    };
    let why = status.last_error.as_ref().map(|error| {
        let said = error.server_message();
        format!(" (its last failure: {said})")
    });
    let why = why.unwrap_or_default();
    let message = format!(
        "the server {server:?} is not connected now{why}; {next}, and `seawall doctor {server}` tells more; nothing was sent"
    );
    let mut data = data(ErrorCode::ConnectionClosed, Outcome::NotSent);
    data["server"] = json!(server);
    with_data(INTERNAL_ERROR, message, &data)
}

/// The gateway itself cannot take the call.
pub(crate) fn not_taken(why: &str) -> ErrorObject {
    let data = data(ErrorCode::ConnectionClosed, Outcome::NotSent);
    with_data(INTERNAL_ERROR, format!("{why}; nothing was sent"), &data)
}

/// Nothing was sent, as the text says; `why` stands for Seawall's code.
pub(crate) fn unsent(code: i64, why: &str, message: &str) -> ErrorObject {
    let data = json!({"code": why, "outcome": Outcome::NotSent.as_str()});
    with_data(code, message.to_owned(), &data)
}

/// It was not answered in time.
pub(crate) fn late(message: &str) -> ErrorObject {
    let data = data(ErrorCode::Timeout, Outcome::NoResponse);
    with_data(INTERNAL_ERROR, message.to_owned(), &data)
}

/// -32602.
pub(crate) fn invalid(what: &str) -> ErrorObject {
    ErrorObject::new(INVALID_PARAMS, format!("Invalid params: {what}"), None)
}

/// -32601.
pub(crate) fn method_not_found() -> ErrorObject {
    ErrorObject::new(METHOD_NOT_FOUND, "Method not found", None)
}

/// -32603.
pub(crate) fn internal() -> ErrorObject {
    ErrorObject::new(INTERNAL_ERROR, "Internal error", None)
}

fn data(code: ErrorCode, outcome: Outcome) -> Value {
    json!({"code": code.as_str(), "outcome": outcome.as_str()})
}

fn with_data(code: i64, message: String, data: &Value) -> ErrorObject {
    ErrorObject::new(code, message, Json::of(data).ok())
}

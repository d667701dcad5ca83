//! The frames that we write. Each ends with its newline and holds no other.

use std::fmt::Write as _;

use super::Experiment;
use crate::json::{Json, decode_string};
use crate::jsonrpc::{ErrorObject, INTERNAL_ERROR, METHOD_NOT_FOUND, RequestId};
use crate::mcp::{ClientCapabilities, Revision};

/// What every request of a revision says in `_meta`: nothing on legacy ones (2026-07-28, `basic/index`, `_meta`).
///
/// **Invariant:** each the members of an object, without its braces, each member followed by a comma.
#[derive(Debug, Clone, Default)]
pub(super) struct Meta {
    ours: String,
    /// The level of the log, if one is wanted.
    level: String,
}

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Keys that say something of one hop: what a caller has there was said to somebody else.
const OF_ONE_HOP: [&str; 4] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/subscriptionId",
];

impl Meta {
    pub(super) fn modern(
        revision: Revision,
        version: &str,
        capabilities: &ClientCapabilities,
        log_level: Option<&str>,
    ) -> Self {
        let version = serde_json::Value::from(version);
        let capabilities = capabilities.to_json();
        let level = log_level.map_or_else(String::new, |level| {
            let level = serde_json::Value::from(level);
            format!("\"{LOG_LEVEL}\":{level},")
        });
        let ours = format!(
            "\"io.modelcontextprotocol/protocolVersion\":\"{revision}\",\
             \"io.modelcontextprotocol/clientInfo\":{{\"name\":\"seawall\",\"version\":{version}}},\
             \"io.modelcontextprotocol/clientCapabilities\":{capabilities},"
        );
        Self { ours, level }
    }

    /// Whether requests say anything of themselves, as on the revisions without a handshake.
    pub(super) fn is_modern(&self) -> bool {
        !self.ours.is_empty()
    }
}

/// `initialize`, proposing `revision` (S1), declaring what is supplied and the extension, if there is one.
pub(super) fn initialize(
    id: u64,
    revision: Revision,
    version: &str,
    capabilities: &ClientCapabilities,
    experiment: Option<&Experiment>,
) -> Vec<u8> {
    // `version` is this build's own, so it needs no escape; it is escaped all the same.
    let version = serde_json::Value::from(version);
    let mut capabilities = capabilities.to_json();
    if let Some(Experiment { name, declared }) = experiment
        && capabilities.pop().is_some()
    {
        let comma = if capabilities.len() > 1 { "," } else { "" };
        let name = serde_json::Value::from(*name);
        let declared = declared.as_str();
        capabilities.push_str(&format!("{comma}\"experimental\":{{{name}:{declared}}}}}"));
    }
    let mut frame = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"initialize\",\"params\":{{\
         \"protocolVersion\":\"{revision}\",\"capabilities\":{capabilities},\
         \"clientInfo\":{{\"name\":\"seawall\",\"version\":{version}}}}}}}\n"
    )
    .into_bytes();
    one_line(&mut frame);
    frame
}

/// `notifications/initialized`.
pub(super) fn initialized() -> Vec<u8> {
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_vec()
}

/// A request, in parts.
pub(super) struct Request<'a> {
    pub(super) id: u64,
    pub(super) method: &'a str,
    /// An object; its own `_meta` is kept, but for what says something of one hop.
    pub(super) params: Option<&'a Json>,
    /// Another `_meta`, in place of that.
    pub(super) theirs: Option<&'a Json>,
    /// Members of `params` beside those, or in their stead, each a JSON text.
    pub(super) members: &'a [(&'static str, &'a [u8])],
    pub(super) meta: &'a Meta,
    /// Whether the request's id is its progress token too (O4).
    pub(super) token: bool,
}

impl Request<'_> {
    /// The frame.
    pub(super) fn frame(&self) -> Vec<u8> {
        let mut frame = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":{}",
            self.id,
            serde_json::Value::from(self.method)
        )
        .into_bytes();
        let mut theirs = None;
        let mut params = Vec::new();
        if let Some(given) = self.params {
            given.children(|key, value| {
                let Some(key) = key else { return };
                let name = decode_string(key).text;
                if name == "_meta" {
                    theirs = Some(value);
                } else if !self.members.iter().any(|(ours, _)| *ours == name) {
                    member(&mut params, key, value.as_bytes());
                }
            });
        }
        for (key, value) in self.members {
            member(&mut params, key, value);
        }
        let meta = self.meta_members(self.theirs.or(theirs.as_ref()));
        if !meta.is_empty() {
            let value = [b"{", meta.as_slice(), b"}"].concat();
            member(&mut params, "_meta", &value);
        }
        if !params.is_empty() {
            frame.extend_from_slice(b",\"params\":{");
            frame.extend_from_slice(&params);
            frame.push(b'}');
        }
        frame.extend_from_slice(b"}\n");
        one_line(&mut frame);
        frame
    }

    fn meta_members(&self, theirs: Option<&Json>) -> Vec<u8> {
        let mut meta = Vec::new();
        let mut level = self.meta.level.as_str();
        if let Some(theirs) = theirs {
            theirs.children(|key, value| {
                let Some(key) = key else { return };
                let decoded = decode_string(key).text;
                let is_level = decoded == LOG_LEVEL;
                let left_out = (decoded == "progressToken" && self.token)
                    || OF_ONE_HOP.contains(&&*decoded)
                    || (is_level && !self.meta.is_modern());
                if !left_out {
                    member(&mut meta, key, value.as_bytes());
                    if is_level {
                        // What is said of this request goes before what is said of all.
                        level = "";
                    }
                }
            });
        }
        if self.meta.is_modern() {
            if !meta.is_empty() {
                meta.push(b',');
            }
            let ours = format!("{}{level}", self.meta.ours);
            meta.extend_from_slice(ours.trim_end_matches(',').as_bytes());
        }
        if self.token {
            member(&mut meta, "progressToken", self.id.to_string().as_bytes());
        }
        meta
    }
}

/// Appends a member; `key` is what stands between a JSON string's quotes.
fn member(into: &mut Vec<u8>, key: &str, value: &[u8]) {
    if !into.is_empty() {
        into.push(b',');
    }
    into.push(b'"');
    into.extend_from_slice(key.as_bytes());
    into.extend_from_slice(b"\":");
    into.extend_from_slice(value);
}

/// `tools/call`; the request's id is its progress token too (O4).
pub(super) fn call_tool(id: u64, name: &Json, arguments: &Json, meta: &Meta) -> Vec<u8> {
    let mut digits = [0; 20];
    let id = decimal(id, &mut digits);
    let parts: [&[u8]; 12] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":",
        id,
        b",\"method\":\"tools/call\",\"params\":{\"name\":",
        name.as_bytes(),
        b",\"arguments\":",
        arguments.as_bytes(),
        b",\"_meta\":{",
        meta.ours.as_bytes(),
        meta.level.as_bytes(),
        b"\"progressToken\":",
        id,
        b"}}}\n",
    ];
    let mut frame = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        frame.extend_from_slice(part);
    }
    one_line(&mut frame);
    frame
}

/// A notification; `params` is an object, if there are any.
pub(super) fn notification(method: &str, params: Option<&Json>) -> Vec<u8> {
    let method = serde_json::Value::from(method);
    let mut frame = format!("{{\"jsonrpc\":\"2.0\",\"method\":{method}").into_bytes();
    if let Some(params) = params {
        frame.extend_from_slice(b",\"params\":");
        frame.extend_from_slice(params.as_bytes());
    }
    frame.extend_from_slice(b"}\n");
    one_line(&mut frame);
    frame
}

/// `notifications/cancelled` of the request `id` (S8).
pub(super) fn cancelled(id: u64) -> Vec<u8> {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
    )
    .into_bytes()
}

/// The reply to a request of the server: a result, or an error of this code (S7). The id goes back as it came.
pub(super) fn reply(id: &RequestId, answer: Result<&[u8], i64>) -> Vec<u8> {
    let mut frame = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},", id.as_json()).into_bytes();
    match answer {
        Ok(result) => {
            frame.extend_from_slice(b"\"result\":");
            frame.extend_from_slice(result);
        }
        Err(code) => {
            let message = match code {
                METHOD_NOT_FOUND => "Method not found",
                INTERNAL_ERROR => "Internal error",
                _ => "Refused",
            };
            frame.extend_from_slice(
                format!("\"error\":{{\"code\":{code},\"message\":\"{message}\"}}").as_bytes(),
            );
        }
    }
    frame.extend_from_slice(b"}\n");
    one_line(&mut frame);
    frame
}

/// The reply to a request of the server: this error. The id goes back as it came.
pub(super) fn refusal(id: &RequestId, error: &ErrorObject) -> Vec<u8> {
    let error = error.to_json();
    let id = id.as_json();
    let mut frame = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n").into_bytes();
    one_line(&mut frame);
    frame
}

/// `{"key":answer,…}`, keys as the server wrote them.
pub(super) fn input_responses<'a>(answers: impl Iterator<Item = (&'a str, &'a Json)>) -> Vec<u8> {
    let mut members = Vec::new();
    for (key, answer) in answers {
        member(&mut members, key, answer.as_bytes());
    }
    [b"{", members.as_slice(), b"}"].concat()
}

/// The filter of `subscriptions/listen`.
pub(super) fn listen_filter<'a>(
    kinds: impl Iterator<Item = &'static str>,
    uris: impl Iterator<Item = &'a str>,
) -> String {
    let mut filter = String::from("{");
    for kind in kinds {
        // Writing to a String cannot fail.
        let _ = write!(filter, "\"{kind}\":true,");
    }
    let uris: Vec<serde_json::Value> = uris.map(serde_json::Value::from).collect();
    if !uris.is_empty() {
        let uris = serde_json::Value::from(uris);
        let _ = write!(filter, "\"resourceSubscriptions\":{uris},");
    }
    if filter.ends_with(',') {
        filter.pop();
    }
    filter.push('}');
    filter
}

/// White space between a caller's tokens may be a newline, which would end the frame: it becomes a blank.
fn one_line(frame: &mut [u8]) {
    let Some((_, body)) = frame.split_last_mut() else {
        return;
    };
    if memchr::memchr2(b'\n', b'\r', body).is_some() {
        for byte in body {
            if matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    for digit in digits.iter_mut().rev() {
        // A digit fits a byte.
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        start -= 1;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    digits.get(start..).unwrap_or_default()
}

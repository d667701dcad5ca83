//! The frames that a server writes. Each is one line, without its newline.

use bytes::Bytes;

use crate::json::Json;
use crate::jsonrpc::{ErrorObject, RequestId};

/// The answer to the request `id`, which goes back as it came. A result's bytes are spliced in as they are, but for line
/// breaks between its tokens, which become blanks (G2).
#[must_use]
pub fn response(id: &RequestId, answer: Result<&Json, &ErrorObject>) -> Bytes {
    let (key, value) = match answer {
        Ok(result) => ("result", result.as_bytes()),
        Err(error) => ("error", &error.to_json().into_bytes()[..]),
    };
    let mut frame = Vec::with_capacity(value.len() + id.as_json().len() + 40);
    frame.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    frame.extend_from_slice(id.as_json().as_bytes());
    frame.extend_from_slice(b",\"");
    frame.extend_from_slice(key.as_bytes());
    frame.extend_from_slice(b"\":");
    push_line(&mut frame, value);
    frame.push(b'}');
    frame.into()
}

/// An error that answers no request, since none could be read: it has no id (2026-07-28, `basic/index`, "Error Responses").
#[must_use]
pub fn refusal(error: &ErrorObject) -> Bytes {
    format!("{{\"jsonrpc\":\"2.0\",\"error\":{}}}", error.to_json()).into()
}

/// A notification.
#[must_use]
pub fn notification(method: &str, params: Option<&Json>) -> Bytes {
    message("", method, params)
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: Option<&Json>) -> Bytes {
    message(&format!("\"id\":{id},"), method, params)
}

fn message(id: &str, method: &str, params: Option<&Json>) -> Bytes {
    let method = serde_json::Value::from(method);
    let mut frame = format!("{{\"jsonrpc\":\"2.0\",{id}\"method\":{method}").into_bytes();
    if let Some(params) = params {
        frame.extend_from_slice(b",\"params\":");
        push_line(&mut frame, params.as_bytes());
    }
    frame.push(b'}');
    frame.into()
}

/// Appends a JSON text. A line break can stand between its tokens only, and would end the frame.
fn push_line(frame: &mut Vec<u8>, text: &[u8]) {
    let start = frame.len();
    frame.extend_from_slice(text);
    let Some(pushed) = frame.get_mut(start..) else {
        return;
    };
    if memchr::memchr2(b'\n', b'\r', pushed).is_some() {
        for byte in pushed {
            if matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

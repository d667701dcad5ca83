//! The frames that we write. Each ends with its newline and holds no other.

use crate::json::Json;
use crate::jsonrpc::{METHOD_NOT_FOUND, RequestId};
use crate::mcp::Revision;

/// `initialize`, proposing `revision` (S1). No capability is declared: nothing is supplied.
pub(super) fn initialize(id: u64, revision: Revision, version: &str) -> Vec<u8> {
    // `version` is this build's own, so it needs no escape; it is escaped all the same.
    let version = serde_json::Value::from(version);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"initialize\",\"params\":{{\
         \"protocolVersion\":\"{revision}\",\"capabilities\":{{}},\
         \"clientInfo\":{{\"name\":\"seawall\",\"version\":{version}}}}}}}\n"
    )
    .into_bytes()
}

/// `notifications/initialized`.
pub(super) fn initialized() -> Vec<u8> {
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n".to_vec()
}

/// `tools/list`, following `cursor`.
pub(super) fn list_tools(id: u64, cursor: Option<&Json>) -> Vec<u8> {
    let mut frame =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"").into_bytes();
    if let Some(cursor) = cursor {
        frame.extend_from_slice(b",\"params\":{\"cursor\":");
        frame.extend_from_slice(cursor.as_bytes());
        frame.push(b'}');
    }
    frame.extend_from_slice(b"}\n");
    frame
}

/// `tools/call`; the request's id is its progress token too (O4).
pub(super) fn call_tool(id: u64, name: &Json, arguments: &Json) -> Vec<u8> {
    let mut digits = [0; 20];
    let id = decimal(id, &mut digits);
    let parts: [&[u8]; 9] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":",
        id,
        b",\"method\":\"tools/call\",\"params\":{\"name\":",
        name.as_bytes(),
        b",\"arguments\":",
        arguments.as_bytes(),
        b",\"_meta\":{\"progressToken\":",
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

/// `notifications/cancelled` of the request `id` (S8).
pub(super) fn cancelled(id: u64) -> Vec<u8> {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
    )
    .into_bytes()
}

/// The answer to a request of the server: `{}` to a ping, -32601 to anything else (S7). The id goes back as it came.
pub(super) fn answer(id: &RequestId, ping: bool) -> Vec<u8> {
    let id = id.as_json();
    let body = if ping {
        String::from("\"result\":{}")
    } else {
        format!("\"error\":{{\"code\":{METHOD_NOT_FOUND},\"message\":\"Method not found\"}}")
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{body}}}\n").into_bytes()
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

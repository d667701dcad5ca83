//! Messages as server-sent events.

use std::time::Duration;

use bytes::Bytes;

/// A comment, which tells nothing but that the stream is there.
pub(super) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// A message. A frame is one line, so it is one field.
pub(super) fn message(id: Option<&str>, frame: &Bytes) -> Bytes {
    let mut event = Vec::with_capacity(frame.len() + 48);
    if let Some(id) = id {
        event.extend_from_slice(b"id: ");
        event.extend_from_slice(id.as_bytes());
        event.push(b'\n');
    }
    event.extend_from_slice(b"data: ");
    event.extend_from_slice(frame);
    event.extend_from_slice(b"\n\n");
    event.into()
}

/// An event that tells a place in the stream and when to come back to it (2025-11-25, `basic/transports`).
pub(super) fn priming(id: &str, retry: Duration) -> Bytes {
    format!("id: {id}\nretry: {}\ndata:\n\n", retry.as_millis()).into()
}

//! A client that says anything, to a server that answers anything: every request ends once, and what is held is bounded.

use std::collections::HashSet;

use bytes::Bytes;
use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;
use seawall_proto::limits::ServerLimits;
use seawall_proto::server::{CloseReason, Event, Lane, RequestKey, ServerConnection};
use serde::de::IgnoredAny;

const MAX_PENDING: usize = 8;

/// Each line is a frame of the client, or, by its first byte, something that the server does: `>` answers the oldest
/// request with the rest of the line, `!` refuses it, `*` notifies, `?` asks, `<` sends, `.` ends.
pub(crate) fn run(data: &[u8]) {
    let mut limits = ServerLimits::default();
    limits.max_pending = MAX_PENDING;
    limits.max_buffered_bytes = 1 << 16;
    limits.max_outbound_frame_bytes = 1 << 12;
    let mut server = ServerConnection::new(limits);
    let mut open: Vec<RequestKey> = Vec::new();
    let mut over: HashSet<RequestKey> = HashSet::new();
    let mut expected: HashSet<RequestKey> = HashSet::new();
    for line in data.split(|byte| *byte == b'\n') {
        let rest = line.get(1..).unwrap_or_default().to_vec();
        match line.first() {
            Some(b'>') if !open.is_empty() => {
                let key = open.remove(0);
                if let Ok(result) = Json::check(rest) {
                    let _ = server.respond(key, Ok(&result));
                } else {
                    open.insert(0, key);
                }
            }
            Some(b'!') if !open.is_empty() => {
                let error = ErrorObject::new(-1, "no", None);
                server.respond(open.remove(0), Err(&error)).unwrap();
            }
            Some(b'*') => {
                let params = Json::check(rest).ok();
                let _ = server.notify(open.first().copied(), "n", params.as_ref());
            }
            Some(b'?') => {
                if let Ok(ask) = server.request(open.first().copied(), "roots/list", None)
                    && rest == b"?"
                {
                    server.withdraw(None, ask);
                }
            }
            Some(b'<') => sent(&mut server, &mut over),
            Some(b'.') => {
                server.handle_closed(CloseReason::ClientGone);
                open.clear();
                expected.clear();
            }
            _ => expected.extend(server.handle_frame(&Bytes::copy_from_slice(line)).requests),
        }
        while let Some(event) = server.poll_event() {
            match event {
                Event::Request(request) => open.push(request.key),
                Event::Cancelled(key) => {
                    assert!(open.contains(&key));
                    open.retain(|one| *one != key);
                    assert!(over.insert(key));
                }
                _ => {}
            }
        }
        assert!(server.pending() <= MAX_PENDING);
        assert_eq!(server.pending(), open.len());
    }
    for key in open {
        let error = ErrorObject::new(-1, "late", None);
        server.respond(key, Err(&error)).unwrap();
    }
    sent(&mut server, &mut over);
    assert!(server.close_reason().is_some() || over == expected);
    assert_eq!(server.buffered_bytes(), 0);
}

/// Takes what waits; each frame is one line of JSON, and nothing is said of a request that is over.
fn sent(server: &mut ServerConnection, over: &mut HashSet<RequestKey>) {
    while let Some(outbound) = server.poll_transmit() {
        let text = std::str::from_utf8(&outbound.frame).unwrap();
        assert!(!text.contains(['\n', '\r']));
        serde_json::from_str::<IgnoredAny>(text).unwrap();
        match outbound.lane {
            Lane::Answer(key) => assert!(over.insert(key), "answered twice"),
            Lane::During(key) => assert!(!over.contains(&key)),
            _ => assert!(!text.contains("MARKER") || text.contains("\"method\":\"n\"")),
        }
    }
}

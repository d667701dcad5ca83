//! Our client against our server, over two streams that are cut anywhere.

use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;

use super::{Event, json};
use crate::connection::{ClientConfig, Connection, Era, Event as ClientEvent, Time};
use crate::framing::LineDecoder;
use crate::limits::ServerLimits;
use crate::mcp::{ClientCapabilities, Revision};
use crate::server::{Offer, Request, ServerConnection};

const RESULT: &str = r#"{"content":[{"type":"text","text":"héllo  "}], "n":1.00}"#;

struct Pair {
    client: Connection,
    server: ServerConnection,
    now: Time,
    to_server: Vec<u8>,
    to_client: Vec<u8>,
    at_server: LineDecoder,
    at_client: LineDecoder,
    asks: bool,
}

impl Pair {
    fn new(era: Era, pin: Option<Revision>, asks: bool) -> Self {
        let now = Time::from_epoch(Duration::from_secs(1));
        let config = ClientConfig {
            era,
            pin,
            capabilities: ClientCapabilities {
                roots: true,
                ..ClientCapabilities::default()
            },
            ..ClientConfig::new("0")
        };
        Self {
            client: Connection::client(now, config),
            server: ServerConnection::new(ServerLimits::default()),
            now,
            to_server: Vec::new(),
            to_client: Vec::new(),
            at_server: LineDecoder::new(1 << 20),
            at_client: LineDecoder::new(1 << 20),
            asks,
        }
    }

    /// Moves at most `bytes` bytes each way; whether anything moved.
    fn step(&mut self, bytes: usize) -> bool {
        let frames: Vec<u8> = self.client.transmit().flatten().copied().collect();
        self.client.handle_written(frames.len());
        self.to_server.extend(frames);
        while let Some(outbound) = self.server.poll_transmit() {
            self.to_client.extend_from_slice(&outbound.frame);
            self.to_client.push(b'\n');
        }
        let up: Vec<u8> = self
            .to_server
            .drain(..bytes.min(self.to_server.len()))
            .collect();
        let down: Vec<u8> = self
            .to_client
            .drain(..bytes.min(self.to_client.len()))
            .collect();
        self.at_server.read_buffer().extend_from_slice(&up);
        while let Some(frame) = self.at_server.next_frame().unwrap() {
            assert!(!self.server.handle_frame(&frame).refused);
        }
        self.at_client.read_buffer().extend_from_slice(&down);
        while let Some(frame) = self.at_client.next_frame().unwrap() {
            self.client.handle_frame(self.now, &frame);
        }
        let mut moved = !up.is_empty() || !down.is_empty();
        while let Some(event) = self.server.poll_event() {
            moved = true;
            self.serve(event);
        }
        while let Some(event) = self.client.poll_event() {
            moved = true;
            if let ClientEvent::Input { id, .. } = event {
                self.client
                    .supply(self.now, id, Some(json(r#"{"roots":[]}"#)));
            }
        }
        moved
    }

    fn serve(&mut self, event: Event) {
        match event {
            Event::Request(request) => self.answer(&request),
            // What a tool asked for came: its call, the one request that is under way, is over.
            Event::Answer { answer, .. } => {
                assert_eq!(answer.unwrap().as_str(), r#"{"roots":[]}"#);
                let key = *self.server.pending.keys().next().unwrap();
                self.server.respond(key, Ok(&json(RESULT))).unwrap();
            }
            _ => {}
        }
    }

    fn answer(&mut self, request: &Request) {
        let offer = Offer {
            capabilities: json(r#"{"tools":{}}"#),
            server_info: json(r#"{"name":"pair","version":"1"}"#),
            instructions: None,
        };
        let result = match request.method.as_str() {
            "initialize" => offer.initialize_result(request.meta.revision),
            "server/discover" => offer.discover_result(),
            "tools/list" => json(r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#),
            _ if self.asks => {
                let key = Some(request.key);
                self.server.request(key, "roots/list", None).unwrap();
                return;
            }
            _ => json(RESULT),
        };
        self.server.respond(request.key, Ok(&result)).unwrap();
    }

    fn run(&mut self, chunks: &[usize]) {
        let mut chunks = chunks.iter().copied().cycle();
        while self.step(chunks.next().unwrap()) {}
    }
}

fn eras() -> impl Strategy<Value = (Era, Option<Revision>, Revision)> {
    let legacy = (0_usize..4).prop_map(|at| {
        let revision = Revision::LEGACY[at];
        (Era::Legacy, Some(revision), revision)
    });
    prop_oneof![
        legacy,
        Just((Era::Legacy, None, Revision::V2025_11_25)),
        Just((Era::Modern, None, Revision::V2026_07_28)),
        Just((Era::Auto, None, Revision::V2026_07_28)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// S1, S2, G2: handshake, list and calls on every revision, cut anywhere; the result is the server's, byte for byte.
    #[test]
    fn our_client_and_our_server_understand_each_other(
        (era, pin, spoken) in eras(),
        asks in any::<bool>(),
        chunks in proptest::collection::vec(1_usize..200, 1..20),
    ) {
        let mut pair = Pair::new(era, pin, asks && spoken.is_legacy());
        pair.run(&chunks);
        prop_assert_eq!(pair.client.negotiated(), Some(spoken));
        prop_assert_eq!(pair.server.revision(), Some(spoken));
        for _ in 0..2 {
            let arguments = json(r#"{"a":1}"#);
            let call = pair.client.call(pair.now, "t", &arguments, None).unwrap();
            pair.run(&chunks);
            let result = pair.client.take(call).expect("it ended").unwrap();
            prop_assert_eq!(result.raw().as_str(), RESULT);
        }
        prop_assert_eq!(pair.server.pending(), 0);
        let bytes = Bytes::from_static(b"x");
        prop_assert!(pair.server.handle_frame(&bytes).refused);
    }
}

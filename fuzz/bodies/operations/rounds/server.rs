//! The server's side: answers, what it says unasked, and how its exchanges end.

use bytes::Bytes;
use seawall_proto::connection::ExchangeFault;
use seawall_proto::jsonrpc::classify;
use seawall_proto::{ErrorCode, Json};

use super::super::SMALL;
use super::{LEGACY, MODERN, TOOLS, World};

impl World<'_> {
    /// A request of ours that was begun, by choice.
    pub(super) fn pick_request(&mut self) -> Option<u64> {
        let from_end = usize::from(self.input.byte() % 8);
        self.requests.keys().rev().nth(from_end).copied()
    }

    pub(super) fn answer(&mut self) {
        let Some(id) = self.pick_request() else {
            return;
        };
        let shape = self.input.byte() % 16;
        let id = if shape == 2 { id + 1 } else { id };
        let call = self.requests.get(&id).copied().flatten();
        self.states += 1;
        let state = format!("s{}-{}", call.unwrap_or(u64::MAX), self.states);
        let choice = self.input.byte() % 16;
        let asks = |count: usize| {
            let asks: Vec<String> = (0..count)
                .map(|at| format!(r#""k{at}":{{"method":"roots/list"}}"#))
                .collect();
            asks.join(",")
        };
        let body = match choice {
            0 => r#""error":{"code":-32602,"message":"Unknown tool: MARKER"}"#.to_owned(),
            1 => r#""error":{"code":-32020,"message":"MARKER"}"#.to_owned(),
            2 => {
                r#""error":{"code":-32022,"message":"MARKER","data":{"supported":["2026-07-28"]}}"#
                    .to_owned()
            }
            3 => r#""error":{"code":-32601,"message":"MARKER"}"#.to_owned(),
            4 => r#""result":{"resultType":"MARKER"}"#.to_owned(),
            5 => r#""result":{"resultType":"input_required"}"#.to_owned(),
            6 | 7 => format!(
                r#""result":{{"resultType":"input_required","requestState":"{state}","pad":"{}"}}"#,
                "p".repeat(usize::from(self.input.byte()))
            ),
            8 | 9 => format!(
                r#""result":{{"resultType":"input_required","requestState":"{state}","inputRequests":{{{}}}}}"#,
                asks(usize::from(self.input.byte() % 20))
            ),
            10 => format!(
                r#""result":{{"resultType":"input_required","inputRequests":{{{}}}}}"#,
                asks(usize::from(self.input.byte() % 3))
            ),
            11 => format!(r#""result":{TOOLS}"#),
            _ => format!(
                r#""result":{{"content":["{}"]}}"#,
                "x".repeat(8 * usize::from(self.input.byte()))
            ),
        };
        let status = [200, 200, 200, 400, 401, 404, 429, 503][usize::from(self.input.byte() % 8)];
        let id = match shape {
            0 => "null".to_owned(),
            1 => format!("\"{id}\""),
            _ => id.to_string(),
        };
        let key = self.pick_key(&id);
        let frame = format!(r#"{{"jsonrpc":"2.0",{body},"id":{id}}}"#);
        if id != "null" || body.starts_with("\"error") {
            self.receive(key, status, frame.as_bytes());
        }
    }

    /// The stream that an answer comes on: that of its request for the most part.
    pub(super) fn pick_key(&mut self, id: &str) -> Option<u64> {
        if !self.http || self.input.byte().is_multiple_of(16) {
            return None;
        }
        let own = id.parse().ok().filter(|id| self.exchanges.contains_key(id));
        own.or_else(|| self.exchanges.keys().next_back().copied())
    }

    /// Whatever makes a session is answered well.
    pub(super) fn answer_handshake(&mut self) {
        let Some((&id, _)) = self.requests.iter().next_back() else {
            return;
        };
        let modern = self.connection.negotiated().map(|one| !one.is_legacy());
        let result = match (
            modern,
            self.connection.handshake_step().to_string().as_str(),
        ) {
            (_, "server/discover") => MODERN,
            (_, "initialize") => LEGACY,
            _ => TOOLS,
        };
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let key = self.http.then_some(id);
        self.receive(key, 200, frame.as_bytes());
        // Notifications and replies are taken.
        let taken: Vec<u64> = self
            .exchanges
            .keys()
            .copied()
            .filter(|key| *key > 1 << 60)
            .collect();
        for key in taken {
            self.finish_exchange(key, Some(202));
        }
    }

    /// A server speaks unasked.
    pub(super) fn tell(&mut self) {
        let id = self.pick_request().unwrap_or(1);
        let own = self.input.byte();
        let frame = match self.input.byte() % 10 {
            0 => format!(r#"{{"jsonrpc":"2.0","id":{own},"method":"ping"}}"#),
            1 | 2 => format!(r#"{{"jsonrpc":"2.0","id":{own},"method":"roots/list"}}"#),
            3 => format!(
                r#"{{"jsonrpc":"2.0","id":"{own}","method":"elicitation/create","params":{{"mode":"form"}}}}"#
            ),
            4 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{own}}}}}"#
            ),
            5 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            ),
            6 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
            ),
            7 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
            ),
            8 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
            ),
            _ => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"uri":"{own}","_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
            ),
        };
        let key = self.pick_key("");
        self.receive(key, 200, frame.as_bytes());
    }

    pub(super) fn receive(&mut self, key: Option<u64>, status: u16, frame: &[u8]) {
        if !self.connection.wants_read() {
            return;
        }
        let frame = Bytes::copy_from_slice(frame);
        let message = classify(&frame);
        self.slack = frame.len() + SMALL;
        if self.http {
            self.connection
                .handle_response(self.now, key, status, &frame, message);
        } else {
            self.connection.handle_message(self.now, &frame, message);
        }
    }

    pub(super) fn supply(&mut self) {
        self.drain();
        let Some(input) = self.inputs.pop_first() else {
            return;
        };
        let size = usize::from(self.input.byte());
        let answer = (size % 8 != 0).then(|| {
            Json::check(format!(r#"{{"a":"{}"}}"#, "y".repeat(size))).expect("it is JSON")
        });
        self.connection.supply(self.now, input, answer);
    }

    pub(super) fn end_exchange(&mut self) {
        let from_end = usize::from(self.input.byte() % 8);
        let Some(key) = self.exchanges.keys().rev().nth(from_end).copied() else {
            return;
        };
        let choice = self.input.byte() % 12;
        let begun = self.exchanges.get(&key).is_some_and(|one| one.begun);
        if choice == 0 && begun {
            self.exchanges.remove(&key);
            self.connection.handle_session_lost(self.now, key);
            return;
        }
        let statuses = [200, 200, 401, 403, 404, 429, 500, 503];
        let status = statuses.get(usize::from(choice)).copied();
        self.finish_exchange(key, status.filter(|_| begun));
    }

    pub(super) fn finish_exchange(&mut self, key: u64, status: Option<u16>) {
        self.exchanges.remove(&key);
        let mut fault = ExchangeFault::new("its exchange ended", ErrorCode::ConnectionClosed);
        if let Some(status) = status {
            fault = fault.with_status(status);
        }
        self.connection.handle_exchange_end(self.now, key, fault);
    }
}

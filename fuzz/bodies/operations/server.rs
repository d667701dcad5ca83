//! The server's side: answers, and what else it may write.

use bytes::Bytes;
use seawall_proto::jsonrpc::{Inbound, classify, for_each_element};

use super::{SMALL, World};

impl World<'_> {
    pub(super) fn answer(&mut self) {
        let id = match self.input.byte() {
            byte @ 0..200 => {
                let mut begun: Vec<u64> = self.begun.difference(&self.answered).copied().collect();
                begun.sort_unstable();
                match begun.len() {
                    0 => u64::from(byte),
                    count => begun[usize::from(byte) % count],
                }
            }
            byte => u64::from(byte - 200),
        };
        let shape = self.input.byte();
        let text = if shape & 128 == 0 {
            id.to_string()
        } else {
            format!("\"{id}\"")
        };
        let body = match shape % 16 {
            0 => r#""error":{"code":-32602,"message":"Unknown tool: MARKER"}"#.to_owned(),
            1 => {
                r#""error":{"code":-32022,"message":"MARKER","data":{"supported":["2024-11-05"]}}"#
                    .to_owned()
            }
            2 => r#""result":{"MARKER":1}"#.to_owned(),
            3 => r#""result":{"tools":[],"nextCursor":"MARKER"}"#.to_owned(),
            4 => format!(
                r#""pad":"{}","result":{{"content":[]}}"#,
                "p".repeat(16 * usize::from(self.input.byte()))
            ),
            5 | 6 => return self.receive(&initialized(id, "2025-03-26")),
            7 | 8 => return self.receive(&listed(id)),
            _ => format!(
                r#""result":{{"content":["{}"]}}"#,
                "x".repeat(8 * usize::from(self.input.byte()))
            ),
        };
        let frame = format!(r#"{{"jsonrpc":"2.0",{body},"id":{text}}}"#);
        if shape & 64 == 0 {
            self.receive(frame.as_bytes());
        } else {
            let other =
                self.input
                    .pick(&["7", "[]", r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#]);
            self.receive(format!("[{other},{frame},{other}]").as_bytes());
        }
    }

    pub(super) fn hostile(&mut self) {
        let id = self.last_id;
        let frame = match self.input.byte() % 24 {
            0 => String::new(),
            1 => String::from("\u{feff}noise MARKER"),
            2 => String::from("[]"),
            3 => String::from("{\"log\":\"MARKER\"}"),
            4..=8 => format!(
                r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#,
                "i".repeat(self.input.byte().into())
            ),
            9 => {
                String::from(r#"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"MARKER"}"#)
            }
            10 => String::from(r#"{"jsonrpc":"2.0","error":{"code":1,"message":"MARKER"}}"#),
            11 | 12 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1,"message":"x"}}}}"#
            ),
            13 => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#),
            14 => String::from(r#"{"jsonrpc":"2.0","id":0,"result":{"content":[]}}"#),
            15 => format!(
                "[{}0]",
                r#"{"jsonrpc":"2.0","id":1,"method":"ping"},"#.repeat(self.input.byte().into())
            ),
            16 => String::from(r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#),
            17 => format!(r#"{{"jsonrpc":"2.0","id":{id},"id":{id},"result":{{}}}}"#),
            18 => String::from(r#"{"jsonrpc":"2.0","method":"x","params":[1e999]}"#),
            19 => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}},"error":{{}}}}"#)
            }
            _ => String::from(
                r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"MARKER"}}"#,
            ),
        };
        self.receive(frame.as_bytes());
    }

    /// A frame arrives, if the connection reads.
    pub(super) fn receive(&mut self, frame: &[u8]) {
        if !self.connection.wants_read() {
            return;
        }
        let frame = Bytes::copy_from_slice(frame);
        let mut elements = Vec::new();
        if matches!(classify(&frame), Ok(Inbound::Array)) {
            for_each_element(&frame, |element| elements.push(element));
        }
        // While the list is under way the revision is not told; there are no calls yet to be answered.
        let batches = self
            .connection
            .session()
            .is_some_and(|session| session.revision.has_batches());
        let messages = elements.iter().filter(|_| batches).chain([&frame]);
        for message in messages {
            if let Ok(Inbound::Response { id, .. }) = classify(message)
                && let Some(id) = id.as_ours().filter(|id| self.begun.contains(id))
            {
                self.answered.insert(id);
            }
        }
        // It reads, so what it held before was within the bound.
        self.slack = frame.len() + (elements.len() + 1) * SMALL;
        self.connection.handle_frame(self.now, &frame);
    }
}

pub(super) fn initialized(id: u64, revision: &str) -> Vec<u8> {
    format!(r#"{{"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}}}},"jsonrpc":"2.0","id":{id}}}"#).into_bytes()
}

pub(super) fn listed(id: u64) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"echo","inputSchema":{{"type":"object"}}}}]}}}}"#).into_bytes()
}

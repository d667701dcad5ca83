//! The engine: reads a message, does what the script says before it, answers, does what it says after.

use std::io;
use std::sync::PoisonError;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Heard, McplAct, McplAnswer, McplServer, defaults};
use crate::{WsSocket, pause, ws_frame};

/// The moment before anything came.
const CONNECT: &str = "connect";
/// How a WebSocket closes on whoever came without the token.
const UNAUTHORISED: u16 = 4001;

/// A way for messages.
pub(super) trait Way {
    /// The next message; `None` at the end.
    fn hear(&mut self) -> io::Result<Option<String>>;
    fn say(&mut self, message: &str) -> io::Result<()>;
    fn binary(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn tear(&mut self, message: &str) -> io::Result<()>;
    fn close(&mut self, code: u16);
}

/// Follows a script over a WebSocket.
pub(super) fn play_websocket(server: McplServer, mut socket: WsSocket, heard: &Heard) {
    let refuses = server
        .token
        .as_ref()
        .is_some_and(|token| !brings(&socket.request().target, token));
    if !socket.accept() {
        return;
    }
    let play = Play {
        server,
        way: Socket(socket),
        heard: Heard::clone(heard),
        refuses,
    };
    // However it ends, the socket closes with it.
    let _ = play.run();
}

/// Whether the query of `target` holds the token, as a form's reader reads it.
fn brings(target: &str, token: &str) -> bool {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let given = query
        .split('&')
        .filter_map(|pair| pair.strip_prefix("token="));
    let given: Vec<String> = given.map(decoded).collect();
    given == [token]
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        rest = more;
        let hex = more.first_chunk::<2>().filter(|_| first == b'%');
        let hex = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(match (first, hex) {
            (_, Some(byte)) => {
                rest = more.get(2..).unwrap_or_default();
                byte
            }
            (b'+', None) => b' ',
            (plain, None) => plain,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) struct Play<W> {
    pub(super) server: McplServer,
    pub(super) way: W,
    pub(super) heard: Heard,
    /// Whether it was given the wrong token.
    pub(super) refuses: bool,
}

impl<W: Way> Play<W> {
    pub(super) fn run(mut self) -> io::Result<()> {
        self.act(true, CONNECT)?;
        while let Some(text) = self.way.hear()? {
            let message: Value = serde_json::from_str(&text).map_err(io::Error::other)?;
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            let id = message.get("id").cloned();
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.push(message.clone());
            drop(heard);
            if self.refuses {
                let error = json!({ "code": -32001, "message": "unauthorized" });
                self.say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))?;
                self.way.close(UNAUTHORISED);
                return Ok(());
            }
            self.act(true, &method)?;
            if let Some(id) = id.filter(|_| !method.is_empty()) {
                self.answer(&id, &method, &message["params"])?;
            }
            self.act(false, &method)?;
        }
        Ok(())
    }

    fn answer(&mut self, id: &Value, method: &str, params: &Value) -> io::Result<()> {
        let (member, payload) = match self.server.answers.get(method) {
            Some(McplAnswer::Result(result)) => ("result", result.clone()),
            Some(McplAnswer::Error(error)) => ("error", error.clone()),
            Some(McplAnswer::Never) => return Ok(()),
            None => match self.by_default(method, params) {
                Some(result) => ("result", result.to_string()),
                None => ("error", defaults::UNKNOWN.to_owned()),
            },
        };
        let id = id.to_string();
        self.way.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"{member}":{payload}}}"#
        ))
    }

    fn by_default(&self, method: &str, params: &Value) -> Option<Value> {
        let manifest = &self.server.manifest;
        Some(match method {
            "initialize" => {
                let mut capabilities = json!({ "tools": {} });
                if !manifest.is_null() {
                    capabilities["experimental"] = json!({ "mcpl": manifest });
                }
                json!({
                    "protocolVersion": "2024-11-05",
                    "capabilities": capabilities,
                    "serverInfo": { "name": "scripted-mcpl", "version": "0" },
                })
            }
            "tools/list" => {
                let tool =
                    |name: &String| json!({ "name": name, "inputSchema": { "type": "object" } });
                let tools: Vec<Value> = self.server.tools.iter().map(tool).collect();
                json!({ "tools": tools })
            }
            "tools/call" => {
                let said = params["arguments"].to_string();
                json!({ "content": [{ "type": "text", "text": said }] })
            }
            "mcpl/manifest" if !manifest.is_null() => manifest.clone(),
            _ => return None,
        })
    }

    /// Does what is planned for this moment; an error is its end.
    fn act(&mut self, before: bool, moment: &str) -> io::Result<()> {
        let planned = if before {
            self.server.before.get(moment)
        } else {
            self.server.after.get(moment)
        };
        for act in planned.cloned().unwrap_or_default() {
            match act {
                McplAct::Say(message) => self.way.say(&message)?,
                McplAct::Flood(message, copies) => {
                    for n in 0..copies {
                        self.way.say(&message.replace("{n}", &n.to_string()))?;
                    }
                }
                McplAct::Binary(bytes) => self.way.binary(&bytes)?,
                McplAct::Wait(ms) => pause(Duration::from_millis(ms)),
                McplAct::Answer(method, answer) => {
                    self.server.answers.insert(method, answer);
                }
                McplAct::Close(code) => {
                    self.way.close(code);
                    return Err(over());
                }
                McplAct::Drop => return Err(over()),
                McplAct::Tear(message) => {
                    self.way.tear(&message)?;
                    return Err(over());
                }
            }
        }
        Ok(())
    }

    fn say(&mut self, message: &Value) -> io::Result<()> {
        self.way.say(&message.to_string())
    }
}

fn over() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

fn gone(said: bool) -> io::Result<()> {
    said.then_some(())
        .ok_or_else(|| io::ErrorKind::BrokenPipe.into())
}

struct Socket(WsSocket);

impl Way for Socket {
    fn hear(&mut self) -> io::Result<Option<String>> {
        Ok(self.0.receive_text())
    }

    fn say(&mut self, message: &str) -> io::Result<()> {
        gone(self.0.text(message))
    }

    fn binary(&mut self, bytes: &[u8]) -> io::Result<()> {
        gone(self.0.frame(0x82, bytes))
    }

    fn tear(&mut self, message: &str) -> io::Result<()> {
        let frame = ws_frame(0x81, message.as_bytes());
        gone(self.0.send(&frame[..frame.len() / 2]))
    }

    fn close(&mut self, code: u16) {
        self.0.close(code, "REMOTE-MARKER");
    }
}

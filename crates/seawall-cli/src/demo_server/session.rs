//! One client's session: messages in, messages out, and the calls that are asleep.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::tools::{self, Answer};

/// The revisions that the server speaks, oldest first.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The only revision whose messages may come in arrays.
const BATCHES: &str = "2025-03-26";
/// The first revision with structured results.
const STRUCTURED: &str = "2025-06-18";
/// How often a sleeping call tells its progress, if it was asked to.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// JSON-RPC's error codes.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// A request id exactly as it was written.
type Id = Box<RawValue>;

#[derive(Deserialize)]
struct Message {
    jsonrpc: Option<String>,
    id: Option<Id>,
    method: Option<String>,
    /// Unread, so that a request whose parameters cannot be read is still answered by its id.
    params: Option<Box<RawValue>>,
}

/// A call that waits.
struct Sleep {
    id: Id,
    milliseconds: u64,
    since: Instant,
    until: Instant,
    progress: Option<Progress>,
}

struct Progress {
    token: Value,
    at: Instant,
}

/// What an error reply says.
struct Refusal {
    code: i64,
    message: String,
}

/// What becomes of a request.
enum Reply {
    Now(Value),
    Refused(Refusal),
    /// The call is asleep; its reply comes later.
    Later,
}

#[derive(Default)]
pub(super) struct Session {
    revision: Option<&'static str>,
    asleep: Vec<Sleep>,
    outgoing: Vec<String>,
}

impl Session {
    /// Handles one line; what it leads to is in [`Session::take_outgoing`].
    pub(super) fn handle_line(&mut self, now: Instant, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        if line.first() == Some(&b'[') && self.revision == Some(BATCHES) {
            self.handle_batch(now, line);
            return;
        }
        let reply = self.handle_message(now, line);
        self.outgoing.extend(reply);
    }

    /// Answers that a line was too long to be read.
    pub(super) fn refuse_long_line(&mut self) {
        let refusal = refusal(PARSE_ERROR, "the line is too long for this server");
        self.outgoing.push(error_reply("null", &refusal));
    }

    /// When [`Session::handle_timeout`] next has something to do.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.asleep.iter().map(Sleep::next_event).min()
    }

    /// Answers the calls whose time has come, and tells the progress of the others.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        let (done, mut asleep): (Vec<_>, Vec<_>) = std::mem::take(&mut self.asleep)
            .into_iter()
            .partition(|sleep| sleep.until <= now);
        for sleep in done {
            let text = format!("slept {} ms", sleep.milliseconds);
            self.outgoing
                .push(result_reply(sleep.id.get(), &tools::text_result(&text)));
        }
        for sleep in &mut asleep {
            self.outgoing.extend(sleep.tell_progress(now));
        }
        self.asleep = asleep;
    }

    /// The messages to write, in order.
    pub(super) fn take_outgoing(&mut self) -> Vec<String> {
        std::mem::take(&mut self.outgoing)
    }

    /// A batch: what can be answered at once is answered in one array; a sleeping call is answered alone.
    fn handle_batch(&mut self, now: Instant, line: &[u8]) {
        let Ok(messages) = serde_json::from_slice::<Vec<Box<RawValue>>>(line) else {
            let refusal = refusal(PARSE_ERROR, "the line is not JSON");
            self.outgoing.push(error_reply("null", &refusal));
            return;
        };
        if messages.is_empty() {
            let refusal = refusal(INVALID_REQUEST, "the batch is empty");
            self.outgoing.push(error_reply("null", &refusal));
            return;
        }
        let replies: Vec<String> = messages
            .iter()
            .filter_map(|message| self.handle_message(now, message.get().as_bytes()))
            .collect();
        if !replies.is_empty() {
            self.outgoing.push(format!("[{}]", replies.join(",")));
        }
    }

    fn handle_message(&mut self, now: Instant, text: &[u8]) -> Option<String> {
        let message: Message = match serde_json::from_slice(text) {
            Ok(message) => message,
            Err(error) => {
                let refusal = match error.classify() {
                    serde_json::error::Category::Data => {
                        refusal(INVALID_REQUEST, "the message is not a JSON-RPC message")
                    }
                    _ => refusal(PARSE_ERROR, "the line is not JSON"),
                };
                return Some(error_reply("null", &refusal));
            }
        };
        let (Some("2.0"), Some(method)) = (message.jsonrpc.as_deref(), message.method) else {
            // A reply to a request of ours would land here; the server sends none.
            let refusal = refusal(INVALID_REQUEST, "the message is not a JSON-RPC 2.0 request");
            return Some(error_reply("null", &refusal));
        };
        let params = message.params.as_deref().map_or("{}", RawValue::get);
        let params = serde_json::from_str(params);
        let Some(id) = message.id else {
            if let Ok(params) = params {
                self.handle_notification(&method, &params);
            }
            return None;
        };
        if !matches!(id.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9')) {
            let refusal = refusal(INVALID_REQUEST, "a request id is a string or a number");
            return Some(error_reply("null", &refusal));
        }
        let Ok(params) = params else {
            let refusal = refusal(
                INVALID_PARAMS,
                "the params hold what this server cannot read",
            );
            return Some(error_reply(id.get(), &refusal));
        };
        match self.handle_request(now, &id, &method, &params) {
            Reply::Now(result) => Some(result_reply(id.get(), &result)),
            Reply::Refused(refusal) => Some(error_reply(id.get(), &refusal)),
            Reply::Later => None,
        }
    }

    fn handle_notification(&mut self, method: &str, params: &Value) {
        if method == "notifications/cancelled"
            && let Some(id) = params.get("requestId")
        {
            let is_it = |other: &Id| {
                serde_json::from_str(other.get()).is_ok_and(|other: Value| other == *id)
            };
            self.asleep.retain(|sleep| !is_it(&sleep.id));
        }
    }

    fn handle_request(&mut self, now: Instant, id: &Id, method: &str, params: &Value) -> Reply {
        match (method, self.revision) {
            ("ping", _) => Reply::Now(json!({})),
            ("initialize", None) => self.initialize(params),
            ("initialize", Some(_)) => refused(INVALID_REQUEST, "the session is initialized"),
            ("tools/list" | "tools/call", None) => {
                refused(INVALID_REQUEST, "the session is not initialized")
            }
            ("tools/list", Some(revision)) => list(revision, params),
            ("tools/call", Some(revision)) => self.call(now, id, revision, params),
            _ => refused(METHOD_NOT_FOUND, "the server has no such method"),
        }
    }

    fn initialize(&mut self, params: &Value) -> Reply {
        let Some(asked) = params.get("protocolVersion").and_then(Value::as_str) else {
            return refused(INVALID_PARAMS, "initialize needs a protocolVersion");
        };
        let [.., newest] = REVISIONS;
        let revision = REVISIONS
            .into_iter()
            .find(|known| *known == asked)
            .unwrap_or(newest);
        self.revision = Some(revision);
        Reply::Now(json!({
            "protocolVersion": revision,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "seawall-demo", "version": env!("CARGO_PKG_VERSION")},
            "instructions": "A demonstration: its tools touch nothing outside this process.",
        }))
    }

    fn call(&mut self, now: Instant, id: &Id, revision: &str, params: &Value) -> Reply {
        let Some(name) = params.get("name").and_then(Value::as_str) else {
            return refused(INVALID_PARAMS, "tools/call needs a name");
        };
        let empty = Value::Object(serde_json::Map::new());
        let arguments = params.get("arguments").unwrap_or(&empty);
        if !arguments.is_object() {
            return refused(INVALID_PARAMS, "arguments is not an object");
        }
        match tools::call(name, arguments, revision >= STRUCTURED) {
            None => refused(INVALID_PARAMS, "unknown tool"),
            Some(Answer::Now(result)) => Reply::Now(result),
            Some(Answer::After(milliseconds)) => {
                let token = params.pointer("/_meta/progressToken").cloned();
                self.asleep.push(Sleep {
                    id: id.clone(),
                    milliseconds,
                    since: now,
                    until: now + Duration::from_millis(milliseconds),
                    progress: token.map(|token| Progress {
                        token,
                        at: now + PROGRESS_INTERVAL,
                    }),
                });
                Reply::Later
            }
        }
    }
}

impl Sleep {
    fn next_event(&self) -> Instant {
        match &self.progress {
            Some(progress) => progress.at.min(self.until),
            None => self.until,
        }
    }

    fn tell_progress(&mut self, now: Instant) -> Option<String> {
        let progress = self
            .progress
            .as_mut()
            .filter(|progress| progress.at <= now)?;
        progress.at = now + PROGRESS_INTERVAL;
        let slept = u64::try_from(now.duration_since(self.since).as_millis()).ok()?;
        let notification = json!({
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": progress.token, "progress": slept, "total": self.milliseconds},
        });
        Some(notification.to_string())
    }
}

fn list(revision: &str, params: &Value) -> Reply {
    match params.get("cursor") {
        None | Some(Value::Null) => {
            Reply::Now(json!({"tools": tools::declarations(revision >= STRUCTURED)}))
        }
        Some(_) => refused(INVALID_PARAMS, "the list has one page and no cursor"),
    }
}

fn refusal(code: i64, message: &str) -> Refusal {
    Refusal {
        code,
        message: message.to_owned(),
    }
}

fn refused(code: i64, message: &str) -> Reply {
    Reply::Refused(refusal(code, message))
}

fn result_reply(id: &str, result: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

fn error_reply(id: &str, refusal: &Refusal) -> String {
    let error = json!({"code": refusal.code, "message": refusal.message});
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

//! The script: what a [`Server`] does, step by step. Written by a test, read by `scripted-server`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallRule, Grandchild, Serve, server_path};

/// A single argument may hold this much on every platform; a longer script travels in a file.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// Bytes in a script: a JSON string if they are UTF-8, else an array of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Raw {
    /// UTF-8 text.
    Text(String),
    /// Any bytes.
    Bytes(Vec<u8>),
}

impl Raw {
    /// The bytes themselves.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl<T: Into<Vec<u8>>> From<T> for Raw {
    fn from(bytes: T) -> Self {
        String::from_utf8(bytes.into())
            .map_or_else(|error| Self::Bytes(error.into_bytes()), Self::Text)
    }
}

/// One thing that the server does. Texts named `result`, `error` and `id` are raw JSON and are written as they are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Step {
    /// Reads a line, whose method must be this, and remembers its id as the latest, and under a name if one is given.
    Expect {
        /// The method.
        method: String,
        /// A name to reply to later.
        #[serde(default)]
        name: Option<String>,
    },
    /// Reads a line and remembers its id if it has one.
    ExpectAny,
    /// Reads lines until a `notifications/cancelled`, and appends that line to a file.
    ExpectCancel {
        /// The file.
        path: PathBuf,
    },
    /// Answers a remembered request.
    Reply {
        /// `"result"` or `"error"`.
        member: String,
        /// Raw JSON.
        payload: String,
        /// The remembered request of this name; without it the latest.
        #[serde(default)]
        to: Option<String>,
        /// Raw id text instead of the remembered one.
        #[serde(default)]
        id: Option<String>,
    },
    /// Writes to stdout.
    Write {
        /// The bytes, exactly; no newline is added.
        bytes: Raw,
    },
    /// Writes to stdout in pieces with a pause after each.
    WritePieces {
        /// The bytes, exactly.
        bytes: Raw,
        /// Bytes of one piece.
        size: usize,
        /// The pause.
        pause_ms: u64,
    },
    /// Writes copies to stdout as fast as the pipe takes them, never holding more than a few.
    Flood {
        /// One copy.
        bytes: Raw,
        /// How many.
        copies: u64,
    },
    /// Writes copies to stderr.
    Stderr {
        /// One copy.
        bytes: Raw,
        /// How many.
        copies: u64,
    },
    /// Does nothing for a while.
    Sleep {
        /// How long.
        ms: u64,
    },
    /// Closes a stream and lives on.
    Close {
        /// Which.
        stream: Stream,
    },
    /// Exits.
    Exit {
        /// The status.
        code: u8,
    },
    /// Ends by a signal, given by its name without `SIG`: `KILL`, `SEGV`, `ABRT`, `TERM` …
    Die {
        /// The name.
        signal: String,
    },
    /// Lives on without reading or writing.
    Hang,
    /// From here on, SIGTERM does nothing.
    IgnoreSigterm,
    /// Starts a child of its own and waits until that is ready.
    Fork(Grandchild),
    /// Writes its own process id to a file.
    WritePid {
        /// The file.
        path: PathBuf,
    },
    /// From here on, appends each line received to a file.
    Record {
        /// The file.
        path: PathBuf,
    },
    /// Serves MCP as an honest server would.
    Serve(Serve),
}

/// A standard stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Where the server reads.
    Stdin,
    /// Where the server writes.
    Stdout,
    /// Where the server talks.
    Stderr,
}

/// What a server does, in order. After the last step it reads to the end of its input and exits with 0.
///
/// ```no_run
/// use seawall_testkit::{Script, Serve, Until};
///
/// let server = Script::new()
///     .serve(Serve::new().tools(["slow"]).until(Until::Listed))
///     .expect("tools/call")
///     .stderr("about to fall over\n")
///     .die("SEGV")
///     .server();
/// let child = server.command().spawn();
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Script {
    pub(crate) steps: Vec<Step>,
}

impl Script {
    /// A script without steps: reads to the end of its input.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An honest server with the tools `echo`, `sleep` (`ms`) and `fail`.
    #[must_use]
    pub fn plain() -> Self {
        let failure = r#"{"content":[{"type":"text","text":"this tool fails"}],"isError":true}"#;
        Self::new().serve(
            Serve::new()
                .page([
                    r#"{"name":"echo","description":"Returns its arguments.","inputSchema":{"type":"object"}}"#,
                    r#"{"name":"sleep","description":"Answers after a while.","inputSchema":{"type":"object","properties":{"ms":{"type":"integer"}},"required":["ms"]}}"#,
                    r#"{"name":"fail","description":"Reports an error.","inputSchema":{"type":"object"}}"#,
                ])
                .calls_of("sleep", CallRule::Sleep)
                .calls_of("fail", CallRule::Result(failure.to_owned())),
        )
    }

    /// Adds any step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// See [`Step::Expect`].
    #[must_use]
    pub fn expect(self, method: &str) -> Self {
        self.step(Step::Expect {
            method: method.to_owned(),
            name: None,
        })
    }

    /// See [`Step::Expect`]; the request can be answered by its name, in any order.
    #[must_use]
    pub fn expect_as(self, method: &str, name: &str) -> Self {
        self.step(Step::Expect {
            method: method.to_owned(),
            name: Some(name.to_owned()),
        })
    }

    /// See [`Step::ExpectAny`].
    #[must_use]
    pub fn expect_any(self) -> Self {
        self.step(Step::ExpectAny)
    }

    /// See [`Step::ExpectCancel`].
    #[must_use]
    pub fn expect_cancel(self, path: impl Into<PathBuf>) -> Self {
        self.step(Step::ExpectCancel { path: path.into() })
    }

    /// Answers the latest request with a result, raw JSON.
    #[must_use]
    pub fn reply(self, result: &str) -> Self {
        self.answer("result", result, None, None)
    }

    /// Answers the latest request with an error object, raw JSON.
    #[must_use]
    pub fn reply_error(self, error: &str) -> Self {
        self.answer("error", error, None, None)
    }

    /// Answers a named request with a result, raw JSON.
    #[must_use]
    pub fn reply_to(self, name: &str, result: &str) -> Self {
        self.answer("result", result, Some(name), None)
    }

    /// Writes a result, raw JSON, under an id of the script's own, raw JSON.
    #[must_use]
    pub fn reply_with_id(self, id: &str, result: &str) -> Self {
        self.answer("result", result, None, Some(id))
    }

    /// See [`Step::Write`].
    #[must_use]
    pub fn write(self, bytes: impl Into<Raw>) -> Self {
        self.step(Step::Write {
            bytes: bytes.into(),
        })
    }

    /// Writes a text and a newline.
    #[must_use]
    pub fn line(self, text: &str) -> Self {
        self.write(format!("{text}\n"))
    }

    /// See [`Step::WritePieces`].
    #[must_use]
    pub fn write_pieces(self, bytes: impl Into<Raw>, size: usize, pause: Duration) -> Self {
        self.step(Step::WritePieces {
            bytes: bytes.into(),
            size,
            pause_ms: milliseconds(pause),
        })
    }

    /// See [`Step::Flood`].
    #[must_use]
    pub fn flood(self, bytes: impl Into<Raw>, copies: u64) -> Self {
        self.step(Step::Flood {
            bytes: bytes.into(),
            copies,
        })
    }

    /// Writes to stderr.
    #[must_use]
    pub fn stderr(self, bytes: impl Into<Raw>) -> Self {
        self.stderr_flood(bytes, 1)
    }

    /// See [`Step::Stderr`].
    #[must_use]
    pub fn stderr_flood(self, bytes: impl Into<Raw>, copies: u64) -> Self {
        self.step(Step::Stderr {
            bytes: bytes.into(),
            copies,
        })
    }

    /// See [`Step::Sleep`].
    #[must_use]
    pub fn sleep(self, duration: Duration) -> Self {
        self.step(Step::Sleep {
            ms: milliseconds(duration),
        })
    }

    /// See [`Step::Close`].
    #[must_use]
    pub fn close(self, stream: Stream) -> Self {
        self.step(Step::Close { stream })
    }

    /// See [`Step::Exit`].
    #[must_use]
    pub fn exit(self, code: u8) -> Self {
        self.step(Step::Exit { code })
    }

    /// See [`Step::Die`].
    #[must_use]
    pub fn die(self, signal: &str) -> Self {
        self.step(Step::Die {
            signal: signal.to_owned(),
        })
    }

    /// See [`Step::Hang`].
    #[must_use]
    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }

    /// See [`Step::IgnoreSigterm`].
    #[must_use]
    pub fn ignore_sigterm(self) -> Self {
        self.step(Step::IgnoreSigterm)
    }

    /// See [`Step::Fork`].
    #[must_use]
    pub fn fork(self, grandchild: Grandchild) -> Self {
        self.step(Step::Fork(grandchild))
    }

    /// See [`Step::WritePid`].
    #[must_use]
    pub fn write_pid(self, path: impl Into<PathBuf>) -> Self {
        self.step(Step::WritePid { path: path.into() })
    }

    /// See [`Step::Record`].
    #[must_use]
    pub fn record(self, path: impl Into<PathBuf>) -> Self {
        self.step(Step::Record { path: path.into() })
    }

    /// See [`Step::Serve`].
    #[must_use]
    pub fn serve(self, serve: Serve) -> Self {
        self.step(Step::Serve(serve))
    }

    /// The program that follows this script.
    ///
    /// # Panics
    /// If `scripted-server` cannot be built, or a long script cannot be written to a temporary file.
    #[must_use]
    pub fn server(&self) -> Server {
        self.server_at(server_path())
    }

    #[expect(clippy::expect_used, reason = "a test cannot go on without its server")]
    fn server_at(&self, program: &Path) -> Server {
        let text = serde_json::to_string(self).expect("a script is JSON");
        Server::at(program, "script", &text)
    }

    fn answer(self, member: &str, payload: &str, to: Option<&str>, id: Option<&str>) -> Self {
        self.step(Step::Reply {
            member: member.to_owned(),
            payload: payload.to_owned(),
            to: to.map(str::to_owned),
            id: id.map(str::to_owned),
        })
    }
}

/// A program to launch. Keep it until the launch: a long script is a file that goes with the last clone.
#[derive(Debug, Clone)]
pub struct Server {
    /// The program's absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    #[expect(dead_code, reason = "held for its drop, which removes the file")]
    file: Option<Arc<tempfile::TempPath>>,
}

impl Server {
    /// `scripted-server` with this text to follow, as `verb` reads it.
    pub(crate) fn following(verb: &str, text: &str) -> Self {
        Self::at(server_path(), verb, text)
    }

    #[expect(clippy::expect_used, reason = "a test cannot go on without its server")]
    fn at(program: &Path, verb: &str, text: &str) -> Self {
        if text.len() <= MAX_ARGUMENT_BYTES {
            return Self {
                program: program.to_owned(),
                args: vec![verb.to_owned(), text.to_owned()],
                file: None,
            };
        }
        let file = tempfile::NamedTempFile::new()
            .expect("a temporary file")
            .into_temp_path();
        std::fs::write(&file, text).expect("a script is written");
        let path = file.to_string_lossy().into_owned();
        Self {
            program: program.to_owned(),
            args: vec![format!("{verb}-file"), path],
            file: Some(Arc::new(file)),
        }
    }

    /// The raw loop for benchmarks: answers each `tools/call` with a text of so many bytes.
    #[must_use]
    pub fn fast_echo(text_bytes: usize) -> Self {
        let args = vec![
            "echo".to_owned(),
            "--bytes".to_owned(),
            text_bytes.to_string(),
        ];
        Self {
            program: server_path().to_owned(),
            args,
            file: None,
        }
    }

    /// The program's path as text.
    ///
    /// # Panics
    /// If it is not UTF-8.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test cannot go on without its server")]
    pub fn program_str(&self) -> &str {
        self.program.to_str().expect("a UTF-8 path")
    }

    /// The entry of a configuration in the `mcpServers` shape.
    #[must_use]
    pub fn entry(&self) -> Value {
        serde_json::json!({ "command": self.program_str(), "args": self.args })
    }

    /// A command that launches it.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        command
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

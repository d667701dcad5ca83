//! The parts of a script that have rules of their own: an honest server and a grandchild.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A child of the server. It writes its process id to a file as soon as it is ready, and lives on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Grandchild {
    pub(crate) pid_file: PathBuf,
    pub(crate) holds_pipes: bool,
    pub(crate) ignores_sigterm: bool,
    pub(crate) own_session: bool,
    #[serde(default)]
    pub(crate) orphaned: bool,
}

impl Grandchild {
    /// A grandchild of the same group that holds no pipe and dies by SIGTERM.
    #[must_use]
    pub fn new(pid_file: impl Into<PathBuf>) -> Self {
        Self {
            pid_file: pid_file.into(),
            holds_pipes: false,
            ignores_sigterm: false,
            own_session: false,
            orphaned: false,
        }
    }

    /// It keeps the server's stdin, stdout and stderr open.
    #[must_use]
    pub fn holding_pipes(mut self) -> Self {
        self.holds_pipes = true;
        self
    }

    /// SIGTERM does nothing to it.
    #[must_use]
    pub fn ignoring_sigterm(mut self) -> Self {
        self.ignores_sigterm = true;
        self
    }

    /// It leaves the server's process group and session.
    #[must_use]
    pub fn in_own_session(mut self) -> Self {
        self.own_session = true;
        self
    }

    /// Its parent, which the server started in between, has exited before the server goes on.
    #[must_use]
    pub fn orphaned(mut self) -> Self {
        self.orphaned = true;
        self
    }
}

/// How an honest server answers `tools/call`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallRule {
    /// With the raw JSON of the arguments as text.
    Echo,
    /// With this result, raw JSON.
    Result(String),
    /// With this error object, raw JSON.
    Error(String),
    /// With a text of so many bytes.
    Text(usize),
    /// With a result, raw JSON, after so many milliseconds; not at all if it was cancelled before.
    After(u64, String),
    /// After as many milliseconds as the argument `ms` says; not at all if it was cancelled before.
    Sleep,
    /// Not at all.
    Never,
}

/// When an honest server goes on with the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// At the end of its input. The default.
    EndOfInput,
    /// After the reply to `initialize`.
    Initialized,
    /// After the last page of tools.
    Listed,
    /// After so many calls were received and their rule followed.
    Calls(u64),
}

/// An honest server: handshake, tools in pages, calls by a rule. Answers `ping`, refuses other methods.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Serve {
    pub(crate) revision: Option<String>,
    pub(crate) capabilities: String,
    pub(crate) pages: Vec<Vec<String>>,
    pub(crate) rule: CallRule,
    pub(crate) tool_rules: BTreeMap<String, CallRule>,
    pub(crate) answers: BTreeMap<String, String>,
    pub(crate) until: Until,
}

impl Default for Serve {
    fn default() -> Self {
        Self::new()
    }
}

impl Serve {
    /// Speaks whatever revision it is asked for, has the capability `tools`, no tool, and echoes calls.
    #[must_use]
    pub fn new() -> Self {
        Self {
            revision: None,
            capabilities: r#"{"tools":{}}"#.to_owned(),
            pages: Vec::new(),
            rule: CallRule::Echo,
            tool_rules: BTreeMap::new(),
            answers: BTreeMap::new(),
            until: Until::EndOfInput,
        }
    }

    /// Answers `initialize` with this revision whatever it was asked for.
    #[must_use]
    pub fn revision(mut self, revision: &str) -> Self {
        self.revision = Some(revision.to_owned());
        self
    }

    /// Its capabilities, raw JSON.
    #[must_use]
    pub fn capabilities(mut self, capabilities: &str) -> Self {
        capabilities.clone_into(&mut self.capabilities);
        self
    }

    /// One more page of tools, each a raw JSON entry. The cursor to page `n`, counted from 0, is `"page-n"`.
    #[must_use]
    pub fn page(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.pages.push(tools.into_iter().map(Into::into).collect());
        self
    }

    /// A page of tools by their names, each accepting any object.
    #[must_use]
    pub fn tools<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.page(names.into_iter().map(tool))
    }

    /// How calls are answered.
    #[must_use]
    pub fn calls(mut self, rule: CallRule) -> Self {
        self.rule = rule;
        self
    }

    /// How calls of one tool are answered.
    #[must_use]
    pub fn calls_of(mut self, tool: &str, rule: CallRule) -> Self {
        self.tool_rules.insert(tool.to_owned(), rule);
        self
    }

    /// Answers every request of another method with this result, raw JSON.
    #[must_use]
    pub fn answers(mut self, method: &str, result: &str) -> Self {
        self.answers.insert(method.to_owned(), result.to_owned());
        self
    }

    /// When the next step of the script begins.
    #[must_use]
    pub fn until(mut self, until: Until) -> Self {
        self.until = until;
        self
    }
}

/// The raw JSON of a tool's entry that accepts any object.
#[must_use]
pub fn tool(name: &str) -> String {
    serde_json::json!({ "name": name, "inputSchema": { "type": "object" } }).to_string()
}

//! Why a command failed: what is said of it, and the exit status.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use seawall::config::Problems;
use seawall::host::{AlertLogError, StartError, StopError};
use seawall::mcpl::channels::PublishError;
use seawall::oauth::LoginFault;
use seawall::{AuthError, Error, ErrorCode, HostError, Outcome};
use serde::Serialize;

use crate::arguments::{ArgumentError, PromptError};
use crate::commands::{InitError, JournalProblem};
use crate::printer::Printer;
use crate::telemetry::ExportError;

pub(crate) use no_login::NoLogin;
pub(crate) use publish::PublishFailure;
pub(crate) use undone::Undone;

mod no_login;
mod publish;
mod undone;

/// The exit statuses; `args::EXIT_STATUSES` explains them to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Done = 0,
    ToolError = 1,
    Usage = 2,
    NotSent = 3,
    ErrorResponse = 4,
    Unusable = 5,
    NoResponse = 6,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

impl Status {
    /// The status of a call or a connect that failed.
    pub(crate) fn of(error: &Error) -> Self {
        if error.code() == ErrorCode::Configuration {
            return Self::Usage;
        }
        Self::of_outcome(error.outcome())
    }

    fn of_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::NotSent => Self::NotSent,
            Outcome::ErrorResponse => Self::ErrorResponse,
            Outcome::Answered => Self::Unusable,
            // An outcome that this program does not know is not known to be harmless.
            _ => Self::NoResponse,
        }
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Server(#[from] Error),
    /// The server of a request could not be connected to. Whatever became of the handshake, the request was never sent.
    #[error("{error}; {undone}")]
    Uncalled { error: Error, undone: Undone },
    /// What is asked for is nothing that the server offers.
    #[error("MCP server \"{server}\": it offers no {offer}; nothing was asked of it")]
    NotOffered { server: String, offer: &'static str },
    /// The server answered, and the answer cannot be used.
    #[error("MCP server \"{server}\": its answer {fault}")]
    Unusable { server: String, fault: &'static str },
    /// A message was not published, or is not known to be.
    #[error(transparent)]
    Publish(#[from] PublishFailure),
    /// A login failed.
    #[error("MCP server \"{server}\": {error}")]
    Login { server: String, error: AuthError },
    /// What was read could not be kept.
    #[error("cannot write {}: {source}", .path.display())]
    OutputFile { path: PathBuf, source: io::Error },
    /// A signal came before anything was called.
    #[error("interrupted; {undone}")]
    Interrupted {
        server: Option<String>,
        undone: Undone,
    },
    /// The data could not be written where it was to go. Whatever was asked of a server has been answered.
    #[error("stdout takes no more: {0}")]
    Output(io::Error),
    /// A server that had to come up did not; all were ended.
    #[error("{0}")]
    NotStarted(StartError),
    /// Servers that could not be ended.
    #[error("{0}")]
    NotGone(StopError),
    /// A second signal ended everything at once.
    #[error("a second signal: every server was killed, and none was waited for")]
    Killed,
    #[error("the program cannot start: {0}")]
    Runtime(io::Error),
}

/// What was asked for cannot be meant.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error(transparent)]
    Configuration(Problems),
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("`{name}` says no server: write SERVER/NAME, or add --server ID{}", among(.configured))]
    PromptWithoutServer {
        name: String,
        configured: Vec<String>,
    },
    #[error("`{name}` says no channel of a server: write SERVER/CHANNEL{}", among(.configured))]
    ChannelWithoutServer {
        name: String,
        configured: Vec<String>,
    },
    #[error(
        "by its entry, `{0}` is no server of MCP Live: a program needs \"protocol\": \"mcpl\", a URL the scheme ws or wss"
    )]
    NotLive(String),
    #[error(
        "--args: a message is an array of content blocks, as in [{{\"type\": \"text\", \"text\": \"hello\"}}]"
    )]
    NoBlocks,
    #[error("{0}; nothing was published")]
    Unpublishable(PublishError),
    #[error("there is no login for `{id}`: {why}")]
    NoLogin { id: String, why: NoLogin },
    #[error("no server lists `{uri}`; if one reads it all the same, name it with --server ID{}", among(.configured))]
    UnlistedUri {
        uri: String,
        configured: Vec<String>,
    },
    #[error("several servers list `{uri}`: name one of them with --server ID ({})", .servers.join(", "))]
    SharedUri { uri: String, servers: Vec<String> },
    #[error(
        "it is binary ({bytes} bytes), which a terminal cannot show: write it with --output FILE, or pipe stdout"
    )]
    BinaryToTerminal { bytes: usize },
    #[error("--args: cannot read {}: {source}", .path.display())]
    ArgumentsFile { path: PathBuf, source: io::Error },
    #[error("--args: cannot read stdin: {0}")]
    ArgumentsStdin(io::Error),
    #[error("the arguments cannot be sent: {0}")]
    ArgumentsJson(Box<dyn std::error::Error + Send + Sync>),
    #[error("--args: the text is longer than {limit} bytes")]
    ArgumentsTooLong { limit: u64 },
    #[error("`{flow}` is the flow of no configured server{}{}", did_you_mean(.meant.as_deref()), among(.configured))]
    UnknownFlow {
        flow: String,
        meant: Option<String>,
        configured: Vec<String>,
    },
    #[error("there is no server `{id}`{}{}", did_you_mean(.meant.as_deref()), among(.configured))]
    UnknownServer {
        id: String,
        meant: Option<String>,
        configured: Vec<String>,
    },
    #[error("server `{id}` is disabled in the configuration")]
    Disabled { id: String },
    #[error(
        "--demo: the configuration has the server `demo` or its prefix `mcp/demo` already; leave --demo out, or rename that one"
    )]
    DemoTaken,
    #[error("--root: {} is no folder that can be read", .path.display())]
    Root { path: PathBuf },
    #[error("--alert-log: {} cannot be opened: {source}", .path.display())]
    AlertLog {
        path: PathBuf,
        source: AlertLogError,
    },
    #[error("SEAWALL_ALERT_WEBHOOK holds no http or https URL")]
    AlertWebhook,
    #[error(
        "--http {address}: nobody is asked who they are, so it would be open to whoever reaches it; give each client a token in the configuration's gateway.clients (docs/gateway.md, \"Who may come\"), or use --http 127.0.0.1:{} and a tunnel, such as ssh -L", .address.port()
    )]
    ServeAddress { address: SocketAddr },
    #[error("--client {name}: the configuration's gateway.clients has no such client{}", has(.configured))]
    UnknownClient {
        name: String,
        configured: Vec<String>,
    },
    #[error("no HTTP client can be made: {0}")]
    HttpClient(#[source] seawall::HttpClientError),
    #[error("--http {address}: cannot listen there: {source}")]
    ServeBind {
        address: SocketAddr,
        source: io::Error,
    },
    #[error(
        "--names plain: a tool named {name:?} is offered by {}; leave it out on all but one (`exclude`), or use --names scoped", .servers.join(" and ")
    )]
    NamesMeet { name: String, servers: Vec<String> },
    #[error(transparent)]
    Export(ExportError),
    #[error(transparent)]
    Init(#[from] InitError),
    #[error(transparent)]
    Journal(#[from] JournalProblem),
    #[error("--demo: the path of this program is not UTF-8")]
    DemoPath,
}

fn has(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; it has: {}", names.join(", ")),
    }
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

fn among(configured: &[String]) -> String {
    if configured.is_empty() {
        return "; no servers are configured: name a file with --mcp-config PATH, or add --demo"
            .to_owned();
    }
    format!(" (configured: {})", configured.join(", "))
}

impl Failure {
    /// The one mapping of failures to exit statuses.
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Usage(_) => Status::Usage,
            Self::Server(error) => Status::of(error),
            Self::Publish(failure) => failure.status(),
            Self::Uncalled { error, .. } if error.code() == ErrorCode::Configuration => {
                Status::Usage
            }
            Self::Uncalled { .. }
            | Self::NotOffered { .. }
            | Self::Interrupted { .. }
            | Self::Runtime(_) => Status::NotSent,
            Self::NotStarted(error) => match &error.stop {
                Some(_) => Status::NoResponse,
                None if error.failures.iter().all(is_configuration) => Status::Usage,
                None => Status::NotSent,
            },
            Self::NotGone(_) | Self::Killed => Status::NoResponse,
            Self::Login { error, .. } => match of_login(error) {
                (ErrorCode::Configuration, _) => Status::Usage,
                (_, outcome) => Status::of_outcome(outcome),
            },
            Self::Output(_) | Self::OutputFile { .. } | Self::Unusable { .. } => Status::Unusable,
        }
    }

    /// Says it: to people on stderr, to programs on stdout.
    pub(crate) fn print(&self, printer: &mut Printer) {
        if printer.is_json() {
            printer.json(&ErrorReport::from(self));
        } else {
            self.tell(printer);
        }
    }

    /// Says it on stderr.
    pub(crate) fn tell(&self, printer: &mut Printer) {
        if let Self::Usage(UsageError::Configuration(problems)) = self {
            for problem in problems.as_slice() {
                printer.error(&problem.to_string());
            }
            return;
        }
        let mut servers: Vec<String> = Vec::new();
        match self {
            Self::NotStarted(error) => {
                servers.extend(error.failures.iter().map(ToString::to_string));
                let left = error.stop.iter().flat_map(|stop| &stop.failures);
                servers.extend(left.map(ToString::to_string));
            }
            Self::NotGone(error) => {
                servers.extend(error.failures.iter().map(ToString::to_string));
            }
            _ => servers.push(self.to_string()),
        }
        for text in servers {
            printer.error(&text);
        }
        if let Self::Server(error) | Self::Uncalled { error, .. } = self
            && let Some(cause) = std::error::Error::source(error)
        {
            printer.detail(&format!("  {cause}"));
        }
    }
}

/// What an operation of the host failed of.
pub(crate) fn code_of(error: &HostError) -> ErrorCode {
    match error {
        HostError::Connect { error }
        | HostError::Unreaped { error }
        | HostError::Refresh { error }
        | HostError::LostMeanwhile { error, .. } => error.code(),
        HostError::RestartFailed { cause, .. } => code_of(cause),
        HostError::Taken { .. } | HostError::PrefixMeets { .. } => ErrorCode::Configuration,
        _ => ErrorCode::ConnectionClosed,
    }
}

fn is_configuration(error: &HostError) -> bool {
    code_of(error) == ErrorCode::Configuration
}

/// What a login failed of, and what became of it.
fn of_login(error: &AuthError) -> (ErrorCode, Outcome) {
    match error {
        AuthError::Settings(_) | AuthError::Store(_) | AuthError::NoRegistration { .. } => {
            (ErrorCode::Configuration, Outcome::NotSent)
        }
        AuthError::Egress { .. } => (ErrorCode::CapabilityRefused, Outcome::NotSent),
        AuthError::Unreachable { .. } => (ErrorCode::ConnectionClosed, Outcome::NoResponse),
        AuthError::Login(LoginFault::TimedOut) => (ErrorCode::Timeout, Outcome::NotSent),
        AuthError::Login(LoginFault::NoBrowser | LoginFault::NoListener) => {
            (ErrorCode::SpawnFailed, Outcome::NotSent)
        }
        AuthError::Unsound { .. } | AuthError::Login(_) => {
            (ErrorCode::ProtocolError, Outcome::Answered)
        }
        _ => (ErrorCode::ConnectionClosed, Outcome::ErrorResponse),
    }
}

/// A failure as `--json` shows it.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorReport {
    error: ErrorBody,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorBody {
    code: &'static str,
    outcome: &'static str,
    /// Null where no server is concerned.
    server: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    json_rpc_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
}

impl ErrorReport {
    /// Nothing was asked of any server.
    pub(crate) fn usage(message: &str) -> Self {
        Self::new(
            ErrorCode::Configuration,
            Outcome::NotSent,
            None,
            message.to_owned(),
        )
    }

    pub(crate) fn of(error: &Error) -> Self {
        let mut report = Self::new(
            error.code(),
            error.outcome(),
            Some(error.server().to_owned()),
            error.message(),
        );
        report.error.json_rpc_code = error.json_rpc_code();
        report.error.http_status = error.http_status();
        report
    }

    /// Of a request that was never sent, since its server could not be connected to.
    fn uncalled(error: &Error, undone: Undone) -> Self {
        let mut report = Self::of(error);
        report.error.outcome = Outcome::NotSent.as_str();
        report.error.message += &format!("; {undone}");
        report
    }

    /// Of several servers; it names the first.
    fn of_host(failures: &[HostError], outcome: Outcome, message: String) -> Self {
        let first = failures.first();
        let code = first.map_or(ErrorCode::ConnectionClosed, code_of);
        let server = first.map(|failure| failure.server().to_owned());
        Self::new(code, outcome, server, message)
    }

    /// What stands below `error`.
    pub(crate) fn into_body(self) -> ErrorBody {
        self.error
    }

    pub(crate) fn message(&self) -> &str {
        &self.error.message
    }

    fn new(code: ErrorCode, outcome: Outcome, server: Option<String>, message: String) -> Self {
        Self {
            error: ErrorBody {
                code: code.as_str(),
                outcome: outcome.as_str(),
                server,
                message,
                json_rpc_code: None,
                http_status: None,
            },
        }
    }
}

impl From<&Failure> for ErrorReport {
    fn from(failure: &Failure) -> Self {
        let message = || failure.to_string();
        match failure {
            Failure::Usage(UsageError::Arguments(error)) => Self::usage(&error.without_words()),
            Failure::Usage(UsageError::Prompt(error)) => Self::usage(&error.without_words()),
            Failure::Usage(_) => Self::usage(&message()),
            Failure::Server(error) => Self::of(error),
            Failure::Publish(failure) => failure.report(),
            Failure::Uncalled { error, undone } => Self::uncalled(error, *undone),
            Failure::NotOffered { server, offer } => Self::new(
                ErrorCode::ProtocolError,
                Outcome::NotSent,
                Some(server.clone()),
                format!("it offers no {offer}; nothing was asked of it"),
            ),
            Failure::Unusable { server, fault } => Self::new(
                ErrorCode::InvalidResponse,
                Outcome::Answered,
                Some(server.clone()),
                format!("its answer {fault}"),
            ),
            Failure::Interrupted { server, .. } => Self::new(
                ErrorCode::ConnectionClosed,
                Outcome::NotSent,
                server.clone(),
                message(),
            ),
            Failure::Login { server, error } => {
                let (code, outcome) = of_login(error);
                Self::new(code, outcome, Some(server.clone()), error.to_string())
            }
            Failure::Output(_) | Failure::OutputFile { .. } => Self::new(
                ErrorCode::InvalidResponse,
                Outcome::Answered,
                None,
                message(),
            ),
            Failure::NotStarted(error) => {
                Self::of_host(&error.failures, Outcome::NotSent, message())
            }
            Failure::NotGone(error) => {
                Self::of_host(&error.failures, Outcome::NoResponse, message())
            }
            Failure::Killed => Self::new(
                ErrorCode::ConnectionClosed,
                Outcome::NoResponse,
                None,
                message(),
            ),
            Failure::Runtime(_) => {
                Self::new(ErrorCode::SpawnFailed, Outcome::NotSent, None, message())
            }
        }
    }
}

#[cfg(test)]
mod tests;

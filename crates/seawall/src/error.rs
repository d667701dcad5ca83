//! The one error of the library: which server, what class, what became of the request, and a text of ours.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use seawall_proto::connection::{CallError, CloseReason, Obstacle, RevisionRefusal};
use seawall_proto::limits::MAX_SUBSCRIPTIONS;
use seawall_proto::mcp::ToolFault;
use seawall_proto::{ErrorCode, Json, Outcome};

use crate::events::Hidden;
use crate::flows::ProjectError;
use crate::policy::Capability;
use crate::transport::stdio::{NotReaped, SpawnError};
use crate::web::HttpClientError;

/// Why connecting, calling or closing failed.
///
/// [`Display`](fmt::Display) is written by Seawall and names the server; it holds no text of the server, no argument, path
/// or environment (O1). The details of a spawn failure are in its [source](std::error::Error::source).
#[derive(Debug, Clone)]
pub struct Error {
    server: Arc<str>,
    kind: Arc<ErrorKind>,
    told: Option<Arc<Told>>,
}

/// What a server said of an error, redacted.
#[derive(Debug)]
struct Told {
    message: Hidden,
    data: Option<Json>,
}

/// What failed.
#[derive(Debug)]
pub(crate) enum ErrorKind {
    /// The process could not be started.
    Spawn(SpawnError),
    /// The connect failed.
    Connect {
        reason: CloseReason,
        outcome: Outcome,
        unreaped: Option<NotReaped>,
    },
    /// A call failed.
    Call(CallError),
    /// The caller let go of the call.
    Abandoned(Outcome),
    /// The same, while the server waited for another round (O4).
    AbandonedBetweenLegs,
    /// The end of the call was told before; this became of it.
    Over(Outcome),
    /// The embedding program's own code panicked within a connect.
    Panicked,
    /// The call was made under another declaration than the tool has (F3).
    StaleDeclaration,
    /// The caller's envelope does not cover this, which the flow declares (F4).
    Uncovered(Capability),
    /// The deadline passed while other calls of the run had their turns at the server (F2).
    NoTurn { limit_ms: u128 },
    /// The call could not be written down before it was to be sent (J1); or not before its deadline.
    Unrecorded { limit_ms: Option<u128> },
    /// The configuration includes tools that the catalog lacks (K11).
    Project {
        error: ProjectError,
        unreaped: Option<NotReaped>,
    },
    /// The tool's output schema cannot be used, so no result of it could be accepted (S11).
    UnusableSchema,
    /// The child could not be reaped (T1).
    Unreaped(NotReaped),
    /// The tool list could not be read again.
    Refresh(CloseReason),
    /// A list other than that of the tools cannot be used, or is longer than its bound.
    List { limit: Option<usize> },
    /// As many resources are followed as can be.
    FollowsAll,
    /// The way to the web cannot be opened.
    Http(HttpClientError),
    /// A configured header is none: its name.
    Header(String),
    /// A login was given for a server that is started as a process (K8).
    LoginOverStdio,
    /// The host is not connected to the server; this is how it stands.
    NotUp(&'static str),
    /// The tool is left out of the server's list, as it breaks a rule (L7, T2).
    LeftOut(ToolFault),
    /// No server of the host offers the flow.
    NoSuchFlow,
    /// Connecting needs a running tokio runtime with I/O and time.
    NoRuntime,
}

impl Error {
    pub(crate) fn new(server: &Arc<str>, kind: ErrorKind) -> Self {
        Self {
            server: Arc::clone(server),
            kind: Arc::new(kind),
            told: None,
        }
    }

    /// With what the server said of it.
    pub(crate) fn telling(mut self, message: Hidden, data: Option<Json>) -> Self {
        self.told = Some(Arc::new(Told { message, data }));
        self
    }

    /// What the server said, where it refused a call with an error: redacted and bounded, and remote text all the same. It
    /// is in no text of this error.
    #[must_use]
    pub fn remote_message(&self) -> Option<&Hidden> {
        self.told.as_deref().map(|told| &told.message)
    }

    /// Whether a call brought answers or a state to a server whose revision has no rounds ([`Carried::one_leg`](crate::Carried::one_leg)).
    #[must_use]
    pub fn has_no_rounds(&self) -> bool {
        matches!(*self.kind, ErrorKind::Call(CallError::NoRounds))
    }

    /// What the server said beside its message, its error's `data`: redacted, of 16 KiB at most, and remote text all the same.
    #[must_use]
    pub fn remote_data(&self) -> Option<&Json> {
        self.told.as_deref()?.data.as_ref()
    }

    /// The server's id.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The class of the failure (O1).
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match &*self.kind {
            ErrorKind::Spawn(_) => ErrorCode::SpawnFailed,
            ErrorKind::Connect { reason, .. } => reason.code(),
            ErrorKind::Call(error) => error.code(),
            ErrorKind::Refresh(reason) => reason.code(),
            ErrorKind::NotUp(_) => ErrorCode::ConnectionClosed,
            ErrorKind::NoSuchFlow => ErrorCode::ToolNotFound,
            ErrorKind::Abandoned(_)
            | ErrorKind::AbandonedBetweenLegs
            | ErrorKind::Over(_)
            | ErrorKind::Panicked
            | ErrorKind::Unreaped(_) => ErrorCode::ConnectionClosed,
            ErrorKind::StaleDeclaration | ErrorKind::Project { .. } | ErrorKind::LeftOut(_) => {
                ErrorCode::ToolNotFound
            }
            ErrorKind::Uncovered(_) => ErrorCode::CapabilityRefused,
            ErrorKind::FollowsAll => ErrorCode::ProtocolError,
            ErrorKind::NoTurn { .. } | ErrorKind::Unrecorded { limit_ms: Some(_) } => {
                ErrorCode::Timeout
            }
            ErrorKind::UnusableSchema | ErrorKind::List { .. } => ErrorCode::InvalidResponse,
            ErrorKind::Unrecorded { limit_ms: None }
            | ErrorKind::LoginOverStdio
            | ErrorKind::NoRuntime
            | ErrorKind::Http(_)
            | ErrorKind::Header(_) => ErrorCode::Configuration,
        }
    }

    /// What became of the request (O2).
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match &*self.kind {
            ErrorKind::Connect { outcome, .. }
            | ErrorKind::Abandoned(outcome)
            | ErrorKind::Over(outcome) => *outcome,
            ErrorKind::Call(error) => error.outcome(),
            ErrorKind::Project { .. } | ErrorKind::List { .. } => Outcome::Answered,
            ErrorKind::Panicked | ErrorKind::Unreaped(_) | ErrorKind::AbandonedBetweenLegs => {
                Outcome::NoResponse
            }
            ErrorKind::Refresh(reason) => match reason.code() {
                ErrorCode::InvalidResponse => Outcome::Answered,
                _ if reason.json_rpc_code().is_some() => Outcome::ErrorResponse,
                _ => Outcome::NoResponse,
            },
            ErrorKind::Spawn(_)
            | ErrorKind::StaleDeclaration
            | ErrorKind::LeftOut(_)
            | ErrorKind::Uncovered(_)
            | ErrorKind::NoTurn { .. }
            | ErrorKind::Unrecorded { .. }
            | ErrorKind::UnusableSchema
            | ErrorKind::FollowsAll
            | ErrorKind::LoginOverStdio
            | ErrorKind::Http(_)
            | ErrorKind::Header(_)
            | ErrorKind::NotUp(_)
            | ErrorKind::NoSuchFlow
            | ErrorKind::NoRuntime => Outcome::NotSent,
        }
    }

    /// The code of the JSON-RPC error that the server answered with, if it did.
    #[must_use]
    pub fn json_rpc_code(&self) -> Option<i64> {
        match &*self.kind {
            ErrorKind::Connect { reason, .. } => reason.json_rpc_code(),
            ErrorKind::Call(error) => error.json_rpc_code(),
            _ => None,
        }
    }

    /// The status of the HTTP refusal, if there was one.
    #[must_use]
    pub fn http_status(&self) -> Option<u16> {
        match &*self.kind {
            ErrorKind::Connect { reason, .. } => reason.http_status(),
            ErrorKind::Call(error) => error.http_status(),
            _ => None,
        }
    }

    /// The option of the entry whose bound a connect passed, if that is why it failed.
    #[must_use]
    pub fn limit(&self) -> Option<&'static str> {
        match &*self.kind {
            ErrorKind::Connect { reason, .. } => reason.limit(),
            _ => None,
        }
    }

    /// What stood in the way of an exchange over HTTP, where that is known.
    #[must_use]
    pub fn obstacle(&self) -> Option<Obstacle> {
        match &*self.kind {
            ErrorKind::Connect { reason, .. } => reason.obstacle(),
            ErrorKind::Call(error) => error.obstacle(),
            _ => None,
        }
    }

    /// Whether nothing of a call was carried out for certain, since the server refused it for its credentials (401, 403) before
    /// any of its rounds: it may be called again with others. What was not sent at all for want of them counts too.
    #[must_use]
    pub fn was_refused_unread(&self) -> bool {
        matches!(&*self.kind, ErrorKind::Call(error) if error.was_refused_unread())
    }

    /// How long a server wants to be left alone that has enough to do (429, 503), where that is why a request failed.
    pub(crate) fn rest_asked_for(&self) -> Option<Duration> {
        match &*self.kind {
            ErrorKind::Call(CallError::Exchange { fault, .. }) if fault.is_busy() => {
                Some(fault.retry_after)
            }
            _ => None,
        }
    }

    /// Whether a connect failed because an exchange over HTTP brought no answer.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(
            &*self.kind,
            ErrorKind::Connect {
                reason: CloseReason::Exchange { .. },
                ..
            }
        )
    }

    /// Whether trying again with the same configuration cannot help (S4).
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        match &*self.kind {
            ErrorKind::Connect { reason, .. } => reason.is_permanent(),
            ErrorKind::Call(CallError::Closed { reason, .. }) => reason.is_permanent(),
            ErrorKind::LoginOverStdio | ErrorKind::Project { .. } => true,
            _ => false,
        }
    }

    /// What both sides speak, where they have no revision in common (S4).
    #[must_use]
    pub fn revision_refusal(&self) -> Option<&RevisionRefusal> {
        let reason = match &*self.kind {
            ErrorKind::Connect { reason, .. } => reason,
            ErrorKind::Call(CallError::Closed { reason, .. }) => reason,
            _ => return None,
        };
        match reason {
            CloseReason::Revision(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// The first of the flow's capabilities that the caller's envelope does not cover, if that is why the call was refused
    /// (F4).
    #[must_use]
    pub fn refused_capability(&self) -> Option<&Capability> {
        match &*self.kind {
            ErrorKind::Uncovered(capability) => Some(capability),
            _ => None,
        }
    }

    /// The text without the server's name, for output that names it elsewhere.
    #[must_use]
    pub fn message(&self) -> String {
        struct Message<'a>(&'a ErrorKind);
        impl fmt::Display for Message<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_kind(self.0, f)
            }
        }
        Message(&self.kind).to_string()
    }

    /// The same without the word on what became of a request, for output that is about the server and no call.
    #[must_use]
    pub fn server_message(&self) -> String {
        let mut message = self.message();
        if let Some(rest) = message.strip_suffix(NOTHING_SENT) {
            message.truncate(rest.len());
        }
        message
    }
}

/// What texts of failures end with that nothing was sent for.
const NOTHING_SENT: &str = "; nothing was sent";

fn write_unreaped(unreaped: Option<&NotReaped>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match unreaped {
        Some(unreaped) => write!(f, "; {unreaped}"),
        None => Ok(()),
    }
}

/// The resource of a grant is a path or a URL of the operator's, which error texts do not hold (O1).
fn write_uncovered(capability: &Capability, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (namespace, operation) = (capability.namespace(), capability.operation());
    let resource = match capability.resource() {
        "**" => "**",
        _ => "…",
    };
    write!(
        f,
        "the caller may not use \"{namespace}:{operation}:{resource}\", which the tool declares; nothing was sent"
    )
}

fn write_kind(kind: &ErrorKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        ErrorKind::Spawn(error) => write!(f, "{error}"),
        ErrorKind::Connect { reason, outcome, unreaped, .. } => {
            write!(f, "connecting failed: {reason}")?;
            let of_request = matches!(reason, CloseReason::Exchange { .. });
            if of_request && *outcome == Outcome::NotSent {
                f.write_str("; nothing was sent")?;
            }
            write_unreaped(unreaped.as_ref(), f)
        }
        ErrorKind::Call(error) => write!(f, "{error}"),
        ErrorKind::Abandoned(Outcome::NotSent) => f.write_str("the call was cancelled; nothing was sent"),
        ErrorKind::Abandoned(Outcome::ErrorResponse) => {
            f.write_str("the call was cancelled after the server had refused it, before it was said again")
        }
        ErrorKind::AbandonedBetweenLegs => f.write_str(
            "the call was cancelled while the server waited for another round; nothing was in flight, but it may have begun: verify state before retrying",
        ),
        ErrorKind::Abandoned(_) => f.write_str(
            "the call was cancelled after it was sent; it may have been carried out: verify state before retrying",
        ),
        ErrorKind::LeftOut(fault) => {
            write!(f, "the tool is left out of its list, since it {fault}; nothing was sent")
        }
        ErrorKind::StaleDeclaration => {
            f.write_str("the tool's declaration changed since the caller read it; list the tools again")
        }
        ErrorKind::NoTurn { limit_ms } => write!(
            f,
            "the call waited longer than {limit_ms} ms for other calls of its run to this server; nothing was sent"
        ),
        ErrorKind::Unrecorded { limit_ms: None } => {
            f.write_str("the journal cannot be written, so the call was not made; nothing was sent")
        }
        ErrorKind::Unrecorded { limit_ms: Some(limit_ms) } => write!(
            f,
            "the call was not recorded in the journal within {limit_ms} ms; nothing was sent"
        ),
        ErrorKind::Uncovered(capability) => write_uncovered(capability, f),
        ErrorKind::Project { error, unreaped } => {
            write!(f, "{error}")?;
            write_unreaped(unreaped.as_ref(), f)
        }
        ErrorKind::Over(_) => f.write_str("the end of the call was told before"),
        ErrorKind::UnusableSchema => {
            f.write_str("the tool's outputSchema cannot be used, so no result of it could be checked; nothing was sent")
        }
        ErrorKind::Unreaped(error) => write!(f, "{error}"),
        ErrorKind::List { limit: None } => f.write_str("its list is not one that the protocol has"),
        ErrorKind::List { limit: Some(limit) } => {
            write!(f, "its list has more than {limit} entries or pages (maxTools, maxCatalogPages)")
        }
        ErrorKind::FollowsAll => write!(
            f,
            "{MAX_SUBSCRIPTIONS} of its resources are followed, which is as many as can be; nothing was sent"
        ),
        ErrorKind::Http(error) => write!(f, "{error}"),
        ErrorKind::Header(name) => {
            write!(f, "the configured header \"{name}\" has a name or a value that an entry's header cannot have")
        }
        ErrorKind::LoginOverStdio => {
            f.write_str("a login is for servers behind a URL; this entry starts a process, which is given credentials in `env`")
        }
        ErrorKind::Refresh(reason) => write!(f, "its tool list could not be read again: {reason}"),
        ErrorKind::NotUp(standing) => write!(f, "it is not connected: it is {standing}; nothing was sent"),
        ErrorKind::NoSuchFlow => f.write_str("no server offers this flow; nothing was sent"),
        ErrorKind::Panicked => {
            f.write_str("it was not connected: code of the host's embedder panicked meanwhile")
        }
        ErrorKind::NoRuntime => f.write_str("connecting needs a tokio runtime with I/O and time enabled"),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !matches!(*self.kind, ErrorKind::NoSuchFlow) {
            write!(f, "MCP server \"{}\": ", self.server)?;
        }
        write_kind(&self.kind, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.kind {
            ErrorKind::Spawn(error) => std::error::Error::source(error),
            ErrorKind::Http(error) => Some(error),
            _ => None,
        }
    }
}

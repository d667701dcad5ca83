//! What a connection tells its driver.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::{CallId, Change, CloseReason, InputId};
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, Noise, RequestId};
use crate::mcp::{Catalog, InputMethod, Revision};

/// What a server said of itself in the handshake.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Session {
    /// The negotiated revision.
    pub revision: Revision,
    /// `capabilities`, unchanged.
    pub capabilities: Json,
    /// `serverInfo`, unchanged, if present: for display only.
    pub server_info: Option<Json>,
    /// `instructions`, unchanged, if present: the server's text.
    pub instructions: Option<Json>,
    /// What the server declares of the extension that this side declares too
    /// ([`ClientConfig::experiment`](super::ClientConfig::experiment)): an object, unchanged.
    pub extension: Option<Json>,
}

/// What happened, for the driver. Debug hides what the server wrote.
#[non_exhaustive]
pub enum Event {
    /// The handshake is over; the catalog is there.
    Ready,
    /// The session ended; [`Connection::close_reason`](super::Connection::close_reason) says why.
    Closed,
    /// A line was noise (S6). Told only if diagnostics are wanted.
    Noise {
        /// Why.
        kind: Noise,
        /// The line: remote text, to be redacted before it is cut.
        line: Bytes,
    },
    /// An error that answers no request. Told only if diagnostics are wanted.
    UncorrelatedError(ErrorObject),
    /// A JSON-RPC error that failed a request of ours. Told only if diagnostics are wanted.
    RemoteError(ErrorObject),
    /// A line of the server's log: remote text. Told only if diagnostics are wanted, or callers may supply.
    Log {
        /// The parameters of `notifications/message`.
        params: Json,
        /// The call that it was written for, where the transport tells: each call has a stream of its own.
        call: Option<CallId>,
    },
    /// The server sent a request where its revision has none. Told only if diagnostics are wanted.
    Violation,
    /// The server asks for something; [`Connection::supply`](super::Connection::supply) answers, or
    /// [`Connection::refuse`](super::Connection::refuse).
    Input {
        /// Which one.
        id: InputId,
        /// What for.
        method: InputMethod,
        /// The request's parameters, unchanged.
        params: Option<Json>,
        /// The call that it is asked for, where that is known: on 2026-07-28, and over a transport where each call has a
        /// stream of its own.
        call: Option<CallId>,
    },
    /// Both sides declare the extension. Told once, before anything of it, and before [`Ready`](Self::Ready).
    Extended(Arc<Session>),
    /// A request of the extension that both sides declare; answered as an input is. It may come before
    /// [`Ready`](Self::Ready).
    Extension {
        /// Which one.
        id: InputId,
        /// The server's own id of it.
        request: RequestId,
        /// Its method.
        method: String,
        /// Its parameters, unchanged.
        params: Option<Json>,
    },
    /// A notification that the protocol does not know, where both sides declare an extension. It may come before
    /// [`Ready`](Self::Ready).
    ExtensionTold {
        /// Its method.
        method: String,
        /// Its parameters, unchanged.
        params: Option<Json>,
    },
    /// Nobody waits for this input any longer.
    InputWithdrawn {
        /// Which one.
        id: InputId,
    },
    /// The server says that something of it changed.
    Changed(Change),
    /// The tool list was read again; [`Connection::catalog`](super::Connection::catalog) is the new one.
    Relisted(Arc<Catalog>),
    /// The tool list could not be read again; the old one stays.
    RelistFailed(CloseReason),
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("Ready"),
            Self::Closed => f.write_str("Closed"),
            Self::Noise { kind, line } => write!(f, "Noise({kind:?}, {} bytes)", line.len()),
            Self::UncorrelatedError(error) => write!(f, "UncorrelatedError({error:?})"),
            Self::RemoteError(error) => write!(f, "RemoteError({error:?})"),
            Self::Log { params, .. } => write!(f, "Log({} bytes)", params.len()),
            Self::Violation => f.write_str("Violation"),
            Self::Input { id, method, .. } => write!(f, "Input({id:?}, {method:?})"),
            Self::Extended(_) => f.write_str("Extended"),
            Self::Extension { id, .. } => write!(f, "Extension({id:?})"),
            Self::ExtensionTold { .. } => f.write_str("ExtensionTold"),
            Self::InputWithdrawn { id } => write!(f, "InputWithdrawn({id:?})"),
            Self::Changed(Change::Resource(_)) => f.write_str("Changed(Resource)"),
            Self::Changed(change) => write!(f, "Changed({change:?})"),
            Self::Relisted(catalog) => write!(f, "Relisted({} tools)", catalog.tools().len()),
            Self::RelistFailed(reason) => write!(f, "RelistFailed({reason:?})"),
        }
    }
}

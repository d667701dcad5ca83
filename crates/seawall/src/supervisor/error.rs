//! Why an operation on the host was refused, or failed.

use std::sync::Arc;

use super::status::ServerState;
use crate::error::Error;

/// Why an operation on a host was refused, or failed. Written by Seawall; it names the server.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The id has an owner (H1).
    #[error("MCP server \"{server}\" was not connected: {held}")]
    Taken {
        /// The id.
        server: Arc<str>,
        /// By what.
        held: Held,
    },
    /// The names of its tools could meet those of another server (H6).
    #[error(
        "MCP server \"{server}\" was not connected: its name prefix meets that {}of MCP server \"{other}\"; set another namePrefix on one",
        if *.restarting { "of the restart " } else { "" }
    )]
    PrefixMeets {
        /// The id.
        server: Arc<str>,
        /// The other server.
        other: Arc<str>,
        /// Whether a restart of the other server holds the prefix.
        restarting: bool,
    },
    /// No server of this id is registered.
    #[error("MCP server \"{server}\" is not registered")]
    NotRegistered {
        /// The id.
        server: Arc<str>,
    },
    /// The server is not in a state in which this can be done.
    #[error("MCP server \"{server}\": {operation} refused: it is {state}")]
    NotNow {
        /// The id.
        server: Arc<str>,
        /// What was asked for.
        operation: Operation,
        /// How the server stands.
        state: ServerState,
    },
    /// Its entry says `catalog: "frozen"`: its tools stay until the next connect.
    #[error("MCP server \"{server}\": refresh refused: its catalog is frozen until it reconnects")]
    Frozen {
        /// The id.
        server: Arc<str>,
    },
    /// `stop()` has begun.
    #[error("MCP server \"{server}\": refused: the host is stopping")]
    Stopping {
        /// The id.
        server: Arc<str>,
    },
    /// A connect under way was ended.
    #[error("MCP server \"{server}\" was not connected: {by}")]
    Ended {
        /// The id.
        server: Arc<str>,
        /// By what.
        by: EndedBy,
    },
    /// It could not be connected to.
    #[error(transparent)]
    Connect {
        /// Why.
        error: Error,
    },
    /// Its session was there and ended before the connect was over.
    #[error(
        "MCP server \"{server}\" was not connected: it was lost while its tools were being listed"
    )]
    LostMeanwhile {
        /// The id.
        server: Arc<str>,
        /// Why it ended.
        #[source]
        error: Error,
    },
    /// A child could not be reaped: the id stays held until a later disconnect, or stop, succeeds.
    #[error(
        "{error}; it could not be reaped, and holds the server's id until a disconnect succeeds"
    )]
    Unreaped {
        /// Which child.
        error: Error,
    },
    /// A restart failed after it had torn the server down (H3).
    #[error(
        "MCP server \"{server}\" is down: it was disconnected for its restart, and the restart failed: {cause}"
    )]
    RestartFailed {
        /// The id that was restarted.
        server: Arc<str>,
        /// Why.
        cause: Box<HostError>,
    },
    /// The list could not be read again.
    #[error(transparent)]
    Refresh {
        /// Why.
        error: Error,
    },
    /// The end of the server took longer than `stop()` had; it goes on, and a later stop waits for it again.
    #[error("MCP server \"{server}\" did not end within the budget of the stop: it is {state}")]
    OutOfTime {
        /// The id.
        server: Arc<str>,
        /// How the server stands.
        state: ServerState,
    },
    /// The runtime that drove the host is gone, or the host was not built in one.
    #[error("MCP server \"{server}\": the runtime of the host is gone")]
    NoRuntime {
        /// The id.
        server: Arc<str>,
    },
}

impl HostError {
    /// The id of the server.
    #[must_use]
    pub fn server(&self) -> &str {
        match self {
            Self::Taken { server, .. }
            | Self::PrefixMeets { server, .. }
            | Self::NotRegistered { server }
            | Self::NotNow { server, .. }
            | Self::Frozen { server }
            | Self::Stopping { server }
            | Self::Ended { server, .. }
            | Self::LostMeanwhile { server, .. }
            | Self::RestartFailed { server, .. }
            | Self::OutOfTime { server, .. }
            | Self::NoRuntime { server } => server,
            Self::Connect { error } | Self::Unreaped { error } | Self::Refresh { error } => {
                error.server()
            }
        }
    }
}

/// What holds an id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Held {
    /// A server that stands so.
    Server(ServerState),
    /// A restart of another server, which moves it to this id.
    Restart {
        /// The other server.
        from: Arc<str>,
    },
    /// Another entry of the same list.
    Twice,
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Server(ServerState::Connecting) => {
                f.write_str("it has a connect in flight; try again once that settles")
            }
            Self::Server(ServerState::Waiting) => {
                f.write_str("it is registered already, and waits to reconnect")
            }
            Self::Server(ServerState::Closing) => {
                f.write_str("its last connection is still being torn down; try again once that is over")
            }
            Self::Server(ServerState::Unreaped) => f.write_str(
                "a child of its last connection could not be reaped; disconnect it to try that again",
            ),
            Self::Server(_) => f.write_str("it is registered already"),
            Self::Restart { from } => {
                write!(f, "a restart of MCP server \"{from}\" moves it to this id")
            }
            Self::Twice => f.write_str("the list names it twice"),
        }
    }
}

/// An operation, for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// `restart()`.
    Restart,
    /// `refresh()`.
    Refresh,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Restart => "restart",
            Self::Refresh => "refresh",
        })
    }
}

/// What ended a connect under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndedBy {
    /// A `disconnect()`.
    Disconnect,
    /// A `stop()`.
    Stop,
}

impl std::fmt::Display for EndedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Disconnect => "it was disconnected while it was connecting",
            Self::Stop => "the host stopped while it was connecting",
        })
    }
}

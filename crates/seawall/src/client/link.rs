//! The ends that a driver drives: where frames go, where bytes come from, and what has to end with them.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use seawall_proto::connection::ExitReason;
use seawall_proto::mcp::Revision;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
#[cfg(unix)]
use tokio::net::unix::pipe;

use crate::transport::http::{EventStreamHttp, HttpEvent, Post, StreamableHttp};
use crate::transport::stdio::{self, NotReaped, ProcessTree, Stdin};

/// What a driver drives.
pub(super) enum Opened {
    /// Two pipes, or the like.
    Stream(Link),
    /// A server behind a URL.
    Http(Http),
}

/// The two ways of servers behind a URL.
pub(super) enum Http {
    /// Streamable HTTP: 2025-03-26 and later.
    Streamable(StreamableHttp),
    /// HTTP+SSE: 2024-11-05.
    EventStream(EventStreamHttp),
}

impl Http {
    pub(super) fn post(&mut self, post: Post) {
        match self {
            Self::Streamable(http) => http.post(post),
            Self::EventStream(http) => http.post(post),
        }
    }

    pub(super) fn hang_up(&mut self, key: u64) {
        match self {
            Self::Streamable(http) => drop(http.hang_up(key)),
            Self::EventStream(http) => drop(http.hang_up(key)),
        }
    }

    pub(super) fn finish(&mut self, key: u64) {
        match self {
            Self::Streamable(http) => http.finish(key),
            Self::EventStream(http) => http.finish(key),
        }
    }

    pub(super) fn negotiated(&mut self, revision: Revision) {
        match self {
            Self::Streamable(http) => http.negotiated(revision),
            Self::EventStream(http) => http.negotiated(revision),
        }
    }

    pub(super) fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<HttpEvent> {
        match self {
            Self::Streamable(http) => http.poll_event(context),
            Self::EventStream(http) => http.poll_event(context),
        }
    }

    pub(super) async fn end(self, budget: Duration) {
        match self {
            Self::Streamable(http) => http.end(budget).await,
            Self::EventStream(http) => http.end(budget).await,
        }
    }
}

/// The ends of one server: the callers' and the driver's.
pub(crate) struct Link {
    pub(super) sink: Sink,
    pub(super) ends: Ends,
}

/// The ends that the driver owns.
pub(super) struct Ends {
    pub(super) stdout: Source,
    pub(super) stderr: Option<Source>,
    pub(super) tree: Tree,
}

/// Where frames go.
pub(super) enum Sink {
    /// A pipe, which a caller can write to without waiting.
    #[cfg(unix)]
    Pipe(pipe::Sender),
    /// Anything else; only the driver writes to it.
    #[cfg_attr(
        all(unix, not(test)),
        expect(dead_code, reason = "only in-memory peers and other systems")
    )]
    Stream(Pin<Box<dyn AsyncWrite + Send>>),
    /// Nowhere: the driver takes each message to an exchange of its own.
    Exchanges,
}

impl From<Stdin> for Sink {
    fn from(stdin: Stdin) -> Self {
        #[cfg(unix)]
        return Self::Pipe(stdin);
        #[cfg(not(unix))]
        return Self::Stream(Box::pin(stdin));
    }
}

impl Sink {
    /// Writes what is taken at once; `WouldBlock` otherwise. It never disturbs who waits in
    /// [`poll_write`](Self::poll_write).
    pub(super) fn try_write(&self, frames: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Self::Pipe(pipe) => pipe.try_write_vectored(frames),
            Self::Stream(_) | Self::Exchanges => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Writes what is taken, or has `context` woken once something would be.
    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        frames: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            #[cfg(unix)]
            Self::Pipe(pipe) => Pin::new(pipe).poll_write_vectored(context, frames),
            Self::Stream(stream) => stream.as_mut().poll_write_vectored(context, frames),
            Self::Exchanges => Poll::Pending,
        }
    }
}

/// Where bytes come from.
pub(super) struct Source(Pin<Box<dyn AsyncRead + Send>>);

impl Source {
    pub(super) fn new(stream: impl AsyncRead + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }

    /// Appends what can be read at once to `buffer`; zero bytes are the end.
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        pin!(self.0.read_buf(buffer)).poll(context)
    }
}

/// The processes that end with the connection, if it has any.
#[derive(Clone)]
pub(super) enum Tree {
    /// A child and its group.
    Process(ProcessTree),
    /// None: the server is not ours to end.
    None,
}

impl Tree {
    /// Waits until the child's exit was seen.
    pub(super) async fn exited(&self) -> ExitReason {
        match self {
            Self::Process(tree) => tree.exited().await,
            Self::None => std::future::pending().await,
        }
    }

    /// Ends the child and its group, and waits until they are gone (T1).
    pub(super) async fn end(&self) -> Result<(), NotReaped> {
        match self {
            Self::Process(tree) => tree.end(stdio::GRACE).await.map(drop),
            Self::None => Ok(()),
        }
    }

    /// Remembers who belongs to the child by now.
    pub(super) fn look(&self) {
        match self {
            Self::Process(tree) => tree.look(),
            Self::None => {}
        }
    }

    /// Kills the child and its group at once.
    pub(super) fn kill_now(&self) {
        match self {
            Self::Process(tree) => tree.kill_now(),
            Self::None => {}
        }
    }

    /// The child's process id.
    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Process(tree) => Some(tree.pid()),
            Self::None => None,
        }
    }
}

//! The ends that a driver drives: where frames go, where bytes come from, and what has to end with them.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use seawall_proto::connection::{CloseReason, ExitReason, Step};
use seawall_proto::mcp::Revision;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
#[cfg(unix)]
use tokio::net::unix::pipe;

use crate::transport::http::{EventStreamHttp, HttpEvent, Post, StreamableHttp};
use crate::transport::stdio::{self, NotReaped, ProcessTree, Stdin};
use crate::transport::websocket::{WebSocket, WebSocketFault};

/// What a driver drives.
pub(super) enum Opened {
    /// Two pipes, a WebSocket, or the like.
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

impl Link {
    /// Both ends of a WebSocket.
    pub(super) fn of_websocket(socket: WebSocket) -> Self {
        Self {
            sink: Sink::WebSocket(socket.clone()),
            ends: Ends {
                stdout: Source::WebSocket(socket.clone(), None),
                stderr: None,
                tree: Tree::WebSocket(socket),
            },
        }
    }

    pub(super) fn is_websocket(&self) -> bool {
        matches!(self.sink, Sink::WebSocket(_))
    }
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
    /// A WebSocket; only the driver writes to it.
    WebSocket(WebSocket),
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
            Self::Stream(_) | Self::WebSocket(_) | Self::Exchanges => {
                Err(io::ErrorKind::WouldBlock.into())
            }
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
            Self::WebSocket(socket) => socket.poll_write(context, frames).map(Ok),
            Self::Exchanges => Poll::Pending,
        }
    }

    /// Goes on with what was taken and is not written, where the transport keeps some.
    pub(super) fn poll_flush(&self, context: &mut Context<'_>) {
        if let Self::WebSocket(socket) = self {
            socket.poll_flush(context);
        }
    }
}

/// Where bytes come from.
pub(super) enum Source {
    /// A pipe, or the like.
    Stream(Pin<Box<dyn AsyncRead + Send>>),
    /// A WebSocket, each message a line, and why it ended once it did.
    WebSocket(WebSocket, Option<WebSocketFault>),
}

impl Source {
    pub(super) fn new(stream: impl AsyncRead + Send + 'static) -> Self {
        Self::Stream(Box::pin(stream))
    }

    /// Appends what can be read at once to `buffer`; zero bytes are the end.
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Stream(stream) => pin!(stream.read_buf(buffer)).poll(context),
            Self::WebSocket(socket, ended) => match socket.poll_read(context, buffer) {
                Poll::Ready(Ok(read)) => Poll::Ready(Ok(read)),
                Poll::Ready(Err(fault)) => {
                    *ended = Some(fault);
                    Poll::Ready(Ok(0))
                }
                Poll::Pending => Poll::Pending,
            },
        }
    }

    /// Why the session ends with the end of this, at `step` if it had not begun.
    pub(super) fn end(&self, step: Step) -> CloseReason {
        match self {
            Self::WebSocket(_, Some(fault)) => fault.reason(step),
            Self::Stream(_) | Self::WebSocket(_, None) => CloseReason::StdoutClosed,
        }
    }
}

/// What ends with the connection: processes, a socket, or nothing.
#[derive(Clone)]
pub(super) enum Tree {
    /// A child and its group.
    Process(ProcessTree),
    /// A WebSocket: the server is told.
    WebSocket(WebSocket),
    /// None: the server is not ours to end.
    None,
}

impl Tree {
    /// Whether there is a child whose exit can be seen.
    pub(super) fn has_exit(&self) -> bool {
        matches!(self, Self::Process(_))
    }

    /// Waits until the child's exit was seen.
    pub(super) async fn exited(&self) -> ExitReason {
        match self {
            Self::Process(tree) => tree.exited().await,
            Self::WebSocket(_) | Self::None => std::future::pending().await,
        }
    }

    /// Ends the child and its group, and waits until they are gone (T1); or says goodbye.
    pub(super) async fn end(&self) -> Result<(), NotReaped> {
        match self {
            Self::Process(tree) => tree.end(stdio::GRACE).await.map(drop),
            Self::WebSocket(socket) => {
                socket.end().await;
                Ok(())
            }
            Self::None => Ok(()),
        }
    }

    /// Remembers who belongs to the child by now.
    pub(super) fn look(&self) {
        match self {
            Self::Process(tree) => tree.look(),
            Self::WebSocket(_) | Self::None => {}
        }
    }

    /// Kills the child and its group, or closes the socket, at once.
    pub(super) fn kill_now(&self) {
        match self {
            Self::Process(tree) => tree.kill_now(),
            Self::WebSocket(socket) => socket.let_go(),
            Self::None => {}
        }
    }

    /// The child's process id.
    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Process(tree) => Some(tree.pid()),
            Self::WebSocket(_) | Self::None => None,
        }
    }
}

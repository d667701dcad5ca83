//! The ends that a driver drives: where frames go, where bytes come from, and what has to end with them.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::BytesMut;
use seawall_proto::connection::ExitReason;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
#[cfg(unix)]
use tokio::net::unix::pipe;

use crate::transport::stdio::{self, NotReaped, ProcessTree, Stdin};

/// The ends of one server: the callers' and the driver's.
pub(super) struct Link {
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
            Self::Stream(_) => Err(io::ErrorKind::WouldBlock.into()),
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
    /// None: the peer is in memory.
    #[cfg(test)]
    None,
}

impl Tree {
    /// Waits until the child's exit was seen.
    pub(super) async fn exited(&self) -> ExitReason {
        match self {
            Self::Process(tree) => tree.exited().await,
            #[cfg(test)]
            Self::None => std::future::pending().await,
        }
    }

    /// Ends the child and its group, and waits until they are gone (T1).
    pub(super) async fn end(&self) -> Result<(), NotReaped> {
        match self {
            Self::Process(tree) => tree.end(stdio::GRACE).await.map(drop),
            #[cfg(test)]
            Self::None => Ok(()),
        }
    }

    /// Remembers who belongs to the child by now.
    pub(super) fn look(&self) {
        match self {
            Self::Process(tree) => tree.look(),
            #[cfg(test)]
            Self::None => {}
        }
    }

    /// Kills the child and its group at once.
    pub(super) fn kill_now(&self) {
        match self {
            Self::Process(tree) => tree.kill_now(),
            #[cfg(test)]
            Self::None => {}
        }
    }

    /// The child's process id.
    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Process(tree) => Some(tree.pid()),
            #[cfg(test)]
            Self::None => None,
        }
    }
}

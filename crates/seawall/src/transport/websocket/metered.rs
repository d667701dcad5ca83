//! The connection below a WebSocket, its bytes counted.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::limits::TURN_BYTES;

/// A connection that gives only so much in one turn, and knows how much it gave.
///
/// What cannot be written is dropped and noted: the answer to a ping must not come before what is left to read.
pub(super) struct Metered<T> {
    inner: T,
    /// What this turn may still begin to read.
    left: usize,
    /// What was read since the whole of it was last accounted for.
    unaccounted: usize,
    heard: bool,
    deaf: bool,
}

impl<T> Metered<T> {
    pub(super) fn new(inner: T) -> Self {
        Self {
            inner,
            left: TURN_BYTES,
            unaccounted: 0,
            heard: false,
            deaf: false,
        }
    }

    /// A turn begins.
    pub(super) fn begin_turn(&mut self) {
        self.left = TURN_BYTES;
    }

    /// Whether anything came since this was last asked.
    pub(super) fn take_heard(&mut self) -> bool {
        std::mem::take(&mut self.heard)
    }

    /// Whether nothing can be written any longer.
    pub(super) fn is_deaf(&self) -> bool {
        self.deaf
    }

    /// A message was taken out of what was read: everything before it is accounted for.
    pub(super) fn account_for_all(&mut self) {
        self.unaccounted = 0;
    }

    /// A frame of so many bytes was taken out of what was read, in the midst of other things.
    pub(super) fn account_for(&mut self, bytes: usize) {
        self.unaccounted = self.unaccounted.saturating_sub(bytes);
    }

    /// What was read and is not accounted for.
    pub(super) fn unaccounted(&self) -> usize {
        self.unaccounted
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Metered<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            // Others are waiting too.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        let came = buffer.filled().len().saturating_sub(before);
        self.left = self.left.saturating_sub(came);
        self.unaccounted = self.unaccounted.saturating_add(came);
        self.heard |= came > 0;
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Metered<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.deaf {
            return Poll::Ready(Ok(bytes.len()));
        }
        match Pin::new(&mut self.inner).poll_write(context, bytes) {
            Poll::Ready(Ok(written)) if written > 0 => Poll::Ready(Ok(written)),
            Poll::Ready(_) => {
                self.deaf = true;
                // Who reads finds out.
                context.waker().wake_by_ref();
                Poll::Ready(Ok(bytes.len()))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.deaf {
            return Poll::Ready(Ok(()));
        }
        match Pin::new(&mut self.inner).poll_flush(context) {
            Poll::Ready(Err(_)) => {
                self.deaf = true;
                context.waker().wake_by_ref();
                Poll::Ready(Ok(()))
            }
            flushed => flushed,
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

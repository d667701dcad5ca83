//! An input that can be ended from this side.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::oneshot;

/// Reads until its input ends, or it is told to stop.
pub(super) struct Input<R> {
    pub(super) input: R,
    pub(super) stop: oneshot::Receiver<()>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.stop.is_terminated() || Pin::new(&mut self.stop).poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.input).poll_read(context, buffer)
    }
}

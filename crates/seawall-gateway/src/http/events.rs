//! Messages as server-sent events.

use std::convert::Infallible;
use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use tokio::time::{Instant, Sleep, sleep};

/// A comment, which tells nothing but that the stream is there.
const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// What a stream is made of.
pub(super) trait Events: Unpin {
    /// The next event; `None` at the end.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

/// A stream of events as a body that says every so often that it is there.
#[derive(Debug)]
pub(super) struct KeptAlive<E> {
    events: E,
    every: Duration,
    quiet: Pin<Box<Sleep>>,
}

impl<E> KeptAlive<E> {
    pub(super) fn new(events: E, every: Duration) -> Self {
        Self {
            events,
            every,
            quiet: Box::pin(sleep(every)),
        }
    }
}

impl<E: Events> http_body::Body for KeptAlive<E> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let event = match self.events.poll_event(cx) {
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(event)) => event,
            Poll::Pending => match self.quiet.as_mut().poll(cx) {
                Poll::Ready(()) => KEEP_ALIVE,
                Poll::Pending => return Poll::Pending,
            },
        };
        let next = Instant::now() + self.every;
        self.quiet.as_mut().reset(next);
        Poll::Ready(Some(Ok(Frame::data(event))))
    }
}

/// A message. A frame is one line, so it is one field.
pub(super) fn message(id: Option<&str>, frame: &Bytes) -> Bytes {
    let mut event = Vec::with_capacity(frame.len() + 48);
    if let Some(id) = id {
        event.extend_from_slice(b"id: ");
        event.extend_from_slice(id.as_bytes());
        event.push(b'\n');
    }
    event.extend_from_slice(b"data: ");
    event.extend_from_slice(frame);
    event.extend_from_slice(b"\n\n");
    event.into()
}

/// An event that tells a place in the stream and when to come back to it (2025-11-25, `basic/transports`).
pub(super) fn priming(id: &str, retry: Duration) -> Bytes {
    format!("id: {id}\nretry: {}\ndata:\n\n", retry.as_millis()).into()
}

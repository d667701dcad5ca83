//! A WebSocket that stands: frames to lines and back.

use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig as FrameConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use super::WebSocketFault;
use super::limits::{
    ANSWER_BYTES, HEAD_BYTES, MAX_FRAGMENTATION, MAX_UNHEARD, PING_EVERY, READ_BYTES,
    TURN_MESSAGES, WRITE_BYTES,
};
use super::metered::Metered;

/// The head of a control frame.
const CONTROL_HEAD_BYTES: usize = 2;

/// What a WebSocket stands on.
pub(super) trait Below: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Below for T {}

/// A WebSocket that stands.
pub(super) struct Open {
    stream: WebSocketStream<Metered<Box<dyn Below>>>,
    max_frame_bytes: usize,
    /// Whether something that was taken is not written yet.
    unflushed: bool,
    pings: Interval,
    /// Whether the server was told of the end.
    closing: bool,
    /// Pings in a row that nothing came after.
    unheard: u32,
    /// Why nothing can be written any longer. It is told once nothing can be read any longer either.
    broken: Option<WebSocketFault>,
}

impl Open {
    /// The client's end of a WebSocket over `below`, whose messages are at most so long.
    pub(super) async fn over(
        below: impl Below + 'static,
        max_frame_bytes: usize,
        max_outbound_frame_bytes: usize,
    ) -> Self {
        let longest_out = max_outbound_frame_bytes.saturating_add(HEAD_BYTES);
        let frames = FrameConfig::default()
            .read_buffer_size(READ_BYTES)
            .write_buffer_size(WRITE_BYTES)
            .max_write_buffer_size(longest_out.saturating_add(WRITE_BYTES + ANSWER_BYTES))
            .max_message_size(Some(max_frame_bytes))
            .max_frame_size(Some(max_frame_bytes));
        let below: Box<dyn Below> = Box::new(below);
        let below = Metered::new(below);
        let stream = WebSocketStream::from_raw_socket(below, Role::Client, Some(frames)).await;
        let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
        // While nobody reads, no time passes.
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            stream,
            max_frame_bytes,
            unflushed: false,
            closing: false,
            pings,
            unheard: 0,
            broken: None,
        }
    }

    /// Appends whole lines to `buffer`, and tells whether the server may go on.
    ///
    /// Lines that came before an end are in `buffer` all the same.
    pub(super) fn poll_lines(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<Result<(), WebSocketFault>> {
        self.stream.get_mut().begin_turn();
        let before = buffer.len();
        for _ in 0..TURN_MESSAGES {
            match Pin::new(&mut self.stream).poll_next(context) {
                Poll::Ready(Some(Ok(message))) => self.take(&message, context, buffer)?,
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Err(WebSocketFault::of(&error, self.max_frame_bytes)));
                }
                Poll::Ready(None) => return Poll::Ready(Err(WebSocketFault::Closed(None))),
                Poll::Pending => {
                    self.check_fragments()?;
                    if let Some(fault) = self.broken.take() {
                        return Poll::Ready(Err(fault));
                    }
                    if self.stream.get_ref().is_deaf() {
                        return Poll::Ready(Err(WebSocketFault::Lost));
                    }
                    if self.stream.get_mut().take_heard() {
                        self.unheard = 0;
                    }
                    if buffer.len() > before {
                        return Poll::Ready(Ok(()));
                    }
                    return self.poll_silence(context).map(Err);
                }
            }
            if buffer.len() - before >= READ_BYTES {
                break;
            }
        }
        self.check_fragments()?;
        if buffer.len() > before {
            return Poll::Ready(Ok(()));
        }
        // Nothing but pings: others are waiting too.
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Takes lines, each of which ends with a newline, and tells how many bytes of them. What was taken may have reached the
    /// server, whatever comes after.
    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        lines: &[IoSlice<'_>],
    ) -> Poll<usize> {
        ready!(self.poll_flush(context));
        let mut taken = 0;
        for line in lines {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            // It is JSON that was checked or made here.
            let text = String::from_utf8_lossy(text).into_owned();
            taken += line.len();
            self.send(Message::text(text), context);
            if taken >= WRITE_BYTES || self.broken.is_some() {
                break;
            }
        }
        let _ = self.poll_flush(context);
        Poll::Ready(taken)
    }

    /// Ready once everything that was taken is written.
    pub(super) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.broken.is_some() {
            return Poll::Pending;
        }
        if !self.unflushed {
            return Poll::Ready(());
        }
        match ready!(Pin::new(&mut self.stream).poll_flush(context)) {
            Ok(()) => {
                self.unflushed = false;
                Poll::Ready(())
            }
            Err(error) => {
                self.broke(&error, context);
                Poll::Pending
            }
        }
    }

    /// Tells the server that it is over, after what was taken before.
    pub(super) fn poll_close(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if !std::mem::replace(&mut self.closing, true) {
            let code = CloseCode::Normal;
            let reason = "".into();
            self.send(Message::Close(Some(CloseFrame { code, reason })), context);
        }
        self.poll_flush(context)
    }

    fn take(
        &mut self,
        message: &Message,
        context: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Result<(), WebSocketFault> {
        let connection = self.stream.get_mut();
        match message {
            Message::Text(text) => {
                connection.account_for_all();
                push_line(buffer, text);
            }
            Message::Binary(bytes) => {
                connection.account_for_all();
                // Noise like any other, so that it is counted and shown as that.
                let said = format!("(a binary frame of {} bytes)", bytes.len());
                push_line(buffer, &said);
            }
            Message::Ping(bytes) | Message::Pong(bytes) => {
                connection.account_for(CONTROL_HEAD_BYTES + bytes.len());
            }
            Message::Close(frame) => {
                let code = frame.as_ref().map(|frame| frame.code.into());
                // The goodbye to it, as far as it goes.
                let _ = Pin::new(&mut self.stream).poll_flush(context);
                return Err(WebSocketFault::Closed(code));
            }
            Message::Frame(_) => {}
        }
        Ok(())
    }

    /// An unfinished message whose fragments are all but empty is work without an end, though it takes no room.
    fn check_fragments(&mut self) -> Result<(), WebSocketFault> {
        let limit = self.max_frame_bytes;
        let most = limit
            .saturating_mul(MAX_FRAGMENTATION)
            .saturating_add(2 * READ_BYTES);
        if self.stream.get_ref().unaccounted() > most {
            return Err(WebSocketFault::Fragments { limit });
        }
        Ok(())
    }

    /// Pings the server now and then; ready once it is silent for too long.
    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<WebSocketFault> {
        while self.pings.poll_tick(context).is_ready() {
            if self.unheard >= MAX_UNHEARD {
                return Poll::Ready(WebSocketFault::Silent);
            }
            self.unheard += 1;
            // One that does not read needs no more to read.
            if !self.unflushed {
                self.send(Message::Ping(Bytes::new()), context);
            }
        }
        let _ = self.poll_flush(context);
        Poll::Pending
    }

    fn send(&mut self, message: Message, context: &Context<'_>) {
        self.unflushed = true;
        if let Err(error) = Pin::new(&mut self.stream).start_send(message) {
            self.broke(&error, context);
        }
    }

    /// Has whoever reads find out.
    fn broke(&mut self, error: &Error, context: &Context<'_>) {
        self.broken = Some(WebSocketFault::of(error, self.max_frame_bytes));
        context.waker().wake_by_ref();
    }
}

/// One line: newlines within a JSON text are blanks as any other.
fn push_line(buffer: &mut BytesMut, text: &str) {
    let start = buffer.len();
    buffer.reserve(text.len() + 1);
    buffer.extend_from_slice(text.as_bytes());
    for byte in buffer.iter_mut().skip(start) {
        if *byte == b'\n' {
            *byte = b' ';
        }
    }
    buffer.extend_from_slice(b"\n");
}

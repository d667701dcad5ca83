//! The messages of an event stream, told as they come.

use reqwest::Response;
use seawall_proto::framing::{Event, EventDecoder, EventTooLong};
use tokio::task::coop::consume_budget;

use super::HttpFault;

/// A stream of events.
pub(super) struct Events {
    response: Response,
    decoder: EventDecoder,
    chunk: bytes::Bytes,
}

/// Why a stream yields nothing more.
#[derive(Debug)]
pub(super) enum StreamEnd {
    /// It ended or broke off: it may be resumed.
    Gone(HttpFault),
    /// The data of one of its events are too long.
    TooLong { limit: usize },
    /// The name, the id or the retry of one of its events is too long.
    FieldTooLong,
}

impl Events {
    pub(super) fn new(response: Response, limit: usize) -> Self {
        Self {
            response,
            decoder: EventDecoder::new(limit),
            chunk: bytes::Bytes::new(),
        }
    }

    /// The next event. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<Event, StreamEnd> {
        loop {
            let mut rest = &*self.chunk;
            let event = self.decoder.next_event(&mut rest);
            let taken = self.chunk.len() - rest.len();
            bytes::Buf::advance(&mut self.chunk, taken);
            match event {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(EventTooLong::Data { limit }) => return Err(StreamEnd::TooLong { limit }),
                Err(EventTooLong::Field) => return Err(StreamEnd::FieldTooLong),
            }
            // A stream of comments must not keep everybody else from their turn.
            consume_budget().await;
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.chunk = chunk,
                Ok(None) => return Err(StreamEnd::Gone(HttpFault::EndedEarly)),
                Err(error) => return Err(StreamEnd::Gone(HttpFault::of(&error))),
            }
        }
    }

    pub(super) fn decoder(&self) -> &EventDecoder {
        &self.decoder
    }
}

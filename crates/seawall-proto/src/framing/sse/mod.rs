//! Events out of a stream of bytes: `text/event-stream`, bounded (L1, L3, L6).
//!
//! Source: WHATWG HTML, "Server-sent events", sections "Parsing an event stream" and "Interpreting an event stream".
//! Nothing is decoded: the data are the bytes that came, so a character cut in two by a chunk is no matter.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::READ_CHUNK_BYTES;
use field::{Field, Line};

mod field;
#[cfg(test)]
mod tests;

/// The longest event name, id or retry that is taken, in bytes, inclusive.
pub const MAX_EVENT_FIELD_BYTES: usize = 8 * 1024;

/// The byte-order mark that a stream may begin with.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its name, empty if none was given; `message` is what such an event is called.
    pub name: Bytes,
    /// Its data lines, joined by line feeds.
    pub data: Bytes,
}

impl Event {
    /// Whether it is called `message`, by name or for want of one.
    #[must_use]
    pub fn is_message(&self) -> bool {
        self.name.is_empty() || self.name == "message"
    }
}

/// An event passed a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EventTooLong {
    /// Its data.
    #[error("an event's data are longer than {limit} bytes")]
    Data {
        /// The bound on an event's data, in bytes.
        limit: usize,
    },
    /// Its name, id or retry: [`MAX_EVENT_FIELD_BYTES`].
    #[error("an event's name, id or retry is longer than {MAX_EVENT_FIELD_BYTES} bytes")]
    Field,
}

/// Cuts a stream of bytes into events, keeping at most one unfinished event. Chunking never matters.
///
/// **Invariant:** what is held is at most the bound on data and two fields; comments, unknown fields and blank lines
/// are not held at all.
#[derive(Debug)]
pub struct EventDecoder {
    limit: usize,
    /// How many bytes of a byte-order mark came; all of them once something else did.
    mark: usize,
    /// The last line ended with a carriage return, so a line feed that follows belongs to its ending.
    after_carriage_return: bool,
    line: Line,
    /// The value of the line under way, unless that is data.
    value: Vec<u8>,
    name: Vec<u8>,
    data: BytesMut,
    /// A data line came, even an empty one.
    has_data: bool,
    /// The last id that was given, which counts once its event is whole.
    id: Bytes,
    last_event_id: Bytes,
    retry: Option<Duration>,
    failed: Option<EventTooLong>,
}

impl EventDecoder {
    /// A decoder for events of at most `limit` bytes of data, inclusive.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            mark: 0,
            after_carriage_return: false,
            line: Line::default(),
            value: Vec::new(),
            name: Vec::new(),
            data: BytesMut::new(),
            has_data: false,
            id: Bytes::new(),
            last_event_id: Bytes::new(),
            retry: None,
            failed: None,
        }
    }

    /// Takes bytes from the front of `input` until an event is whole; `None` once `input` is used up.
    ///
    /// Call it until `None`, then again with the next bytes of the stream.
    ///
    /// # Errors
    /// [`EventTooLong`] as soon as an event cannot end within the bound. The stream is lost from there on.
    pub fn next_event(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventTooLong> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        let event = self.advance(input);
        self.failed = event.as_ref().err().copied();
        event
    }

    /// The id to resume the stream from: that of the last whole event that gave one, unless it was empty.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&Bytes> {
        Some(&self.last_event_id).filter(|id| !id.is_empty())
    }

    /// How long the stream asked to wait before it is resumed.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn advance(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventTooLong> {
        self.skip_mark(input)?;
        while let Some((first, rest)) = input.split_first() {
            if std::mem::take(&mut self.after_carriage_return) && *first == b'\n' {
                *input = rest;
                continue;
            }
            let end = memchr::memchr2(b'\r', b'\n', input);
            let (part, rest) = input.split_at(end.unwrap_or(input.len()));
            *input = rest;
            self.take_part(part)?;
            let Some((ending, rest)) = input.split_first() else {
                break;
            };
            *input = rest;
            self.after_carriage_return = *ending == b'\r';
            if let Some(event) = self.end_line()? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Skips a byte-order mark in front of everything.
    fn skip_mark(&mut self, input: &mut &[u8]) -> Result<(), EventTooLong> {
        while let Some(expected) = BOM.get(self.mark) {
            let Some((first, rest)) = input.split_first() else {
                return Ok(());
            };
            if first == expected {
                self.mark += 1;
                *input = rest;
                continue;
            }
            let begun = BOM.get(..self.mark).unwrap_or_default();
            self.mark = BOM.len();
            self.take_part(begun)?;
        }
        Ok(())
    }

    /// Takes a piece of a line, without its ending.
    fn take_part(&mut self, mut part: &[u8]) -> Result<(), EventTooLong> {
        while let Some((first, rest)) = part.split_first() {
            match &mut self.line {
                Line::Skipped => return Ok(()),
                Line::Name(name) => {
                    part = rest;
                    if *first != b':' {
                        if !name.push(*first) {
                            self.line = Line::Skipped;
                        }
                    } else if let Some(field) = name.field() {
                        self.line = Line::Colon(field);
                        self.begin_value(field)?;
                    } else {
                        self.line = Line::Skipped;
                    }
                }
                Line::Colon(field) => {
                    self.line = Line::Value(*field);
                    if *first == b' ' {
                        part = rest;
                    }
                }
                Line::Value(Field::Data) => {
                    if part.len() > self.limit - self.data.len() {
                        return Err(self.too_long());
                    }
                    self.data.extend_from_slice(part);
                    return Ok(());
                }
                Line::Value(_) => {
                    if part.len() > MAX_EVENT_FIELD_BYTES - self.value.len() {
                        return Err(EventTooLong::Field);
                    }
                    self.value.extend_from_slice(part);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn begin_value(&mut self, field: Field) -> Result<(), EventTooLong> {
        self.value.clear();
        if field == Field::Data && std::mem::replace(&mut self.has_data, true) {
            if self.data.len() == self.limit {
                return Err(self.too_long());
            }
            self.data.extend_from_slice(b"\n");
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<Event>, EventTooLong> {
        let field = match std::mem::take(&mut self.line) {
            Line::Skipped => return Ok(None),
            Line::Name(name) if name.is_empty() => return Ok(self.end_event()),
            Line::Name(name) => {
                // A line without a colon is a field with an empty value.
                let Some(field) = name.field() else {
                    return Ok(None);
                };
                self.begin_value(field)?;
                field
            }
            Line::Colon(field) | Line::Value(field) => field,
        };
        match field {
            Field::Data => {}
            Field::Event => std::mem::swap(&mut self.name, &mut self.value),
            Field::Id if self.value.contains(&0) => {}
            Field::Id => self.id = Bytes::copy_from_slice(&self.value),
            Field::Retry => self.retry = field::milliseconds(&self.value).or(self.retry),
        }
        Ok(None)
    }

    /// A blank line: the event is whole. Without a data line there was none, but its id counts.
    fn end_event(&mut self) -> Option<Event> {
        self.last_event_id.clone_from(&self.id);
        let name = std::mem::take(&mut self.name);
        if !std::mem::take(&mut self.has_data) {
            return None;
        }
        Some(Event {
            name: name.into(),
            data: self.take_data(),
        })
    }

    /// The data in a buffer that is at most a quarter longer, so that what it keeps alive is what it counts (L8).
    fn take_data(&mut self) -> Bytes {
        let length = self.data.len();
        if self.data.capacity() - length <= length / 4 {
            return std::mem::take(&mut self.data).freeze();
        }
        let data = Bytes::copy_from_slice(&self.data);
        if self.data.capacity() > READ_CHUNK_BYTES {
            self.data = BytesMut::new();
        } else {
            self.data.clear();
        }
        data
    }

    fn too_long(&self) -> EventTooLong {
        EventTooLong::Data { limit: self.limit }
    }
}

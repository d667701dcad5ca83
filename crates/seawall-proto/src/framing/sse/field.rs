//! The line under way and the four fields that an event has.

use std::time::Duration;

/// A field that means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Event,
    Data,
    Id,
    Retry,
}

/// How far the line under way came.
#[derive(Debug)]
pub(super) enum Line {
    /// Before its colon.
    Name(Name),
    /// Behind its colon, where one space does not count.
    Colon(Field),
    /// In its value.
    Value(Field),
    /// A comment, or a field that means nothing.
    Skipped,
}

impl Default for Line {
    fn default() -> Self {
        Self::Name(Name::default())
    }
}

/// The name of a field: as many bytes as the longest known one has.
#[derive(Debug, Default)]
pub(super) struct Name {
    bytes: [u8; 5],
    length: usize,
}

impl Name {
    /// Takes one byte; `false` if no known name is that long.
    pub(super) fn push(&mut self, byte: u8) -> bool {
        let Some(slot) = self.bytes.get_mut(self.length) else {
            return false;
        };
        *slot = byte;
        self.length += 1;
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(super) fn field(&self) -> Option<Field> {
        match self.bytes.get(..self.length)? {
            b"event" => Some(Field::Event),
            b"data" => Some(Field::Data),
            b"id" => Some(Field::Id),
            b"retry" => Some(Field::Retry),
            _ => None,
        }
    }
}

/// Digits alone, in milliseconds; more than there are is as many as there are.
pub(super) fn milliseconds(value: &[u8]) -> Option<Duration> {
    if value.is_empty() {
        return None;
    }
    let mut number: u64 = 0;
    for byte in value {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number
            .saturating_mul(10)
            .saturating_add(u64::from(byte - b'0'));
    }
    Some(Duration::from_millis(number))
}

//! Newline-delimited frames out of a stream of bytes (L3).

use bytes::{Buf, Bytes, BytesMut};

#[cfg(test)]
mod tests;

/// How much room one read is offered, and how much an idle decoder keeps.
pub const READ_CHUNK_BYTES: usize = 64 * 1024;
/// A line passed [`max_frame_bytes`](crate::limits::Limits::max_frame_bytes) before its newline came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a frame is longer than {limit} bytes")]
pub struct FrameTooLong {
    /// The bound that it passed, in bytes.
    pub limit: usize,
}

/// Cuts a stream of bytes at its newlines, keeping at most one partial frame.
///
/// Read into [`read_buffer`](Self::read_buffer), then call [`next_frame`](Self::next_frame) until it yields `None`.
/// A frame excludes its newline and one carriage return before it. Chunking never matters.
///
/// A long frame is handed over in the buffer that it arrived in, if that is at most a quarter longer; any other is copied
/// out, so that what a frame keeps alive is what it counts (L8).
#[derive(Debug)]
pub struct LineDecoder {
    buffer: BytesMut,
    /// The bytes before this offset hold no newline.
    searched: usize,
    limit: usize,
    /// The length of the last frame that was handed over: a line that outgrows a chunk is expected to be as long.
    expected: usize,
    /// Bytes in front of the buffer that were frames before and belong to the same allocation still.
    skipped: usize,
}

impl LineDecoder {
    /// A decoder for frames of at most `limit` bytes, inclusive.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            expected: 0,
            skipped: 0,
        }
    }

    /// Where the next bytes go: append to it, never change what it holds. It has room for at least
    /// [`READ_CHUNK_BYTES`].
    ///
    /// Call [`next_frame`](Self::next_frame) until `None` between two reads, else the bound on memory is the caller's.
    pub fn read_buffer(&mut self) -> &mut BytesMut {
        let held = self.buffer.len();
        if held < READ_CHUNK_BYTES {
            self.buffer.reserve(READ_CHUNK_BYTES);
        } else if self.buffer.capacity() - held < READ_CHUNK_BYTES {
            // Doubling, but to the expected length at once, and never past what a frame may have: so a frame is copied
            // little as it grows, and its buffer is not much longer than itself.
            let longest = self.limit.saturating_add(READ_CHUNK_BYTES);
            let wanted = (2 * held)
                .max(self.expected + READ_CHUNK_BYTES)
                .min(longest);
            let mut grown = BytesMut::with_capacity(wanted.max(held + READ_CHUNK_BYTES));
            grown.extend_from_slice(&self.buffer);
            self.buffer = grown;
            self.skipped = 0;
        }
        &mut self.buffer
    }

    /// The next whole frame, or `None` until more bytes came.
    ///
    /// # Errors
    /// [`FrameTooLong`] as soon as a line cannot end within the bound. The stream is lost from there on.
    pub fn next_frame(&mut self) -> Result<Option<Bytes>, FrameTooLong> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(found) = memchr::memchr(b'\n', unsearched) else {
            self.searched = self.buffer.len();
            let pending_cr = usize::from(self.buffer.last() == Some(&b'\r'));
            return if self.buffer.len() - pending_cr > self.limit {
                Err(FrameTooLong { limit: self.limit })
            } else {
                Ok(None)
            };
        };
        let newline = self.searched + found;
        self.searched = 0;
        let end = match newline
            .checked_sub(1)
            .and_then(|before| self.buffer.get(before))
        {
            Some(b'\r') => newline - 1,
            _ => newline,
        };
        if end > self.limit {
            return Err(FrameTooLong { limit: self.limit });
        }
        if end >= READ_CHUNK_BYTES {
            self.expected = end;
        }
        if self.skipped.saturating_add(self.buffer.capacity() - end) > end / 4 {
            let frame = Bytes::copy_from_slice(self.buffer.get(..end).unwrap_or_default());
            self.buffer.advance(newline + 1);
            // `reserve` may move what is left to the front unseen; then this is too careful, and costs a copy.
            self.skipped = self.skipped.saturating_add(newline + 1);
            return Ok(Some(frame));
        }
        let mut frame = std::mem::take(&mut self.buffer);
        self.skipped = 0;
        // Copying what follows keeps the frame the only owner of its buffer.
        self.buffer
            .extend_from_slice(frame.get(newline + 1..).unwrap_or_default());
        frame.truncate(end);
        Ok(Some(frame.freeze()))
    }

    /// How many bytes of an unfinished line are held.
    #[must_use]
    pub fn partial_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Forgets what was read.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.searched = 0;
    }

    /// Lets go of memory that a long frame left behind; called when nothing is under way.
    pub fn shrink(&mut self) {
        if self.buffer.is_empty() && self.buffer.capacity() > READ_CHUNK_BYTES {
            self.buffer = BytesMut::new();
            self.skipped = 0;
        }
    }
}

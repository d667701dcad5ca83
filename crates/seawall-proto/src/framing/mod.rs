//! Lines and events out of bytes, and the structure check of one JSON text.
//!
//! It never interprets a message: that is [`crate::jsonrpc`].
//!
//! **Invariant:** a byte is looked at once by [`LineDecoder`] and once by [`scan`], however the bytes were chunked.
//! **Invariant:** at most one partial frame is kept, and no call recurses.

mod line;
mod scan;
mod sse;

pub use line::{FrameTooLong, LineDecoder, READ_CHUNK_BYTES};
pub use scan::{Child, Kind, NotJson, Scan, scan};
pub use sse::{Event, EventDecoder, EventTooLong, MAX_EVENT_FIELD_BYTES};

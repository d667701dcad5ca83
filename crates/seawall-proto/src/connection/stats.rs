//! What a connection counted: the numbers that `doctor` shows.

use std::time::Duration;

use super::Step;

/// Counters of one connection, from its start.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Stats {
    /// How long each finished handshake exchange took, from when it was queued.
    pub handshake: Vec<(Step, Duration)>,
    /// Whole frames received.
    pub frames_in: u64,
    /// Their bytes, newlines excluded.
    pub bytes_in: u64,
    /// The longest of them, in bytes.
    pub longest_frame_in: usize,
    /// Frames begun.
    pub frames_out: u64,
    /// Their bytes, newlines included.
    pub bytes_out: u64,
    /// The longest frame sent or refused for its length, newline excluded, in bytes.
    pub longest_frame_out: usize,
    /// The most frames that waited to be written at once.
    pub most_queued: usize,
    /// The most bytes that were buffered at once.
    pub most_buffered: usize,
    /// Lines that were noise (S6).
    pub noise: u64,
    /// Replies to no pending request.
    pub stray_replies: u64,
    /// Errors that answer no request.
    pub uncorrelated_errors: u64,
    /// Notifications received.
    pub notifications: u64,
    /// Requests received.
    pub requests: u64,
    /// Calls accepted.
    pub calls: u64,
    /// Cancellations queued.
    pub cancelled: u64,
    /// Diagnostics dropped because nobody took those before them (L6).
    pub diagnostics_dropped: u64,
    /// Notifications of an extension dropped because nobody took those before them (L6).
    pub notices_dropped: u64,
    /// Cancellations dropped because the queue was full (S8).
    pub cancels_dropped: u64,
}

//! What the sessions with a server counted, all of them together.

use std::ops::Add;

use crate::client::Report;

/// Counters of every session with a server, the live one too. They never go back while the server is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Totals {
    /// Bytes of whole messages received, newlines excluded.
    pub received_bytes: u64,
    /// Bytes of messages sent.
    pub sent_bytes: u64,
    /// Lines that were noise (S6).
    pub noise: u64,
    /// Replies to no pending request.
    pub stray_replies: u64,
    /// Secrets taken out of what was recorded of it (R1).
    pub redactions: u64,
}

impl Totals {
    /// What one session counted.
    pub(crate) fn of(report: &Report) -> Self {
        Self {
            received_bytes: report.stats.bytes_in,
            sent_bytes: report.stats.bytes_out,
            noise: report.stats.noise,
            stray_replies: report.stats.stray_replies,
            redactions: report.redactions,
        }
    }
}

impl Add for Totals {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            received_bytes: self.received_bytes + other.received_bytes,
            sent_bytes: self.sent_bytes + other.sent_bytes,
            noise: self.noise + other.noise,
            stray_replies: self.stray_replies + other.stray_replies,
            redactions: self.redactions + other.redactions,
        }
    }
}

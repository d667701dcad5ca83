//! The retained end of a server's stderr (S12).

use std::fmt;

use seawall_proto::limits::MAX_STDERR_LINE_BYTES;

use crate::redact::Redactor;

/// What stands in the tail for a line that was withheld.
pub const WITHHELD_LINE: &str = "[line withheld]";

/// The last bytes of a server's stderr: split into lines, each redacted, then cut.
///
/// A line longer than [`MAX_STDERR_LINE_BYTES`] (its newline and one CR excluded) is withheld whole, since a cut could
/// split a secret. How the bytes come in chunks never matters. Debug shows the counts only.
///
/// **Invariant:** it holds at most one unfinished line, itself bounded, and about twice what it retains.
#[derive(Default)]
pub(crate) struct StderrTail {
    max_bytes: usize,
    /// Redacted lines, each with its newline; cut once it is twice as long as needed.
    kept: String,
    /// The line that has not ended yet, unless it is too long.
    line: Vec<u8>,
    overlong: bool,
    lines: u64,
    withheld: u64,
}

impl StderrTail {
    /// Retains at most `max_bytes` bytes of redacted text.
    #[must_use]
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            ..Self::default()
        }
    }

    /// Takes what was read. Each line that it completes is redacted.
    pub(crate) fn feed(&mut self, bytes: &[u8], redactor: &Redactor) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                Some(piece) => {
                    self.grow(piece);
                    self.end_line(redactor);
                }
                None => self.grow(piece),
            }
        }
    }

    /// At the end of stderr: what was left without a newline is a line too.
    pub(crate) fn finish(&mut self, redactor: &Redactor) {
        if self.overlong || !self.line.is_empty() {
            self.end_line(redactor);
        }
    }

    /// The last complete lines, redacted, cut at the front to the bound and never inside a character.
    #[must_use]
    pub(crate) fn text(&self) -> &str {
        last(&self.kept, self.max_bytes)
    }

    /// How many lines ended, withheld ones included.
    #[must_use]
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// How many lines were withheld for their length.
    #[must_use]
    pub(crate) fn withheld(&self) -> u64 {
        self.withheld
    }

    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.kept.capacity() + self.line.capacity()
    }

    fn grow(&mut self, piece: &[u8]) {
        // One byte more than a line may have: it could be the CR.
        if self.overlong || self.line.len() + piece.len() > MAX_STDERR_LINE_BYTES + 1 {
            self.overlong = true;
            self.line.clear();
        } else {
            self.line.extend_from_slice(piece);
        }
    }

    fn end_line(&mut self, redactor: &Redactor) {
        self.lines += 1;
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        if self.overlong || line.len() > MAX_STDERR_LINE_BYTES {
            self.withheld += 1;
            self.kept.push_str(WITHHELD_LINE);
        } else {
            self.kept.push_str(&redactor.redact_bytes_lossy(line));
        }
        self.kept.push('\n');
        self.line.clear();
        self.overlong = false;
        if self.kept.len() > self.max_bytes.saturating_mul(2) {
            let excess = self.kept.len() - last(&self.kept, self.max_bytes).len();
            self.kept.drain(..excess);
        }
    }
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StderrTail")
            .field("lines", &self.lines)
            .field("withheld", &self.withheld)
            .finish_non_exhaustive()
    }
}

/// The last `max_bytes` bytes of a text, or a few fewer where a character would be cut.
fn last(text: &str, max_bytes: usize) -> &str {
    let from = text.len().saturating_sub(max_bytes);
    (from..text.len())
        .find_map(|from| text.get(from..))
        .unwrap_or_default()
}

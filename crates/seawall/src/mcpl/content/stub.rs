//! The line that stands in place of what is not shown.
//!
//! **Invariant:** it is one line, of Seawall's shape; every text of the server's in it is bounded, quoted and without
//! characters that a reader cannot see.

use super::block::Media;
use super::reference::Reference;
use crate::visible::{Place, must_show};

/// So many characters of each text of the server's are shown, the mark of a cut included.
const MAX_SHOWN_CHARS: usize = 120;

pub(super) fn reference(reference: &Reference) -> String {
    let id = reference.id().map_or("reference", |id| id.as_str());
    let testimony = &reference.testimony;
    let mut parts = Vec::new();
    if let Some(name) = testimony.name() {
        parts.push(format!("\"{}\"", label(name)));
    }
    parts.push(reference.kind().as_str().to_owned());
    if let Some(mime_type) = testimony.mime_type() {
        parts.push(media_type(mime_type));
    }
    if let Some(bytes) = testimony.size_bytes() {
        parts.push(format!("{} claimed", size(bytes)));
    }
    if let Some(from) = reference.from {
        parts.push(from.to_string());
    }
    format!("[{id}: {}]", parts.join(", "))
}

pub(super) fn media(media: &Media) -> String {
    format!(
        "[{}: {}]",
        media.kind().as_str(),
        media_type(media.mime_type())
    )
}

/// A server's label: what a reader cannot see is left out, and nothing in it ends the quotation or the stub.
pub(super) fn label(text: &str) -> String {
    shown(
        text.chars()
            .filter(|c| !must_show(*c, Place::Line))
            .map(|c| match c {
                '"' => '\'',
                '[' => '(',
                ']' => ')',
                c => c,
            }),
    )
}

/// A server's media type: the characters that one may have.
pub(super) fn media_type(text: &str) -> String {
    shown(
        text.chars()
            .filter(|c| c.is_ascii_alphanumeric() || "!#$&^_.+-/;=".contains(*c)),
    )
}

fn shown(mut text: impl Iterator<Item = char>) -> String {
    let mut shown: String = text.by_ref().take(MAX_SHOWN_CHARS).collect();
    if text.next().is_some() {
        shown.pop();
        shown.push('…');
    }
    shown
}

fn size(bytes: u64) -> String {
    const UNITS: [&str; 3] = ["KiB", "MiB", "GiB"];
    let Some(first) = UNITS.first().filter(|_| bytes >= 1024) else {
        return format!("{bytes} bytes");
    };
    let (mut tenths, mut unit) = (bytes.saturating_mul(10) / 1024, *first);
    for larger in UNITS.iter().skip(1) {
        if tenths < 10_240 {
            break;
        }
        (tenths, unit) = (tenths / 1024, larger);
    }
    format!("about {}.{} {unit}", tenths / 10, tenths % 10)
}

//! A server's text in one of Seawall's stubs: bounded, on one line, nothing invisible in it.

use crate::visible::{Place, must_show};

/// At most `max` code points of the text, what a reader could not see or would see in another order written as `\u{…}`.
/// A cut text ends in `…`, which counts.
pub(super) fn bounded(text: &str, max: usize) -> String {
    let mut shown = String::new();
    let mut left = max;
    // Where a text that turns out too long is cut: before the last character that leaves room for the mark.
    let mut cut = 0;
    for c in text.chars() {
        let hidden = must_show(c, Place::Line);
        let width = if hidden {
            c.escape_unicode().count()
        } else {
            1
        };
        let Some(rest) = left.checked_sub(width) else {
            shown.truncate(cut);
            shown.push('…');
            return shown;
        };
        left = rest;
        if hidden {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
        if left > 0 {
            cut = shown.len();
        }
    }
    shown
}

/// As [`bounded`], of one JSON text: its line breaks, which stand between its tokens only, become spaces.
pub(super) fn bounded_json(text: &str, max: usize) -> String {
    // Of what is left out, only the first character is needed to know that there is more.
    let begun: String = text
        .chars()
        .take(max.saturating_add(1))
        .map(|c| if c.is_ascii_whitespace() { ' ' } else { c })
        .collect();
    bounded(&begun, max)
}

//! Characters that a reader cannot see, or would see in another order, made visible (BEHAVIOUR G5).
//!
//! Whatever a server wrote passes here before it reaches a person, and descriptions before they reach a model. JSON that is
//! passed on is never changed here: it is exact.

use std::borrow::Cow;

use unicode_general_category::{GeneralCategory, get_general_category};

/// Where a text will stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Inside one line: line breaks and tabs are shown as escapes too.
    Line,
    /// On lines of its own: line breaks and tabs do what they do.
    Block,
}

/// The text with every character that a terminal would obey or hide written as `\u{…}`.
#[must_use]
pub fn visible(text: &str, place: Place) -> Cow<'_, str> {
    if !shown(text, place).any(|(_, hidden)| hidden) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for (c, hidden) in shown(text, place) {
        if hidden {
            visible.extend(c.escape_unicode());
        } else {
            visible.push(c);
        }
    }
    Cow::Owned(visible)
}

/// How many characters of the text a reader cannot see, or would see in another order.
#[must_use]
pub fn count_invisible(text: &str) -> usize {
    shown(text, Place::Block)
        .filter(|(_, hidden)| *hidden)
        .count()
}

/// Each character, and whether it is written as `\u{…}`. On lines of their own the two characters of a line's end as some
/// systems write it are one.
fn shown(text: &str, place: Place) -> impl Iterator<Item = (char, bool)> {
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let c = rest.next()?;
        let ends_line = c == '\r' && place == Place::Block && rest.as_str().starts_with('\n');
        Some((c, !ends_line && must_show(c, place)))
    })
}

/// Whether a character is written as `\u{…}` there.
#[must_use]
pub fn must_show(c: char, place: Place) -> bool {
    if c.is_ascii() {
        return match c {
            '\n' | '\t' => place == Place::Line,
            _ => c.is_ascii_control(),
        };
    }
    // Letters and marks that are drawn as nothing, and so can carry a hidden text. The two variation selectors
    // that choose between text and picture are part of ordinary emoji.
    let blank = matches!(
        c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}'
    );
    // The whole tag block counts, assigned or not.
    let tag = ('\u{e0000}'..='\u{e007f}').contains(&c);
    blank
        || tag
        || matches!(
            get_general_category(c),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
        )
}

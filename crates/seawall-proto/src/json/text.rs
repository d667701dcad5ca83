//! The inside of a JSON string, decoded without giving up on what Rust strings cannot hold.

use std::borrow::Cow;

/// A decoded string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedString<'a> {
    /// The text; each lone surrogate became U+FFFD.
    pub text: Cow<'a, str>,
    /// Whether a lone surrogate stood there.
    pub lone_surrogate: bool,
}

/// Decodes the inside of a checked JSON string (quotes excluded).
///
/// serde refuses a lone surrogate; here it is replaced and told, so that one bad character costs a character.
#[must_use]
pub fn decode_string(inside: &str) -> DecodedString<'_> {
    if !inside.contains('\\') {
        return DecodedString {
            text: Cow::Borrowed(inside),
            lone_surrogate: false,
        };
    }
    let mut text = String::with_capacity(inside.len());
    let mut lone_surrogate = false;
    let mut high: Option<u32> = None;
    let mut rest = inside;
    while let Some(first) = rest.chars().next() {
        let (unit, used) = if first == '\\' {
            unescape(rest)
        } else {
            (u32::from(first), first.len_utf8())
        };
        rest = rest.get(used..).unwrap_or_default();
        if let Some(before) = high.take() {
            if (0xDC00..0xE000).contains(&unit) {
                let joined = 0x10000 + ((before - 0xD800) << 10) + (unit - 0xDC00);
                text.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
                continue;
            }
            text.push(char::REPLACEMENT_CHARACTER);
            lone_surrogate = true;
        }
        if (0xD800..0xDC00).contains(&unit) {
            high = Some(unit);
        } else if let Some(character) = char::from_u32(unit) {
            text.push(character);
        } else {
            text.push(char::REPLACEMENT_CHARACTER);
            lone_surrogate = true;
        }
    }
    if high.is_some() {
        text.push(char::REPLACEMENT_CHARACTER);
        lone_surrogate = true;
    }
    DecodedString {
        text: Cow::Owned(text),
        lone_surrogate,
    }
}

/// The UTF-16 unit or scalar of the escape at the start of `rest`, and its length in bytes.
fn unescape(rest: &str) -> (u32, usize) {
    let simple = |character: char| (u32::from(character), 2);
    match rest.as_bytes().get(1) {
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => {
            let unit = rest
                .get(2..6)
                .and_then(|hex| u32::from_str_radix(hex, 16).ok());
            (unit.unwrap_or(0xFFFD), 6)
        }
        Some(byte) => (u32::from(*byte), 2),
        None => (u32::from('\\'), 1),
    }
}

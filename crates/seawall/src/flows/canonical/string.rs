//! Strings as UTF-16 code units: the order that RFC 8785 sorts by, and a form that holds lone surrogates.

use std::fmt::Write as _;

/// The code units of the inside of a checked JSON string (quotes excluded).
pub(super) fn units(inside: &str) -> Vec<u16> {
    let mut units = Vec::with_capacity(inside.len());
    let mut characters = inside.chars();
    let mut buffer = [0; 2];
    while let Some(character) = characters.next() {
        if character != '\\' {
            units.extend_from_slice(character.encode_utf16(&mut buffer));
            continue;
        }
        match characters.next() {
            Some('b') => units.push(0x8),
            Some('f') => units.push(0xC),
            Some('n') => units.push(0xA),
            Some('r') => units.push(0xD),
            Some('t') => units.push(0x9),
            Some('u') => {
                let digits = characters.by_ref().take(4);
                let unit = digits.filter_map(|digit| digit.to_digit(16));
                let unit = unit.fold(0, |unit, digit| (unit << 4) | digit);
                units.push(u16::try_from(unit).unwrap_or_default());
            }
            Some(other) => units.extend_from_slice(other.encode_utf16(&mut buffer)),
            None => {}
        }
    }
    units
}

/// Writes a string as RFC 8785 does; a lone surrogate as its escape.
pub(super) fn push(out: &mut String, units: &[u16]) {
    out.push('"');
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok('"') => out.push_str("\\\""),
            Ok('\\') => out.push_str("\\\\"),
            Ok('\u{8}') => out.push_str("\\b"),
            Ok('\t') => out.push_str("\\t"),
            Ok('\n') => out.push_str("\\n"),
            Ok('\u{c}') => out.push_str("\\f"),
            Ok('\r') => out.push_str("\\r"),
            Ok(control @ '\0'..='\u{1f}') => escape(out, u32::from(control)),
            Ok(character) => out.push(character),
            Err(lone) => escape(out, u32::from(lone.unpaired_surrogate())),
        }
    }
    out.push('"');
}

fn escape(out: &mut String, unit: u32) {
    // Writing to a `String` cannot fail.
    let _ = write!(out, "\\u{unit:04x}");
}

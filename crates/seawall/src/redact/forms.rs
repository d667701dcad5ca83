//! The forms in which a secret may be said back (R1).

use std::fmt::Write;

use secrecy::zeroize::Zeroizing;

use super::MIN_SECRET_CHARS;

/// Authorisation schemes: after one, the rest of a value is the secret.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "digest"];

/// Which ASCII characters an encoder leaves as they are, beside letters and digits.
struct Plain {
    marks: &'static str,
    space: &'static str,
}

/// The encoders in use: RFC 3986's, Python's `quote`, JavaScript's `encodeURIComponent`, forms (WHATWG; Python, Go),
/// and a URL's own serialisation of a path, a query and a user's name.
const ENCODERS: [Plain; 8] = [
    Plain {
        marks: "-._~",
        space: "%20",
    },
    Plain {
        marks: "-._~/",
        space: "%20",
    },
    Plain {
        marks: "-._~!*'()",
        space: "%20",
    },
    Plain {
        marks: "-._*",
        space: "+",
    },
    Plain {
        marks: "-._~",
        space: "+",
    },
    Plain {
        marks: "-._~!$%&'()*+,/:;=@[\\]|",
        space: "%20",
    },
    Plain {
        marks: "-._~!$%&()*+,/:;=?@[\\]^`{|}",
        space: "%20",
    },
    Plain {
        marks: "-._~!$%&'()*+,",
        space: "%20",
    },
];

/// Every text to look for, because of one value; none if all are too short (R2).
pub(super) fn of(value: &str) -> Vec<Zeroizing<String>> {
    let mut forms = Vec::new();
    for part in parts(value) {
        if part.chars().nth(MIN_SECRET_CHARS - 1).is_none() {
            continue;
        }
        forms.push(Zeroizing::new(part.to_owned()));
        for hex in [Hex::Lower, Hex::Upper] {
            forms.extend(ENCODERS.iter().map(|encoder| percent(part, encoder, hex)));
            for ascii in [Ascii::Kept, Ascii::Only] {
                for html in [Html::Kept, Html::Escaped] {
                    forms.push(json(part, hex, ascii, html, "/"));
                    forms.push(json(part, hex, ascii, html, "\\/"));
                }
            }
        }
    }
    forms
}

/// The value; without the blanks around it; each of its lines, since text is redacted by lines; and what follows an
/// authorisation scheme.
fn parts(value: &str) -> impl Iterator<Item = &str> {
    [value, value.trim()]
        .into_iter()
        .chain(value.lines().flat_map(|line| {
            let line = line.trim();
            let credentials = line
                .split_once(' ')
                .filter(|(scheme, _)| {
                    SCHEMES
                        .iter()
                        .any(|known| scheme.eq_ignore_ascii_case(known))
                })
                .map(|(_, credentials)| credentials.trim());
            [Some(line), credentials].into_iter().flatten()
        }))
}

#[derive(Clone, Copy)]
enum Hex {
    Lower,
    Upper,
}

/// Whether characters beyond ASCII are escaped.
#[derive(Clone, Copy, PartialEq)]
enum Ascii {
    Kept,
    Only,
}

/// Whether what HTML gives a meaning is escaped too, as Go does.
#[derive(Clone, Copy, PartialEq)]
enum Html {
    Kept,
    Escaped,
}

fn percent(value: &str, plain: &Plain, hex: Hex) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(value.len() * 3));
    for byte in value.bytes() {
        let character = char::from(byte);
        match byte {
            b' ' => text.push_str(plain.space),
            _ if byte.is_ascii_alphanumeric()
                || (byte.is_ascii() && plain.marks.contains(character)) =>
            {
                text.push(character);
            }
            _ => push_hex(&mut text, "%", u32::from(byte), 2, hex),
        }
    }
    text
}

/// The inside of a JSON string.
fn json(value: &str, hex: Hex, ascii: Ascii, html: Html, slash: &str) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(value.len() * 6));
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '/' => text.push_str(slash),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '\0'..='\u{1f}' => push_hex(&mut text, "\\u", u32::from(character), 4, hex),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if html == Html::Escaped => {
                push_hex(&mut text, "\\u", u32::from(character), 4, hex);
            }
            _ if ascii == Ascii::Only && !character.is_ascii() => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    push_hex(&mut text, "\\u", u32::from(*unit), 4, hex);
                }
            }
            _ => text.push(character),
        }
    }
    text
}

fn push_hex(text: &mut String, before: &str, number: u32, width: usize, hex: Hex) {
    // Writing to a String cannot fail.
    let _ = match hex {
        Hex::Lower => write!(text, "{before}{number:0width$x}"),
        Hex::Upper => write!(text, "{before}{number:0width$X}"),
    };
}

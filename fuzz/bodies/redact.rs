//! Redaction against a slow reading of R1 and R2: every spelling of every secret at every place, byte by byte.
//!
//! The input is a program: it chooses secrets, then writes a text of their spellings, of pieces of these, and of filler.

use seawall::redact::{MARKER, MAX_TOKENS, MIN_SECRET_CHARS, Redactor};
use url::Url;

/// What secrets and fillers are made of: few letters, so that they overlap and nest, and what encoders treat apart.
const LETTERS: [char; 16] = [
    'a', 'b', '/', 'é', '"', '&', ' ', '\\', '%', '+', '<', '😀', '\n', 'A', '0', '~',
];
const MAX_TEXT_BYTES: usize = 2_000;

/// The input is a program.
pub(crate) fn run(data: &[u8]) {
    let mut program = Program { data };
    let (redactor, needles) = program.secrets();
    let text = program.text(&needles);
    let whole = String::from_utf8_lossy(&text);
    let expected = needles.redact(&whole);
    assert_eq!(redactor.redact(&whole), expected);
    assert_eq!(redactor.redact_bytes_lossy(&text), expected);
}

struct Program<'a> {
    data: &'a [u8],
}

impl Program<'_> {
    fn byte(&mut self) -> Option<usize> {
        let (&first, rest) = self.data.split_first()?;
        self.data = rest;
        Some(first.into())
    }

    fn below(&mut self, bound: usize) -> usize {
        self.byte().unwrap_or(0) % bound.max(1)
    }

    fn value(&mut self) -> String {
        let length = 5 + self.below(24);
        // Every other one repeats itself.
        let period = match self.below(2) {
            0 => length,
            _ => 1 + self.below(3),
        };
        let letters: Vec<char> = (0..period)
            .map(|_| LETTERS[self.below(LETTERS.len())])
            .collect();
        letters.into_iter().cycle().take(length).collect()
    }

    /// Secrets of every kind, told to a redactor and spelt out for the slow reading.
    fn secrets(&mut self) -> (Redactor, Needles) {
        let mut builder = Redactor::builder();
        let mut needles = Needles::default();
        for _ in 0..self.below(3) {
            let value = self.value();
            builder = builder.secret(&value);
            needles.value(&value);
        }
        for name in ["GITHUB_TOKEN", "API_KEYS", "DB_PASS"]
            .iter()
            .take(self.below(4))
        {
            let value = self.value();
            builder = builder.environment([(*name, &value), ("HOME", &self.value())]);
            needles.value(&value);
        }
        let tokens: Vec<String> = match self.below(4) {
            0 => (0..self.below(MAX_TOKENS * 2))
                .map(|n| format!("ab/ab{n:02}"))
                .collect(),
            _ => Vec::new(),
        };
        for token in &tokens {
            builder = builder.token(token);
        }
        for token in tokens.iter().rev().take(MAX_TOKENS) {
            needles.value(token);
        }
        for name in ["v", "page", "a"].iter().take(self.below(4)) {
            let length = 1 + self.below(12);
            let sent: String = (0..length)
                .map(|_| ['a', 'b', '0', '+'][self.below(4)])
                .collect();
            let url = Url::parse(&format!("https://example.com/mcp?{name}={sent}")).unwrap();
            builder = builder.address(&url);
            for value in [&sent, &sent.replace('+', " ")] {
                if length < MIN_SECRET_CHARS {
                    needles.alone.push(format!("{name}={value}"));
                } else {
                    needles.value(value);
                }
            }
        }
        (builder.build(), needles)
    }

    fn text(&mut self, needles: &Needles) -> Vec<u8> {
        let mut text = Vec::new();
        while let Some(step) = self.byte() {
            if text.len() >= MAX_TEXT_BYTES {
                break;
            }
            let spelling = needles.pick(self.below(256) * 256 + self.below(256));
            let cut = self.below(spelling.chars().count() + 1);
            match step % 8 {
                0 | 1 => text.extend(spelling.bytes()),
                2 => text.extend(spelling.chars().take(cut).collect::<String>().bytes()),
                3 => text.extend(spelling.chars().skip(cut).collect::<String>().bytes()),
                4 => {
                    let filler = LETTERS[self.below(LETTERS.len())].to_string();
                    text.extend(filler.repeat(self.below(64)).bytes());
                }
                5 => text.extend(
                    [b'x', b'=', b'_', b';', b'\n', 0xff, 0xc3][step / 8 % 7..][..1].iter(),
                ),
                // Hexadecimal digits in both cases, and letters in the wrong one.
                6 => text.extend(spelling.to_ascii_uppercase().bytes()),
                _ => text.extend(MARKER.bytes()),
            }
        }
        text
    }
}

/// Everything to look for.
#[derive(Default)]
struct Needles {
    anywhere: Vec<String>,
    /// Where no word runs on.
    alone: Vec<String>,
}

impl Needles {
    fn value(&mut self, value: &str) {
        for part in parts(value) {
            if part.chars().count() >= MIN_SECRET_CHARS {
                self.anywhere.extend(spellings(&part));
            }
        }
    }

    fn pick(&self, index: usize) -> &str {
        let all = self.anywhere.len() + self.alone.len();
        let index = index % all.max(1);
        let picked = self.anywhere.iter().chain(&self.alone).nth(index);
        picked.map_or("a", String::as_str)
    }

    fn redact(&self, text: &str) -> String {
        let mut covered = vec![false; text.len()];
        let mut cover = |needle: &str, alone: bool| {
            for start in 0..text.len() {
                let end = start + needle.len();
                if text.as_bytes()[start..].starts_with(needle.as_bytes())
                    && (!alone || !(word_ends(text, start) || word_begins(text, end)))
                {
                    covered[start..end].fill(true);
                }
            }
        };
        self.anywhere.iter().for_each(|needle| cover(needle, false));
        self.alone.iter().for_each(|needle| cover(needle, true));
        let mut redacted = String::new();
        for (at, character) in text.char_indices() {
            if !covered[at] {
                redacted.push(character);
            } else if at == 0 || !covered[at - 1] {
                redacted.push_str(MARKER);
            }
        }
        redacted
    }
}

fn word_ends(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_some_and(is_of_word)
}

fn word_begins(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_some_and(is_of_word)
}

fn is_of_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii()
}

/// A value, without blanks, its lines, and what follows an authorisation scheme. None of these begins with one here.
fn parts(value: &str) -> Vec<String> {
    let lines = value.lines().map(str::trim);
    let whole = [value, value.trim()].into_iter();
    whole.chain(lines).map(str::to_owned).collect()
}

/// Raw, JSON-escaped, percent- and form-encoded, in either hex case.
fn spellings(value: &str) -> Vec<String> {
    let mut all = vec![value.to_owned()];
    for upper in [false, true] {
        for bits in 0..8 {
            let (ascii, html, slash) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
            let json = |c: char| match c {
                '/' if slash => "\\/".to_owned(),
                '<' | '&' if html => units(c, upper),
                'é' | '😀' if ascii => units(c, upper),
                '"' => "\\\"".to_owned(),
                '\\' => "\\\\".to_owned(),
                '\n' => "\\n".to_owned(),
                _ => c.to_string(),
            };
            all.push(value.chars().map(json).collect());
        }
        // RFC 3986, Python's, JavaScript's; forms; a URL's path, query and user. Of the alphabet above.
        for (plain, space) in [
            ("~", "%20"),
            ("~/", "%20"),
            ("", "+"),
            ("~", "+"),
            ("~/&+%\\", "%20"),
            ("~&+%", "%20"),
        ] {
            let percent = |c: char| match c {
                ' ' => space.to_owned(),
                _ if c.is_ascii_alphanumeric() || plain.contains(c) => c.to_string(),
                _ => c.to_string().bytes().map(|b| hex(b, upper)).collect(),
            };
            all.push(value.chars().map(percent).collect());
        }
    }
    all
}

fn hex(byte: u8, upper: bool) -> String {
    if upper {
        format!("%{byte:02X}")
    } else {
        format!("%{byte:02x}")
    }
}

fn units(c: char, upper: bool) -> String {
    let spell = |unit: &u16| {
        if upper {
            format!("\\u{unit:04X}")
        } else {
            format!("\\u{unit:04x}")
        }
    };
    c.encode_utf16(&mut [0; 2]).iter().map(spell).collect()
}

//! Redaction of much text, and a plain search for one secret in it.

use anyhow::{Result, ensure};
use memchr::memmem;
use seawall::redact::Redactor;

use crate::measure::cpu_seconds;
use crate::plan::Effort;
use crate::say;

/// So many secrets.
pub(crate) const SECRETS: usize = 64;
/// So much text.
pub(crate) const TEXT_BYTES: usize = 100_000_000;
/// A secret stands in one of so many lines.
const RARE: u64 = 1_000;

/// What the secrets look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// 40 letters of base64.
    Random,
    /// 8 letters of it.
    Short,
    /// A word that the text is full of, and four digits.
    Words,
}

impl Secrets {
    pub(crate) const ALL: [Self; 3] = [Self::Random, Self::Short, Self::Words];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Random => "64 of 40 characters of base64",
            Self::Short => "64 of 8 characters of base64",
            Self::Words => "64 of a word of the text and four digits",
        }
    }
}

/// Bytes per second of CPU time: nothing here waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speeds {
    pub(crate) redactor: f64,
    pub(crate) plain: f64,
}

/// The speeds of each repetition.
pub(crate) fn run(effort: &Effort) -> Result<Vec<(Secrets, Vec<Speeds>)>> {
    let mut all = Vec::new();
    for kind in Secrets::ALL {
        say(&format!("redaction: {}\n", kind.name()));
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let secrets = secrets(kind, &mut random);
        let text = text(&secrets, &mut random);
        let builder = secrets.iter().fold(Redactor::builder(), |builder, secret| {
            builder.secret(secret)
        });
        let redactor = builder.build();
        let one = secrets.first().map(String::as_str).unwrap_or_default();
        let mut speeds = Vec::new();
        for _ in 0..effort.repetitions {
            let begun = cpu_seconds();
            let redacted = redactor.redact(&text);
            let took = cpu_seconds() - begun;
            ensure!(!redacted.contains(one), "a secret was left");
            drop(redacted);
            let begun = cpu_seconds();
            let found = memmem::find_iter(text.as_bytes(), one).count();
            let plain = cpu_seconds() - begun;
            ensure!(found > 0, "the secret does not stand in the text");
            let speed = |took: f64| {
                let millions = u32::try_from(text.len() / 1_000_000).unwrap_or(u32::MAX);
                f64::from(millions) * 1e6 / took
            };
            speeds.push(Speeds {
                redactor: speed(took),
                plain: speed(plain),
            });
        }
        all.push((kind, speeds));
    }
    Ok(all)
}

fn secrets(kind: Secrets, random: &mut Random) -> Vec<String> {
    const WORDS: [&str; 6] = [
        "request",
        "server",
        "connection",
        "tools",
        "failed",
        "result",
    ];
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut letters = |count: usize| {
        let mut letter = || {
            let letter = LETTERS.get(random.below(64)).copied();
            char::from(letter.unwrap_or(b'A'))
        };
        (0..count).map(|_| letter()).collect::<String>()
    };
    match kind {
        Secrets::Random => (0..SECRETS).map(|_| letters(40)).collect(),
        Secrets::Short => (0..SECRETS).map(|_| letters(8)).collect(),
        Secrets::Words => {
            let words = WORDS.iter().cycle().zip(1_000..);
            let secrets = words.map(|(word, number)| format!("{word}{number}"));
            secrets.take(SECRETS).collect()
        }
    }
}

/// Lines as logs and protocols have them.
fn text(secrets: &[String], random: &mut Random) -> String {
    let mut text = String::with_capacity(TEXT_BYTES + 256);
    let mut line = 0_u64;
    while text.len() < TEXT_BYTES {
        let (a, b) = (random.below(100_000), random.below(1_000));
        text.push_str(&match line % 4 {
            0 => format!("INFO request tools/call id={a} took {b} ms on server github\n"),
            1 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{a},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"The quick brown fox jumps over {b} lazy dogs\"}}]}}}}\n"),
            2 => format!("WARN connection to https://api.example.com/v1/items?page={a} failed after {b} retries: connection reset by peer\n"),
            _ => format!("    at Object.<anonymous> (/app/node_modules/server/index.js:{b}:{a})\n"),
        });
        if line.is_multiple_of(RARE) {
            let secret = secrets.get(random.below(secrets.len()));
            text.push_str(secret.map_or("", String::as_str));
            text.push('\n');
        }
        line += 1;
    }
    text
}

/// The same numbers each time (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let bound = bound.max(1) as u64;
        usize::try_from((self.0 >> 16) % bound).unwrap_or(0)
    }
}

//! What looks like a credential, by its name or by its form.
//!
//! Used to warn and to keep such a value out of messages. Never used to refuse anything.

use url::Url;

use super::findings::Findings;
use super::names::is_variable_name;
use super::problem::ProblemKind;
use super::server::Secret;
use super::surroundings::Surroundings;

/// Words that end the name of something secret, wherever they begin in it: `PGPASSWORD`.
const WORDS: [&str; 12] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "credential",
    "authorization",
    "cookie",
    "bearer",
    "jwt",
    "signature",
];

/// Words that do so only where they stand alone: `DB_PASS`, but not `COMPASS`.
const STANDING_WORDS: [&str; 7] = ["key", "pass", "pwd", "auth", "session", "pat", "cred"];

/// How the tokens of well-known issuers begin.
const TOKEN_PREFIXES: [&str; 22] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_",
    "pk_live_",
    "rk_live_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "npm_",
    "hf_",
];

/// Whether a variable, header or query parameter of this name holds a credential: singular, plural or numbered (R1).
#[must_use]
pub fn is_credential_name(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_' || c == '-');
    let lower = name.to_ascii_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    [lower.as_str(), singular].into_iter().any(|lower| {
        WORDS.iter().any(|word| lower.ends_with(word))
            || STANDING_WORDS.iter().any(|word| {
                lower
                    .strip_suffix(word)
                    .is_some_and(|before| stands_alone(name, before.len()))
            })
    })
}

/// Whether a text has the form of a token: a known beginning, or long, unbroken and mixed.
#[must_use]
pub fn looks_like_credential(text: &str) -> bool {
    let known = |word: &str| {
        TOKEN_PREFIXES
            .iter()
            .any(|prefix| word.starts_with(prefix) && word.len() >= prefix.len() + 12)
    };
    text.split([' ', '=', ':', ',', '"', '\''])
        .any(|word| known(word) || is_random(word))
}

/// A name that a message may say: itself, or `****` if it has the form of a token.
pub(super) fn sayable(name: &str) -> String {
    if looks_like_credential(name) {
        "****".to_owned()
    } else {
        name.to_owned()
    }
}

/// The secret in the variable `name`, which `field` names (K5).
pub(super) fn secret_of_variable(
    name: &str,
    field: &str,
    surroundings: &dyn Surroundings,
    findings: &mut Findings,
) -> Option<Secret> {
    let kind = match surroundings.variable(name) {
        Some(value) if !value.is_empty() => return Some(Secret::new(value)),
        _ if looks_like_credential(name) => ProblemKind::TokenForName,
        _ if !is_variable_name(name) => ProblemKind::VariableName,
        Some(_) => ProblemKind::EmptyVariable {
            name: sayable(name),
        },
        None => ProblemKind::UnsetVariable {
            name: sayable(name),
        },
    };
    findings.problem(field.to_owned(), kind);
    None
}

/// The parts of a URL that hold a credential, as the names that a message may say.
pub(super) fn url_credentials(url: &Url) -> Vec<&'static str> {
    let mut found = Vec::new();
    if !url.username().is_empty() || url.password().is_some() {
        found.push("url (user information)");
    }
    let is_credential = |segment: &str| {
        let decoded = percent_encoding::percent_decode_str(segment).decode_utf8_lossy();
        looks_like_credential(segment) || looks_like_credential(&decoded)
    };
    if url
        .path_segments()
        .is_some_and(|mut segments| segments.any(is_credential))
    {
        found.push("url (path)");
    }
    if url.query_pairs().any(|(name, value)| {
        !value.is_empty() && (is_credential_name(&name) || looks_like_credential(&value))
    }) {
        found.push("url (query)");
    }
    found
}

/// Long, unbroken, of letters and digits both in several runs: what a random text looks like, and a word does not.
fn is_random(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if word.len() < 24 || !word.bytes().all(plain) {
        return false;
    }
    if word
        .bytes()
        .filter(|byte| !byte.is_ascii_alphanumeric())
        .count()
        > 2
    {
        return false;
    }
    let changes = word
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count();
    changes >= 4
}

/// Whether a word that begins at byte `at` of `name` is one of its own: `api_key`, `apiKey`, `key`.
fn stands_alone(name: &str, at: usize) -> bool {
    let bytes = name.as_bytes();
    let Some(before) = at.checked_sub(1).and_then(|last| bytes.get(last)) else {
        return true;
    };
    !before.is_ascii_alphanumeric()
        || (before.is_ascii_lowercase() && bytes.get(at).is_some_and(u8::is_ascii_uppercase))
}

//! What a refusal asks for: its `WWW-Authenticate` headers (RFC 9110, section 11; RFC 6750; RFC 9449; RFC 9728).

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

use super::scopes::Scopes;

/// More of the headers is not looked at.
const MAX_BYTES: usize = 32 * 1024;

/// What the `Bearer` and `DPoP` challenges of one answer say together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// Where the server's metadata stands.
    pub(super) resource_metadata: Option<String>,
    /// The scopes that the request needs.
    pub(super) scopes: Option<Scopes>,
    /// The token's scopes do not reach.
    pub(super) insufficient_scope: bool,
    /// The proof has to hold the nonce that came with the refusal.
    pub(super) wants_nonce: bool,
    /// A token bound to a key is wanted.
    pub(super) dpop: bool,
}

impl Challenge {
    /// What `headers` ask for. The first mention of anything counts.
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let mut challenge = Self::default();
        let mut left = MAX_BYTES;
        for value in headers.get_all(WWW_AUTHENTICATE) {
            let Some(rest) = left.checked_sub(value.len()) else {
                break;
            };
            left = rest;
            // A description may be in any language (RFC 9110, section 5.5).
            challenge.take(&String::from_utf8_lossy(value.as_bytes()));
        }
        challenge
    }

    fn take(&mut self, text: &str) {
        let mut reader = Reader { rest: text };
        let mut ours = false;
        while let Some(item) = reader.next() {
            match item {
                Item::Scheme(scheme) => {
                    let dpop = scheme.eq_ignore_ascii_case("DPoP");
                    self.dpop |= dpop;
                    ours = dpop || scheme.eq_ignore_ascii_case("Bearer");
                }
                Item::Parameter(name, value) if ours => self.parameter(name, value),
                Item::Parameter(..) => {}
            }
        }
    }

    fn parameter(&mut self, name: &str, value: String) {
        match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => {
                self.resource_metadata.get_or_insert(value);
            }
            "scope" => {
                self.scopes.get_or_insert_with(|| Scopes::parse(&value));
            }
            "error" => {
                self.insufficient_scope |= value == "insufficient_scope";
                self.wants_nonce |= value == "use_dpop_nonce";
            }
            _ => {}
        }
    }
}

enum Item<'t> {
    Scheme(&'t str),
    Parameter(&'t str, String),
}

/// Reads schemes and parameters one after the other; what fits neither is passed over.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<Item<'t>> {
        loop {
            self.rest = self
                .rest
                .trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
            if self.rest.is_empty() {
                return None;
            }
            let word = self.word();
            if word.is_empty() {
                let mut chars = self.rest.chars();
                chars.next();
                self.rest = chars.as_str();
                continue;
            }
            let after = self.rest.trim_start_matches([' ', '\t']);
            let Some(after) = after.strip_prefix('=') else {
                return Some(Item::Scheme(word));
            };
            let after = after.trim_start_matches([' ', '\t']);
            if let Some(quoted) = after.strip_prefix('"') {
                let (value, rest) = unquote(quoted);
                self.rest = rest;
                return Some(Item::Parameter(word, value));
            }
            self.rest = after;
            let value = self.word().to_owned();
            return Some(Item::Parameter(word, value));
        }
    }

    /// The token at the beginning, perhaps empty.
    fn word(&mut self) -> &'t str {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~:/?".contains(c)))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

/// A quoted string's value, and what follows it.
fn unquote(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            _ => value.push(c),
        }
    }
    (value, "")
}

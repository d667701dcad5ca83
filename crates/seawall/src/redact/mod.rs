//! Takes secrets out of text that is recorded: diagnostics, logs, errors shown beside the public ones (R1, R2, R3).
//!
//! A [`Redactor`] is built from what a connection was given (its environment, its tokens) and knows each secret in
//! every form in which a peer is likely to say it back. It never learns secrets from text, and never guesses.
//!
//! **Invariant:** one pass over the text whatever the number of secrets (one more, if short values of a query are among
//! them); whoever cuts a text redacts it first.

mod address;
mod finder;
mod forms;
mod grams;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use aho_corasick::BuildError;
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::config::{is_credential_name, looks_like_credential};

pub use address::shown_url;
use finder::{Finder, merge};

/// What stands where a secret stood.
pub const MARKER: &str = "[redacted]";
/// A value of fewer characters is not replaced on its own: it would be found in innocent text (R2).
pub const MIN_SECRET_CHARS: usize = 8;
/// So many of the newest provided tokens are known (R1).
pub const MAX_TOKENS: usize = 16;

/// Replaces known secrets in text. Cheap to clone; the default one knows none.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Secrets,
    replaced: Arc<AtomicU64>,
}

#[derive(Clone, Default)]
enum Secrets {
    #[default]
    None,
    Known(Arc<Known>),
    /// They are too large to look for. Nothing may pass then.
    TooLarge,
}

/// What is looked for.
struct Known {
    /// Secrets wherever they stand.
    anywhere: Option<Finder>,
    /// Secrets only where no word runs on. They are shorter, and would make the strides of the others short.
    alone: Option<Finder>,
}

impl Redactor {
    /// Starts with no secret.
    #[must_use]
    pub fn builder() -> RedactorBuilder {
        RedactorBuilder::default()
    }

    /// The text with every secret replaced by [`MARKER`]; secrets that overlap or touch by one.
    ///
    /// The text must be whole: a secret that was cut is not found.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = match &self.secrets {
            Secrets::None => return Cow::Borrowed(text),
            Secrets::TooLarge if text.is_empty() => return Cow::Borrowed(text),
            Secrets::TooLarge => {
                self.count(1);
                return Cow::Borrowed(MARKER);
            }
            Secrets::Known(known) => known,
        };
        let Some(found) = known.find(text.as_bytes()) else {
            self.count(1);
            return Cow::Borrowed(MARKER);
        };
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        self.count(found.len());
        let mut redacted = String::with_capacity(text.len());
        let mut done = 0;
        for (start, end) in found {
            // Both are borders of characters: needles and text are UTF-8.
            redacted.push_str(text.get(done..start).unwrap_or_default());
            redacted.push_str(MARKER);
            done = end;
        }
        redacted.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(redacted)
    }

    /// How often [`MARKER`] was put in place of something, by this redactor and by all others of the same builder.
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.replaced.load(Relaxed)
    }

    fn count(&self, found: usize) {
        self.replaced
            .fetch_add(u64::try_from(found).unwrap_or(u64::MAX), Relaxed);
    }

    /// As [`redact`](Self::redact), for a line that may not be UTF-8: what is not becomes U+FFFD.
    #[must_use]
    pub fn redact_bytes_lossy(&self, bytes: &[u8]) -> String {
        self.redact(&String::from_utf8_lossy(bytes)).into_owned()
    }
}

/// Shows no secret, and not how many there are.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

/// Collects the secrets of a [`Redactor`]. Redactors built of clones count together.
#[derive(Clone, Default)]
pub struct RedactorBuilder {
    values: Vec<SecretString>,
    tokens: Vec<SecretString>,
    /// Secrets only where they stand alone: a short value with its name.
    pairs: Vec<SecretString>,
    replaced: Arc<AtomicU64>,
}

impl RedactorBuilder {
    /// Adds the values of those variables whose names end in a credential word: `GITHUB_TOKEN`, `API_KEYS`,
    /// `PGPASSWORD`, `TOKEN2` (R1). The others are no secrets.
    #[must_use]
    pub fn environment<K: AsRef<OsStr>, V: AsRef<OsStr>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        for (name, value) in variables {
            if is_credential_name(&name.as_ref().to_string_lossy()) {
                self = self.secret(&value.as_ref().to_string_lossy());
            }
        }
        self
    }

    /// Adds a provided token. Only the newest [`MAX_TOKENS`] are kept.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.tokens.push(SecretString::from(token));
        let excess = self.tokens.len().saturating_sub(MAX_TOKENS);
        self.tokens.drain(..excess);
        self
    }

    /// Adds any other value that is a secret wherever it stands, for example a part of a URL.
    #[must_use]
    pub fn secret(mut self, value: &str) -> Self {
        self.values.push(SecretString::from(value));
        self
    }

    /// Adds what may be secret in an address: its user information and the Basic form of that, path segments that look
    /// like a credential, and the values of its query, as they are sent and decoded. A value of fewer than
    /// [`MIN_SECRET_CHARS`] characters is replaced only with its name, where no word runs on (R1, R2).
    #[must_use]
    pub fn address(mut self, url: &Url) -> Self {
        let found = address::secrets(url);
        self.values.extend(found.values);
        self.pairs.extend(found.pairs);
        self
    }

    /// Adds the values of those headers that hold a credential by their name or their form.
    #[must_use]
    pub fn headers<'a>(mut self, headers: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        for (name, value) in headers {
            if is_credential_name(name) || looks_like_credential(value) {
                self = self.secret(value);
            }
        }
        self
    }

    /// The redactor that knows these secrets.
    #[must_use]
    pub fn build(self) -> Redactor {
        let mut needles: Vec<Zeroizing<String>> = self
            .values
            .iter()
            .chain(&self.tokens)
            .flat_map(|value| forms::of(value.expose_secret()))
            .collect();
        needles.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        needles.dedup_by(|a, b| a.as_str() == b.as_str());
        if needles.is_empty() && self.pairs.is_empty() {
            return Redactor {
                secrets: Secrets::None,
                replaced: self.replaced,
            };
        }
        let anywhere: Vec<&[u8]> = needles.iter().map(|needle| needle.as_bytes()).collect();
        let pairs = self.pairs.iter().map(|pair| pair.expose_secret());
        let alone: Vec<&[u8]> = pairs.map(str::as_bytes).collect();
        let secrets = match Known::of(&anywhere, &alone) {
            Ok(known) => Secrets::Known(Arc::new(known)),
            Err(_) => Secrets::TooLarge,
        };
        Redactor {
            secrets,
            replaced: self.replaced,
        }
    }
}

/// Shows no secret.
impl fmt::Debug for RedactorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedactorBuilder").finish_non_exhaustive()
    }
}

impl Known {
    /// # Errors
    /// They are too large to look for.
    fn of(anywhere: &[&[u8]], alone: &[&[u8]]) -> Result<Self, BuildError> {
        let finder = |needles: &[&[u8]]| {
            let some = !needles.is_empty();
            some.then(|| Finder::of(needles)).transpose()
        };
        Ok(Self {
            anywhere: finder(anywhere)?,
            alone: finder(alone)?,
        })
    }

    /// Where secrets stand, merged, in order. `None` if the search cannot be done.
    fn find(&self, text: &[u8]) -> Option<Vec<(usize, usize)>> {
        let mut found = Vec::new();
        if let Some(finder) = &self.anywhere {
            finder.find(text, &mut found, |_, _| true)?;
        }
        let Some(finder) = &self.alone else {
            return Some(found);
        };
        let mut alone = Vec::new();
        finder.find(text, &mut alone, |start, end| {
            stands_alone(text, start, end)
        })?;
        if !alone.is_empty() {
            // Two runs in order: the sort is a merge.
            found.append(&mut alone);
            found.sort_by_key(|&(_, end)| end);
            let both = std::mem::take(&mut found);
            for (start, end) in both {
                merge(&mut found, start, end);
            }
        }
        Some(found)
    }
}

/// Whether no word runs on before `start` or after `end`.
fn stands_alone(text: &[u8], start: usize, end: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    !before.is_some_and(is_word) && !text.get(end).is_some_and(is_word)
}

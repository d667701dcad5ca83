//! The digest of a declaration (F3).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use seawall_proto::Json;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

use super::{Effects, canonical};
use crate::policy::{Capability, Grant};

#[cfg(test)]
mod tests;

const PREFIX: &str = "sha256:";

/// SHA-256 of a flow's whole declaration in canonical form. Written `sha256:` and 64 lower case hex digits.
///
/// The declaration is the object of `capabilities`, `description`, `effects`, `input`, `name` and, if the server declared
/// one, `output`. Its canonical form is RFC 8785's where that loses nothing, and says more where RFC 8785 would not:
///
/// * Keys are sorted by their UTF-16 code units; no white space; strings with the shortest escapes. So the order of a
///   schema's keys, its white space and the way its characters are escaped do not matter.
/// * A number whose decimal value is that of its nearest double is written as RFC 8785 does (`1.0`, `1` and `1e0` are
///   the same). Any other, as `9007199254740993`, is written by its exact digits: two such numbers never become the same.
/// * A key that stands twice is kept twice, in the order of the text.
/// * A lone surrogate in a schema is kept as `\ud83d`, which differs from every other text.
///
/// The description is the decoded one that callers are shown, where a lone surrogate has become U+FFFD.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// The text is not `sha256:` and 64 lower case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a digest of the form sha256:<64 lower case hex digits>")]
pub struct InvalidDigest;

impl Digest {
    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(super) fn of_declaration(
        name: &str,
        description: &str,
        shared: &Shared,
        input: &Json,
        output: Option<&Json>,
    ) -> Self {
        let text = declaration(name, description, shared, input, output);
        Self(Sha256::digest(text).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let hex = text.strip_prefix(PREFIX).ok_or(InvalidDigest)?.as_bytes();
        let mut bytes = [0; 32];
        let (pairs, rest) = hex.as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return Err(InvalidDigest);
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = nibble(*high)? << 4 | nibble(*low)?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

fn nibble(digit: u8) -> Result<u8, InvalidDigest> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(InvalidDigest),
    }
}

/// What all declarations of one server share, and its canonical text.
pub(super) struct Shared {
    pub(super) capabilities: Arc<[Capability]>,
    pub(super) effects: Effects,
    capabilities_text: String,
    effects_text: String,
}

impl Shared {
    pub(super) fn of(grant: &Grant) -> Self {
        let capabilities = Arc::clone(grant.shared_capabilities());
        let effects = Effects {
            on_conflict: grant.on_conflict(),
            ..Effects::OPAQUE
        };
        Self {
            capabilities_text: canonical_text(&&*capabilities),
            effects_text: canonical_text(&effects),
            capabilities,
            effects,
        }
    }
}

/// The canonical text of a declaration. Its own keys stand here in their sorted order.
fn declaration(
    name: &str,
    description: &str,
    shared: &Shared,
    input: &Json,
    output: Option<&Json>,
) -> String {
    let mut text = String::from("{\"capabilities\":");
    text.push_str(&shared.capabilities_text);
    text.push_str(",\"description\":");
    canonical::push_string(&mut text, description);
    text.push_str(",\"effects\":");
    text.push_str(&shared.effects_text);
    text.push_str(",\"input\":");
    text.push_str(&canonical::text(input));
    text.push_str(",\"name\":");
    canonical::push_string(&mut text, name);
    if let Some(output) = output {
        text.push_str(",\"output\":");
        text.push_str(&canonical::text(output));
    }
    text.push('}');
    text
}

/// A test pins it, so it is never the empty one of an error.
fn canonical_text(value: &impl Serialize) -> String {
    Json::of(value).map_or_else(|_| String::new(), |json| canonical::text(&json))
}

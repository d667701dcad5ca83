//! The canonical digest of a manifest.
//!
//! **Invariant:** it exists for whatever is an object, unless an identifier holds what no identifier may.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use seawall_proto::Json;
use seawall_proto::framing::Kind;
use sha2::{Digest as _, Sha256};

use crate::flows::canonical;

/// The revision of a manifest: `sha256:` and 43 characters. Two of them are equal or not; there is no order.
///
/// Source: MCP Live 0.5.0-draft §17.1, §17.2.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Revision(String);

impl Revision {
    /// The text of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is no revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a revision: \"sha256:\" and 43 characters of base64url")]
pub struct InvalidRevision;

impl FromStr for Revision {
    type Err = InvalidRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("sha256:").ok_or(InvalidRevision)?;
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if digits.len() != 43 || !digits.bytes().all(is_digit) {
            return Err(InvalidRevision);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Why a manifest has no digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DigestError {
    /// `manifest_not_object`.
    #[error("the manifest is no object")]
    NotAnObject,
    /// `identifier_charset`.
    #[error(
        "an identifier of the manifest is empty or holds something other than ASCII letters, digits and \"._:*-\""
    )]
    IdentifierCharset,
}

impl DigestError {
    /// The error in one word, as the vectors of the specification have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAnObject => "manifest_not_object",
            Self::IdentifierCharset => "identifier_charset",
        }
    }
}

/// The digest of a manifest, its own `revision` left out.
///
/// A number that no double holds, and a key that stands there twice, are kept as they are, where RFC 8785 has no answer.
///
/// # Errors
/// [`DigestError`]. Nothing else of a manifest is refused here: what has the wrong type is hashed as it is.
///
/// Source: MCP Live 0.5.0-draft §17.2.
pub fn digest(manifest: &Json) -> Result<Revision, DigestError> {
    Ok(of_text(&canonical_text(manifest)?))
}

/// The digest of a canonical text.
pub(super) fn of_text(canonical: &str) -> Revision {
    let hash = Sha256::digest(canonical.as_bytes());
    Revision(format!("sha256:{}", URL_SAFE_NO_PAD.encode(hash)))
}

/// The text that is hashed.
pub(super) fn canonical_text(manifest: &Json) -> Result<String, DigestError> {
    if manifest.kind() != Kind::Object {
        return Err(DigestError::NotAnObject);
    }
    let mut kept = String::from("{");
    for (key, value) in manifest.members() {
        if key == "revision" {
            continue;
        }
        let place = match key.as_str() {
            "version" => Place::Free,
            "featureSets" => Place::FeatureSets,
            _ => {
                check_identifier(&key)?;
                Place::Capability
            }
        };
        if kept.len() > 1 {
            kept.push(',');
        }
        canonical::push_string(&mut kept, &key);
        kept.push(':');
        kept.push_str(normal(&value, place)?.as_str());
    }
    kept.push('}');
    // What is made of parts of a checked text is one, and no deeper.
    let kept = Json::check(kept).map_err(|_| DigestError::NotAnObject)?;
    Ok(canonical::text(&kept))
}

/// What a value of the manifest is, as far as identifiers and sets are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A capability and all within it: keys are identifiers, at every depth.
    Capability,
    /// Keys are names of feature sets.
    FeatureSets,
    FeatureSet,
    Ontology,
    /// Keys are tags.
    Tags,
    Tag,
    /// Keys are those of faceted tags.
    Keyed,
    Family,
    /// Suggested rules, in a list or by name.
    Rules,
    Rule,
    /// If all its elements are texts: identifiers, in any order, each once.
    Set,
    /// If all its elements are texts: identifiers.
    List,
    /// A text that is an identifier.
    Identifier,
    /// Nothing of this.
    Free,
}

impl Place {
    fn has_identifiers_for_keys(self) -> bool {
        matches!(
            self,
            Self::Capability | Self::FeatureSets | Self::Tags | Self::Keyed
        )
    }

    fn member(self, key: &str) -> Self {
        match (self, key) {
            (Self::Capability, _) => Self::Capability,
            (Self::FeatureSets, _) => Self::FeatureSet,
            (Self::FeatureSet, "uses") | (Self::Ontology, "coreTags") => Self::Set,
            (Self::FeatureSet, "tagOntology") => Self::Ontology,
            (Self::Ontology, "tags") => Self::Tags,
            (Self::Ontology, "keyed") => Self::Keyed,
            (Self::Ontology, "suggestedTreatment") => Self::Rules,
            (Self::Tags, _) => Self::Tag,
            (Self::Tag, "implies") => Self::Set,
            (Self::Tag, "facet") => Self::Identifier,
            (Self::Keyed, _) => Self::Family,
            (Self::Family, "values") => Self::List,
            (Self::Rules, _) => Self::Rule,
            (Self::Rule, "tagsAny" | "tagsAll" | "tagsNone") => Self::List,
            _ => Self::Free,
        }
    }

    /// Of an array that is neither a set nor a list of identifiers.
    fn element(self) -> Self {
        match self {
            Self::Capability => Self::Capability,
            Self::Rules => Self::Rule,
            _ => Self::Free,
        }
    }
}

/// The value with its sets in order, its identifiers checked.
fn normal(value: &Json, place: Place) -> Result<Json, DigestError> {
    match value.kind() {
        _ if place == Place::Free => {}
        Kind::Object => return normal_object(value, place),
        Kind::Array => match place {
            Place::Set | Place::List => return normal_texts(value, place),
            _ => {
                let element = place.element();
                for each in value.elements() {
                    normal(&each, element)?;
                }
            }
        },
        Kind::String if place == Place::Identifier => {
            check_identifier(&value.string().unwrap_or_default())?;
        }
        _ => {}
    }
    Ok(value.clone())
}

fn normal_object(object: &Json, place: Place) -> Result<Json, DigestError> {
    let mut checked = Ok(());
    let normalised = object.with_values(|key, value| {
        let keys = if place.has_identifiers_for_keys() {
            check_identifier(key)
        } else {
            Ok(())
        };
        match keys.and_then(|()| normal(value, place.member(key))) {
            Ok(normal) if normal == *value => None,
            Ok(normal) => Some(normal),
            Err(error) => {
                checked = Err(error);
                None
            }
        }
    });
    checked.map(|()| normalised)
}

fn normal_texts(array: &Json, place: Place) -> Result<Json, DigestError> {
    let elements = array.elements();
    let texts: Option<Vec<_>> = elements.iter().map(Json::string).collect();
    let Some(mut texts) = texts else {
        return Ok(array.clone());
    };
    for text in &texts {
        check_identifier(text)?;
    }
    if place == Place::Set {
        in_set_order(&mut texts);
    }
    Ok(Json::of(&texts).unwrap_or_else(|_| array.clone()))
}

/// Sorts by UTF-8 bytes, which is the order of Rust's strings, and keeps each once.
pub(super) fn in_set_order<T: Ord>(texts: &mut Vec<T>) {
    texts.sort();
    texts.dedup();
}

fn check_identifier(text: &str) -> Result<(), DigestError> {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'*' | b'-');
    if text.is_empty() || !text.bytes().all(is_plain) {
        return Err(DigestError::IdentifierCharset);
    }
    Ok(())
}

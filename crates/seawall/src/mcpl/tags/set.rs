//! A tag, and the tags of one event.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use seawall_proto::Json;
use seawall_proto::framing::Kind;

/// The longest tag, in bytes.
pub const MAX_TAG_BYTES: usize = 128;
/// So many tags of one event are read.
pub const MAX_TAGS: usize = 64;

const ADDRESSED: &str = "chat:addressed";
const AMBIENT: &str = "chat:ambient";
/// What the specification says that its own tags imply (§16.3).
const CORE: [(&str, &str); 4] = [
    ("chat:mention", ADDRESSED),
    ("chat:reply", ADDRESSED),
    ("chat:dm", ADDRESSED),
    ("chat:dm", "chat:private"),
];

/// A tag: `namespace:value`, in ASCII letters, digits and `._:*-=`.
///
/// Source: MCP Live 0.5.0-draft §16.1, §17.2.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(String);

impl Tag {
    /// The text of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before its first `:`.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }
}

/// A text that is no tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a tag of the form namespace:value")]
pub struct InvalidTag;

impl FromStr for Tag {
    type Err = InvalidTag;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (namespace, value) = text.split_once(':').ok_or(InvalidTag)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:*-=".contains(&byte);
        let is_tag = !namespace.is_empty()
            && !value.is_empty()
            && text.len() <= MAX_TAG_BYTES
            && text.bytes().all(is_plain);
        is_tag.then(|| Self(text.to_owned())).ok_or(InvalidTag)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tags of one event, with what those of the specification imply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tags {
    tags: BTreeSet<Tag>,
    ignored: usize,
}

impl Tags {
    /// The tags of `tags`, an array of texts: a set. What is no tag, and what is past [`MAX_TAGS`], is ignored and counted.
    #[must_use]
    pub fn of(tags: Option<&Json>) -> Self {
        let Some(tags) = tags.filter(|tags| tags.kind() == Kind::Array) else {
            let is_said = tags.is_some_and(|tags| tags.kind() != Kind::Null);
            return Self {
                ignored: usize::from(is_said),
                ..Self::default()
            };
        };
        let elements = tags.elements();
        let mut ignored = elements.len().saturating_sub(MAX_TAGS);
        let mut tags = BTreeSet::new();
        for element in elements.iter().take(MAX_TAGS) {
            match element.string().and_then(|text| text.parse().ok()) {
                Some(tag) => {
                    tags.insert(tag);
                }
                None => ignored += 1,
            }
        }
        Self {
            ignored,
            ..Self::closed(tags)
        }
    }

    /// These tags, and what they imply.
    #[must_use]
    pub fn closed(tags: impl IntoIterator<Item = Tag>) -> Self {
        let mut tags: BTreeSet<Tag> = tags.into_iter().collect();
        // No edge of the specification leads to the source of another, so that one pass closes it.
        for (tag, implied) in CORE {
            if has(&tags, tag) {
                tags.insert(Tag(implied.to_owned()));
            }
        }
        if has(&tags, ADDRESSED) {
            tags.retain(|tag| tag.as_str() != AMBIENT);
        }
        Self { tags, ignored: 0 }
    }

    /// Whether it holds the tag.
    #[must_use]
    pub fn has(&self, tag: &str) -> bool {
        has(&self.tags, tag)
    }

    /// Whether the event is for the agent, by what the producer says.
    #[must_use]
    pub fn is_addressed(&self) -> bool {
        self.has(ADDRESSED)
    }

    /// The tags, in the order of their bytes.
    pub fn iter(&self) -> impl Iterator<Item = &Tag> {
        self.tags.iter()
    }

    /// How many of them were ignored: a defect of the producer.
    #[must_use]
    pub fn ignored(&self) -> usize {
        self.ignored
    }
}

fn has(tags: &BTreeSet<Tag>, wanted: &str) -> bool {
    tags.iter().any(|tag| tag.as_str() == wanted)
}

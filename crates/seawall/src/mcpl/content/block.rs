//! One block of content, as far as it is taken.
//!
//! Source: SPEC 0.5, appendix B.1, and RFC-005, section 8. MCP's own nested `resource` is another shape, and malformed here.

use std::borrow::Cow;
use std::fmt;

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::reference::{Reference, ReferenceKind};
use super::testimony::{MAX_TEXT_CHARS, Testimony};
use crate::mcpl::wire::{is_longer, members, present};

/// One block. Debug shows its kind only.
#[derive(Clone)]
#[non_exhaustive]
pub enum Block {
    /// Text, as the server wrote it.
    Text(String),
    /// An image or audio, inline.
    Media(Media),
    /// What the server holds, and says where.
    Reference(Reference),
    /// Nothing of the block is taken.
    Withheld(Withheld),
}

/// An image or audio in base64; it is neither decoded nor judged. Debug hides the data.
#[derive(Clone)]
pub struct Media {
    kind: MediaKind,
    mime_type: String,
    data: Json,
}

/// What inline media is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MediaKind {
    /// `image`
    Image,
    /// `audio`
    Audio,
}

/// Why nothing of a block is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Withheld {
    /// Inline data that also says how to treat it as a reference, or where it is: one of both is untrue, so the data is
    /// shown to nobody (RFC-005, vector 2).
    Contradiction,
    /// Its type is none that is known.
    UnknownType,
    /// It is no block: a part is missing, of the wrong kind, twice, or its URI is too long.
    Malformed,
}

impl Block {
    pub(super) fn read(json: &Json) -> Self {
        Self::known(json).unwrap_or(Self::Withheld(Withheld::Malformed))
    }

    pub(super) fn read_result(json: &Json) -> Self {
        Self::of_mcp(json).unwrap_or_else(|| Self::read(json))
    }

    /// The block, if it is one that MCP has and MCPL has not.
    fn of_mcp(json: &Json) -> Option<Self> {
        let [tag, resource] = members(json, "content", ["type", "resource"]).ok()?;
        let reference = |testimony| {
            Self::Reference(Reference {
                id: None,
                kind: ReferenceKind::Resource,
                testimony,
                from: None,
            })
        };
        match (tag?.string()?.as_ref(), resource) {
            ("resource_link", _) => Some(
                Testimony::read_link(json).map_or(Self::Withheld(Withheld::Malformed), reference),
            ),
            ("resource", Some(resource)) => {
                let [text] = members(&resource, "content", ["text"]).ok()?;
                Some(match text {
                    Some(text) => Self::Text(text.string()?.into_owned()),
                    None => Self::Withheld(Withheld::UnknownType),
                })
            }
            _ => None,
        }
    }

    fn known(json: &Json) -> Option<Self> {
        let names = ["type", "text", "data", "mimeType", "uri", "disposition"];
        let [tag, text, data, mime_type, uri, disposition] =
            members(json, "content", names).ok()?;
        let (media, kind) = match tag?.string()?.as_ref() {
            "text" => return Some(Self::Text(text?.string()?.into_owned())),
            "image" => (Some(MediaKind::Image), ReferenceKind::Image),
            "audio" => (Some(MediaKind::Audio), ReferenceKind::Audio),
            "resource" => (None, ReferenceKind::Resource),
            _ => return Some(Self::Withheld(Withheld::UnknownType)),
        };
        let Some(data) = present(data) else {
            return Testimony::read(json).map(|testimony| {
                Self::Reference(Reference {
                    id: None,
                    kind,
                    testimony,
                    from: None,
                })
            });
        };
        let Some(media) = media else {
            // A resource has no inline form here: what purports to be one and names a place too contradicts itself.
            return uri.map(|_| Self::Withheld(Withheld::Contradiction));
        };
        if uri.is_some() || disposition.is_some() {
            return Some(Self::Withheld(Withheld::Contradiction));
        }
        let mime_type = mime_type?.string()?.into_owned();
        if data.kind() != Kind::String
            || mime_type.is_empty()
            || is_longer(&mime_type, MAX_TEXT_CHARS)
        {
            return None;
        }
        Some(Self::Media(Media {
            kind: media,
            mime_type,
            data,
        }))
    }

    /// The block as text: itself, or a stub in its place.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Media(media) => super::stub::media(media),
            Self::Reference(reference) => reference.stub(),
            Self::Withheld(why) => why.to_string(),
        }
    }
}

impl Media {
    /// What it is said to be.
    #[must_use]
    pub fn kind(&self) -> MediaKind {
        self.kind
    }

    /// The media type that the server claims; at most 255 code points.
    #[must_use]
    pub fn mime_type(&self) -> &str {
        &self.mime_type
    }

    /// The data, which should be base64.
    #[must_use]
    pub fn base64(&self) -> Cow<'_, str> {
        self.data.string().unwrap_or_default()
    }

    /// The length of the data as it stands in the message.
    pub(super) fn data_len(&self) -> usize {
        self.data.len()
    }
}

impl MediaKind {
    /// The kind as the wire has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
        }
    }
}

impl Withheld {
    /// The reason in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Contradiction => "contradiction",
            Self::UnknownType => "unknown-type",
            Self::Malformed => "malformed",
        }
    }
}

impl fmt::Display for Withheld {
    /// What stands in the block's place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Contradiction => {
                "[content withheld: its data is inline and said to be elsewhere]"
            }
            Self::UnknownType => "[content withheld: its type is not known]",
            Self::Malformed => "[content withheld: it cannot be read]",
        })
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Media(media) => media.fmt(f),
            Self::Reference(reference) => reference.fmt(f),
            Self::Withheld(why) => f.debug_tuple("Withheld").field(why).finish(),
        }
    }
}

impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({} bytes)", self.kind, self.data.len())
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Text(text) => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
            }
            Self::Media(media) => {
                map.serialize_entry("type", media.kind.as_str())?;
                map.serialize_entry("mimeType", &media.mime_type)?;
                map.serialize_entry("data", &media.base64())?;
            }
            Self::Reference(reference) => reference.entries(&mut map)?,
            Self::Withheld(why) => {
                map.serialize_entry("type", "withheld")?;
                map.serialize_entry("reason", why.as_str())?;
            }
        }
        map.end()
    }
}

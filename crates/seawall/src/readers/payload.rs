//! Bytes inside a result: base64 decoded strictly, images told by their first bytes.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use seawall_proto::Json;

/// What a payload is, by its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PayloadKind {
    /// An `image` block.
    Image,
    /// An `audio` block.
    Audio,
    /// The `blob` of an embedded resource.
    Blob,
}

impl fmt::Display for PayloadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Blob => "embedded resource",
        })
    }
}

/// An image that models take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImageKind {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
    /// `image/gif`
    Gif,
    /// `image/webp`
    Webp,
}

impl ImageKind {
    /// Its media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// What the first bytes of an image say that it is.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if bytes.starts_with(b"\xff\xd8\xff") {
            Some(Self::Jpeg)
        } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
            Some(Self::Gif)
        } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            Some(Self::Webp)
        } else {
            None
        }
    }

    /// What a declared media type says: exactly one of the four, in any case of letters, or the common `image/jpg`.
    fn of_media_type(declared: &str) -> Option<Self> {
        match declared.to_ascii_lowercase().as_str() {
            "image/png" => Some(Self::Png),
            "image/jpeg" | "image/jpg" => Some(Self::Jpeg),
            "image/gif" => Some(Self::Gif),
            "image/webp" => Some(Self::Webp),
            _ => None,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Gif => "gif",
            Self::Webp => "webp",
        }
    }
}

/// One payload as its block has it.
pub(super) struct Payload {
    pub(super) kind: PayloadKind,
    /// A JSON string.
    pub(super) data: Json,
    pub(super) media_type: Option<Json>,
    pub(super) uri: Option<Json>,
}

/// Why a payload has no bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Undecoded {
    /// Not base64 as RFC 4648 section 4 has it.
    NotBase64,
    /// It would decode to this many bytes, which is more than allowed; nothing was decoded.
    TooLong(u64),
}

/// Bytes, and their base64 without white space.
pub(super) struct Decoded<'a> {
    pub(super) base64: Cow<'a, str>,
    pub(super) bytes: Vec<u8>,
}

/// Decodes base64: the standard alphabet, its padding, no stray bits. Blanks and line breaks, which encoders for mail put
/// in, are skipped. Its decoded length is known before anything is decoded.
pub(super) fn decode(text: Cow<'_, str>, max_bytes: u64) -> Result<Decoded<'_>, Undecoded> {
    let base64 = match text.bytes().any(|byte| byte.is_ascii_whitespace()) {
        true => Cow::Owned(text.split_ascii_whitespace().collect()),
        false => text,
    };
    if base64.len() % 4 != 0 {
        return Err(Undecoded::NotBase64);
    }
    let padding = base64
        .bytes()
        .rev()
        .take(2)
        .take_while(|byte| *byte == b'=')
        .count();
    let length = (base64.len() / 4 * 3 - padding) as u64;
    if length > max_bytes {
        return Err(Undecoded::TooLong(length));
    }
    let bytes = STANDARD
        .decode(base64.as_bytes())
        .map_err(|_| Undecoded::NotBase64)?;
    Ok(Decoded { base64, bytes })
}

/// The kind of an image that is what it says.
pub(super) fn genuine(declared: Option<&str>, bytes: &[u8]) -> Option<ImageKind> {
    let kind = ImageKind::of_bytes(bytes)?;
    (declared.and_then(ImageKind::of_media_type) == Some(kind)).then_some(kind)
}

/// How the name of a payload's file ends: an image by its bytes, a few others by what was declared, always a text of this
/// function.
pub(super) fn extension(declared: Option<&str>, bytes: &[u8]) -> &'static str {
    if let Some(kind) = ImageKind::of_bytes(bytes) {
        return kind.extension();
    }
    let declared = declared.unwrap_or_default().to_ascii_lowercase();
    match declared.as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "application/pdf" => "pdf",
        _ => "bin",
    }
}

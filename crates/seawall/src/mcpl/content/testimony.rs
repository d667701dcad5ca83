//! What a server says of something that it holds. Every part is a claim.
//!
//! Source: RFC-005, sections 3 and 8.

use std::fmt;
use std::time::{Duration, SystemTime};

use seawall_proto::Json;
use seawall_proto::framing::Kind;

use crate::mcpl::wire::{MAX_DATE_CHARS, is_longer, members};

/// The longest URI, in code points.
const MAX_URI_CHARS: usize = 4_096;
/// The longest name and media type, in code points.
pub(super) const MAX_TEXT_CHARS: usize = 255;
/// The largest size that can be claimed: 2^53 - 1.
const MAX_SIZE_BYTES: u64 = (1 << 53) - 1;
/// How a digest begins; 43 characters of base64url follow.
const DIGEST_PREFIX: &str = "sha256:";

/// The claims of one reference. A claim that is not what its member may be is dropped alone: the block stays, and so does a
/// disposition. Debug hides the URI.
#[derive(Clone, PartialEq, Eq)]
pub struct Testimony {
    uri: String,
    mime_type: Option<String>,
    size_bytes: Option<u64>,
    digest: Option<String>,
    expires: Expiry,
    name: Option<String>,
    disposition: Option<Disposition>,
    dropped: Vec<&'static str>,
}

/// How the server wants a reference to be treated. It can only take away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Disposition {
    /// Neither the payload nor the URI may ever be shown to a model.
    Never,
    /// A model should see the stub.
    Ref,
}

/// Until when the server means to serve it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expiry {
    /// It does not say.
    Unsaid,
    /// Until then.
    At(SystemTime),
    /// What it says cannot be read, so it is expired (RFC-005, section 7.4).
    Unreadable,
}

impl Testimony {
    /// Reads a block in its URI form; `None` if it has no usable URI, or a member stands twice.
    pub(super) fn read(block: &Json) -> Option<Self> {
        let names = [
            "uri",
            "mimeType",
            "sizeBytes",
            "digest",
            "expiresAt",
            "name",
            "disposition",
        ];
        let [uri, mime_type, size, digest, expires, name, disposition] =
            members(block, "content", names).ok()?;
        let uri = uri?.string()?.into_owned();
        if uri.is_empty() || is_longer(&uri, MAX_URI_CHARS) {
            return None;
        }
        let mut dropped = Vec::new();
        let expires = claim("expiresAt", expires, &mut dropped, |json| {
            text(json, MAX_DATE_CHARS)
        });
        Some(Self {
            uri,
            mime_type: claim("mimeType", mime_type, &mut dropped, |json| {
                text(json, MAX_TEXT_CHARS)
            }),
            size_bytes: claim("sizeBytes", size, &mut dropped, size_bytes),
            digest: claim("digest", digest, &mut dropped, digest_text),
            expires: expires.map_or(Expiry::Unsaid, |text| Expiry::of(&text)),
            name: claim("name", name, &mut dropped, |json| {
                text(json, MAX_TEXT_CHARS)
            }),
            disposition: claim("disposition", disposition, &mut dropped, Disposition::of),
            dropped,
        })
    }

    /// Reads a `resource_link` of MCP: as far as it goes, the same claims. `None` as in [`read`](Self::read).
    pub(super) fn read_link(block: &Json) -> Option<Self> {
        let [size, ..] = members(block, "content", ["size", "digest", "expiresAt"]).ok()?;
        let mut testimony = Self::read(block)?;
        // Members that MCP does not have on a link say nothing on one.
        testimony
            .dropped
            .retain(|name| matches!(*name, "mimeType" | "name"));
        (testimony.digest, testimony.disposition) = (None, None);
        testimony.expires = Expiry::Unsaid;
        testimony.size_bytes = claim("size", size, &mut testimony.dropped, size_bytes);
        Some(testimony)
    }

    /// Where the server serves it. For whoever fetches it; it may be a credential, and is never shown to a model.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The media type.
    #[must_use]
    pub fn mime_type(&self) -> Option<&str> {
        self.mime_type.as_deref()
    }

    /// How large it is.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        self.size_bytes
    }

    /// `sha256:` and the SHA-256 of its bytes in base64url.
    #[must_use]
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Until when it is served.
    #[must_use]
    pub fn expires(&self) -> Expiry {
        self.expires
    }

    /// What to call it. A label, never a part of a path.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// How to treat it.
    #[must_use]
    pub fn disposition(&self) -> Option<Disposition> {
        self.disposition
    }

    /// The members that were dropped because they are not what they may be.
    #[must_use]
    pub fn dropped(&self) -> &[&'static str] {
        &self.dropped
    }
}

impl fmt::Debug for Testimony {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Testimony")
            .field("size_bytes", &self.size_bytes)
            .field("expires", &self.expires)
            .field("disposition", &self.disposition)
            .field("dropped", &self.dropped)
            .finish_non_exhaustive()
    }
}

impl Disposition {
    /// The disposition as the wire has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Ref => "ref",
        }
    }

    fn of(json: &Json) -> Option<Self> {
        match json.string()?.as_ref() {
            "never" => Some(Self::Never),
            "ref" => Some(Self::Ref),
            _ => None,
        }
    }
}

impl Expiry {
    /// Reads a date of RFC 3339, with its offset.
    fn of(text: &str) -> Self {
        let Ok(at) = text.parse::<jiff::Timestamp>() else {
            return Self::Unreadable;
        };
        // A date before 1970 is as good as 1970.
        let since = Duration::try_from(at.as_duration()).unwrap_or_default();
        SystemTime::UNIX_EPOCH
            .checked_add(since)
            .map_or(Self::Unreadable, Self::At)
    }

    /// Whether it is over.
    #[must_use]
    pub fn is_past(self, now: SystemTime) -> bool {
        match self {
            Self::Unsaid => false,
            Self::At(end) => end <= now,
            Self::Unreadable => true,
        }
    }
}

fn claim<T>(
    name: &'static str,
    member: Option<Json>,
    dropped: &mut Vec<&'static str>,
    read: impl Fn(&Json) -> Option<T>,
) -> Option<T> {
    let claim = read(&member?);
    if claim.is_none() {
        dropped.push(name);
    }
    claim
}

fn text(json: &Json, max_chars: usize) -> Option<String> {
    let text = json.string()?;
    (!is_longer(&text, max_chars)).then(|| text.into_owned())
}

/// An integer in 0..=2^53-1, also where it is written with a point or an exponent.
fn size_bytes(json: &Json) -> Option<u64> {
    if json.kind() != Kind::Number {
        return None;
    }
    let size = json
        .as_str()
        .parse::<u64>()
        .ok()
        .or_else(|| whole(json.as_str()))?;
    (size <= MAX_SIZE_BYTES).then_some(size)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "only whole doubles in 0..2^53 come this far"
)]
fn whole(text: &str) -> Option<u64> {
    let size: f64 = text.parse().ok()?;
    let is_whole = size.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&size);
    is_whole.then_some(size as u64)
}

fn digest_text(json: &Json) -> Option<String> {
    let text = json.string()?;
    let hash = text.strip_prefix(DIGEST_PREFIX)?;
    let is_hash = hash.len() == 43
        && hash
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    is_hash.then(|| text.into_owned())
}

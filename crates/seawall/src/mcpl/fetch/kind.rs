//! What bytes are, by their beginning: a claim is a claim (RFC-005, vector 13).

/// Bytes, and the offset that they stand at.
type Magic = (usize, &'static [u8]);

/// How bytes of a kind begin, with its media type and its ending.
const KINDS: [(&[Magic], &str, &str); 12] = [
    (&[(0, b"RIFF"), (8, b"WAVE")], "audio/wav", "wav"),
    (&[(0, b"RIFF"), (8, b"WEBP")], "image/webp", "webp"),
    (&[(0, b"fLaC")], "audio/flac", "flac"),
    (&[(0, b"OggS")], "audio/ogg", "ogg"),
    (&[(0, b"MThd")], "audio/midi", "mid"),
    (&[(0, b"ID3")], "audio/mpeg", "mp3"),
    (&[(0, b"\x89PNG\r\n\x1a\n")], "image/png", "png"),
    (&[(0, b"\xff\xd8\xff")], "image/jpeg", "jpg"),
    (&[(0, b"GIF8")], "image/gif", "gif"),
    (&[(4, b"ftyp")], "video/mp4", "mp4"),
    (&[(0, b"%PDF-")], "application/pdf", "pdf"),
    (&[(0, b"PK\x03\x04")], "application/zip", "zip"),
];
/// The longest media type that is taken from an answer.
const MAX_TYPE_BYTES: usize = 127;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// One of those that are known.
    Known(&'static str, &'static str),
    /// What the answer says.
    Said(String),
    /// Nobody says.
    Unknown,
}

impl Kind {
    pub(super) fn of(bytes: &[u8], said: Option<&str>) -> Self {
        let begins = |(at, magic): &Magic| {
            bytes
                .get(*at..)
                .is_some_and(|bytes| bytes.starts_with(magic))
        };
        let known = KINDS.iter().find(|(magics, ..)| magics.iter().all(begins));
        if let Some((_, media_type, extension)) = known {
            return Self::Known(media_type, extension);
        }
        let said = said.and_then(|said| said.split(';').next()).map(str::trim);
        let is_type = |said: &&str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$&^_.+-/".contains(c);
            said.contains('/') && said.len() <= MAX_TYPE_BYTES && said.chars().all(allowed)
        };
        match said.filter(is_type) {
            Some(said) => Self::Said(said.to_ascii_lowercase()),
            None => Self::Unknown,
        }
    }

    pub(super) fn media_type(&self) -> &str {
        match self {
            Self::Known(media_type, _) => media_type,
            Self::Said(media_type) => media_type,
            Self::Unknown => "application/octet-stream",
        }
    }

    pub(super) fn extension(&self) -> &'static str {
        match self {
            Self::Known(_, extension) => extension,
            Self::Said(said) if said == "text/plain" => "txt",
            Self::Said(said) if said == "application/json" => "json",
            Self::Said(_) | Self::Unknown => "bin",
        }
    }
}

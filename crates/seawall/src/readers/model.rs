//! What a model receives (N1).

use std::fmt;

use seawall_proto::Json;
use seawall_proto::mcp::ToolResult;

use super::block::Block;
use super::payload::{Decoded, Payload, Undecoded, decode, extension, genuine};
use super::visible::{bounded, bounded_json};
use super::{
    ImageKind, Incomplete, MAX_MEDIA_TYPE_CHARS, MAX_SHOWN_BYTES, MAX_SHOWN_CHARS, PayloadKind,
    SavedPath, Workspace, WorkspaceError,
};

/// After this many saves of one result failed, its other payloads are not tried.
const MAX_FAILED_SAVES: usize = 8;

/// A result as a model reads it.
#[derive(Debug, Clone)]
pub struct ModelResult {
    outcome: ModelOutcome,
    blocks: Vec<ModelBlock>,
}

/// What the model is to be told of a result as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelOutcome {
    /// The tool succeeded, and nothing is missing.
    Succeeded,
    /// The tool says that it failed; nothing of what it says is missing.
    ToolFailed,
    /// A payload could not be saved. Never to be shown as a success.
    Incomplete(Incomplete),
}

/// One part of what a model reads, in the order of the server's blocks.
///
/// Displays as text, for models that take only that. The text of [`Text`](Self::Text) and
/// [`Structured`](Self::Structured) is the server's, unchanged; all other remote text is bounded, on one line, and shows
/// what is invisible in it as `\u{…}`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ModelBlock {
    /// The text of a text block or of an embedded resource, as it is (a lone surrogate, which no string here can hold, is
    /// U+FFFD).
    Text(String),
    /// An image, as it is.
    Image(Image),
    /// A link to a resource, which nobody fetched.
    Link(Link),
    /// A payload that stands in a file.
    Saved {
        /// What it is.
        stub: Stub,
        /// Where it stands, relative to the workspace.
        path: SavedPath,
    },
    /// A payload that could not be saved; the result is [`ModelOutcome::Incomplete`].
    Unsaved {
        /// What it is.
        stub: Stub,
        /// Why it could not be saved.
        reason: WorkspaceError,
    },
    /// The structured content, as JSON, where the server sent no text.
    Structured(Json),
    /// A block of a type that Seawall does not know: the beginning of its JSON, at most [`MAX_SHOWN_CHARS`] code points.
    Unknown(String),
    /// Blocks one after another of which nothing can be shown.
    Malformed {
        /// The place of the first among the server's blocks, from 0.
        first: usize,
        /// How many there are.
        count: usize,
    },
}

/// An image that its bytes and its declared type agree on, of at most [`MAX_SHOWN_BYTES`].
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    kind: ImageKind,
    base64: String,
    bytes: usize,
}

/// A `resource_link`, each text at most [`MAX_SHOWN_CHARS`] code points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    name: String,
    uri: String,
}

/// What is said of a payload that a model is not shown; all remote text in it is bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stub {
    kind: PayloadKind,
    media_type: String,
    uri: Option<String>,
    bytes: u64,
}

impl ModelResult {
    /// Reads a result, saving what a model cannot be shown. Blocks on the disk where it does.
    #[must_use]
    pub fn read(result: &ToolResult, workspace: &Workspace) -> Self {
        let mut reading = Reading {
            workspace,
            blocks: Vec::new(),
            said_something: false,
            failed: 0,
            unsaved: 0,
            reason: None,
        };
        let content = result.content().map(Json::elements).unwrap_or_default();
        for (index, block) in content.iter().enumerate() {
            reading.block(index, block);
        }
        if !reading.said_something
            && let Some(structured) = result.structured_content()
        {
            let structured = ModelBlock::Structured(structured.clone());
            reading.blocks.push(structured);
        }
        if result.is_error() || reading.reason.is_some() {
            reading.stub_images();
        }
        let outcome = match reading.reason {
            Some(reason) => ModelOutcome::Incomplete(Incomplete {
                unsaved: reading.unsaved,
                reason,
                tool_failed: result.is_error(),
            }),
            None if result.is_error() => ModelOutcome::ToolFailed,
            None => ModelOutcome::Succeeded,
        };
        Self {
            outcome,
            blocks: reading.blocks,
        }
    }

    /// Whether it is a success, a failure of the tool, or not whole.
    #[must_use]
    pub fn outcome(&self) -> ModelOutcome {
        self.outcome
    }

    /// Its parts. No image is among them unless the result is a success.
    #[must_use]
    pub fn blocks(&self) -> &[ModelBlock] {
        &self.blocks
    }

    /// All of it as text: first that it is incomplete, if it is, then each part, a line break between them.
    #[must_use]
    pub fn to_text(&self) -> String {
        let notice = match self.outcome {
            ModelOutcome::Incomplete(incomplete) => Some(incomplete.to_string()),
            _ => None,
        };
        let parts = self.blocks.iter().map(ToString::to_string);
        notice
            .into_iter()
            .chain(parts)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// A result while it is read.
struct Reading<'a> {
    workspace: &'a Workspace,
    blocks: Vec<ModelBlock>,
    /// Whether a text block held more than white space.
    said_something: bool,
    failed: usize,
    unsaved: usize,
    /// Why the first payload could not be saved.
    reason: Option<WorkspaceError>,
}

impl Reading<'_> {
    fn block(&mut self, index: usize, block: &Json) {
        match Block::read(block) {
            Block::Text(text) => {
                let text = text.string().unwrap_or_default();
                self.said_something |= !text.trim().is_empty();
                self.blocks.push(ModelBlock::Text(text.into_owned()));
            }
            Block::Payload(payload) => self.payload(index, &payload),
            Block::Embedded(text, blob) => {
                let text = text.as_ref().and_then(Json::string);
                self.blocks
                    .extend(text.map(|text| ModelBlock::Text(text.into_owned())));
                if let Some(blob) = blob {
                    self.payload(index, &blob);
                }
            }
            Block::Link { name, uri } => self.blocks.push(ModelBlock::Link(Link {
                name: shown(&name, MAX_SHOWN_CHARS),
                uri: shown(&uri, MAX_SHOWN_CHARS),
            })),
            Block::Unknown => {
                let json = bounded_json(block.as_str(), MAX_SHOWN_CHARS);
                self.blocks.push(ModelBlock::Unknown(json));
            }
            Block::Malformed => self.malformed(index),
        }
    }

    fn malformed(&mut self, index: usize) {
        if let Some(ModelBlock::Malformed { first, count }) = self.blocks.last_mut()
            && *first + *count == index
        {
            *count += 1;
            return;
        }
        let alone = ModelBlock::Malformed {
            first: index,
            count: 1,
        };
        self.blocks.push(alone);
    }

    fn payload(&mut self, index: usize, payload: &Payload) {
        let text = payload.data.string().unwrap_or_default();
        let declared = payload.media_type.as_ref().and_then(Json::string);
        let quota = self.workspace.quota().max_bytes;
        let decoded = decode(text, quota.max(MAX_SHOWN_BYTES as u64));
        let (base64, bytes) = match decoded {
            Ok(Decoded { base64, bytes }) => (base64, bytes),
            Err(Undecoded::NotBase64) => return self.malformed(index),
            Err(Undecoded::TooLong(length)) => {
                let stub = Stub::of(payload, length);
                let refused = WorkspaceError::TooManyBytes { max_bytes: quota };
                let unsaved = self.unsaved(stub, refused);
                return self.blocks.push(unsaved);
            }
        };
        if payload.kind == PayloadKind::Image
            && bytes.len() <= MAX_SHOWN_BYTES
            && let Some(kind) = genuine(declared.as_deref(), &bytes)
        {
            self.blocks.push(ModelBlock::Image(Image {
                kind,
                base64: base64.into_owned(),
                bytes: bytes.len(),
            }));
            return;
        }
        let extension = extension(declared.as_deref(), &bytes);
        let stub = Stub::of(payload, bytes.len() as u64);
        let saved = self.save(stub, &bytes, extension);
        self.blocks.push(saved);
    }

    /// In a failed result only text is read, so its images become files as well.
    fn stub_images(&mut self) {
        let mut blocks = std::mem::take(&mut self.blocks);
        for block in &mut blocks {
            if let ModelBlock::Image(image) = block {
                let stub = Stub {
                    kind: PayloadKind::Image,
                    media_type: image.media_type().to_owned(),
                    uri: None,
                    bytes: image.bytes as u64,
                };
                let bytes = image.decode();
                let extension = extension(None, &bytes);
                *block = self.save(stub, &bytes, extension);
            }
        }
        self.blocks = blocks;
    }

    fn save(&mut self, stub: Stub, bytes: &[u8], extension: &'static str) -> ModelBlock {
        let saved = match self.reason {
            Some(reason) if self.failed >= MAX_FAILED_SAVES => Err(reason),
            _ => self.workspace.save(bytes, extension),
        };
        match saved {
            Ok(path) => ModelBlock::Saved { stub, path },
            Err(reason) => {
                self.failed += 1;
                self.unsaved(stub, reason)
            }
        }
    }

    fn unsaved(&mut self, stub: Stub, reason: WorkspaceError) -> ModelBlock {
        self.unsaved += 1;
        self.reason.get_or_insert(reason);
        ModelBlock::Unsaved { stub, reason }
    }
}

/// A JSON string in a stub.
fn shown(text: &Json, max: usize) -> String {
    bounded(&text.string().unwrap_or_default(), max)
}

impl Image {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> ImageKind {
        self.kind
    }

    /// Its media type.
    #[must_use]
    pub fn media_type(&self) -> &'static str {
        self.kind.media_type()
    }

    /// Its bytes in base64: standard alphabet, padded, no white space.
    #[must_use]
    pub fn base64(&self) -> &str {
        &self.base64
    }

    /// Its bytes, decoded anew.
    #[must_use]
    pub fn decode(&self) -> Vec<u8> {
        let decoded = decode(self.base64.as_str().into(), MAX_SHOWN_BYTES as u64);
        // It was decoded before it became an image.
        decoded.map(|found| found.bytes).unwrap_or_default()
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({:?}, {} bytes)", self.kind, self.bytes)
    }
}

impl Link {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its URI; one that was cut ends in `…`.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

impl Stub {
    fn of(payload: &Payload, bytes: u64) -> Self {
        let media_type = payload.media_type.as_ref();
        Self {
            kind: payload.kind,
            media_type: media_type.map_or_else(
                || "application/octet-stream".to_owned(),
                |media_type| shown(media_type, MAX_MEDIA_TYPE_CHARS),
            ),
            uri: payload.uri.as_ref().map(|uri| shown(uri, MAX_SHOWN_CHARS)),
            bytes,
        }
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> PayloadKind {
        self.kind
    }

    /// The media type that the server declared, else `application/octet-stream`; no promise about the bytes.
    #[must_use]
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// The URI of an embedded resource.
    #[must_use]
    pub fn uri(&self) -> Option<&str> {
        self.uri.as_deref()
    }

    /// How many bytes it has, decoded.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Display for ModelBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Image(image) => {
                write!(f, "[image, {}, {} bytes]", image.media_type(), image.bytes)
            }
            Self::Link(link) => {
                let (name, uri) = (Quoted(&link.name), Quoted(&link.uri));
                write!(f, "[link to a resource, not fetched: {name} at {uri}]")
            }
            Self::Saved { stub, path } => write!(f, "[{stub}, saved to {path}]"),
            Self::Unsaved { stub, reason } => write!(f, "[{stub}, not saved: {reason}]"),
            Self::Structured(json) => f.write_str(json.as_str()),
            Self::Unknown(json) => write!(f, "[block of an unknown type] {json}"),
            Self::Malformed { first, count: 1 } => write!(f, "[malformed block at index {first}]"),
            Self::Malformed { first, count } => {
                write!(f, "[{count} malformed blocks from index {first} on]")
            }
        }
    }
}

impl fmt::Display for Stub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, media_type) = (self.kind, Quoted(&self.media_type));
        write!(f, "{kind}, declared as {media_type}, {} bytes", self.bytes)?;
        match &self.uri {
            Some(uri) => write!(f, ", {}", Quoted(uri)),
            None => Ok(()),
        }
    }
}

/// A bounded text between quotation marks; its own become apostrophes, so that it cannot end them.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('"', "'"))
    }
}

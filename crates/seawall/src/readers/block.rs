//! The shape of one content block. It decodes no payload and judges no text.
//!
//! Source: `ContentBlock` of the schema, revisions 2024-11-05 to 2026-07-28.

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::mcp::ToolResult;

use super::payload::{Payload, PayloadKind};

/// One block of a result's content; its parts are slices of the frame.
pub(super) enum Block {
    /// `text`.
    Text(Json),
    /// `image` or `audio`.
    Payload(Payload),
    /// `resource`: its text, its blob, or (which no revision knows) both.
    Embedded(Option<Json>, Option<Payload>),
    /// `resource_link`.
    Link { name: Json, uri: Json },
    /// An object whose `type` is another string.
    Unknown,
    /// Not an object, no `type`, a key twice, a part missing, of the wrong kind or where it has no place.
    Malformed,
}

impl Block {
    pub(super) fn read(block: &Json) -> Self {
        known(block).unwrap_or(Self::Malformed)
    }
}

fn known(block: &Json) -> Option<Block> {
    let [
        tag,
        text,
        data,
        media_type,
        name,
        uri,
        resource,
        disposition,
    ] = fields(
        block,
        [
            "type",
            "text",
            "data",
            "mimeType",
            "name",
            "uri",
            "resource",
            "disposition",
        ],
    )?;
    let tag = string(tag)?;
    let kind = match tag.string()?.as_ref() {
        "text" => return string(text).map(Block::Text),
        "image" => PayloadKind::Image,
        "audio" => PayloadKind::Audio,
        "resource" => return embedded(&resource?),
        "resource_link" => {
            return Some(Block::Link {
                name: string(name)?,
                uri: string(uri)?,
            });
        }
        _ => return Some(Block::Unknown),
    };
    if disposition.is_some() {
        // MCP Live has it on references only: what is inline and says how to treat it as one is given to no model (RFC-005).
        return None;
    }
    Some(Block::Payload(Payload {
        kind,
        data: string(data)?,
        media_type: optional_string(media_type)?,
        uri: None,
    }))
}

fn embedded(resource: &Json) -> Option<Block> {
    let [text, blob, media_type, uri] = fields(resource, ["text", "blob", "mimeType", "uri"])?;
    let (text, media_type, uri) = (
        optional_string(text)?,
        optional_string(media_type)?,
        optional_string(uri)?,
    );
    let blob = optional_string(blob)?.map(|data| Payload {
        kind: PayloadKind::Blob,
        data,
        media_type,
        uri,
    });
    (text.is_some() || blob.is_some()).then_some(Block::Embedded(text, blob))
}

/// The members with these names; `None` if it is no object, or one of them stands twice.
fn fields<const N: usize>(object: &Json, names: [&str; N]) -> Option<[Option<Json>; N]> {
    if object.kind() != Kind::Object {
        return None;
    }
    let mut found = [const { None }; N];
    for (key, value) in object.members() {
        let slot = names.iter().position(|name| *name == key);
        if let Some(slot) = slot.and_then(|at| found.get_mut(at))
            && slot.replace(value).is_some()
        {
            return None;
        }
    }
    Some(found)
}

fn string(part: Option<Json>) -> Option<Json> {
    part.filter(|part| part.kind() == Kind::String)
}

/// What is absent or `null` is `Some(None)`; what is no string is `None`.
fn optional_string(part: Option<Json>) -> Option<Option<Json>> {
    match part {
        Some(part) if part.kind() != Kind::Null => string(Some(part)).map(Some),
        _ => Some(None),
    }
}

/// The text of a failed result: its text blocks, a line between them; else its structured content; else Seawall's words.
pub(super) fn failure_text(result: &ToolResult) -> String {
    let blocks = result.content().map(Json::elements).unwrap_or_default();
    let texts: Vec<String> = blocks
        .iter()
        .filter_map(|block| match Block::read(block) {
            Block::Text(text) => Some(text.string()?.into_owned()),
            _ => None,
        })
        .collect();
    let text = texts.join("\n");
    if !text.trim().is_empty() {
        return text;
    }
    match result.structured_content() {
        Some(structured) => structured.as_str().to_owned(),
        None => "the tool failed and gave no text".to_owned(),
    }
}

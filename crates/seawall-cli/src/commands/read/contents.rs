//! The contents of a resource, decoded.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use seawall::Json;

/// Base64 with its padding or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// One of the contents of a resource; a folder has many.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Binary(Vec<u8>),
}

/// The contents, in their order; or what is wrong with them.
pub(super) fn parts(result: &Json) -> Result<Vec<Part>, &'static str> {
    let contents = result
        .member("contents")
        .filter(|contents| contents.as_bytes().starts_with(b"["))
        .ok_or("holds no contents")?;
    contents.elements().iter().map(part).collect()
}

fn part(content: &Json) -> Result<Part, &'static str> {
    let text = content.member("text");
    if let Some(text) = text.as_ref().and_then(Json::string) {
        return Ok(Part::Text(text.into_owned()));
    }
    let blob = content.member("blob");
    let blob = blob.as_ref().and_then(Json::string);
    let blob = blob.ok_or("has contents that are neither text nor a blob")?;
    let bytes = BASE64.decode(blob.as_bytes());
    bytes
        .map(Part::Binary)
        .map_err(|_| "has a blob that is not base64")
}

/// All parts in one, as they are; a text that others follow ends its line.
pub(super) fn joined(parts: &[Part]) -> Vec<u8> {
    let mut joined = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Binary(bytes) => joined.extend_from_slice(bytes),
            Part::Text(text) => {
                joined.extend_from_slice(text.as_bytes());
                if at + 1 < parts.len() && !text.ends_with('\n') {
                    joined.push(b'\n');
                }
            }
        }
    }
    joined
}

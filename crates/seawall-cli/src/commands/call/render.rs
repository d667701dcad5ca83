//! A tool's result, for a person.

use seawall::Json;
use seawall::mcp::ToolResult;

use crate::printer::{Colour, Look, Place, pretty, visible};

/// The longest that an unknown block, a link's name or its URI is shown.
const MAX_SHOWN_CHARS: usize = 2_048;

/// The content blocks in their order; the structured content where there is no text.
pub(super) fn render(result: &ToolResult, colour: Colour) -> String {
    let blocks = result.content().map(Json::elements).unwrap_or_default();
    let mut parts: Vec<String> = blocks
        .iter()
        .map(|block| render_block(block, colour))
        .collect();
    let has_text = blocks
        .iter()
        .any(|block| kind_of(block).as_deref() == Some("text"));
    if !has_text && let Some(structured) = result.structured_content() {
        parts.push(visible(&pretty(structured.as_str()), Place::Block).into_owned());
    }
    if parts.is_empty() {
        return colour.paint(Look::Faint, "[no content]");
    }
    parts.join("\n")
}

/// One block of content.
pub(in crate::commands) fn render_block(block: &Json, colour: Colour) -> String {
    let note = |text: String| colour.paint(Look::Faint, &format!("[{text}]"));
    let text = |block: &Json, name| text_member(block, name);
    match kind_of(block).as_deref() {
        Some("text") => match text(block, "text") {
            Some(text) => visible(&text, Place::Block).into_owned(),
            None => note("a text block without text".to_owned()),
        },
        Some(kind @ ("image" | "audio")) => note(data_note(kind, block, "data")),
        Some("resource_link") => {
            let name = text(block, "name").unwrap_or_default();
            let uri = text(block, "uri").unwrap_or_default();
            note(format!("link {} <{}>", shown(&name), shown(&uri)))
        }
        Some("resource") => {
            let resource = block.member("resource");
            let resource = resource.as_ref().unwrap_or(block);
            let uri = shown(&text(resource, "uri").unwrap_or_default());
            match text(resource, "text") {
                Some(inside) => {
                    let heading = note(format!("resource {uri}"));
                    format!("{heading}\n{}", visible(&inside, Place::Block))
                }
                None => note(data_note(&format!("resource {uri}"), resource, "blob")),
            }
        }
        _ => note(format!(
            "a block that Seawall does not know: {}",
            shown(block.as_str())
        )),
    }
}

/// What data there is, of which type and how much, without the data.
fn data_note(what: &str, block: &Json, member: &str) -> String {
    let mime = text_member(block, "mimeType")
        .map_or_else(String::new, |mime| format!(" {}", shown(&mime)));
    match text_member(block, member) {
        Some(data) => format!("{what}{mime}, {} bytes; --json has it", decoded_len(&data)),
        None => format!("{what}{mime}, without data"),
    }
}

/// How many bytes a base64 text stands for.
fn decoded_len(base64: &str) -> usize {
    let digits = base64
        .bytes()
        .filter(|b| !b.is_ascii_whitespace() && *b != b'=')
        .count();
    digits * 3 / 4
}

fn kind_of(block: &Json) -> Option<String> {
    text_member(block, "type")
}

fn text_member(block: &Json, name: &str) -> Option<String> {
    let member = block.member(name)?;
    let text = member.string()?;
    Some(text.into_owned())
}

fn shown(text: &str) -> String {
    let cut: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{more}", visible(&cut, Place::Line))
}

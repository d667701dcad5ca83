//! One tool's entry as clients see it.

use seawall::visible::{Place, visible};
use seawall_proto::Json;

/// The server's own entry under another name. What is hidden in its description and its titles is made visible (G5); every
/// other byte is the server's.
pub(super) fn entry_of(entry: &Json, name: &str) -> Json {
    entry.with_values(|key, value| match key {
        "name" => quoted(name),
        "description" | "title" => shown(value),
        "annotations" => {
            let annotations = value.with_values(|key, value| match key {
                "title" => shown(value),
                _ => None,
            });
            (annotations != *value).then_some(annotations)
        }
        _ => None,
    })
}

/// A string with everything in it to be seen, if it is one and something in it is not.
pub(crate) fn shown(value: &Json) -> Option<Json> {
    let text = value.string()?;
    // A line may end as lines do elsewhere.
    let parts: Vec<_> = text
        .split("\r\n")
        .map(|part| visible(part, Place::Block))
        .collect();
    let shown = parts.join("\r\n");
    if shown == text { None } else { quoted(&shown) }
}

fn quoted(text: &str) -> Option<Json> {
    Json::of(&text).ok()
}

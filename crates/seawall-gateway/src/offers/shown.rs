//! Entries as clients see them: the servers' own, with what is hidden in texts for people and models made visible (G5).

use seawall_proto::Json;

use super::kind::Kind;
use crate::tools::shown;

/// A server's entry. A prompt has the name that the gateway gives it; every other byte but of those texts is the server's.
pub(super) fn entry(kind: Kind, entry: &Json, name: &str) -> Json {
    entry.with_values(|key, value| match (key, kind) {
        ("name", Kind::Prompts) => Json::of(&name).ok(),
        // Nothing is asked for by this name: it is what people see where there is no title.
        ("name", Kind::Resources | Kind::Templates) => shown(value),
        ("title" | "description", _) => shown(value),
        ("arguments", Kind::Prompts) => arguments(value),
        _ => None,
    })
}

/// The arguments of a prompt, if something is hidden in what is said of one.
fn arguments(arguments: &Json) -> Option<Json> {
    let elements = arguments.elements();
    let visible: Vec<Json> = elements
        .iter()
        .map(|argument| {
            argument.with_values(|key, value| match key {
                "title" | "description" => shown(value),
                _ => None,
            })
        })
        .collect();
    if visible == elements {
        return None;
    }
    let texts: Vec<&str> = visible.iter().map(Json::as_str).collect();
    Json::check(format!("[{}]", texts.join(","))).ok()
}

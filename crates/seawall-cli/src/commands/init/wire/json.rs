//! JSON with comments, changed in place.

use jsonc_parser::cst::CstObject;

use super::super::document::with_mark;
use super::super::entry::{Entry, written};
use super::super::source::{Section, parse};
use super::{GATEWAY, Served};

/// The text with the gateway in the place of the servers.
pub(super) fn wire(
    text: &str,
    key: &str,
    served: &Served<'_>,
    gateway: &Entry,
) -> Result<String, String> {
    let (tree, root) = parse(text)?;
    let map = root
        .object_value_or_create(key)
        .ok_or_else(|| format!("\"{key}\" is not an object"))?;
    match map.get(GATEWAY) {
        None => {
            map.append(GATEWAY, gateway.written());
        }
        Some(prop) => {
            let there = prop.object_value().map(|there| Entry::of(&there));
            match there {
                Some(there) if there == *gateway => {}
                Some(there) if there.is_gateway() => prop.set_value(gateway.written()),
                _ => return Err(format!("\"{GATEWAY}\" is another server there")),
            }
        }
    }
    for (section, id) in served {
        let from = match section {
            Section::Whole => Some(map.clone()),
            Section::Project(folder) => root
                .object_value("projects")
                .and_then(|projects| projects.object_value(folder))
                .and_then(|project| project.object_value(key)),
        };
        if let Some(prop) = from.and_then(|from| from.get(id)) {
            prop.remove();
        }
    }
    Ok(with_mark(text, &tree.to_string()))
}

/// Whether the gateway is in it.
pub(super) fn is_wired(text: &str, key: &str) -> bool {
    let Ok((_, root)) = parse(text) else {
        return false;
    };
    let entry = root
        .object_value(key)
        .and_then(|map| map.object_value(GATEWAY));
    entry.is_some_and(|entry| Entry::of(&entry).is_gateway())
}

/// The text without the gateway, with the servers that the texts before it had.
pub(super) fn unwire(text: &str, key: &str, before: &[String]) -> Result<String, String> {
    let (tree, root) = parse(text)?;
    for before in before {
        let (_, before) = parse(before)?;
        put_back(&before, &root, key);
        for project in before
            .object_value("projects")
            .iter()
            .flat_map(CstObject::properties)
        {
            let now = project.decoded_name().and_then(|folder| {
                let projects = root.object_value("projects")?;
                projects.object_value(&folder)
            });
            if let (Some(before), Some(now)) = (project.object_value(), now) {
                put_back(&before, &now, key);
            }
        }
    }
    if let Some(prop) = root.object_value(key).and_then(|map| map.get(GATEWAY)) {
        prop.remove();
    }
    Ok(with_mark(text, &tree.to_string()))
}

/// Adds what a map had before and has no more.
fn put_back(before: &CstObject, now: &CstObject, key: &str) {
    let Some(had) = before.object_value(key) else {
        return;
    };
    for prop in had.properties() {
        let (Some(id), Some(value)) = (prop.decoded_name(), prop.to_serde_value()) else {
            continue;
        };
        let is_there = now
            .object_value(key)
            .is_some_and(|has| has.get(&id).is_some());
        if !is_there && let Some(has) = now.object_value_or_create(key) {
            let value = match prop.object_value() {
                Some(object) => Entry::of(&object).written(),
                None => written(&value),
            };
            has.append(&id, value);
        }
    }
}

//! TOML, changed in place.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::super::codex::{json_of, parse};
use super::super::entry::Entry;
use super::{GATEWAY, Served};

/// The table of servers.
const MAP: &str = "mcp_servers";

/// The text with the gateway in the place of the servers.
pub(super) fn wire(text: &str, served: &Served<'_>, gateway: &Entry) -> Result<String, String> {
    let mut document = parse(text)?;
    let map = map_of(&mut document)?;
    let there = map.get(GATEWAY);
    if there.and_then(json_of) != Some(gateway.value()) {
        if there.is_some_and(|there| !is_gateway(there)) {
            return Err(format!("\"{GATEWAY}\" is another server there"));
        }
        map.insert(GATEWAY, Item::Table(table_of(gateway)));
    }
    for (_, id) in served {
        map.remove(id);
    }
    Ok(document.to_string())
}

/// Whether the gateway is in it.
pub(super) fn is_wired(text: &str) -> bool {
    let Ok(document) = parse(text) else {
        return false;
    };
    let map = document.get(MAP).and_then(Item::as_table_like);
    map.and_then(|map| map.get(GATEWAY)).is_some_and(is_gateway)
}

/// The text without the gateway, with the servers that the texts before it had.
pub(super) fn unwire(text: &str, before: &[String]) -> Result<String, String> {
    let mut document = parse(text)?;
    let map = map_of(&mut document)?;
    map.remove(GATEWAY);
    for before in before {
        let mut before = parse(before)?;
        for (id, item) in map_of(&mut before)?.iter() {
            if map.get(id).is_none() && !is_gateway(item) {
                let mut item = item.clone();
                forget_position(&mut item);
                map.insert(id, item);
            }
        }
    }
    Ok(document.to_string())
}

fn map_of(document: &mut DocumentMut) -> Result<&mut dyn TableLike, String> {
    let map = document.entry(MAP).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    map.as_table_like_mut()
        .ok_or_else(|| format!("\"{MAP}\" is no table"))
}

fn is_gateway(item: &Item) -> bool {
    let Some(Value::Object(object)) = json_of(item) else {
        return false;
    };
    let mut entry = Entry::default();
    for (key, value) in object {
        entry.set(&key, value);
    }
    entry.is_gateway()
}

fn table_of(entry: &Entry) -> Table {
    let mut table = Table::new();
    if let Some(command) = entry.text("command") {
        table.insert("command", value(command));
    }
    for key in ["args", "env_vars"] {
        if let Some(texts) = entry.get(key).and_then(Value::as_array) {
            let texts: Array = texts.iter().filter_map(Value::as_str).collect();
            table.insert(key, value(texts));
        }
    }
    table
}

/// Has a table written where it is put, not where it stood in another document.
fn forget_position(item: &mut Item) {
    if let Item::Table(table) = item {
        table.set_position(None);
        for (_, inner) in table.iter_mut() {
            forget_position(inner);
        }
    }
}

//! TOML, changed in place.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::super::codex::{json_of, parse};
use super::super::entry::Entry;
use super::{GATEWAY, Served};

/// The table of servers.
const MAP: &str = "mcp_servers";
/// How long Codex waits, for the start and for a call. The gateway's are the longest that the servers behind it had: with
/// Codex's own, their calls would be given up sooner than before.
const TIMEOUTS: [&str; 2] = ["startup_timeout_sec", "tool_timeout_sec"];

/// The text with the gateway in the place of the servers.
pub(super) fn wire(text: &str, served: &Served<'_>, gateway: &Entry) -> Result<String, String> {
    let mut document = parse(text)?;
    let map = map_of(&mut document)?;
    let gateway = &with_timeouts(gateway.clone(), map, served);
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

/// The gateway's entry with the longest timeouts of the servers that it serves, and its own.
fn with_timeouts(mut gateway: Entry, map: &dyn TableLike, served: &Served<'_>) -> Entry {
    let ids = served.iter().map(|(_, id)| *id).chain([GATEWAY]);
    let entries: Vec<Value> = ids.filter_map(|id| map.get(id).and_then(json_of)).collect();
    for key in TIMEOUTS {
        let said = entries.iter().filter_map(|entry| entry.get(key));
        let longest = said
            .filter_map(|value| Some((value.as_f64()?, value)))
            .max_by(|(one, _), (other, _)| one.total_cmp(other));
        if let Some((_, longest)) = longest {
            gateway.set(key, longest.clone());
        }
    }
    gateway
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
    for key in TIMEOUTS {
        let said = entry.get(key);
        if let Some(whole) = said.and_then(Value::as_i64) {
            table.insert(key, value(whole));
        } else if let Some(number) = said.and_then(Value::as_f64) {
            table.insert(key, value(number));
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

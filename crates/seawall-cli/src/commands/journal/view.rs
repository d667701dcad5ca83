//! Calls, as people and programs see them.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use seawall::journal::Entry;

use crate::printer::{Look, Place, Printer, Table, visible};

/// A table for people.
pub(super) fn table(entries: &[Entry], printer: &mut Printer) {
    let mut table = Table::new([
        "ID", "WHEN", "FLOW", "CALLER", "OUTCOME", "TOOK", "SENT", "GOT",
    ])
    .right(0)
    .right(5)
    .right(6)
    .right(7);
    let zone = TimeZone::system();
    for entry in entries {
        table.row([
            entry.id.to_string(),
            when(entry, &zone),
            shown(&entry.flow),
            entry.caller.as_deref().map(shown).unwrap_or_default(),
            outcome(entry),
            entry.took().map(took).unwrap_or_default(),
            entry.arguments_bytes.map(bytes).unwrap_or_default(),
            entry.result_bytes.map(bytes).unwrap_or_default(),
        ]);
    }
    printer.table(&table);
}

/// A line each.
pub(super) fn lines(entries: &[Entry], printer: &mut Printer) {
    let zone = TimeZone::system();
    for entry in entries {
        if printer.is_json() {
            printer.json(entry);
        } else {
            let look = match (entry.outcome, entry.is_error) {
                (Some("answered"), Some(false)) => Look::Good,
                (None, _) => Look::Faint,
                (Some("no_response"), _) => Look::Bad,
                _ => Look::Warning,
            };
            let outcome = format!("{:<14}", outcome(entry));
            let outcome = printer.colour().paint(look, &outcome);
            let took = entry.took().map(took).unwrap_or_default();
            let mut line = format!(
                "{}  {outcome}  {took:>9}  {}",
                when(entry, &zone),
                shown(&entry.flow)
            );
            if let Some(caller) = &entry.caller {
                line.push_str(&format!("  by {}", shown(caller)));
            }
            printer.data(&line);
        }
    }
}

/// Servers and clients choose names.
fn shown(text: &str) -> String {
    visible(text, Place::Line).into_owned()
}

fn when(entry: &Entry, zone: &TimeZone) -> String {
    match Timestamp::from_millisecond(entry.began_ms) {
        Ok(moment) => moment
            .to_zoned_datetime(zone.clone())
            .strftime("%Y-%m-%d %H:%M:%S")
            .to_string(),
        Err(_) => String::new(),
    }
}

/// What became of it, and what is more to be said of that.
pub(super) fn outcome(entry: &Entry) -> String {
    let Some(outcome) = entry.outcome else {
        return "under way".to_owned();
    };
    match (&entry.code, entry.is_error) {
        (_, Some(true)) => format!("{outcome} (isError)"),
        (Some(code), _) => format!("{outcome} ({})", shown(code)),
        _ => outcome.to_owned(),
    }
}

pub(super) fn took(took: Duration) -> String {
    match took.as_micros() {
        micros @ ..1_000 => format!("{micros} µs"),
        micros @ ..10_000 => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
        micros @ ..10_000_000 => format!("{} ms", micros / 1_000),
        micros => format!("{} s", micros / 1_000_000),
    }
}

pub(super) fn bytes(count: i64) -> String {
    match count {
        ..10_240 => format!("{count} B"),
        10_240..10_485_760 => format!("{} KiB", count / 1_024),
        _ => format!("{} MiB", count / 1_048_576),
    }
}

//! The checkups, for a person.

use super::checkup::{Checkup, Found, Verdict};
use crate::printer::{Look, Place, Printer, Table, visible};

pub(super) fn print(checkups: &[Checkup], printer: &mut Printer) {
    for (at, checkup) in checkups.iter().enumerate() {
        if at > 0 {
            printer.data("");
        }
        print_one(checkup, printer);
    }
}

fn print_one(checkup: &Checkup, printer: &mut Printer) {
    let colour = printer.colour();
    let (look, word) = match checkup.verdict {
        Verdict::Healthy => (Look::Good, "healthy"),
        Verdict::Degraded => (Look::Warning, "degraded"),
        Verdict::Failed => (Look::Bad, "failed"),
    };
    let server = colour.paint(Look::Strong, &visible(&checkup.server, Place::Line));
    printer.data(&format!("{server}: {}", colour.paint(look, word)));
    if let Some(url) = &checkup.url {
        printer.data(&format!("  {}", visible(url, Place::Line)));
    }
    if let Some(login) = &checkup.login
        && (login.is_there() || checkup.found.is_none())
    {
        printer.data(&format!("  {}", visible(&login.words(), Place::Line)));
    }
    if let Some(error) = &checkup.error {
        printer.data(&format!("  {}", visible(error.message(), Place::Line)));
    }
    if let Some(found) = &checkup.found {
        if !found.offers.is_empty() {
            printer.data(&format!("  offers {}", found.offers.join(", ")));
        }
        printer.table(&table(checkup, found));
        if let Some(live) = &found.mcpl {
            for (name, said) in live.lines() {
                printer.data(&format!("  {name:<16}{said}"));
            }
        }
    }
    for remedy in &checkup.remedies {
        printer.data(&format!(
            "{} {}",
            colour.paint(Look::Warning, "→"),
            visible(remedy, Place::Line)
        ));
    }
    if !checkup.last_words.is_empty() {
        printer.data("  the last it wrote on stderr:");
        for line in &checkup.last_words {
            printer.data(&format!(
                "  {} {}",
                colour.paint(Look::Faint, "|"),
                visible(line, Place::Line)
            ));
        }
    }
}

fn table(checkup: &Checkup, found: &Found) -> Table {
    let mut table = Table::new(["", "FOUND", "LIMIT", "USED"])
        .right(1)
        .right(2)
        .right(3);
    let mut plain = |name: &str, value: String| {
        table.row([name.to_owned(), value, String::new(), String::new()]);
    };
    let transport = match found.transport {
        "streamable_http" => "Streamable HTTP",
        "http_sse" => "HTTP+SSE",
        "websocket" => "WebSocket",
        other => other,
    };
    plain("transport", transport.to_owned());
    plain("revision", found.revision.clone());
    plain("era", found.era.to_owned());
    plain(
        "  found out by",
        match found.era_source {
            "discovered" => "server/discover",
            "fell_back" => "falling back",
            "remembered" => "an earlier connect",
            _ => "the entry",
        }
        .to_owned(),
    );
    plain("connect", format!("{} ms", checkup.connect_ms));
    for exchange in &found.handshake {
        plain(
            &format!("  {}", exchange.step),
            format!("{} ms", exchange.ms),
        );
    }
    plain("close", format!("{} ms", found.close_ms));
    plain("tools", found.tools.to_string());
    plain("tools left out", found.quarantined.len().to_string());
    plain("tools unusable", found.unusable.len().to_string());
    plain("catalog bytes", grouped(found.catalog_bytes as u64));
    if checkup.url.is_some() {
        plain("noise in its streams", found.noise_lines.to_string());
    } else {
        plain("noise lines on stdout", found.noise_lines.to_string());
        plain("lines on stderr", found.stderr_lines.to_string());
    }
    let invisible: usize = found
        .invisible_characters
        .iter()
        .map(|found| found.count)
        .sum();
    plain("invisible characters", invisible.to_string());
    for limit in &found.limits {
        table.row([
            limit.option.to_owned(),
            grouped(limit.used),
            grouped(limit.limit),
            format!("{} %", limit.percent()),
        ]);
    }
    table
}

/// A number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

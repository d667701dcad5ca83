//! The tables of gateways.

use std::fmt::Write;

use super::machine::Machine;
use super::stats::{Figure, Spread};
use super::table::{ABSENT, ratio_or_absent};
use crate::gateway::{BARE, Compared, Found, IN_FLIGHT, SEAWALL, SIZES};
use crate::plan::{Cell, Load, Over, size};

/// The most that a call through Seawall shall take, in bare hops of both transports.
const MOST_HOPS: f64 = 1.5;
/// The least of the fastest other's calls per second.
const LEAST_TIMES: f64 = 10.0;

/// The tables of gateways, as Markdown.
pub(crate) fn gateway(compared: &Compared, machine: &Machine) -> String {
    let mut page = format!("{}\n", machine.line());
    // Writing to a String does not fail.
    let _ = alone(&mut page, compared);
    let _ = in_flight(&mut page, compared);
    for failure in compared.failures() {
        let _ = writeln!(page, "- {failure}.");
    }
    page
}

fn alone(page: &mut String, compared: &Compared) -> std::fmt::Result {
    writeln!(page, "#### One call at a time: median\n")?;
    let last = "Seawall ÷ two bare hops | aim for Seawall";
    head(page, compared, "client → server", "two bare hops | ", last)?;
    for bytes in SIZES {
        let cell = |over| Cell::new(over, Load::Alone, bytes);
        let bare = |over| values(compared, cell(over), BARE, Figure::Median);
        let hops: Vec<Option<f64>> = bare(Over::Stdio)
            .into_iter()
            .zip(bare(Over::Http))
            .map(|(stdio, http)| Some(stdio? + http?))
            .collect();
        for over in [Over::Stdio, Over::Http] {
            write!(page, "| {}, {} |", way(over), size(bytes))?;
            write!(page, " {} |", text(&hops, Figure::Median))?;
            for gateway in &compared.gateways {
                let taken = values(compared, cell(over), &gateway.name, Figure::Median);
                write!(page, " {} |", text(&taken, Figure::Median))?;
            }
            let seawall = values(compared, cell(over), SEAWALL, Figure::Median);
            let ratio = ratio(&seawall, &hops);
            let aim = aim(ratio.map(|ratio| ratio.median <= MOST_HOPS));
            writeln!(
                page,
                " {} | at most {MOST_HOPS}: {aim} |",
                ratio_or_absent(ratio)
            )?;
        }
    }
    writeln!(page)
}

fn in_flight(page: &mut String, compared: &Compared) -> std::fmt::Result {
    writeln!(page, "#### {IN_FLIGHT} calls in flight\n")?;
    let last = "Seawall ÷ the fastest other | aim for Seawall";
    head(page, compared, "client → server", "| ", last)?;
    for bytes in SIZES {
        for over in [Over::Stdio, Over::Http] {
            let cell = Cell::new(over, Load::InFlight(IN_FLIGHT), bytes);
            let rate = |name: &str| values(compared, cell, name, Figure::CallsPerSecond);
            write!(
                page,
                "| {}, {} | calls per second |",
                way(over),
                size(bytes)
            )?;
            let mut fastest: Vec<Option<f64>> = Vec::new();
            for gateway in &compared.gateways {
                let taken = rate(&gateway.name);
                write!(page, " {} |", text(&taken, Figure::CallsPerSecond))?;
                if gateway.name != BARE && gateway.name != SEAWALL {
                    fastest.resize(taken.len().max(fastest.len()), None);
                    for (best, taken) in fastest.iter_mut().zip(taken) {
                        *best = taken.into_iter().chain(*best).reduce(f64::max);
                    }
                }
            }
            let ratio = ratio(&rate(SEAWALL), &fastest);
            let aim = aim(ratio.map(|ratio| ratio.median >= LEAST_TIMES));
            writeln!(
                page,
                " {} | at least {LEAST_TIMES}: {aim} |",
                ratio_or_absent(ratio)
            )?;
            write!(page, "| | memory of the gateway's process |")?;
            for gateway in &compared.gateways {
                let found = compared.found(cell, &gateway.name).into_iter();
                let bytes = found.map(|found| Some(count(found?.bytes)).filter(|it| *it > 0.0));
                write!(
                    page,
                    " {} |",
                    text(&bytes.collect::<Vec<_>>(), Figure::Idle)
                )?;
            }
            writeln!(page, " | |")?;
        }
    }
    writeln!(page)?;
    if let Some((
        calls,
        Found {
            bytes,
            bytes_before,
            ..
        },
    )) = compared.long
    {
        let mib = |bytes| Figure::Idle.text(count(bytes));
        writeln!(
            page,
            "- Memory of Seawall's gateway over HTTP, {IN_FLIGHT} calls in flight: {} after {} calls, {} after {calls}.",
            mib(bytes_before),
            calls / 10,
            mib(bytes),
        )?;
    }
    Ok(())
}

/// The heading: what stands before the gateways, they, and what stands after.
fn head(
    page: &mut String,
    compared: &Compared,
    first: &str,
    second: &str,
    last: &str,
) -> std::fmt::Result {
    write!(page, "| {first} | {second}")?;
    let names: Vec<&str> = compared
        .gateways
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    writeln!(page, "{} | {last} |", names.join(" | "))?;
    let right = "---: | ".repeat(names.len() + 2);
    writeln!(page, "| --- | {right}--- |")
}

fn way(over: Over) -> &'static str {
    match over {
        Over::Stdio => "stdio → HTTP",
        Over::Http => "HTTP → stdio",
    }
}

fn values(compared: &Compared, cell: Cell, name: &str, figure: Figure) -> Vec<Option<f64>> {
    let found = compared.found(cell, name).into_iter();
    found.map(|found| figure.of(&found?.sample?)).collect()
}

fn ratio(upper: &[Option<f64>], lower: &[Option<f64>]) -> Option<Spread> {
    let pairs = upper.iter().zip(lower);
    Spread::of(pairs.filter_map(|(upper, lower)| Some((*upper)? / (*lower)?)))
}

fn text(values: &[Option<f64>], figure: Figure) -> String {
    let Some(spread) = Spread::of(values.iter().copied().flatten()) else {
        return ABSENT.to_owned();
    };
    let bare = |value| {
        let text = figure.text(value);
        text.split(' ').next().unwrap_or_default().to_owned()
    };
    let (least, most) = (bare(spread.least), bare(spread.most));
    format!("{} ({least}–{most})", figure.text(spread.median))
}

fn aim(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "met",
        Some(false) => "not met",
        None => "not measured",
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
fn count(value: u64) -> f64 {
    value as f64
}

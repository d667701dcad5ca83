//! The tables.

use std::fmt::Write;

use super::machine::Machine;
use super::stats::{Figure, Spread, ratio, spread};
use crate::plan::{Cell, FLOOD, Flooded, IN_FLIGHT, Kind, Load, SIZES, THOUSAND, size};
use crate::run::Results;

const ABSENT: &str = "–";
const MIB: f64 = 1_048_576.0;

/// Where a figure of Seawall's shall be.
enum Aim {
    /// Divided by the floor's.
    FloorsOrLess(f64),
    /// Divided by the floor's.
    FloorsOrMore(f64),
    /// Divided by rmcp's.
    RmcpsOrMore(f64),
    /// Itself, in MiB.
    MibOrLess(f64),
}

/// Everything, as Markdown.
pub(crate) fn markdown(results: &Results, machine: &Machine) -> String {
    let mut page = String::new();
    // Writing to a String does not fail.
    let _ = write(&mut page, results, machine);
    page
}

fn write(page: &mut String, results: &Results, machine: &Machine) -> std::fmt::Result {
    let Machine {
        cpu,
        cores,
        kernel,
        rustc,
        repetitions,
    } = machine;
    writeln!(
        page,
        "{cores} cores of {cpu}, Linux {kernel}, {rustc}, rmcp 3.11.0. Medians of {repetitions} repetitions, least and most of\n\
         them in brackets; a ratio is the median of the repetitions' own ratios.\n"
    )?;
    writeln!(
        page,
        "![Seawall and rmcp, relative to the floor](performance.svg)\n"
    )?;

    writeln!(page, "### One call at a time\n")?;
    head(page, "result")?;
    for bytes in SIZES {
        let cell = Cell::new(Load::Alone, bytes);
        let most = if bytes < 1_000_000 { 1.6 } else { 1.15 };
        let name = size(bytes);
        row(
            page,
            results,
            cell,
            &name,
            "median",
            Figure::Median,
            &[Aim::FloorsOrLess(most)],
        )?;
        row(page, results, cell, "", "p99", Figure::P99, &[])?;
        row(
            page,
            results,
            cell,
            "",
            "CPU per call",
            Figure::CpuPerCall,
            &[Aim::FloorsOrLess(2.2)],
        )?;
    }

    writeln!(page, "\n### In flight\n")?;
    head(page, "result × in flight")?;
    for bytes in SIZES {
        for calls in IN_FLIGHT {
            let cell = Cell::new(Load::InFlight(calls), bytes);
            let least = match (bytes, calls) {
                (100, 64) => 0.9,
                (100, _) => 0.5,
                _ => 1.0,
            };
            let mut aims = vec![Aim::FloorsOrMore(least)];
            if bytes == 100 {
                aims.push(Aim::RmcpsOrMore(4.5));
            }
            let name = format!("{} × {calls}", size(bytes));
            row(
                page,
                results,
                cell,
                &name,
                "calls per second",
                Figure::CallsPerSecond,
                &aims,
            )?;
            row(
                page,
                results,
                cell,
                "",
                "CPU per call",
                Figure::CpuPerCall,
                &[],
            )?;
        }
    }

    writeln!(page, "\n### The client's peak memory above idle\n")?;
    writeln!(page, "| | floor | Seawall | rmcp | aim for Seawall |")?;
    writeln!(page, "| --- | ---: | ---: | ---: | --- |")?;
    let crowd = Cell::new(Load::InFlight(1_024), 1_000_000);
    let l8 = [Aim::MibOrLess(64.0 + 32.0)];
    memory(
        page,
        results,
        THOUSAND,
        "idle, connected",
        Figure::Idle,
        &[],
    )?;
    memory(
        page,
        results,
        THOUSAND,
        "1 000 calls in flight, 100 B each",
        Figure::AboveIdle,
        &[],
    )?;
    memory(
        page,
        results,
        crowd,
        "1 024 calls in flight, 1 MB each",
        Figure::AboveIdle,
        &l8,
    )?;
    memory(
        page,
        results,
        FLOOD,
        "1 GiB without a newline",
        Figure::AboveIdle,
        &[Aim::MibOrLess(16.0)],
    )?;
    writeln!(page)?;
    for kind in Kind::ALL {
        let how = results
            .samples(FLOOD, kind)
            .into_iter()
            .flatten()
            .find_map(|sample| sample.flood);
        let how = match how {
            None => continue,
            Some(Flooded::Answered) => "read it all, then took the result that came after it",
            Some(Flooded::Refused) => "ended the call with an error",
        };
        writeln!(page, "- The flood: {} {how}.", kind.name())?;
    }
    for failure in results.failures() {
        writeln!(page, "- {failure}.")?;
    }
    Ok(())
}

fn head(page: &mut String, first: &str) -> std::fmt::Result {
    writeln!(
        page,
        "| {first} | | floor | Seawall | rmcp | Seawall ÷ floor | rmcp ÷ floor | aim for Seawall |"
    )?;
    writeln!(
        page,
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"
    )
}

fn row(
    page: &mut String,
    results: &Results,
    cell: Cell,
    name: &str,
    what: &str,
    figure: Figure,
    aims: &[Aim],
) -> std::fmt::Result {
    write!(page, "| {name} | {what} |")?;
    for kind in Kind::ALL {
        write!(page, " {} |", figure_text(results, cell, kind, figure))?;
    }
    for kind in [Kind::Seawall, Kind::Rmcp] {
        let ratio = ratio(results, cell, figure, kind, Kind::Floor);
        write!(
            page,
            " {} |",
            ratio.map_or_else(|| ABSENT.to_owned(), ratio_text)
        )?;
    }
    writeln!(page, " {} |", aims_text(results, cell, figure, aims))
}

fn memory(
    page: &mut String,
    results: &Results,
    cell: Cell,
    name: &str,
    figure: Figure,
    aims: &[Aim],
) -> std::fmt::Result {
    write!(page, "| {name} |")?;
    for kind in Kind::ALL {
        write!(page, " {} |", figure_text(results, cell, kind, figure))?;
    }
    writeln!(page, " {} |", aims_text(results, cell, figure, aims))
}

fn figure_text(results: &Results, cell: Cell, kind: Kind, figure: Figure) -> String {
    let Some(Spread {
        median,
        least,
        most,
    }) = spread(results, cell, kind, figure)
    else {
        return ABSENT.to_owned();
    };
    // The unit once.
    let bare = |value| {
        let text = figure.text(value);
        text.split(' ').next().unwrap_or_default().to_owned()
    };
    format!("{} ({}–{})", figure.text(median), bare(least), bare(most))
}

fn ratio_text(ratio: Spread) -> String {
    let Spread {
        median,
        least,
        most,
    } = ratio;
    format!("**{median:.2}** ({least:.2}–{most:.2})")
}

fn aims_text(results: &Results, cell: Cell, figure: Figure, aims: &[Aim]) -> String {
    let texts: Vec<String> = aims
        .iter()
        .map(|aim| aim.text(results, cell, figure))
        .collect();
    texts.join("; ")
}

impl Aim {
    fn text(&self, results: &Results, cell: Cell, figure: Figure) -> String {
        let by = |kind| ratio(results, cell, figure, Kind::Seawall, kind).map(|ratio| ratio.median);
        match *self {
            Self::FloorsOrLess(most) => {
                let met = by(Kind::Floor).map(|value| value <= most);
                format!("at most {most}: {}", verdict(met))
            }
            Self::FloorsOrMore(least) => {
                let met = by(Kind::Floor).map(|value| value >= least);
                format!("at least {least}: {}", verdict(met))
            }
            Self::RmcpsOrMore(least) => {
                let value = by(Kind::Rmcp);
                let met = verdict(value.map(|value| value >= least));
                let value = value.map_or_else(|| ABSENT.to_owned(), |value| format!("{value:.1}"));
                format!("at least {least} × rmcp: {met} ({value})")
            }
            Self::MibOrLess(most) => {
                let value = spread(results, cell, Kind::Seawall, figure);
                let met = value.map(|value| value.most <= most * MIB);
                format!("at most {most} MiB: {}", verdict(met))
            }
        }
    }
}

fn verdict(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "met",
        Some(false) => "not met",
        None => "not measured",
    }
}

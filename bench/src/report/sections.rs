//! The tables of each half.

use std::fmt::{self, Write};

use super::aim::Aim;
use super::chart_name;
use super::machine::Machine;
use super::stats::Figure;
use super::table::{head, memory, row};
use crate::plan::{
    Cell, FLOOD, Flooded, HTTP_IN_FLIGHT, HTTP_SIZES, IN_FLIGHT, Kind, Load, Over, SIZES, THOUSAND,
    size,
};
use crate::run::Results;

/// The tables of a half, as Markdown.
pub(crate) fn markdown(results: &Results, machine: &Machine, over: Over) -> String {
    let mut page = String::new();
    // Writing to a String does not fail.
    let _ = write(&mut page, results, machine, over);
    page
}

fn write(page: &mut String, results: &Results, machine: &Machine, over: Over) -> fmt::Result {
    writeln!(page, "{}", machine.line())?;
    writeln!(
        page,
        "![Seawall and rmcp, relative to the floor]({})\n",
        chart_name(over)
    )?;
    match over {
        Over::Stdio => stdio(page, results)?,
        Over::Http => http(page, results)?,
    }
    for failure in results.failures(over) {
        writeln!(page, "- {failure}.")?;
    }
    Ok(())
}

fn http(page: &mut String, results: &Results) -> fmt::Result {
    let over = Over::Http;
    writeln!(page, "#### One call at a time\n")?;
    head(page, "result")?;
    for bytes in HTTP_SIZES {
        let cell = Cell::new(over, Load::Alone, bytes);
        let name = size(bytes);
        let aims = [Aim::FloorsOrLess(1.2), Aim::LessThanRmcps];
        row(page, results, cell, &name, "median", Figure::Median, &aims)?;
        row(page, results, cell, "", "p99", Figure::P99, &[])?;
        let cpu = "CPU per call";
        row(page, results, cell, "", cpu, Figure::CpuPerCall, &[])?;
    }
    writeln!(page, "\n#### In flight\n")?;
    head(page, "result × in flight")?;
    for bytes in HTTP_SIZES {
        let cell = Cell::new(over, Load::InFlight(HTTP_IN_FLIGHT), bytes);
        let name = format!("{} × {HTTP_IN_FLIGHT}", size(bytes));
        // The same aim, in calls per second.
        let aims = [Aim::FloorsOrMore(0.83), Aim::RmcpsOrMore(1.0)];
        let (what, figure) = ("calls per second", Figure::CallsPerSecond);
        row(page, results, cell, &name, what, figure, &aims)?;
        let cpu = "CPU per call";
        row(page, results, cell, "", cpu, Figure::CpuPerCall, &[])?;
    }
    writeln!(page)
}

fn stdio(page: &mut String, results: &Results) -> fmt::Result {
    let over = Over::Stdio;

    writeln!(page, "#### One call at a time\n")?;
    head(page, "result")?;
    for bytes in SIZES {
        let cell = Cell::new(over, Load::Alone, bytes);
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

    writeln!(page, "\n#### In flight\n")?;
    head(page, "result × in flight")?;
    for bytes in SIZES {
        for calls in IN_FLIGHT {
            let cell = Cell::new(over, Load::InFlight(calls), bytes);
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

    writeln!(page, "\n#### The client's peak memory above idle\n")?;
    writeln!(page, "| | floor | Seawall | rmcp | aim for Seawall |")?;
    writeln!(page, "| --- | ---: | ---: | ---: | --- |")?;
    let crowd = Cell::new(over, Load::InFlight(1_024), 1_000_000);
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
    Ok(())
}

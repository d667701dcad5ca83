//! The table of redaction.

use std::fmt::Write;

use super::machine::Machine;
use super::stats::Spread;
use super::table::{ABSENT, ratio_or_absent};
use crate::redact::{Secrets, Speeds};

/// The least that redaction shall do in a second, or this part of a plain search.
const LEAST: f64 = 500e6;
const LEAST_PART: f64 = 0.5;

/// The table of redaction, as Markdown.
pub(crate) fn redact(results: &[(Secrets, Vec<Speeds>)], machine: &Machine) -> String {
    let mut page = format!("{}\n", machine.line());
    page.push_str("| secrets | redaction | plain search for one | redaction ÷ search | aim |\n");
    page.push_str("| --- | ---: | ---: | ---: | --- |\n");
    for (secrets, speeds) in results {
        let of = |pick: fn(&Speeds) -> f64| Spread::of(speeds.iter().map(pick));
        let redaction = of(|speeds| speeds.redactor);
        let ratio = of(|speeds| speeds.redactor / speeds.plain);
        let aim = match (&redaction, &ratio) {
            (Some(speed), Some(ratio)) => {
                let met = speed.median >= LEAST || ratio.median >= LEAST_PART;
                let met = if met { "met" } else { "not met" };
                format!("at least 500 MB/s, or {LEAST_PART} of the search: {met}")
            }
            _ => "not measured".to_owned(),
        };
        // Writing to a String does not fail.
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {aim} |",
            secrets.name(),
            speed(redaction),
            speed(of(|speeds| speeds.plain)),
            ratio_or_absent(ratio),
        );
    }
    page
}

fn speed(speed: Option<Spread>) -> String {
    speed.map_or_else(
        || ABSENT.to_owned(),
        |Spread {
             median,
             least,
             most,
         }| {
            let megabytes = |value: f64| value / 1e6;
            format!(
                "{:.0} MB/s ({:.0}–{:.0})",
                megabytes(median),
                megabytes(least),
                megabytes(most)
            )
        },
    )
}

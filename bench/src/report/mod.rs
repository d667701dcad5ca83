//! The results as tables, as charts, and in their place in docs/performance.md.

mod aim;
mod chart;
mod gateway;
mod host;
mod machine;
mod redact;
mod sections;
mod stats;
mod table;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub(crate) use chart::svg;
pub(crate) use gateway::gateway;
pub(crate) use host::host;
pub(crate) use machine::Machine;
pub(crate) use redact::redact;
pub(crate) use sections::markdown;

use crate::plan::Over;

const END: &str = "<!-- bench: end -->\n";

/// Writes a part's tables between its markers of the page.
pub(crate) fn write(docs: &Path, part: &str, tables: &str) -> Result<()> {
    let page = docs.join("performance.md");
    let text = fs::read_to_string(&page).context("docs/performance.md")?;
    Ok(fs::write(&page, placed(&text, part, tables)?)?)
}

/// Writes a half's chart beside the page.
pub(crate) fn write_chart(docs: &Path, over: Over, chart: &str) -> Result<()> {
    fs::write(docs.join(chart_name(over)), chart).context("the chart")
}

/// The page with these tables in place of the part's.
fn placed(page: &str, name: &str, tables: &str) -> Result<String> {
    let begin = format!("<!-- bench, {name}: begin; written by the bench, edits are lost -->\n");
    let (before, rest) = page
        .split_once(&begin)
        .with_context(|| format!("docs/performance.md has lost the first marker of {name}"))?;
    let (_, after) = rest
        .split_once(END)
        .with_context(|| format!("docs/performance.md has lost the last marker of {name}"))?;
    Ok(format!("{before}{begin}\n{tables}\n{END}{after}"))
}

/// The name of a half's chart.
fn chart_name(over: Over) -> &'static str {
    match over {
        Over::Stdio => "performance.svg",
        Over::Http => "performance-http.svg",
    }
}

#[cfg(test)]
mod tests;

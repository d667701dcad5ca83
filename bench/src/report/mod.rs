//! The results as a table, as a chart, and in their place in docs/performance.md.

mod chart;
mod machine;
mod stats;
mod table;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub(crate) use chart::svg;
pub(crate) use machine::Machine;
pub(crate) use table::markdown;

const BEGIN: &str = "<!-- bench: begin; written by the bench, edits are lost -->\n";
const END: &str = "<!-- bench: end -->\n";

/// Writes the table between the page's markers, and the chart beside the page.
pub(crate) fn write(docs: &Path, table: &str, chart: &str) -> Result<()> {
    let page = docs.join("performance.md");
    let text = fs::read_to_string(&page).context("docs/performance.md")?;
    let (before, rest) = text
        .split_once(BEGIN)
        .context("docs/performance.md has lost its first marker")?;
    let (_, after) = rest
        .split_once(END)
        .context("docs/performance.md has lost its last marker")?;
    fs::write(&page, format!("{before}{BEGIN}\n{table}\n{END}{after}"))?;
    fs::write(docs.join("performance.svg"), chart).context("docs/performance.svg")
}

//! The table of folders in ARCHITECTURE.md against the tree, both ways.

use std::collections::BTreeSet;
use std::path::Path;

use super::Finding;
use crate::tree::SourceFile;

const PAGE: &str = "ARCHITECTURE.md";

/// Folders of a crate that cargo names, so that the table need not.
const CARGO_FOLDERS: [&str; 2] = ["benches", "examples"];

pub(super) fn check(root: &Path, files: &[SourceFile]) -> Vec<Finding> {
    let Ok(page) = std::fs::read_to_string(root.join(PAGE)) else {
        return vec![Finding::new(
            PAGE,
            None,
            "the page cannot be read",
            "restore it",
        )];
    };
    let rows = rows(&page);
    let mut findings: Vec<Finding> = rows
        .iter()
        .filter(|row| !root.join(row.folder).is_dir())
        .map(|row| {
            let what = format!("names the folder `{}`, which does not exist", row.folder);
            Finding::new(
                PAGE,
                row.line,
                what,
                "take the row out, or make the folder with what it is to hold",
            )
        })
        .collect();
    findings.extend(unnamed(&rows, files));
    findings
}

/// One row of the table; a folder written with `/` at its end stands for all below it too.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) folder: &'a str,
    pub(super) line: usize,
}

/// The rows of every table whose first column is headed `folder`.
pub(super) fn rows(page: &str) -> Vec<Row<'_>> {
    let (mut rows, mut in_table) = (Vec::new(), false);
    for (number, line) in page.lines().enumerate() {
        let Some(cells) = line.trim().strip_prefix('|') else {
            in_table = false;
            continue;
        };
        let first = cells.split('|').next().unwrap_or_default().trim();
        if first == "folder" {
            in_table = true;
        } else if in_table && first.starts_with('`') {
            rows.push(Row {
                folder: first.trim_matches('`'),
                line: number + 1,
            });
        }
    }
    rows
}

/// Folders with Rust files, tests aside, that no row names.
pub(super) fn unnamed(rows: &[Row<'_>], files: &[SourceFile]) -> Vec<Finding> {
    let folders: BTreeSet<&str> = files
        .iter()
        .filter(|file| !file.is_test())
        .map(SourceFile::folder)
        .collect();
    let unnamed = folders.into_iter().filter(|folder| {
        let by_cargo = folder.split('/').any(|part| CARGO_FOLDERS.contains(&part));
        !by_cargo && !rows.iter().any(|row| covers(row.folder, folder))
    });
    let remedy = format!("give it a row in {PAGE}: what it is, and its invariants");
    unnamed
        .map(|folder| {
            Finding::new(
                folder,
                None,
                format!("a folder of Rust files that {PAGE} does not name"),
                &remedy,
            )
        })
        .collect()
}

fn covers(row: &str, folder: &str) -> bool {
    match row.strip_suffix('/') {
        Some(above) => folder
            .strip_prefix(above)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        None => row == folder,
    }
}

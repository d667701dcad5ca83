//! Each file by itself: its length, and words that do not belong in it.

use super::Finding;
use super::tables::{IMPURE, MAX_LINES, PURE_CRATE};
use crate::tree::SourceFile;

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        findings.extend(length(file));
        findings.extend(words(file));
        if file.path.starts_with(&format!("crates/{PURE_CRATE}/src/")) && !file.is_test() {
            findings.extend(purity(file));
        }
    }
    findings
}

fn length(file: &SourceFile) -> Option<Finding> {
    let lines = file.text.lines().count();
    (lines >= MAX_LINES && !file.is_test()).then(|| {
        Finding::new(
            &file.path,
            None,
            format!("{lines} lines; a file has fewer than {MAX_LINES} (a tests.rs or a file below tests/ may have more)"),
            "split it by concept, or move its unit tests into a sibling tests.rs",
        )
    })
}

fn words(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in file.code.lines().enumerate() {
        let packed: String = line.split_whitespace().collect();
        if packed.contains("#[allow(") || packed.contains("#![allow(") {
            let remedy = "write #[expect(lint, reason = \"…\")], or mend what the lint says";
            findings.push(Finding::new(
                &file.path,
                number + 1,
                "an `allow` attribute",
                remedy,
            ));
        }
        if packed.contains("todo!") {
            findings.push(Finding::new(
                &file.path,
                number + 1,
                "a `todo!`",
                "build it, or leave it out",
            ));
        }
    }
    findings
}

fn purity(file: &SourceFile) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for path in file.paths() {
        let impure = IMPURE.iter().any(|run| {
            path.segments
                .windows(run.len())
                .any(|window| window == *run)
        });
        if impure
            && findings
                .last()
                .is_none_or(|last| last.line != Some(path.line))
        {
            findings.push(Finding::new(
                &file.path,
                path.line,
                format!("`{}` in {PURE_CRATE}, which does no I/O, reads no clock and starts nothing", path.segments.join("::")),
                "take what is needed as an argument (`now: Time`, bytes), and do the rest in the crate `seawall`",
            ));
        }
    }
    findings
}

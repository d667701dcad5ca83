//! Each rule of behaviour that is built has a test that names it.

use std::collections::BTreeSet;

use super::Finding;
use super::tables::RULES;
use crate::tree::SourceFile;

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let named: BTreeSet<&str> = files.iter().flat_map(|file| named(&file.text)).collect();
    RULES
        .iter()
        .filter(|rule| !named.contains(*rule))
        .map(|rule| {
            let remedy = format!(
                "write a test that fails when {rule} is taken out, and name {rule} in its doc comment; \
                 the list of rules is in xtask/src/tidy/tables.rs"
            );
            Finding::new("crates", None, format!("no test's doc comment names the rule {rule}"), remedy)
        })
        .collect()
}

/// The words of every doc comment that stands above a test function.
pub(super) fn named(text: &str) -> Vec<&str> {
    let (mut words, mut docs, mut is_test) = (Vec::new(), Vec::new(), false);
    for line in text.lines().map(str::trim_start) {
        if let Some(doc) = line.strip_prefix("///") {
            docs.extend(doc.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()));
        } else if line.starts_with("#[") {
            let attribute = line.trim_start_matches("#[");
            let name = attribute.split(['(', ']', ' ']).next().unwrap_or_default();
            is_test |= name.rsplit("::").next() == Some("test");
        } else if !line.starts_with("//") && !line.is_empty() {
            if is_test && line.contains("fn ") {
                words.append(&mut docs);
            }
            docs.clear();
            is_test = false;
        }
    }
    words
}

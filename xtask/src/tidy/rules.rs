//! Each rule of behaviour that is built has a test that names it.

use std::collections::BTreeSet;

use super::Finding;
use super::tables::RULES;
use crate::tree::SourceFile;

pub(super) fn check(files: &[SourceFile]) -> Option<Finding> {
    let named: BTreeSet<&str> = files.iter().flat_map(|file| named(&file.text)).collect();
    let missing: Vec<&str> = RULES
        .into_iter()
        .filter(|rule| !named.contains(rule))
        .collect();
    (!missing.is_empty()).then(|| {
        let remedy = "write a test that fails when the rule is taken out, and name the rule in its doc comment; \
                      the list of rules is in xtask/src/tidy/tables.rs";
        let what = format!("no test's doc comment names {}", missing.join(", "));
        Finding::new("crates", None, what, remedy)
    })
}

/// The words of every doc comment that stands above a test function.
pub(super) fn named(text: &str) -> Vec<&str> {
    let (mut words, mut docs, mut is_test) = (Vec::new(), Vec::new(), false);
    for line in text.lines().map(str::trim_start) {
        if let Some(doc) = line.strip_prefix("///") {
            docs.extend(
                doc.split(|c: char| !c.is_ascii_alphanumeric())
                    .filter(|word| !word.is_empty()),
            );
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

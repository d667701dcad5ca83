//! The direction of imports between the modules of one crate.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::tables::{LAYERS, Layers};
use crate::tree::SourceFile;

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    LAYERS
        .iter()
        .flat_map(|layers| check_layers(layers, files))
        .collect()
}

pub(super) fn check_layers(layers: &Layers, files: &[SourceFile]) -> Vec<Finding> {
    let inside: Vec<(Vec<&str>, &SourceFile)> = files
        .iter()
        .filter_map(|file| Some((module_of(layers.folder, &file.path)?, file)))
        .collect();
    let modules: BTreeSet<&str> = inside
        .iter()
        .filter_map(|(module, _)| module.first().copied())
        .collect();
    let origins = origins(&inside, &modules);
    let mut findings = Vec::new();
    for (module, file) in &inside {
        let Some(own) = module.first().copied() else {
            continue;
        };
        if file.is_test() {
            continue;
        }
        let Some((_, allowed)) = layers.arrows.iter().find(|(name, _)| *name == own) else {
            let remedy =
                "give the module a row in xtask/src/tidy/tables.rs that says what it may import";
            findings.push(Finding::new(
                &file.path,
                None,
                format!("no row of allowed imports for `{own}`"),
                remedy,
            ));
            continue;
        };
        for path in file.paths() {
            let Some(name) = beside(module, &path.segments) else {
                continue;
            };
            let target = if modules.contains(name) {
                name
            } else {
                origins.get(name).map_or(own, String::as_str)
            };
            if target != own && !allowed.contains(&target) {
                findings.push(Finding::new(
                    &file.path,
                    path.line,
                    format!(
                        "`{own}` may not import `{target}` (`{}`)",
                        path.segments.join("::")
                    ),
                    format!(
                        "`{own}` may import {}; move what both need to where both may reach it",
                        list(allowed)
                    ),
                ));
            }
        }
    }
    findings
}

fn list(allowed: &[&str]) -> String {
    if allowed.is_empty() {
        "none of the modules beside it".to_owned()
    } else {
        allowed.join(", ")
    }
}

/// The module path of a file: `src/client/driver.rs` is `[client, driver]`, `lib.rs` is the empty path.
fn module_of<'a>(folder: &str, path: &'a str) -> Option<Vec<&'a str>> {
    let inner = path
        .strip_prefix(folder)?
        .strip_prefix('/')?
        .strip_suffix(".rs")?;
    let mut module: Vec<&str> = inner.split('/').collect();
    if matches!(module.last(), Some(&("mod" | "lib" | "main"))) {
        module.pop();
    }
    Some(module)
}

/// The first name below the crate's root that a path leads to, `super` followed; `None` for other crates and for the module's own.
fn beside<'a>(module: &[&'a str], segments: &'a [String]) -> Option<&'a str> {
    match segments.first()?.as_str() {
        "crate" => segments.get(1).map(String::as_str),
        "super" => {
            let ups = segments
                .iter()
                .take_while(|segment| *segment == "super")
                .count();
            let left = module.len().checked_sub(ups)?;
            module[..left]
                .first()
                .copied()
                .or_else(|| segments.get(ups).map(String::as_str))
        }
        _ => None,
    }
}

/// What the root hands on under its own name (`pub use client::Call`), and the module that it comes from.
fn origins(
    inside: &[(Vec<&str>, &SourceFile)],
    modules: &BTreeSet<&str>,
) -> BTreeMap<String, String> {
    let mut origins = BTreeMap::new();
    for (_, file) in inside.iter().filter(|(module, _)| module.is_empty()) {
        for path in file.paths() {
            let mut segments = path
                .segments
                .into_iter()
                .skip_while(|segment| segment == "crate" || segment == "self");
            if let Some(first) = segments
                .next()
                .filter(|first| modules.contains(first.as_str()))
                && let Some(last) = segments.last()
            {
                origins.insert(last, first);
            }
        }
    }
    origins
}

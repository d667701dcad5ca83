//! What the crates are built from, as cargo resolves it for this platform.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::tables::{PURE_CRATE, PURE_DEPENDENCIES, TEST_CRATE};
use super::{Finding, licences};

const LOCK: &str = "Cargo.lock";

pub(super) fn check(root: &Path) -> Vec<Finding> {
    let metadata = match metadata(root) {
        Ok(metadata) => metadata,
        Err(problem) => {
            let remedy = "run `cargo metadata` and mend what it says";
            return vec![Finding::new(
                "Cargo.toml",
                None,
                format!("dependencies unknown: {problem}"),
                remedy,
            )];
        }
    };
    let mut findings = purity(&metadata);
    findings.extend(testkit(&metadata));
    findings.extend(licences::check(root, &metadata));
    findings
}

/// What cargo says, without the network if it can: a new machine may still have to fetch the index.
fn metadata(root: &Path) -> Result<Value, String> {
    let host = output(Command::new("rustc").arg("-vV"))?;
    let host = host
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or("rustc names no host")?
        .to_owned();
    let ask = |offline: &[&str]| {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .current_dir(root)
            .args([
                "metadata",
                "--format-version",
                "1",
                "--filter-platform",
                &host,
            ])
            .args(offline);
        output(&mut cargo)
    };
    let text = ask(&["--offline"]).or_else(|_| ask(&[]))?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        let talk = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "{program} {}: {}",
            output.status,
            talk.trim().lines().next_back().unwrap_or_default()
        ));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// The members of an array, or none.
pub(super) fn each<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// The normal dependencies of the pure crate, however deep, against the list.
pub(super) fn purity(metadata: &Value) -> Vec<Finding> {
    let names: BTreeMap<&str, &str> = each(metadata, "packages")
        .filter_map(|package| Some((package["id"].as_str()?, package["name"].as_str()?)))
        .collect();
    let nodes: BTreeMap<&str, &Value> = each(&metadata["resolve"], "nodes")
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let mut waiting: Vec<(&str, String)> = names
        .iter()
        .filter(|(_, name)| **name == PURE_CRATE)
        .map(|(id, name)| (*id, (*name).to_owned()))
        .collect();
    let (mut seen, mut findings) = (BTreeSet::new(), Vec::new());
    while let Some((id, way)) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        let name = names.get(id).copied().unwrap_or(id);
        if !PURE_DEPENDENCIES.contains(&name) {
            let what =
                format!("{PURE_CRATE} is built from `{name}` ({way}), which is not on its list");
            let remedy = "do without it, or, if it does no I/O and reads no clock, add it to xtask/src/tidy/tables.rs";
            findings.push(Finding::new(LOCK, None, what, remedy));
            continue;
        }
        for dependency in nodes
            .get(id)
            .into_iter()
            .flat_map(|node| each(node, "deps"))
        {
            let normal = each(dependency, "dep_kinds").any(|kind| kind["kind"].is_null());
            if let Some(next) = dependency["pkg"].as_str().filter(|_| normal) {
                let way = format!("{way} → {}", names.get(next).copied().unwrap_or(next));
                waiting.push((next, way));
            }
        }
    }
    findings
}

/// Published crates that need the test crate outside their tests.
pub(super) fn testkit(metadata: &Value) -> Vec<Finding> {
    let published = each(metadata, "packages").filter(|package| {
        let ours = package["source"].is_null();
        ours && package["publish"]
            .as_array()
            .is_none_or(|registries| !registries.is_empty())
    });
    published
        .filter(|package| {
            each(package, "dependencies")
                .any(|dependency| dependency["name"] == TEST_CRATE && dependency["kind"] != "dev")
        })
        .map(|package| {
            let name = package["name"].as_str().unwrap_or_default();
            let what = format!("`{name}` is published and needs `{TEST_CRATE}` outside its tests");
            Finding::new(
                &format!("crates/{name}/Cargo.toml"),
                None,
                what,
                "move it to [dev-dependencies]",
            )
        })
        .collect()
}

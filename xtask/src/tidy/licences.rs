//! The licences of all that is built in, against the list in deny.toml.
//!
//! `cargo deny check` says the same and more where it is installed; this is what holds without it.

use std::path::Path;

use serde_json::Value;

use super::Finding;
use super::dependencies::each;

const PAGE: &str = "deny.toml";

pub(super) fn check(root: &Path, metadata: &Value) -> Vec<Finding> {
    let allowed = std::fs::read_to_string(root.join(PAGE)).map(|page| allowed(&page)).unwrap_or_default();
    if allowed.is_empty() {
        let remedy = "list the licences under [licenses] as allow = [\"MIT\", …]";
        return vec![Finding::new(PAGE, None, "allows no licence at all", remedy)];
    }
    let resolved: Vec<&str> = each(&metadata["resolve"], "nodes").filter_map(|node| node["id"].as_str()).collect();
    let used = each(metadata, "packages").filter(|package| package["id"].as_str().is_some_and(|id| resolved.contains(&id)));
    used.filter(|package| !fits(package["license"].as_str().unwrap_or_default(), &allowed))
        .map(|package| {
            let name = package["name"].as_str().unwrap_or_default();
            let licence = package["license"].as_str().unwrap_or("no licence that cargo knows");
            let what = format!("`{name}` is under {licence}, which {PAGE} does not allow");
            Finding::new("Cargo.lock", None, what, format!("do without it, or allow the licence in {PAGE} with a reason"))
        })
        .collect()
}

/// The names in the `allow` list of the `[licenses]` section.
pub(super) fn allowed(page: &str) -> Vec<String> {
    let section = page.split("[licenses]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let lines = section.lines().map(|line| line.split('#').next().unwrap_or_default());
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let list = text.split("allow").nth(1).unwrap_or_default();
    let list = list.split('[').nth(1).and_then(|list| list.split(']').next()).unwrap_or_default();
    list.split(',').map(|name| name.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Whether a licence expression can be met with the allowed ones: `OR` needs one side, `AND` both; `/` is an old `OR`.
pub(super) fn fits(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let fits = any(&words, &mut at, allowed);
    fits && at == words.len()
}

fn any(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut fits = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        fits |= all(words, at, allowed);
    }
    fits
}

fn all(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut fits = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        fits &= one(words, at, allowed);
    }
    fits
}

fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let Some(&word) = words.get(*at) else { return false };
    *at += 1;
    if word == "(" {
        let fits = any(words, at, allowed);
        let closed = words.get(*at) == Some(&")");
        *at += usize::from(closed);
        return fits && closed;
    }
    let mut name = word.to_owned();
    if words.get(*at) == Some(&"WITH") {
        name = format!("{word} WITH {}", words.get(*at + 1).copied().unwrap_or_default());
        *at += 2;
    }
    allowed.contains(&name)
}

//! The licences of all that is built in, against the list in deny.toml.
//!
//! `cargo deny check` says the same and more where it is installed; this is what holds without it.

use std::path::Path;

use serde_json::Value;

use super::Finding;
use super::dependencies::each;

const PAGE: &str = "deny.toml";

pub(super) fn check(root: &Path, metadata: &Value) -> Vec<Finding> {
    let allowed = std::fs::read_to_string(root.join(PAGE))
        .map(|page| allowed(&page))
        .unwrap_or_default();
    if allowed.is_empty() {
        let remedy = "list the licences under [licenses] as allow = [\"MIT\", …]";
        return vec![Finding::new(PAGE, None, "allows no licence at all", remedy)];
    }
    let resolved: Vec<&str> = each(&metadata["resolve"], "nodes")
        .filter_map(|node| node["id"].as_str())
        .collect();
    let used = each(metadata, "packages").filter(|package| {
        package["id"]
            .as_str()
            .is_some_and(|id| resolved.contains(&id))
    });
    used.filter(|package| !fits(package["license"].as_str().unwrap_or_default(), &allowed))
        .map(|package| {
            let name = package["name"].as_str().unwrap_or_default();
            let licence = package["license"]
                .as_str()
                .unwrap_or("no licence that cargo knows");
            let what = format!("`{name}` is under {licence}, which {PAGE} does not allow");
            Finding::new(
                "Cargo.lock",
                None,
                what,
                format!("do without it, or allow the licence in {PAGE} with a reason"),
            )
        })
        .collect()
}

/// The names in the `allow` list of the `[licenses]` section.
pub(super) fn allowed(page: &str) -> Vec<String> {
    let section = page.split("[licenses]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let lines = section
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let list = text.split("allow").nth(1).unwrap_or_default();
    let list = list
        .split('[')
        .nth(1)
        .and_then(|list| list.split(']').next())
        .unwrap_or_default();
    list.split(',')
        .map(|name| name.trim().trim_matches('"').to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Whether a licence expression can be met with the allowed ones: `OR` needs one side, `AND` both; `/` is an old `OR`.
pub(super) fn fits(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    any(&mut words, allowed) == Some(true) && words.next().is_none()
}

/// The words left of an expression; the functions below take what is theirs, and are `None` on a broken one.
type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any(words: &mut Words<'_>, allowed: &[String]) -> Option<bool> {
    let mut fits = all(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        fits |= all(words, allowed)?;
    }
    Some(fits)
}

fn all(words: &mut Words<'_>, allowed: &[String]) -> Option<bool> {
    let mut fits = one(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        fits &= one(words, allowed)?;
    }
    Some(fits)
}

fn one(words: &mut Words<'_>, allowed: &[String]) -> Option<bool> {
    let word = words.next()?;
    if word == "(" {
        let fits = any(words, allowed)?;
        return words.next_if_eq(&")").map(|_| fits);
    }
    let mut name = word.to_owned();
    if words.next_if_eq(&"WITH").is_some() {
        name = format!("{word} WITH {}", words.next()?);
    }
    Some(allowed.contains(&name))
}

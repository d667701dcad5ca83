//! The counts that a run is held to, and the tables of docs/conformance.md.

use std::collections::BTreeMap;
use std::path::Path;

use super::ConformanceError;
use super::suite::{Scenario, Seen};

/// For each set and scenario, how many different checks pass at least.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Floors(BTreeMap<String, BTreeMap<String, usize>>);

impl Floors {
    pub(super) fn read(path: &Path) -> Result<Self, ConformanceError> {
        let text = std::fs::read(path).map_err(ConformanceError::file(path))?;
        let parsed = serde_json::from_slice(&text).map(Self);
        parsed.map_err(|_| ConformanceError::Form {
            path: path.to_owned(),
        })
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), ConformanceError> {
        let text = serde_json::to_string_pretty(&self.0).unwrap_or_default() + "\n";
        std::fs::write(path, text).map_err(ConformanceError::file(path))
    }

    /// What a scenario is held to, if anything.
    pub(super) fn of(&self, set: &str, scenario: &str) -> Option<usize> {
        self.0.get(set)?.get(scenario).copied()
    }

    /// What is held to something and is not among the scenarios: it would be green by not being run.
    pub(super) fn absent<'f>(&'f self, set: &str, scenarios: &[Scenario]) -> Vec<&'f str> {
        let held = self.0.get(set).into_iter().flat_map(BTreeMap::keys);
        held.filter(|name| !scenarios.iter().any(|scenario| scenario.name == **name))
            .map(String::as_str)
            .collect()
    }

    /// Holds later runs to what was seen, where that is green and more.
    pub(super) fn raise(&mut self, set: &str, seen: &BTreeMap<String, Seen>) {
        let floors = self.0.entry(set.to_owned()).or_default();
        for (name, seen) in seen {
            let floor = floors.get(name).copied();
            if fault(seen, Some(floor.unwrap_or(1))).is_none() {
                floors.insert(name.clone(), seen.different);
            }
        }
    }
}

/// Why a scenario is not green; a scenario without a floor has to pass one check.
pub(super) fn fault(seen: &Seen, floor: Option<usize>) -> Option<String> {
    let floor = floor.unwrap_or(1);
    if let Some(first) = seen.troubles.first() {
        return Some(match seen.troubles.len() {
            1 => first.clone(),
            all => format!("{first} (and {} more)", all - 1),
        });
    }
    if !seen.done {
        return Some(format!("the client did not get to its end: {}", seen.talk));
    }
    let few = seen.different < floor;
    few.then(|| format!("{} different checks passed, not {floor}", seen.different))
}

/// A set as a section of the page.
pub(super) fn markdown(
    set: &str,
    scenarios: &[Scenario],
    seen: &BTreeMap<String, Seen>,
    floors: &Floors,
) -> String {
    let nothing = Seen::default();
    let of = |scenario: &Scenario| seen.get(&scenario.name).unwrap_or(&nothing);
    let green =
        |scenario: &&Scenario| fault(of(scenario), floors.of(set, &scenario.name)).is_none();
    let score = |required: bool| {
        let all = || scenarios.iter().filter(move |one| one.required == required);
        format!("{} of {}", all().filter(green).count(), all().count())
    };
    let passed: usize = scenarios.iter().map(|scenario| of(scenario).passed).sum();
    let troubles: usize = scenarios
        .iter()
        .map(|scenario| of(scenario).troubles.len())
        .sum();
    let mut text = format!(
        "Required scenarios green: **{}**. Not scored: **{}**. Checks passed: **{passed} of {}**.\n\n\
         | scenario | | checks passed | different ones | at least |\n\
         | --- | --- | ---: | ---: | ---: |\n",
        score(true),
        score(false),
        passed + troubles
    );
    for scenario in scenarios {
        let floor = floors.of(set, &scenario.name);
        let seen = of(scenario);
        let mark = if green(&scenario) { "green" } else { "**red**" };
        let not = if scenario.required {
            ""
        } else {
            ", not scored"
        };
        let floor = floor.map_or_else(String::new, |floor| floor.to_string());
        text.push_str(&format!(
            "| `{}` | {mark}{not} | {} of {} | {} | {floor} |\n",
            scenario.name,
            seen.passed,
            seen.passed + seen.troubles.len(),
            seen.different,
        ));
    }
    text
}

/// Puts a set's section between its marks on the page.
pub(super) fn write_into(page: &Path, set: &str, markdown: &str) -> Result<(), ConformanceError> {
    let text = std::fs::read_to_string(page).map_err(ConformanceError::file(page))?;
    let text = replaced(&text, set, markdown).ok_or_else(|| ConformanceError::Form {
        path: page.to_owned(),
    })?;
    std::fs::write(page, text).map_err(ConformanceError::file(page))
}

pub(super) fn replaced(page: &str, set: &str, markdown: &str) -> Option<String> {
    let begin = format!("<!-- {set}: begin; written by `cargo xtask conformance --write` -->\n");
    let end = format!("<!-- {set}: end -->");
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{markdown}\n{end}{after}"))
}

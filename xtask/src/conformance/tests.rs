use std::collections::BTreeMap;

use serde_json::json;

use super::suite::{self, Leg, Scenario, Seen};
use super::table::{self, Floors};
use super::{FLOORS, PAGE, Request, SETS, request};
use crate::tree;

fn green(different: usize) -> Seen {
    Seen {
        passed: different + 1,
        different,
        done: true,
        ..Seen::default()
    }
}

fn scenario(name: &str, required: bool) -> Scenario {
    Scenario {
        name: name.to_owned(),
        required,
    }
}

#[test]
fn arguments_ask_for_sets_or_for_one_scenario() {
    let asked = |text: &str| {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        request(&words)
    };
    let sets = |sets: &[&str], legs: &[Leg], write| {
        let sets = sets.iter().map(|&set| set.to_owned()).collect();
        let legs = legs.to_vec();
        Some(Request::Sets { sets, legs, write })
    };
    assert_eq!(asked(""), sets(&SETS, &Leg::ALL, false));
    assert_eq!(
        asked("--requirements 2025-11-25 --write"),
        sets(&["2025-11-25"], &Leg::ALL, true)
    );
    assert_eq!(asked("--server"), sets(&SETS, &[Leg::Server], false));
    assert_eq!(
        asked("--gateway --server"),
        sets(&SETS, &[Leg::Gateway, Leg::Server], false)
    );
    for (text, leg) in [
        ("", Leg::Client),
        (" --client", Leg::Client),
        (" --server", Leg::Server),
        (" --gateway", Leg::Gateway),
        (" --across", Leg::Across),
    ] {
        assert_eq!(
            asked(&format!("--scenario a/b --spec-version 2026-07-28{text}")),
            Some(Request::One {
                scenario: "a/b".to_owned(),
                revision: "2026-07-28".to_owned(),
                leg
            })
        );
    }
    for wrong in [
        "--requirements",
        "--requirements 2024-11-05",
        "--scenario a",
        "--spec-version 2026-07-28",
        "--scenario a --spec-version b --write",
        "--scenario a --spec-version b --requirements 2025-11-25",
        "--scenario a --spec-version b --client --server",
        "more",
    ] {
        assert_eq!(asked(wrong), None, "{wrong}");
    }
}

#[test]
fn the_clients_scenarios_are_read_from_the_requirements() {
    let text = "# words:\nserver:\n  - other\n\nclient:\n  - tools_call\n  - auth/basic\n\nnot_scored:\n  \
                - scenario: auth/dpop\n    leg: client\n    reason: extension\n  - scenario: tasks\n    leg: server\n    \
                note: >-\n      words\n";
    let expected = [
        scenario("tools_call", true),
        scenario("auth/basic", true),
        scenario("auth/dpop", false),
    ];
    assert_eq!(suite::scenarios_of(text, Leg::Client), expected);
}

#[test]
fn what_a_run_left_is_found_by_the_scenarios_name() {
    let out = tempfile::tempdir().unwrap();
    let folder = |name: &str, checks: serde_json::Value, stdout: &str| {
        let folder = out.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("checks.json"), checks.to_string()).unwrap();
        std::fs::write(folder.join("stdout.txt"), stdout).unwrap();
        std::fs::write(folder.join("stderr.txt"), "one\ntwo\n").unwrap();
    };
    let passed = json!({"id": "i", "name": "n", "status": "SUCCESS"});
    let checks = json!([
        passed, passed,
        {"id": "i", "name": "m", "status": "SUCCESS"},
        {"id": "j", "name": "n", "status": "INFO"},
        {"id": "k", "name": "n", "status": "SKIPPED"},
        {"id": "l", "name": "n", "status": "WARNING", "description": "late"},
        {"id": "m", "name": "n", "status": "FAILURE", "description": "d", "errorMessage": "wrong"},
    ]);
    let time = "2026-11-30T10-57-38-411Z";
    folder(&format!("auth/dpop-{time}"), checks, "x\ndone\n");
    folder(&format!("auth/dpop-2nd-{time}"), json!([]), "done\nx");
    let seen = |name: &str| suite::read(out.path(), name).unwrap();
    assert_eq!(
        seen("auth/dpop"),
        Seen {
            passed: 3,
            different: 2,
            troubles: vec!["WARNING l: late".to_owned(), "FAILURE m: wrong".to_owned()],
            done: true,
            talk: "two".to_owned()
        }
    );
    assert!(!seen("auth/dpop-2nd").done);
    for absent in ["auth/d", "dpop", "other/dpop"] {
        assert_eq!(seen(absent), Seen::default(), "{absent}");
    }
}

#[test]
fn a_scenario_is_green_only_if_enough_passed_and_the_client_got_to_its_end() {
    assert_eq!(table::fault(&green(3), Some(3)), None);
    assert_eq!(table::fault(&green(1), None), None);
    assert!(table::fault(&green(2), Some(3)).is_some());
    assert!(table::fault(&green(0), None).is_some(), "a vacuous pass");
    let unfinished = Seen {
        done: false,
        ..green(3)
    };
    assert!(table::fault(&unfinished, Some(3)).is_some());
    let late = Seen {
        troubles: vec!["WARNING".to_owned()],
        ..green(3)
    };
    assert!(table::fault(&late, Some(3)).is_some());
}

#[test]
fn floors_are_raised_by_what_is_green_and_never_lowered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("passed.json");
    std::fs::write(&path, r#"{"s": {"a": 2, "b": 2, "c": 2}}"#).unwrap();
    let mut floors = Floors::read(&path).unwrap();
    let red = Seen {
        done: false,
        ..green(9)
    };
    let seen: BTreeMap<String, Seen> = [
        ("a", green(4)),
        ("b", green(1)),
        ("c", red),
        ("d", green(1)),
        ("e", green(0)),
    ]
    .into_iter()
    .map(|(name, seen)| (name.to_owned(), seen))
    .collect();
    floors.raise("s", &seen);
    floors.write(&path).unwrap();
    let floors = Floors::read(&path).unwrap();
    let all = ["a", "b", "c", "d", "e"].map(|name| floors.of("s", name));
    assert_eq!(all, [Some(4), Some(2), Some(2), Some(1), None]);
}

#[test]
fn a_scenario_that_is_held_to_something_cannot_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("passed.json");
    std::fs::write(&path, r#"{"s": {"a": 2, "b": 1}, "t": {"c": 1}}"#).unwrap();
    let floors = Floors::read(&path).unwrap();
    assert_eq!(floors.absent("s", &[scenario("b", true)]), ["a"]);
    let all = [scenario("a", true), scenario("b", false)];
    assert!(floors.absent("s", &all).is_empty());
}

#[test]
fn a_set_is_shown_as_a_table_between_its_marks() {
    let scenarios = [scenario("a", true), scenario("b", false)];
    let red = Seen {
        passed: 1,
        different: 1,
        troubles: vec!["FAILURE x: y".to_owned()],
        ..Seen::default()
    };
    let seen = [("a".to_owned(), green(2)), ("b".to_owned(), red)].into();
    let text = table::markdown("s", &scenarios, &seen, &Floors::default());
    let expected = "Required scenarios green: **1 of 1**. Not scored: **0 of 1**. Checks passed: **4 of 5**.\n\n\
        | scenario | | checks passed | different ones | at least |\n| --- | --- | ---: | ---: | ---: |\n\
        | `a` | green | 3 of 3 | 2 |  |\n| `b` | **red**, not scored | 1 of 2 | 1 |  |\n";
    assert_eq!(text, expected);
    let page = "x\n<!-- s: begin; written by `cargo xtask conformance --write` -->\nold\n<!-- s: end -->\ny\n";
    let page = table::replaced(page, "s", "new\n").unwrap();
    assert!(
        page.starts_with("x\n<!-- s: begin")
            && page.ends_with("-->\n\nnew\n\n<!-- s: end -->\ny\n")
    );
    assert_eq!(table::replaced(&page, "t", ""), None);
}

/// A required scenario without a floor would let a vacuous pass through.
#[test]
fn every_set_has_floors_above_nothing_and_a_place_on_the_page() {
    let floors = std::fs::read(tree::root().join(FLOORS)).unwrap();
    let floors: BTreeMap<String, BTreeMap<String, usize>> =
        serde_json::from_slice(&floors).unwrap();
    let page = std::fs::read_to_string(tree::root().join(PAGE)).unwrap();
    let least = [
        (Leg::Client, [32, 18]),
        (Leg::Server, [40, 33]),
        (Leg::Gateway, [40, 32]),
        (Leg::Across, [0, 32]),
    ];
    for (leg, required) in least {
        let sets = SETS.into_iter().zip(required);
        for (set, required) in sets.filter(|(set, _)| leg.has(set)) {
            let key = leg.key(set);
            assert!(floors[&key].len() >= required, "{key}");
            assert!(floors[&key].values().all(|&floor| floor > 0), "{key}");
            assert!(table::replaced(&page, &key, "").is_some(), "{key}");
        }
    }
}

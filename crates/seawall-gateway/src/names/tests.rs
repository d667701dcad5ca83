use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use super::{MAX_NAME, Names, exported};

fn is_exportable(name: &str) -> bool {
    let fits = (1..=MAX_NAME).contains(&name.len());
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    fits && name.bytes().all(word)
}

/// G4: the names that stay as they are, and what becomes of others. A snapshot: a change would rename people's tools.
#[test]
fn names_are_these() {
    let names = [
        (("github", "search_issues"), "github__search_issues"),
        (("a", "b__c"), "a__b__c"),
        (("a", "_b"), "a___b"),
        (("a__b", "c"), "a__b__c_17a08e21"),
        (("a_", "b"), "a___b_3d796f2b"),
        (("my.server", "read file"), "my_server__read_file_796257ee"),
        (("s", "t_0123abcd"), "s__t_0123abcd_fa7ef386"),
    ];
    let found = names.map(|((server, tool), _)| exported(server, tool));
    assert_eq!(found, names.map(|(_, name)| name.to_owned()));
}

/// G4: a name has at most 64 characters, all of them of the set, also of long and foreign names.
#[test]
fn long_and_foreign_names_are_made_legal() {
    let long = "x".repeat(60);
    for (server, tool) in [
        ("s", &*long),
        ("sé", "ü"),
        (&*long, &*long),
        ("", ""),
        ("s", ""),
    ] {
        let name = exported(server, tool);
        assert!(is_exportable(&name), "{name}");
    }
    let at_the_bound = "x".repeat(MAX_NAME - 3);
    assert_eq!(exported("s", &at_the_bound).len(), MAX_NAME);
    assert!(exported("s", &at_the_bound).ends_with("xx"));
}

/// G4: in plain mode tools keep their own names.
#[test]
fn plain_names_are_the_tools_own() {
    assert_eq!(Names::Plain.of("s", "a b"), "a b");
}

/// Ids and names of few characters, so that what meets is tried often.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab_]{1,5}",
        "[a_.-]{1,4}(_[0-9a-f]{8})?",
        "[a-c_ é]{1,4}",
        "[x_]{50,70}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// G4: two tools never have one name, also where underscores stand at the borders.
    #[test]
    fn names_are_injective(pairs in prop::collection::hash_set((part(), part()), 2..200)) {
        let mut seen = HashMap::new();
        for (server, tool) in pairs {
            let name = exported(&server, &tool);
            prop_assert!(is_exportable(&name), "{}", name);
            let earlier = seen.insert(name.clone(), (server.clone(), tool.clone()));
            prop_assert!(earlier.is_none(), "{:?} and {:?} are both {}", earlier, (server, tool), name);
        }
    }

    /// G4: a name that another tool has is not to be had by calling oneself so: neither as an id nor as a tool.
    #[test]
    fn a_name_is_not_taken_by_imitation(server in part(), tool in part(), other in part()) {
        let name = exported(&server, &tool);
        for (id, imitated) in [(&*other, &*name), (&*name, &*other)] {
            prop_assert_ne!(exported(id, imitated), &*name);
        }
        for (at, _) in name.match_indices("__") {
            let (id, rest) = (&name[..at], &name[at + 2..]);
            if !id.is_empty() && !rest.is_empty() && (id, rest) != (&server, &tool) {
                prop_assert_ne!(exported(id, rest), &*name);
            }
        }
    }

    /// G4: names are the same in another order and with others gone.
    #[test]
    fn names_are_of_the_pair_alone(pairs in prop::collection::vec((part(), part()), 1..20)) {
        let of = |pairs: &[(String, String)]| -> BTreeMap<_, _> {
            pairs.iter().map(|pair| (pair.clone(), exported(&pair.0, &pair.1))).collect()
        };
        let all = of(&pairs);
        let reversed: Vec<_> = pairs.iter().rev().cloned().collect();
        prop_assert_eq!(&of(&reversed), &all);
        for (pair, name) in of(&pairs[..pairs.len() / 2]) {
            prop_assert_eq!(&all[&pair], &name);
        }
    }
}

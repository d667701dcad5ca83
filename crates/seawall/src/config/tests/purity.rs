//! The checks know of the world only what they are told (K12).

use super::*;

/// K12: in the empty world no variable of this process and no file of this machine is seen.
#[test]
fn empty_world_is_empty() {
    assert!(std::env::var_os("PATH").is_some());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "A=1").unwrap();
    let entry = serde_json::json!({"command": "c", "args": ["${PATH}"], "envFile": file.path()});
    let text = serde_json::json!({"servers": {"a": entry}}).to_string();
    let codes: Vec<&str> = check(&Source::new(&text))
        .problems
        .iter()
        .map(|problem| problem.kind().code())
        .collect();
    assert_eq!(codes, ["unset_variable", "env_file"]);
}

/// K12: what the checks are made of names nothing that reads, starts or dials.
#[test]
fn checks_name_nothing_of_the_world() {
    let sources = [
        include_str!("../builder.rs"),
        include_str!("../check.rs"),
        include_str!("../credentials.rs"),
        include_str!("../decode.rs"),
        include_str!("../draft.rs"),
        include_str!("../env_file.rs"),
        include_str!("../expand.rs"),
        include_str!("../findings.rs"),
        include_str!("../keys.rs"),
        include_str!("../mcpl.rs"),
        include_str!("../names.rs"),
        include_str!("../problem.rs"),
        include_str!("../server.rs"),
        include_str!("../value.rs"),
    ];
    for source in sources {
        let title = source.lines().next().unwrap_or_default();
        for name in [
            "std::env",
            "std::fs",
            "std::net",
            "std::process",
            "tokio",
            "Instant",
            "SystemTime",
        ] {
            assert!(!source.contains(name), "{name} in the file of {title:?}");
        }
    }
}

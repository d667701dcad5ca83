//! The member `journal` of the section `gateway`.

use std::time::Duration;

use super::*;

fn read(journal: &str) -> (JournalConfig, Vec<String>) {
    let text = format!(r#"{{"mcpServers": {{}}, "gateway": {{"journal": {journal}}}}}"#);
    let checked = check_in(&world(), &text);
    let line = |problem: &Problem| {
        let field = problem.place().field().unwrap_or_default();
        format!("{field}: {}", problem.kind())
    };
    let problems = checked.problems.iter().map(line).collect();
    (checked.gateway.journal, problems)
}

/// J1: what the journal is told to be.
#[test]
fn a_journal_is_configured() {
    let (config, problems) = read(
        r#"{"path": "/var/lib/seawall/${SET}.db", "maxAge": "12h", "maxBytes": 1000000, "store": true,
            "unwritable": "refuseAll", "durability": "power"}"#,
    );
    assert_eq!(problems, Vec::<String>::new());
    assert!(!config.off && config.store);
    let path = config.path.unwrap();
    assert!(path.starts_with("/var/lib/seawall") && !path.to_string_lossy().contains('$'));
    assert_eq!(config.max_age, Some(Duration::from_secs(12 * 3_600)));
    assert_eq!(config.max_bytes, Some(1_000_000));
    assert_eq!(config.unwritable, WhenUnwritable::RefuseAll);
    assert_eq!(config.durability, Durability::Power);

    assert_eq!(read("{}"), (JournalConfig::default(), vec![]));
    assert!(read(r#"{"off": true}"#).0.off);
}

/// J1, K3: every problem of it is told, with its field.
#[test]
fn what_is_wrong_with_a_journal_is_told() {
    let (_, problems) = read(
        r#"{"path": "", "maxAge": "30", "maxBytes": 0, "store": "yes", "unwritable": "ignore", "durability": 7, "paht": 1}"#,
    );
    let fields: Vec<&str> = problems
        .iter()
        .filter_map(|problem| problem.split(':').next())
        .collect();
    let all = [
        "path",
        "maxAge",
        "maxBytes",
        "store",
        "unwritable",
        "durability",
        "paht",
    ];
    assert_eq!(fields, all.map(|key| format!("gateway.journal.{key}")));
    assert!(problems[1].contains("30d"), "{}", problems[1]);
    assert!(problems[6].contains("\"path\""), "{}", problems[6]);
    for age in ["0d", "-1d", "1w", "d", "+1d", "1 d", "99999999999d"] {
        let (_, problems) = read(&format!(r#"{{"maxAge": "{age}"}}"#));
        assert_eq!(problems.len(), 1, "{age}");
    }
}

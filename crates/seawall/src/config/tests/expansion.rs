//! `${…}`, `envFile`, inputs.

use super::*;

fn env_of(text: &str) -> BTreeMap<String, String> {
    stdio(&server(text)).env.clone()
}

/// K4: `${NAME}`, `${NAME:-default}`; what is put in is not looked at again.
#[test]
fn env_values_take_variables() {
    let env = env_of(&with(
        r#""env": {"A": "<${SET}>", "B": "${UNSET:-fall back}", "C": "${EMPTY:-x}", "D": "[${EMPTY}]", "F": "$SET ${ x} ${"}"#,
    ));
    assert_eq!(env["A"], "<value>");
    assert_eq!(env["B"], "fall back");
    assert_eq!(env["C"], "x");
    assert_eq!(env["D"], "[]");
    assert_eq!(env["F"], "$SET ${ x} ${");
}

/// K4: where `${A:-${B}}` would end at the inner brace, the outer one would be left in the value.
#[test]
fn default_that_is_a_substitution_is_refused() {
    for text in ["${SET:-${SET}", "x${env:UNSET:-a${b", "${UNSET:-${SET}"] {
        let text = format!("{text}}}");
        let checked = check_text(&with(&format!(r#""env": {{"A": "{text}"}}"#)));
        let message = checked.problems[0].to_string();
        assert!(
            message.contains("env.A") && message.contains(":-…}"),
            "{message}"
        );
    }
}

/// K4: unset is an error that names server and variable.
#[test]
fn unset_variable_is_named() {
    let checked = check_text(&with(r#""env": {"A": "${NO_SUCH}"}"#));
    let message = checked.problems[0].to_string();
    assert!(
        message.contains("\"a\"") && message.contains("env.A") && message.contains("NO_SUCH"),
        "{message}"
    );
}

/// K1: the forms of other hosts, in every text of a map's entry.
#[test]
fn maps_take_other_hosts_forms() {
    let config = server(
        r#"{"servers": {"a": {"command": "${workspaceFolder}/run", "args": ["${env:SET}", "${userHome}", "${workspaceFolderBasename}"], "cwd": "${workspaceFolder}", "env": {"A": "${env:UNSET:-d}"}}}}"#,
    );
    assert_eq!(stdio(&config).command, "/ws/project/run");
    assert_eq!(stdio(&config).args, ["value", "/home/me", "project"]);
    assert_eq!(
        stdio(&config).cwd.as_deref(),
        Some(Path::new("/ws/project"))
    );
    assert_eq!(stdio(&config).env["A"], "d");
    let config = server(r#"{"servers": {"a": {"url": "https://h/${SET}"}}}"#);
    assert_eq!(network(&config).url.as_str(), "https://h/value");
    let config =
        server(r#"{"servers": {"a": {"command": "c", "args": ["a${pathSeparator}b", "a${/}b"]}}}"#);
    let path = format!("a{}b", std::path::MAIN_SEPARATOR);
    assert_eq!(stdio(&config).args, [path.as_str(), path.as_str()]);
    assert_problem(
        r#"{"servers": {"a": {"command": "c", "args": ["${command:x}"]}}}"#,
        "args[0]",
        "substitution",
    );
}

/// K4: in the array shape `command`, `args` and `cwd` are what is written.
#[test]
fn array_leaves_args_alone() {
    let config = server(
        r#"[{"server": "a", "command": "${UNSET}", "args": ["${UNSET}"], "cwd": "${UNSET}"}]"#,
    );
    assert_eq!(stdio(&config).command, "${UNSET}");
    assert_eq!(stdio(&config).args, ["${UNSET}"]);
    assert_eq!(stdio(&config).cwd.as_deref(), Some(Path::new("${UNSET}")));
}

/// K1: `envFile`, relative to the workspace; the entry's `env` wins.
#[test]
fn env_file_is_read_through_the_caller() {
    let mut world = world();
    let file = "# c\n\nexport A=1\nB='x ${SET}' # c\nC=\"y\\n\\\"z\\\"\"\r\nD = plain # c\nE=\nF= # c\nG=a#b\t# c\n";
    world.files.insert(PathBuf::from("/ws/project/.env"), file);
    let text = r#"{"servers": {"a": {"command": "c", "envFile": "${workspaceFolder}/.env", "env": {"A": "own"}}}}"#;
    let servers = check_in(&world, text).into_servers().unwrap();
    let env = &stdio(&servers[0]).env;
    let found: Vec<_> = env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("A", "own"),
            ("B", "x ${SET}"),
            ("C", "y\n\"z\""),
            ("D", "plain"),
            ("E", ""),
            ("F", ""),
            ("G", "a#b")
        ]
    );
    // It is a word of the maps.
    assert_problem(&with(r#""envFile": "gone""#), "envFile", "unknown_key");
    let relative = r#"{"servers": {"a": {"command": "c", "envFile": ".env"}}}"#;
    assert_eq!(check_in(&world, relative).into_servers().unwrap().len(), 1);
}

/// K1, K3: an `envFile` that is not there or malformed is a problem; its text is not repeated.
#[test]
fn bad_env_file_is_a_problem() {
    assert_problem(
        r#"{"servers": {"a": {"command": "c", "envFile": "gone"}}}"#,
        "envFile",
        "env_file",
    );
    let mut world = world();
    world
        .files
        .insert(PathBuf::from("/ws/project/bad"), "A=1\nhunter2\nB='open\n");
    let checked = check_in(
        &world,
        r#"{"servers": {"a": {"command": "c", "envFile": "bad"}}}"#,
    );
    let kinds: Vec<_> = checked
        .problems
        .iter()
        .map(|problem| problem.kind().clone())
        .collect();
    assert_eq!(
        kinds,
        [
            ProblemKind::EnvFileLine { line: 2 },
            ProblemKind::EnvFileLine { line: 3 }
        ]
    );
    assert!(!format!("{checked:?}").contains("hunter2"));
}

/// K1: an input is asked of the caller once; without an answer it is an error that names the input.
#[test]
fn inputs_are_asked_once() {
    let text = r#"{"inputs": [{"id": "key", "type": "promptString", "description": "API key", "password": true}],
        "servers": {"a": {"command": "c", "env": {"A": "${input:key}", "B": "${input:key}"}}}}"#;
    let mut world = world();
    world.inputs.insert("key", "k3y");
    let servers = check_in(&world, text).into_servers().unwrap();
    assert_eq!(stdio(&servers[0]).env["B"], "k3y");
    let asked = world.asked.borrow();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        (asked[0].description.as_deref(), asked[0].password),
        (Some("API key"), true)
    );
    let checked = check_text(text);
    assert_eq!(
        *checked.problems[0].kind(),
        ProblemKind::MissingInput {
            id: "key".to_owned()
        }
    );
}

/// K1: VS Code allows numbers and null in `env`.
#[test]
fn maps_take_numbers_and_null_in_env() {
    let config =
        server(r#"{"servers": {"a": {"command": "c", "env": {"PORT": 80, "GONE": null}}}}"#);
    assert_eq!(
        stdio(&config).env,
        BTreeMap::from([("PORT".to_owned(), "80".to_owned())])
    );
}

/// A text of many `${` is read once, however they are closed.
#[test]
fn many_openings_take_no_longer_than_their_text() {
    const OPENINGS: usize = 100_000;
    for (end, expected) in [
        ("", ""),
        ("}", "}"),
        ("${env:SET}", "value"),
        (" }${SET}", " }value"),
    ] {
        for opening in ["${", "${a ", "${ env:", "${input-", "$${"] {
            let text = format!("{}{end}", opening.repeat(OPENINGS));
            let began = std::time::Instant::now();
            let env = env_of(&with(&format!(r#""env": {{"A": "{text}"}}"#)));
            assert!(began.elapsed() < std::time::Duration::from_secs(5));
            assert!(env["A"].ends_with(expected), "{opening} {end}");
        }
    }
}

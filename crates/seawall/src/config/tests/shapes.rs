//! The three shapes of a file, its defaults, its syntax.

use super::*;

/// K1: the array shape.
#[test]
fn array_of_entries_with_server_is_read() {
    let config = server(
        r#"[{"server": "demo", "command": "cmd", "args": ["-x", "y"], "cwd": "/tmp", "env": {"A": "1"}}]"#,
    );
    assert_eq!(config.server(), "demo");
    assert_eq!(config.name_prefix(), "mcp/demo");
    let stdio = stdio(&config);
    assert_eq!(
        (stdio.command.as_str(), stdio.args.as_slice()),
        ("cmd", ["-x".to_owned(), "y".to_owned()].as_slice())
    );
    assert_eq!(stdio.cwd.as_deref(), Some(Path::new("/tmp")));
    assert_eq!(
        stdio.env,
        BTreeMap::from([("A".to_owned(), "1".to_owned())])
    );
}

/// K1: the shape of Claude, Cursor and most others, and the shape of VS Code; `args` may be left out (K4).
#[test]
fn both_maps_are_read() {
    for map in ["mcpServers", "servers"] {
        let config = server(&format!(
            r#"{{"{map}": {{"demo": {{"type": "stdio", "command": "cmd"}}}}}}"#
        ));
        assert_eq!(
            (config.server(), stdio(&config).command.as_str()),
            ("demo", "cmd")
        );
        assert_eq!(stdio(&config).args, [""; 0]);
    }
}

/// K1, K4: galleries give ids that no part of a name can be; such a server is there all the same, and one warning says as what.
#[test]
fn foreign_ids_are_taken_as_far_as_they_go() {
    let galleries = |map: &str| {
        format!(
            r#"{{"{map}": {{"owner/na\u200bme": {{"command": "c", "gallery": "g", "version": "1"}}, "off/x": {{"command": "c", "disabled": true}}}}}}"#
        )
    };
    for map in ["mcpServers", "servers"] {
        let checked = check_text(&galleries(map));
        assert_eq!(checked.problems, []);
        let ids: Vec<&str> = checked.servers.iter().map(ServerConfig::server).collect();
        assert_eq!(ids, ["owner-na-me"]);
        assert_eq!(checked.disabled, ["off-x"]);
        let codes: Vec<&str> = checked.warnings.iter().map(|it| it.kind().code()).collect();
        assert_eq!(codes, ["renamed_server"]);
        assert!(checked.warnings[0].to_string().contains("owner/na"));
    }
    // Seawall's own shape says what an id is, and two servers never share one.
    assert_eq!(
        problems(r#"[{"server": "a/b", "command": "c", "args": []}]"#),
        [("server".to_owned(), "server_id")]
    );
    assert_eq!(
        problems(r#"{"mcpServers": {"a/b": {"command": "c"}, "a-b": {"command": "c"}}}"#),
        [("server".to_owned(), "duplicate_server")]
    );
}

/// K1: comments and trailing commas.
#[test]
fn comments_and_trailing_commas_are_allowed() {
    server(
        "\u{feff}// one\n{\"mcpServers\": {/* two */ \"a\": {\"command\": \"c\", \"args\": [\"x\",],},},}",
    );
}

/// K1: nothing else of JSON5.
#[test]
fn other_liberties_are_syntax_errors() {
    for text in [
        "[{server: \"a\"}]",
        "[{'server': 'a'}]",
        "[1 2]",
        "[NaN]",
        "[0x10]",
        "[+1]",
        "[.5]",
        r#"["\x41"]"#,
        "",
    ] {
        assert_eq!(
            check_text(text).problems[0].kind().code(),
            "syntax",
            "{text}"
        );
    }
}

/// K3: not JSON, with line and column.
#[test]
fn syntax_error_has_line_and_column() {
    let checked = check_text("[\n  {\"server\": \"ä\" ]\n");
    let place = checked.problems[0].place();
    assert_eq!((place.line(), place.column()), (Some(2), Some(18)));
    // Each of the three ends of a line is one.
    let checked = check_text("[\r\n\r\n\r1 2]");
    let place = checked.problems[0].place();
    assert_eq!((place.line(), place.column()), (Some(4), Some(2)));
}

/// K3: not one of the shapes.
#[test]
fn other_shapes_are_refused() {
    for text in ["{}", "1", "null", "\"x\"", r#"{"command": "c"}"#] {
        assert_problem(text, "", "shape");
    }
    assert_problem(r#"{"mcpServers": {}, "servers": {}}"#, "", "two_maps");
    assert_problem(r#"{"mcpServers": []}"#, "mcpServers", "invalid_value");
    assert_problem("[[]]", "", "invalid_value");
    assert_eq!(check_text("[]").into_servers().unwrap(), []);
}

/// K3: every problem of the file is listed, in its order, each with its entry and field.
#[test]
fn every_problem_is_listed() {
    let text = r#"[{"server": "", "command": 1, "args": "x"}, {"server": "b", "command": "c", "args": [], "cwd": "", "maxTools": 0}]"#;
    let found = check_text(text).problems;
    let lines: Vec<_> = found
        .iter()
        .map(|p| {
            (
                p.place().server().unwrap(),
                p.place().field().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            ("#0", "server"),
            ("#0", "command"),
            ("#0", "args"),
            ("b", "cwd"),
            ("b", "maxTools")
        ]
    );
}

/// K3: one bad entry makes the file unusable, and the good ones are still known.
#[test]
fn one_bad_entry_refuses_the_file() {
    let checked = check_text(r#"{"mcpServers": {"good": {"command": "c"}, "bad": {}}}"#);
    assert_eq!(checked.servers.len(), 1);
    assert_eq!(checked.into_servers().unwrap_err().as_slice().len(), 1);
}

/// K1: a key twice is a problem wherever it is.
#[test]
fn duplicate_keys_are_problems() {
    assert_problem(
        r#"{"mcpServers": {"a": {"command": "c"}, "a": {"command": "d"}}}"#,
        "",
        "duplicate_key",
    );
    assert_problem(
        r#"{"mcpServers": {}, "mcpServers": {}}"#,
        "",
        "duplicate_key",
    );
    assert_problem(&with(r#""cwd": "x", "cwd": "y""#), "", "duplicate_key");
    assert_problem(
        &with(r#""env": {"A": "1", "\u0041": "2"}"#),
        "",
        "duplicate_key",
    );
    assert_problem(
        r#"{"servers": {"a": {"command": "c", "metadata": [{"k": 1, "k": 2}]}}}"#,
        "",
        "duplicate_key",
    );
    assert_problem(
        r#"{"servers": {"a": {"command": "c"}}, "defaults": {"maxTools": 1, "maxTools": 2}}"#,
        "",
        "duplicate_key",
    );
}

/// K1: in the array shape an unknown key is an error that names the nearest known one.
#[test]
fn unknown_key_in_array_names_the_nearest() {
    for (written, expected) in [
        ("comand", "command"),
        ("requestTimeout", "requestTimeoutMs"),
        ("type", "transport"),
        ("Exclude", "exclude"),
    ] {
        let checked = check_text(&with(&format!(r#""{written}": "x""#)));
        let [problem] = checked.problems.as_slice() else {
            panic!("{:?}", checked.problems)
        };
        let key = written.to_owned();
        assert_eq!(
            *problem.kind(),
            ProblemKind::UnknownKey {
                key,
                nearest: expected
            }
        );
        assert_eq!(problem.place().field(), Some(written));
    }
}

/// K1: in a map an unknown key is one warning.
#[test]
fn unknown_key_in_map_is_one_warning() {
    assert_warning(
        r#"{"mcpServers": {"a": {"command": "c", "colour": 1}}}"#,
        "colour",
        "unknown_key",
    );
    assert_warning(
        r#"{"mcpServers": {"a": {"command": "c"}}, "theme": 1}"#,
        "theme",
        "unknown_key",
    );
    let text = r#"{"mcpServers": {"a": {"command": "c"}, "b": {"command": "c"}}, "defaults": {"colour": 1}}"#;
    assert_warning(text, "colour", "unknown_key");
}

/// K1: every documented key is known to the checks in the array shape.
#[test]
fn every_listed_key_is_known() {
    for key in keys::KNOWN {
        let codes = problems(&with(&format!(r#""{key}": {{}}"#)));
        assert!(
            codes.iter().all(|(_, code)| *code != "unknown_key"),
            "{key}"
        );
    }
}

/// K1: what other hosts write is understood or passed over in silence.
#[test]
fn keys_of_other_hosts_are_known() {
    let text = r#"{"$schema": "s", "mcpServers": {"a": {"command": "c", "name": "n", "alwaysAllow": [], "autoApprove": ["x"],
        "trust": true, "icon": "i", "includeTools": ["x", "y"], "disabledTools": ["y"], "excludeTools": ["z"]}}}"#;
    assert_eq!(warnings(text), []);
    let config = server(text);
    assert_eq!(
        (config.include(), config.exclude()),
        (
            ["x".to_owned(), "y".to_owned()].as_slice(),
            ["y".to_owned(), "z".to_owned()].as_slice()
        )
    );
    assert_eq!(
        server(r#"{"mcpServers": {"a": {"command": "c", "tools": ["*"]}}}"#).include(),
        [""; 0]
    );
    for url in ["httpUrl", "serverUrl"] {
        let config = server(&format!(
            r#"{{"mcpServers": {{"a": {{"type": "streamable-http", "{url}": "https://h/mcp"}}}}}}"#
        ));
        assert_eq!(network(&config).url.as_str(), "https://h/mcp");
    }
    assert_warning(
        r#"{"mcpServers": {"a": {"command": "c", "timeout": 60}}}"#,
        "timeout",
        "ignored",
    );
}

/// K1: `disabled` switches an entry off, and then nothing else of it matters.
#[test]
fn disabled_entry_is_left_out() {
    let checked = check_text(
        r#"{"servers": {"a": {"disabled": true, "env": {"X": "${UNSET}"}}, "b": {"command": "c", "disabled": false}, "d": {"enabled": false}}}"#,
    );
    assert_eq!(checked.problems, []);
    assert_eq!(checked.disabled, ["a", "d"]);
    assert_eq!(checked.servers[0].server(), "b");
    assert_problem(
        r#"{"servers": {"a": {"command": "c", "disabled": "yes"}}}"#,
        "disabled",
        "invalid_value",
    );
    // It is a word of the maps.
    for key in ["disabled", "enabled"] {
        assert_problem(&with(&format!("\"{key}\": true")), key, "unknown_key");
    }
}

/// K1: `defaults` gives every entry its values, the entry's own go first, and only what fits an entry reaches it.
#[test]
fn defaults_fill_what_entries_leave_open() {
    let text = r#"{"mcpServers": {"a": {"command": "c", "env": {"A": "own"}}, "b": {"url": "https://h/", "maxTools": 7}},
        "defaults": {"maxTools": 5, "env": {"A": "default", "B": "default"}, "bearerTokenEnv": "TOKEN"}}"#;
    assert_eq!(warnings(text), []);
    let servers = check_text(text).into_servers().unwrap();
    assert_eq!(
        (servers[0].limits().max_tools, servers[1].limits().max_tools),
        (5, 7)
    );
    let env = &stdio(&servers[0]).env;
    assert_eq!((env["A"].as_str(), env["B"].as_str()), ("own", "default"));
    assert_eq!(
        network(&servers[1])
            .bearer_token
            .as_ref()
            .map(Secret::reveal),
        Some("t0ken")
    );
}

/// K1, K6: an entry with both a program and a URL gets the defaults of the one that its `transport` says.
#[test]
fn defaults_fit_what_the_transport_says() {
    let file = |transport: &str| {
        format!(
            r#"{{"mcpServers": {{"a": {{"command": "c", "url": "https://h/", "type": "{transport}"}}}},
                "defaults": {{"env": {{"A": "1"}}, "bearerTokenEnv": "TOKEN"}}}}"#
        )
    };
    let remote = server(&file("streamable-http"));
    assert!(network(&remote).bearer_token.is_some());
    assert_eq!(stdio(&server(&file("stdio"))).env["A"], "1");
}

/// K1: an entry's identity is no default; a `defaults` that is no object is refused.
#[test]
fn bad_defaults_are_problems() {
    let file = |defaults: &str| {
        format!(r#"{{"mcpServers": {{"a": {{"command": "c"}}}}, "defaults": {defaults}}}"#)
    };
    assert_problem(&file("[]"), "defaults", "invalid_value");
    assert_problem(&file(r#"{"command": "x"}"#), "", "not_a_default");
    assert_problem(
        r#"{"mcpServers": {"a": {"url": "https://h/"}}, "defaults": {"command": "x"}}"#,
        "",
        "not_a_default",
    );
    assert_problem(&file(r#"{"maxTools": 0}"#), "maxTools", "invalid_value");
}

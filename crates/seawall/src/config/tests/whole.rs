//! What is wrong in an entry is told whole, whatever else is wrong with it.

use super::*;

#[track_caller]
fn assert_problems(entry: &str, expected: &[(&str, &str)]) {
    let text = format!(r#"{{"mcpServers": {{"a": {entry}}}}}"#);
    let mut found = problems(&text);
    found.sort();
    let mut expected: Vec<_> = expected
        .iter()
        .map(|(field, code)| ((*field).to_owned(), *code))
        .collect();
    expected.sort_unstable();
    let found: Vec<_> = found
        .iter()
        .map(|(field, code)| (field.clone(), *code))
        .collect();
    assert_eq!(found, expected, "{entry}");
}

/// K3: an endpoint that cannot be read or told hides none of the other values.
#[test]
fn an_endpoint_in_doubt_hides_no_problem() {
    let stdio = r#""env": {"D=": "x\u0000"}, "passEnv": ["B=D"], "args": ["n\u0000"]"#;
    let of_stdio = [
        ("env", "variable_name"),
        ("env.D=", "nul_character"),
        ("passEnv[0]", "variable_name"),
        ("args[0]", "nul_character"),
    ];
    let network = r#""headers": {"a b": "x", "Content-Length": "1\n"}, "bearerTokenEnv": "UNSET""#;
    let of_network = [
        ("headers", "header"),
        ("headers.Content-Length", "framing_header"),
        ("headers.Content-Length", "header"),
        ("bearerTokenEnv", "unset_variable"),
    ];
    let with = |one: &[(&'static str, &'static str)], more: &[(&'static str, &'static str)]| {
        [one, more].concat()
    };
    assert_problems(
        &format!(r#"{{"command": "", {stdio}}}"#),
        &with(&of_stdio, &[("command", "invalid_value")]),
    );
    assert_problems(
        &format!(r#"{{{stdio}, {network}}}"#),
        &with(
            &[&of_stdio[..], &of_network].concat(),
            &[("", "no_endpoint")],
        ),
    );
    assert_problems(
        &format!(r#"{{"command": "c", "url": "x", {stdio}, {network}}}"#),
        &with(
            &[&of_stdio[..], &of_network].concat(),
            &[("", "two_endpoints"), ("url", "url")],
        ),
    );
    assert_problems(
        &format!(r#"{{"transport": "stdio", {stdio}}}"#),
        &with(&of_stdio, &[("transport", "transport_needs")]),
    );
    assert_problems(
        &format!(r#"{{"transport": "http", {network}, "oauth": {{"scopes": ["a b"]}}}}"#),
        &with(
            &of_network,
            &[
                ("transport", "transport_needs"),
                ("oauth.scopes[0]", "scope"),
            ],
        ),
    );
    for url in ["1", r#""""#, r#""no url""#, r#""ftp://h""#] {
        let entry = format!(r#"{{"url": {url}, {network}, "oauth": {{"scopes": ["a b"]}}}}"#);
        let code = match url {
            r#""no url""# => "url",
            r#""ftp://h""# => "scheme",
            _ => "invalid_value",
        };
        assert_problems(
            &entry,
            &with(&of_network, &[("url", code), ("oauth.scopes[0]", "scope")]),
        );
    }
    assert_eq!(
        problems(r#"[{"server": "a", "command": ""}]"#),
        [("", "missing_key"), ("command", "invalid_value")].map(|(f, c)| (f.to_owned(), c))
    );
}

/// K3, K6, K8: nor does it hide what is said of the protocol.
#[test]
fn an_endpoint_in_doubt_hides_no_protocol() {
    assert_problems(
        r#"{"transport": "http", "protocol": "mcpl"}"#,
        &[
            ("transport", "transport_needs"),
            ("protocol", "protocol_over_transport"),
        ],
    );
    assert_problems(
        r#"{"command": "", "allowHostCommands": true}"#,
        &[
            ("command", "invalid_value"),
            ("allowHostCommands", "mcpl_policy"),
        ],
    );
    assert_problems(
        r#"{"protocol": "auto", "allowHostCommands": true}"#,
        &[("", "no_endpoint"), ("allowHostCommands", "mcpl_policy")],
    );
    // What is usual over a transport that is not told is not known.
    assert_problems(r#"{"allowHostCommands": true}"#, &[("", "no_endpoint")]);
}

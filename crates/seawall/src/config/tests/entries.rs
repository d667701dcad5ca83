//! What one entry may say.

use super::*;
use crate::policy::{Capability, Grant, OnConflict};
use std::time::Duration;

/// K4: `server` and `command` are strings that are not empty, `args` an array of strings, `cwd` not empty.
#[test]
fn stdio_entry_has_its_types() {
    assert_problem(r#"[{"command": "c", "args": []}]"#, "", "missing_key");
    assert_problem(
        r#"[{"server": 1, "command": "c", "args": []}]"#,
        "server",
        "invalid_value",
    );
    assert_problem(
        r#"[{"server": "a", "command": "", "args": []}]"#,
        "command",
        "invalid_value",
    );
    assert_problem(r#"[{"server": "a", "command": "c"}]"#, "", "missing_key");
    assert_problem(
        r#"[{"server": "a", "command": "c", "args": [1]}]"#,
        "args",
        "invalid_value",
    );
    assert_problem(&with(r#""cwd": """#), "cwd", "invalid_value");
    assert_problem(&with(r#""env": {"A": 1}"#), "env.A", "invalid_value");
    assert_problem(&with(r#""env": []"#), "env", "invalid_value");
    assert_problem(&with(r#""env": {"A=B": "x"}"#), "env", "variable_name");
    assert_problem(&with(r#""env": {"A": "\u0000"}"#), "env.A", "nul_character");
    assert_problem(
        &with(r#""passEnv": ["A", ""]"#),
        "passEnv[1]",
        "variable_name",
    );
    assert_problem(&with(r#""inheritEnv": 1"#), "inheritEnv", "invalid_value");
    assert_problem(
        r#"[{"server": "a", "command": "c", "args": ["x\u0000"]}]"#,
        "args[0]",
        "nul_character",
    );
}

/// S13: `passEnv` and `inheritEnv` are kept for the child's environment.
#[test]
fn pass_env_and_inherit_env_are_kept() {
    let config = server(&with(r#""passEnv": ["HTTPS_PROXY"], "inheritEnv": true"#));
    assert_eq!(stdio(&config).pass_env, ["HTTPS_PROXY"]);
    assert!(stdio(&config).inherit_env);
}

/// K5: absolute URL of a known scheme; no user information for http(s), with the way out in the message.
#[test]
fn network_url_is_checked() {
    for url in [
        "https://h/mcp",
        "http://localhost:3000",
        "wss://h/x",
        "ws://u:p@127.0.0.1/",
    ] {
        assert_eq!(problems(&at_url(url, "")), [], "{url}");
    }
    assert_problem(&at_url("/mcp", ""), "url", "url");
    assert_problem(&at_url("ftp://h/", ""), "url", "scheme");
    assert_problem(&at_url("https://u:p@h/", ""), "url", "user_info");
    let message = check_text(&at_url("https://u:p4ssw0rd@h/", "")).problems[0].to_string();
    assert!(
        message.contains("bearerTokenEnv") && !message.contains("p4ssw0rd"),
        "{message}"
    );
}

/// K5, K6 and MCPL RFC-004: an `mcpl` address is dialed as `wss`, never in clear, and stays known as it was written; one that
/// would become another place on the way is refused, and not said back.
#[test]
fn an_mcpl_address_is_dialed_over_tls() {
    let config = server(&at_url("mcpl://Example.COM:443/x?b=2&a=1", ""));
    let network = network(&config);
    assert!(matches!(config.endpoint(), Endpoint::WebSocket(_)));
    assert_eq!(config.protocol(), Protocol::Mcpl);
    assert_eq!(network.url.as_str(), "wss://example.com/x?b=2&a=1");
    let locator = network.locator.as_ref().map(|locator| locator.configured());
    assert_eq!(locator, Some("mcpl://Example.COM:443/x?b=2&a=1"));
    for bad in [
        "mcpl:///x",
        "mcpl://u:p4ssw0rd@h/x",
        "mcpl://h/x#f",
        "mcpl://h/a/../b",
        "mcpl://h:99999/x",
    ] {
        let text = at_url(bad, "");
        assert_problem(&text, "url", "locator");
        let message = check_text(&text).problems[0].to_string();
        assert!(!message.contains("p4ssw0rd"), "{message}");
    }
    let disagrees = at_url("mcpl://h/x", r#", "transport": "http""#);
    assert_problem(&disagrees, "transport", "transport_disagrees");
}

/// K5: `bearerTokenEnv` names a variable that is set and not empty.
#[test]
fn bearer_variable_must_be_set() {
    let config = server(&at_url("https://h/", r#", "bearerTokenEnv": "TOKEN""#));
    assert_eq!(
        network(&config).bearer_token.as_ref().map(Secret::reveal),
        Some("t0ken")
    );
    assert_problem(
        &at_url("https://h/", r#", "bearerTokenEnv": "UNSET""#),
        "bearerTokenEnv",
        "unset_variable",
    );
    assert_problem(
        &at_url("https://h/", r#", "bearerTokenEnv": "EMPTY""#),
        "bearerTokenEnv",
        "empty_variable",
    );
}

/// K5: `headers` are names and values that HTTP can carry.
#[test]
fn headers_are_checked() {
    assert_problem(
        &at_url("https://h/", r#", "headers": {"a b": "x"}"#),
        "headers",
        "header",
    );
    assert_problem(
        &at_url("https://h/", r#", "headers": {"a": "x\ny"}"#),
        "headers.a",
        "header",
    );
    let config = server(&at_url("https://h/", r#", "headers": {"X-A": "${SET}"}"#));
    assert_eq!(network(&config).headers["X-A"], "value");
}

/// K6: a program and a URL together only with `transport`.
#[test]
fn transport_decides_between_command_and_url() {
    let both = |transport: &str| {
        format!(
            r#"[{{"server": "a", "command": "c", "args": [], "url": "https://h/" {transport}}}]"#
        )
    };
    assert_problem(&both(""), "", "two_endpoints");
    assert!(matches!(
        server(&both(r#", "transport": "stdio""#)).endpoint(),
        Endpoint::Stdio(_)
    ));
    assert!(matches!(
        server(&both(r#", "transport": "http""#)).endpoint(),
        Endpoint::Http(_)
    ));
    assert_problem(r#"[{"server": "a"}]"#, "", "no_endpoint");
}

/// K6: `transport` that disagrees with the URL, or lacks what it needs, or is none.
#[test]
fn transport_must_agree() {
    assert_problem(
        &at_url("wss://h/", r#", "transport": "http""#),
        "transport",
        "transport_disagrees",
    );
    assert_problem(
        &at_url("https://h/", r#", "transport": "websocket""#),
        "transport",
        "transport_disagrees",
    );
    assert_problem(
        &at_url("https://h/", r#", "transport": "stdio""#),
        "transport",
        "transport_needs",
    );
    assert_problem(
        &with(r#""transport": "http""#),
        "transport",
        "transport_needs",
    );
    assert_problem(
        &with(r#""transport": "pigeon""#),
        "transport",
        "invalid_value",
    );
    assert_problem(
        r#"{"servers": {"a": {"type": "http", "command": "c"}}}"#,
        "type",
        "transport_needs",
    );
}

/// K7: the defaults, the words and the pins.
#[test]
fn protocol_has_its_defaults_and_words() {
    assert_eq!(server(&with(r#""cwd": "/""#)).protocol(), Protocol::Legacy);
    assert_eq!(server(&at_url("https://h/", "")).protocol(), Protocol::Auto);
    assert_eq!(server(&at_url("wss://h/", "")).protocol(), Protocol::Mcpl);
    assert_eq!(
        server(&with(r#""protocol": "auto""#)).protocol(),
        Protocol::Auto
    );
    assert_eq!(
        server(&with(r#""protocol": "modern""#)).protocol(),
        Protocol::Modern
    );
    let pinned = server(&with(r#""protocol": "2025-06-18""#)).protocol();
    assert!(matches!(pinned, Protocol::Pinned(revision) if revision.as_str() == "2025-06-18"));
    assert_problem(
        &with(r#""protocol": "2020-01-01""#),
        "protocol",
        "unknown_revision",
    );
    assert_problem(
        &with(r#""protocol": "newest""#),
        "protocol",
        "invalid_value",
    );
}

/// K7: what a transport cannot carry.
#[test]
fn protocol_must_fit_the_transport() {
    assert_problem(
        &at_url("https://h/", r#", "protocol": "mcpl""#),
        "protocol",
        "protocol_over_transport",
    );
    assert_problem(
        &at_url("wss://h/", r#", "protocol": "modern""#),
        "protocol",
        "protocol_over_transport",
    );
    assert_problem(
        &at_url("wss://h/", r#", "protocol": "2026-07-28""#),
        "protocol",
        "protocol_over_transport",
    );
}

/// K8: MCPL policy that asks is refused without MCPL; what takes away or repeats a default is accepted.
#[test]
fn mcpl_policy_needs_mcpl() {
    for asking in [
        r#""allowHostCommands": true"#,
        r#""enabledFeatureSets": ["x"]"#,
        r#""enabledCapabilities": ["tools"]"#,
        r#""channelSubscription": "auto""#,
        r#""mcplPolicy": "legacy""#,
        r#""autofetch": {}"#,
        r#""toolLifecycle": {"observe": true}"#,
    ] {
        let key = asking.split('"').nth(1).unwrap();
        assert_problem(&with(asking), key, "mcpl_policy");
        assert_eq!(problems(&at_url("wss://h/", &format!(", {asking}"))), []);
    }
    for harmless in [
        r#""allowHostCommands": false"#,
        r#""enabledFeatureSets": []"#,
        r#""disabledCapabilities": ["x"]"#,
        r#""channelSubscription": "manual""#,
        r#""toolLifecycle": {"observe": false}"#,
    ] {
        assert_eq!(warnings(&with(harmless)), []);
    }
}

/// K9 and L1: every limit and timeout is an option, positive, whole, bounded; one past the bound is refused.
#[test]
fn limits_are_positive_and_bounded() {
    let sizes = [
        "queueCapacity",
        "maxFrameBytes",
        "maxOutboundFrameBytes",
        "maxTools",
        "maxToolNameBytes",
        "maxToolDocumentBytes",
        "maxCatalogPages",
        "maxStderrBytes",
        "maxBufferedBytes",
    ];
    let timeouts = [
        "handshakeTimeoutMs",
        "requestTimeoutMs",
        "maxTotalTimeoutMs",
        "reconnectMaxIntervalMs",
        "reconnectIntervalMs",
    ];
    for (options, most, past) in [
        (sizes.as_slice(), "9007199254740991", "9007199254740992"),
        (timeouts.as_slice(), "2147483647", "2147483648"),
    ] {
        for option in options {
            for good in ["5000", most, "5e3", "5000.0"] {
                assert_eq!(
                    problems(&with(&format!(r#""{option}": {good}"#))),
                    [],
                    "{option} {good}"
                );
            }
            for bad in [
                past,
                "0",
                "-1",
                "1.5",
                "1e300",
                "99999999999999999999",
                "\"5\"",
                "null",
                "-0",
            ] {
                assert_problem(
                    &with(&format!(r#""{option}": {bad}"#)),
                    option,
                    "invalid_value",
                );
            }
        }
    }
}

/// L1: an entry's limits arrive, and the others keep their defaults.
#[test]
fn limits_arrive() {
    let config = server(&with(
        r#""handshakeTimeoutMs": 1, "requestTimeoutMs": 2, "queueCapacity": 3, "maxFrameBytes": 4, "maxOutboundFrameBytes": 5,
        "maxTools": 6, "maxToolNameBytes": 7, "maxToolDocumentBytes": 8, "maxCatalogPages": 9, "maxStderrBytes": 10,
        "maxBufferedBytes": 11, "maxTotalTimeoutMs": 12, "invalidTools": "quarantine""#,
    ));
    let limits = config.limits();
    assert_eq!(
        (limits.handshake_timeout, limits.request_timeout),
        (Duration::from_millis(1), Duration::from_millis(2))
    );
    assert_eq!(
        (
            limits.queue_capacity,
            limits.max_frame_bytes,
            limits.max_outbound_frame_bytes
        ),
        (3, 4, 5)
    );
    assert_eq!(
        (
            limits.max_tools,
            limits.max_tool_name_bytes,
            limits.max_tool_document_bytes
        ),
        (6, 7, 8)
    );
    assert_eq!(
        (
            limits.max_catalog_pages,
            limits.max_stderr_bytes,
            limits.max_buffered_bytes
        ),
        (9, 10, 11)
    );
    assert_eq!(limits.invalid_tools, crate::InvalidTools::Quarantine);
    assert_eq!(config.max_total_timeout(), Duration::from_millis(12));
    let config = server(&with(r#""requestTimeoutMs": 77"#));
    assert_eq!(config.max_total_timeout(), Duration::from_millis(77));
    assert_eq!(config.limits().max_tools, crate::limits::DEFAULT_MAX_TOOLS);
    assert_problem(
        &with(r#""invalidTools": "ignore""#),
        "invalidTools",
        "invalid_value",
    );
}

/// K11: exact names, exclude after include; a prefix that is not empty.
#[test]
fn include_exclude_and_prefix_are_kept() {
    let config = server(&with(
        r#""include": ["x", "y"], "exclude": ["y"], "namePrefix": "my/tools""#,
    ));
    assert!(config.admits_tool("x") && !config.admits_tool("y") && !config.admits_tool("X"));
    assert_eq!(config.name_prefix(), "my/tools");
    assert_problem(&with(r#""include": []"#), "include", "empty_include");
    assert_problem(&with(r#""include": [""]"#), "include[0]", "invalid_value");
    assert_problem(&with(r#""namePrefix": """#), "namePrefix", "invalid_value");
    for prefix in ["a//b", "/a", "a/", "a/../b", "a\\u200db"] {
        assert_problem(
            &with(&format!(r#""namePrefix": "{prefix}""#)),
            "namePrefix",
            "name_prefix",
        );
    }
}

/// F2, F4, K3: a grant that parses as nothing, is no action of a host, or grants nothing is a problem with its index; every
/// one is told.
#[test]
fn bad_grants_are_told_by_their_index() {
    let of = |grant: &str| problems(&with(&format!(r#""grant": {grant}"#)));
    let at = |at: usize, code| (format!("grant[{at}]"), code);
    assert_eq!(
        of(r#"["fs:read:/srv/**", "*", "fs:red:**", "proc:spawn:a*", "fs:*:**", ""]"#),
        [
            at(1, "capability"),
            at(2, "host_action"),
            at(3, "capability"),
            at(4, "capability"),
            at(5, "capability"),
        ]
    );
    assert_eq!(of("[]"), [("grant".to_owned(), "empty_grant")]);
    assert_eq!(of("\"**\""), [("grant".to_owned(), "invalid_value")]);
    assert_problem(
        &with(r#""onConflict": "queue""#),
        "onConflict",
        "invalid_value",
    );
    let whole = server(&with(r#""onConflict": "serialize""#));
    assert!(!whole.grant().is_narrowed());
    assert_eq!(whole.grant(), &Grant::default());
    let built = ServerConfig::stdio("a", "c").grant(["fs:read"]).build();
    let problems = built.expect_err("no capability");
    assert!(problems.to_string().contains("grant[0]"), "{problems}");
}

/// F4: the word for the nearest action is the host's own.
#[test]
fn an_unknown_action_has_a_nearest_one() {
    let checked = check_text(&with(r#""grant": ["fs:raed:**"]"#));
    let problem = checked.problems[0].to_string();
    assert!(problem.contains("did you mean \"fs:read\"?"), "{problem}");
}

/// H6: equal or nested prefixes are refused, the default ones included; a common beginning is not nesting.
#[test]
fn meeting_prefixes_are_refused() {
    let two = |first: &str, second: &str| {
        format!(
            r#"{{"mcpServers": {{"a": {{"command": "c", "namePrefix": "{first}"}}, "b": {{"command": "c", "namePrefix": "{second}"}}}}}}"#
        )
    };
    for (first, second) in [("p", "p"), ("p", "p/q"), ("p/q/r", "p"), ("mcp/b", "mcp/b")] {
        assert_problem(&two(first, second), "namePrefix", "prefixes_meet");
    }
    assert_eq!(problems(&two("p", "pq")), []);
    assert_problem(
        r#"{"mcpServers": {"a": {"command": "c", "namePrefix": "mcp"}, "b": {"command": "c"}}}"#,
        "namePrefix",
        "prefixes_meet",
    );
    let twice = r#"[{"server": "a", "command": "c", "args": []}, {"server": "a", "command": "c", "args": []}]"#;
    assert_problem(twice, "server", "duplicate_server");
}

/// An id becomes part of flow names: no `/`, no control and no format character.
#[test]
fn server_ids_are_checked() {
    for id in ["", ".", ".."] {
        let text = format!(r#"{{"mcpServers": {{"{id}": {{"command": "c"}}}}}}"#);
        assert_problem(&text, "server", "server_id");
    }
    for id in ["a/b", ".", "a\\u0007", "a\\u200b", "a\\u2028"] {
        let text = format!(r#"[{{"server": "{id}", "command": "c", "args": []}}]"#);
        assert_problem(&text, "server", "server_id");
    }
    assert_eq!(
        server(r#"{"mcpServers": {"Grüße 1.0": {"command": "c"}}}"#).server(),
        "Grüße 1.0"
    );
}

/// H2, H5, H9, F4: the entry's words for the host.
#[test]
fn host_options_are_kept() {
    let config = server(&with(
        r#""reconnect": true, "reconnectIntervalMs": 10, "reconnectMaxIntervalMs": 20, "required": true, "catalog": "frozen", "grant": ["proc:spawn:mcp/a"], "onConflict": "allow""#,
    ));
    assert_eq!(config.reconnect(), Reconnect::On);
    assert_eq!(
        (
            config.reconnect_interval().as_millis(),
            config.reconnect_max_interval().as_millis()
        ),
        (10, 20)
    );
    assert!(config.is_required());
    assert_eq!(config.catalog(), CatalogMode::Frozen);
    let granted = config.grant().capabilities().iter();
    let granted: Vec<&str> = granted.map(Capability::as_str).collect();
    assert_eq!(granted, ["proc:spawn:mcp/a"]);
    assert_eq!(config.grant().on_conflict(), OnConflict::Allow);
    assert_eq!(
        server(&with(r#""reconnect": false"#)).reconnect(),
        Reconnect::Off
    );
    assert_eq!(
        server(&with(r#""required": false"#)).reconnect(),
        Reconnect::Unsaid
    );
    let falling = r#""reconnectIntervalMs": 20, "reconnectMaxIntervalMs": 10"#;
    assert_problem(
        &with(falling),
        "reconnectMaxIntervalMs",
        "reconnect_intervals",
    );
    assert_eq!(
        server(&with(r#""reconnectIntervalMs": 400000"#))
            .reconnect_max_interval()
            .as_millis(),
        400_000
    );
}

/// K4, K9, K11: the builder runs the same checks.
#[test]
fn builder_runs_the_same_checks() {
    let config = ServerConfig::stdio("demo", "cmd")
        .args(["-x"])
        .env("K", "${V}")
        .cwd("/tmp")
        .include(["x"])
        .build_in(&Nothing)
        .unwrap();
    assert_eq!(stdio(&config).env["K"], "${V}");
    let mut limits = crate::Limits::default();
    limits.max_tools = 0;
    limits.request_timeout = Duration::from_nanos(1);
    let problems = ServerConfig::stdio("a/b", "")
        .limits(limits)
        .name_prefix("")
        .build_in(&Nothing)
        .unwrap_err();
    let codes: Vec<_> = problems
        .as_slice()
        .iter()
        .map(|problem| problem.kind().code())
        .collect();
    assert_eq!(
        codes,
        [
            "server_id",
            "name_prefix",
            "invalid_value",
            "invalid_value",
            "invalid_value"
        ]
    );
    assert_eq!(
        ServerConfig::url("a", "ftp://h")
            .build_in(&Nothing)
            .unwrap_err()
            .as_slice()
            .len(),
        1
    );
}

/// K5: headers that say where a message ends, or what its connection is for, are HTTP's own and never an entry's.
#[test]
fn headers_of_http_itself_are_refused() {
    for name in [
        "Content-Length",
        "transfer-encoding",
        "Connection",
        "Upgrade",
        "expect",
        "TE",
        "Trailer",
    ] {
        let built = ServerConfig::url("s", "https://example.com/mcp")
            .header(name, "5")
            .build();
        let problems = built.expect_err("refused").to_string();
        assert!(problems.contains(&format!("headers.{name}")), "{problems}");
        assert!(problems.contains("HTTP's own"), "{problems}");
    }
}

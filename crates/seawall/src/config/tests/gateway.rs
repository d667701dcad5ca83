//! The section `gateway`.

use super::*;

const FULL: &str = r#"{
  "mcpServers": {
    "files": { "command": "c" },
    "wiki": { "url": "https://wiki.example.com/mcp" },
    "old": { "command": "c", "disabled": true }
  },
  "gateway": {
    "names": "plain",
    "remoteErrors": "withhold",
    "toolSearch": true,
    "hosts": ["Gateway.Example.com", "[::1]", "192.0.2.7"],
    "origins": ["https://App.example.com", "http://localhost:6274/"],
    "clients": {
      "laptop": { "token": "${LONG}", "toolSearch": false },
      "build": {
        "tokenSha256": "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08",
        "envelope": ["fs:read:/srv/**", "net:*:**"],
        "include": ["files", "wiki/search"],
        "exclude": ["files/delete", "old"]
      },
      "people": { "claims": { "scope": "tools", "team": "${SET}" } },
      "here": {}
    },
    "auth": {
      "issuer": "https://login.example.com/",
      "audience": "https://gateway.example.com/mcp",
      "scopes": ["tools"]
    }
  }
}"#;

fn world() -> World {
    let mut world = super::world();
    world.variables.insert("LONG", "0123456789abcdef");
    world.variables.insert("LONG_TOO", "0123456789abcdef");
    world.variables.insert("BLANK", "0123456789 abcdef");
    world
}

fn gateway(text: &str) -> GatewayConfig {
    let checked = check_in(&world(), text);
    assert_eq!((checked.problems, checked.warnings), (vec![], vec![]));
    checked.gateway
}

/// Field and words of each problem of a section.
fn wrong(section: &str) -> Vec<(String, String)> {
    let text =
        format!(r#"{{"mcpServers": {{"files": {{"command": "c"}}}}, "gateway": {section}}}"#);
    let found = check_in(&world(), &text).problems;
    let line = |problem: &Problem| {
        let field = problem.place().field().unwrap_or_default().to_owned();
        (field, problem.kind().to_string())
    };
    found.iter().map(line).collect()
}

/// F4, G3: everything that the section says, and nothing of it is another entry.
#[test]
fn a_whole_section_is_read() {
    let gateway = gateway(FULL);
    assert_eq!(gateway.names, Some(GatewayNames::Plain));
    assert_eq!(gateway.remote_errors, Some(GatewayErrors::Withheld));
    assert!(gateway.tool_search);
    assert_eq!(gateway.hosts, ["gateway.example.com", "::1", "192.0.2.7"]);
    assert_eq!(
        gateway.origins,
        ["https://app.example.com", "http://localhost:6274"]
    );
    let names: Vec<&str> = gateway
        .clients
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["laptop", "build", "people", "here"]);
    let [laptop, build, people, here] = &gateway.clients[..] else {
        panic!("four clients")
    };
    assert_eq!(laptop.token, Some(TokenDigest::of("0123456789abcdef")));
    assert_eq!(laptop.tool_search, Some(false));
    assert_eq!(laptop.envelope, crate::Envelope::everything());
    assert_eq!((&laptop.include, &laptop.claims), (&None, &None));
    assert_eq!(build.token, Some(TokenDigest::of("test")));
    let patterns: Vec<&str> = build
        .envelope
        .patterns()
        .iter()
        .map(|one| one.as_str())
        .collect();
    assert_eq!(patterns, ["fs:read:/srv/**", "net:*:**"]);
    assert_eq!(
        build.include.as_deref(),
        Some(&["files".to_owned(), "wiki/search".to_owned()][..])
    );
    assert_eq!(build.exclude, ["files/delete", "old"]);
    let claims = people.claims.as_ref().unwrap();
    assert_eq!((&*claims["scope"], &*claims["team"]), ("tools", "value"));
    assert_eq!((here.token, &here.claims), (None, &None));
    let auth = gateway.auth.unwrap();
    assert_eq!(auth.issuer, "https://login.example.com/");
    assert_eq!(auth.resource.as_str(), "https://gateway.example.com/mcp");
    assert_eq!(
        (auth.scopes, auth.jwks_uri),
        (vec!["tools".to_owned()], None)
    );
}

/// A file without the section names nobody, and an array has none.
#[test]
fn without_a_section_nobody_is_named() {
    let none = GatewayConfig::default();
    assert_eq!(gateway(r#"{"mcpServers": {}}"#), none);
    assert_eq!(gateway(r#"[]"#), none);
    assert_eq!(gateway(r#"{"servers": {}, "gateway": {}}"#), none);
}

/// R1: neither Debug nor what `check` shows has a token, or its SHA-256.
#[test]
fn no_token_is_shown() {
    let gateway = gateway(FULL);
    let shown = format!("{gateway:?}{}", serde_json::to_string(&gateway).unwrap());
    for secret in ["0123456789abcdef", "9f86d081", "9F86D081", "159, 134"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

/// K3, K11, G3, F4: what is wrong is said, each at its field.
#[test]
fn what_is_wrong_is_told() {
    let client = |members: &str| format!(r#"{{"clients": {{"a": {{{members}}}}}}}"#);
    let auth = |members: &str| {
        format!(r#"{{"clients": {{"a": {{"claims": {{}}}}}}, "auth": {{{members}}}}}"#)
    };
    let sound = r#""issuer": "https://i/", "audience": "https://a/""#;
    let cases = [
        ("1".to_owned(), "gateway", "must be an object"),
        (
            r#"{"client": {}}"#.to_owned(),
            "gateway.client",
            "unknown key \"client\"; did you mean \"clients\"?",
        ),
        (
            r#"{"names": "short"}"#.to_owned(),
            "gateway.names",
            "one of",
        ),
        (
            r#"{"remoteErrors": true}"#.to_owned(),
            "gateway.remoteErrors",
            "one of",
        ),
        (
            r#"{"toolSearch": 1}"#.to_owned(),
            "gateway.toolSearch",
            "true or false",
        ),
        (
            r#"{"hosts": ["a", "http://b"]}"#.to_owned(),
            "gateway.hosts[1]",
            "without a scheme and a port",
        ),
        (
            r#"{"hosts": ["a:80"]}"#.to_owned(),
            "gateway.hosts[0]",
            "without a scheme and a port",
        ),
        (
            r#"{"hosts": "a"}"#.to_owned(),
            "gateway.hosts",
            "array of strings",
        ),
        (
            r#"{"origins": ["https://a/b"]}"#.to_owned(),
            "gateway.origins[0]",
            "must be an origin",
        ),
        (
            r#"{"origins": ["null"]}"#.to_owned(),
            "gateway.origins[0]",
            "must be an origin",
        ),
        (
            r#"{"clients": []}"#.to_owned(),
            "gateway.clients",
            "an object",
        ),
        (
            r#"{"clients": {"a": 1}}"#.to_owned(),
            "gateway.clients.a",
            "an object",
        ),
        (
            r#"{"clients": {"local": {}}}"#.to_owned(),
            "gateway.clients.local",
            "a client's name",
        ),
        (
            r#"{"clients": {"a/b": {}}}"#.to_owned(),
            "gateway.clients.a/b",
            "a client's name",
        ),
        (
            client(r#""tokens": "x""#),
            "gateway.clients.a.tokens",
            "did you mean \"token\"?",
        ),
        (
            client(r#""token": "0123456789abcdef""#),
            "gateway.clients.a.token",
            "tokenSha256",
        ),
        (
            client(r#""token": "${NONE}""#),
            "gateway.clients.a.token",
            "\"NONE\" is not set",
        ),
        (
            client(r#""token": "${TOKEN}""#),
            "gateway.clients.a.token",
            "fewer than 16",
        ),
        (
            client(r#""token": "${BLANK}""#),
            "gateway.clients.a.token",
            "holds a blank",
        ),
        (
            client(r#""tokenSha256": "abc""#),
            "gateway.clients.a.tokenSha256",
            "64 hexadecimal digits",
        ),
        (
            client(&format!(r#""tokenSha256": "{}""#, "+a".repeat(32))),
            "gateway.clients.a.tokenSha256",
            "64 hexadecimal digits",
        ),
        (
            client(r#""token": "${LONG}", "tokenSha256": "abc""#),
            "gateway.clients.a.tokenSha256",
            "keep one of them",
        ),
        (
            format!(r#"{{"clients": {{"a": {{"claims": {{"a": 1}}}}}}, "auth": {{{sound}}}}}"#),
            "gateway.clients.a.claims.a",
            "must be a string",
        ),
        (
            client(r#""claims": {"a": "b"}"#),
            "gateway.clients.a.claims",
            "needs \"auth\"",
        ),
        (
            client(r#""envelope": []"#),
            "gateway.clients.a.envelope",
            "must have a pattern",
        ),
        (
            client(r#""envelope": ["*:*:**", "fs"]"#),
            "gateway.clients.a.envelope[1]",
            "not a pattern",
        ),
        (
            client(r#""include": []"#),
            "gateway.clients.a.include",
            "must name a tool",
        ),
        (
            client(r#""include": ["files", "none/x"]"#),
            "gateway.clients.a.include[1]",
            "no entry has the id",
        ),
        (
            client(r#""exclude": ["files/"]"#),
            "gateway.clients.a.exclude[0]",
            "server/tool",
        ),
        (
            client(r#""exclude": ["file"]"#),
            "gateway.clients.a.exclude[0]",
            "no entry has the id",
        ),
        (
            r#"{"clients": {"a": {"token": "${LONG}"}, "b": {"token": "${LONG_TOO}"}}}"#.to_owned(),
            "gateway.clients.b.token",
            "another client has this token",
        ),
        (
            format!(r#"{{"auth": {{{sound}}}}}"#),
            "gateway.auth",
            "no client has \"claims\"",
        ),
        (
            auth(r#""issuer": "https://i/", "audience": "api""#),
            "gateway.auth.resource",
            "is missing",
        ),
        (
            auth(r#""audience": "https://a/""#),
            "gateway.auth",
            "\"issuer\" is missing",
        ),
        (
            auth(r#""issuer": "http://i/", "audience": "https://a/""#),
            "gateway.auth.issuer",
            "must be an https URL",
        ),
        (
            auth(&format!(r#"{sound}, "jwksUri": "https://i/k?x""#)),
            "gateway.auth.jwksUri",
            "must be an https URL",
        ),
        (
            auth(&format!(r#"{sound}, "resource": "x""#)),
            "gateway.auth.resource",
            "must be the http or https URL",
        ),
        (
            auth(&format!(r#"{sound}, "scopes": ["a b"]"#)),
            "gateway.auth.scopes[0]",
            "a scope is one word",
        ),
        (
            auth(&format!(r#"{sound}, "audiences": []"#)),
            "gateway.auth.audiences",
            "did you mean \"audience\"?",
        ),
        (
            r#"{"names": "plain", "names": "plain"}"#.to_owned(),
            "",
            "is there twice",
        ),
    ];
    for (section, field, words) in cases {
        let found = wrong(&section);
        assert!(
            matches!(&found[..], [(at, said)] if at == field && said.contains(words)),
            "{section}: {found:?}"
        );
    }
}

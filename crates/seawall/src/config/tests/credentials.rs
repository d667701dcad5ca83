//! Credentials: warned of, refused where they cannot work, never repeated.

use super::super::credentials::{is_credential_name, looks_like_credential};
use super::*;

const PAT: &str = "ghp_0123456789abcdefABCDEF0123456789abcd";

/// K5: a literal credential in `env` or `headers` is accepted with one warning that names the field.
#[test]
fn literal_credential_is_one_warning() {
    assert_warning(
        &with(r#""env": {"API_TOKEN": "s3cret-value"}"#),
        "env.API_TOKEN",
        "literal_credential",
    );
    assert_warning(
        &with(&format!(r#""env": {{"X": "{PAT}"}}"#)),
        "env.X",
        "literal_credential",
    );
    let header = at_url(
        "https://h/",
        r#", "headers": {"Authorization": "Bearer abc"}"#,
    );
    assert_warning(&header, "headers.Authorization", "literal_credential");
    for fine in [
        r#"{"API_TOKEN": "${SET}"}"#,
        r#"{"MAX_TOKENS": "4096"}"#,
        r#"{"KEY": ""}"#,
        r#"{"PATH": "x"}"#,
    ] {
        assert_eq!(warnings(&with(&format!(r#""env": {fine}"#))), [], "{fine}");
    }
}

/// K5: a token that no header can carry, with a line break at its end, would not be sent at all.
#[test]
fn a_token_has_to_fit_in_a_header() {
    let text = at_url("https://h/", r#", "bearerTokenEnv": "TWO_LINES""#);
    assert_problem(&text, "bearerTokenEnv", "variable_value");
}

/// K5: there is no key for a token; the error points to `bearerTokenEnv`.
#[test]
fn literal_token_key_is_refused() {
    for key in ["token", "bearerToken", "apiKey"] {
        assert_problem(
            &at_url("https://h/", &format!(r#", "{key}": "x""#)),
            key,
            "literal_token",
        );
        assert_problem(
            &format!(r#"{{"servers": {{"a": {{"url": "https://h/", "{key}": "x"}}}}}}"#),
            key,
            "literal_token",
        );
    }
    let message = check_text(&at_url("https://h/", r#", "token": "x""#)).problems[0].to_string();
    assert!(message.contains("bearerTokenEnv"), "{message}");
}

/// K5: a token where the name of its variable belongs is not repeated.
#[test]
fn token_in_place_of_a_name_is_not_repeated() {
    let text = at_url("https://h/", &format!(r#", "bearerTokenEnv": "{PAT}""#));
    assert_problem(&text, "bearerTokenEnv", "token_for_name");
    let text = with(&format!(r#""env": {{"A": "${{{PAT}}}"}}, "{PAT}": 1"#));
    let checked = check_text(&text);
    assert_eq!(checked.problems.len(), 2);
    for problem in &checked.problems {
        assert!(!problem.to_string().contains(PAT), "{problem}");
        assert!(!serde_json::to_string(problem).unwrap().contains(PAT));
        assert!(!format!("{problem:?}").contains(PAT));
    }
}

/// K8: a credential on a program is refused.
#[test]
fn credential_on_stdio_is_refused() {
    assert_problem(
        &with(r#""bearerTokenEnv": "TOKEN""#),
        "bearerTokenEnv",
        "credential_on_stdio",
    );
    assert_eq!(
        problems(&with(r#""oauth": {"clientId": "x"}"#)),
        [("oauth".to_owned(), "credential_on_stdio")]
    );
    assert_eq!(problems(&with(r#""oauth": false"#)), []);
    let refused = check_text(&with(r#""oauth": true"#));
    assert_eq!(refused.problems.len(), 1);
    assert_eq!(refused.warnings, [], "what is refused is told once");
    assert_warning(&with(r#""headers": {"X": "y"}"#), "headers", "no_effect");
    assert_warning(
        &at_url("https://h/", r#", "args": ["y"]"#),
        "args",
        "no_effect",
    );
}

/// K10: one warning for a credential without encryption to another machine, naming the field, never the value.
#[test]
fn cleartext_credential_is_one_warning() {
    let bearer = r#", "bearerTokenEnv": "TOKEN", "headers": {"X-Api-Key": "${SET}"}"#;
    for url in ["http://h/mcp", "ws://h/mcp"] {
        let checked = check_text(&at_url(url, bearer));
        assert_eq!(checked.warnings.len(), 1, "{url}");
        let message = checked.warnings[0].to_string();
        assert!(
            message.contains("bearerTokenEnv") && message.contains("headers.X-Api-Key"),
            "{message}"
        );
        assert_eq!(
            checked.servers[0].warnings()[0].kind(),
            checked.warnings[0].kind()
        );
    }
    for url in [
        "ws://u:hunter22@h/",
        "ws://h/?token=hunter22",
        "http://h/?api_key=hunter22",
        "http://h/sk-0123456789abcdef/mcp",
        "http://h/sk%2D0123456789abcdef/mcp",
    ] {
        let checked = check_text(&at_url(url, ""));
        assert_eq!(checked.problems, []);
        assert_eq!(checked.warnings.len(), 1, "{url}");
        let said = format!("{} {:?}", checked.warnings[0], checked.servers);
        assert!(
            !said.contains("hunter22") && !said.contains("sk-0"),
            "{said}"
        );
    }
}

/// K10: a header's credential is told by its form too.
#[test]
fn cleartext_credential_of_any_header_is_warned_of() {
    let mut world = world();
    world.variables.insert("PAT", PAT);
    let text = at_url("http://h/", r#", "headers": {"X-Other": "${PAT}"}"#);
    let warnings = check_in(&world, &text).warnings;
    let said: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("headers.X-Other") && !said[0].contains(PAT));
}

/// K10: loopback in all its forms, encryption, and no credential: no warning.
#[test]
fn loopback_and_encryption_are_not_warned_of() {
    for host in [
        "localhost",
        "localhost.",
        "127.0.0.1",
        "127.9.9.9",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "a.localhost",
    ] {
        assert_eq!(
            warnings(&at_url(
                &format!("http://{host}/"),
                r#", "bearerTokenEnv": "TOKEN""#
            )),
            [],
            "{host}"
        );
    }
    assert_eq!(
        warnings(&at_url("https://h/", r#", "bearerTokenEnv": "TOKEN""#)),
        []
    );
    assert_eq!(warnings(&at_url("http://h/mcp?v=2", "")), []);
    assert_warning(
        &at_url(
            "http://[::ffff:10.0.0.1]/",
            r#", "bearerTokenEnv": "TOKEN""#,
        ),
        "bearerTokenEnv",
        "cleartext_credential",
    );
}

/// R1's words: singular, plural, numbered, with and without a border.
#[test]
fn credential_names_are_told_from_others() {
    for name in [
        "GITHUB_TOKEN",
        "API_KEYS",
        "PGPASSWORD",
        "DB_PASS",
        "AUTHORIZATION",
        "SESSION_COOKIE",
        "TOKEN2",
        "apiKey",
        "X-Api-Key",
        "key",
        "client_secret",
        "Cookie",
        "AWS_SECRET_ACCESS_KEY",
    ] {
        assert!(is_credential_name(name), "{name}");
    }
    for name in [
        "PATH",
        "HOME",
        "MONKEY",
        "COMPASS",
        "KEYBOARD",
        "TOKENIZER",
        "DEBUG",
        "",
        "_",
        "SSH_AUTH_SOCK",
    ] {
        assert!(!is_credential_name(name), "{name}");
    }
}

#[test]
fn tokens_are_told_from_words() {
    for text in [
        PAT,
        "Bearer sk-0123456789abcdef",
        "--key=AKIA0123456789ABCDEF",
        "a1b2c3d4e5f6a7b8c9d0e1f2",
    ] {
        assert!(looks_like_credential(text), "{text}");
    }
    for text in [
        "server-everything",
        "@modelcontextprotocol/server-filesystem",
        "/usr/local/lib/python3.12/site-packages",
        "--port=8080",
        "",
    ] {
        assert!(!looks_like_credential(text), "{text}");
    }
}

/// Debug of what carries values shows names only.
#[test]
fn debug_hides_values() {
    let config = ServerConfig::stdio("a", "c")
        .env("A", "hunter22")
        .arg(PAT)
        .build_in(&Nothing)
        .unwrap();
    let network = server(&at_url(
        "https://h/p4th?q=hunter22",
        r#", "headers": {"X": "hunter22"}, "bearerTokenEnv": "TOKEN""#,
    ));
    let builder = ServerConfig::stdio("a", "c").env("A", "hunter22");
    let said = format!("{config:?} {network:?} {builder:?}");
    for secret in ["hunter22", PAT, "t0ken", "p4th"] {
        assert!(!said.contains(secret), "{said}");
    }
    assert!(said.contains("\"A\": ****"), "{said}");
}

/// K5: what logs in is read whole; without a word, and without a token, a server that asks for a login gets one.
#[test]
fn login_is_configured() {
    let login = |text: &str| {
        let checked = check_text(text);
        assert_eq!(checked.problems, [], "{text}");
        network(&checked.servers[0]).oauth.clone()
    };
    let more = r#", "oauth": {"clientId": "me", "clientSecretEnv": "TOKEN", "issuer": "https://as/",
        "clientMetadataUrl": "https://h/me.json", "scopes": ["a", "b:c"], "callbackPort": 8080}"#;
    let all = login(&at_url("https://h/", more)).expect("on");
    assert_eq!(all.client_id.as_deref(), Some("me"));
    assert_eq!(all.issuer.as_deref(), Some("https://as/"));
    assert!(all.client_secret.is_some() && !format!("{all:?}").contains("hunter"));
    assert_eq!(all.scopes, ["a", "b:c"]);
    assert_eq!(all.callback_port, Some(8080));
    assert!(all.client_metadata_url.is_some());
    assert_eq!(
        login(&at_url("https://h/", "")),
        Some(OAuthConfig::default())
    );
    assert_eq!(
        login(&at_url("https://h/", r#", "oauth": true"#)),
        Some(OAuthConfig::default())
    );
    assert_eq!(login(&at_url("https://h/", r#", "oauth": false"#)), None);
    let header = r#", "headers": {"authorization": "${SET}"}"#;
    assert_eq!(login(&at_url("https://h/", header)), None);
    assert_eq!(login(&at_url("wss://h/", "")), None);
    assert_warning(
        &at_url("wss://h/", r#", "oauth": {}"#),
        "oauth",
        "no_effect",
    );
    let issuer = r#", "oauth": {"issuer": "https://as/"}"#;
    assert_warning(&at_url("https://h/", issuer), "oauth.issuer", "ignored");
    let bearer = r#", "bearerTokenEnv": "TOKEN""#;
    assert_eq!(login(&at_url("https://h/", bearer)), None);
    let both = at_url("https://h/", &format!(r#"{bearer}, "oauth": {{}}"#));
    assert_eq!(login(&both), None);
    assert_warning(&both, "oauth", "ignored");
}

/// K5, K9: a secret written out, a key that is not known and a value that cannot be are refused, naming the field.
#[test]
fn login_that_cannot_be_is_refused() {
    for (oauth, field, code) in [
        (
            r#"{"clientId": "x", "clientSecret": "s"}"#,
            "oauth.clientSecret",
            "literal_secret",
        ),
        (
            r#"{"refreshToken": "s"}"#,
            "oauth.refreshToken",
            "literal_secret",
        ),
        (r#"{"clientID": "x"}"#, "oauth.clientID", "unknown_key"),
        (
            r#"{"clientSecretEnv": "TOKEN"}"#,
            "oauth.clientSecretEnv",
            "missing_key",
        ),
        (
            r#"{"clientId": "x", "clientSecretEnv": "UNSET"}"#,
            "oauth.clientSecretEnv",
            "unset_variable",
        ),
        (
            r#"{"clientMetadataUrl": "http://h/x"}"#,
            "oauth.clientMetadataUrl",
            "client_metadata_url",
        ),
        (
            r#"{"clientMetadataUrl": "x"}"#,
            "oauth.clientMetadataUrl",
            "url",
        ),
        (r#"{"scopes": "a"}"#, "oauth.scopes", "invalid_value"),
        (r#"{"scopes": ["a b"]}"#, "oauth.scopes[0]", "scope"),
        (
            r#"{"callbackPort": 65536}"#,
            "oauth.callbackPort",
            "invalid_value",
        ),
        (
            r#"{"callbackPort": 0}"#,
            "oauth.callbackPort",
            "invalid_value",
        ),
        (r#""yes""#, "oauth", "invalid_value"),
    ] {
        let text = at_url("https://h/", &format!(r#", "oauth": {oauth}"#));
        assert_problem(&text, field, code);
    }
    let map = r#"{"mcpServers": {"a": {"url": "https://h/", "oauth": {"clientID": "${SET}"}}}}"#;
    assert_warning(map, "oauth.clientID", "unknown_key");
}

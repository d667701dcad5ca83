use seawall::Revision;
use serde_json::json;

use super::{Context, Settings, SettingsError, ToolCall};

fn resolve(arguments: &[&str], variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::resolve(
        arguments.iter().map(|&argument| argument.to_owned()),
        |name| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|&(_, value)| value.to_owned())
        },
    )
}

const BOTH: [(&str, &str); 2] = [
    ("MCP_CONFORMANCE_SCENARIO", "tools_call"),
    ("MCP_CONFORMANCE_PROTOCOL_VERSION", "2026-07-28"),
];

fn context(text: &str) -> Context {
    let all = [BOTH[0], BOTH[1], ("MCP_CONFORMANCE_CONTEXT", text)];
    resolve(&["http://localhost:1"], &all).unwrap().context
}

#[test]
fn the_url_is_the_last_argument_and_the_rest_is_in_variables() {
    let settings = resolve(&["--x", "http://localhost:1/mcp"], &BOTH).unwrap();
    assert_eq!(settings.url, "http://localhost:1/mcp");
    assert_eq!(settings.scenario, "tools_call");
    assert_eq!(settings.revision, "2026-07-28".parse::<Revision>().unwrap());
    assert_eq!(settings.context, Context::Nothing);
}

#[test]
fn what_is_missing_or_senseless_is_said() {
    assert!(matches!(resolve(&[], &BOTH), Err(SettingsError::Usage)));
    for one in BOTH {
        let settings = resolve(&["http://localhost:1"], &[one]);
        assert!(matches!(settings, Err(SettingsError::Usage)));
    }
    let odd = [BOTH[0], ("MCP_CONFORMANCE_PROTOCOL_VERSION", "1999-01-01")];
    let settings = resolve(&["http://localhost:1"], &odd);
    assert!(matches!(settings, Err(SettingsError::Revision)));
    let odd = [BOTH[0], BOTH[1], ("MCP_CONFORMANCE_CONTEXT", "{")];
    let settings = resolve(&["http://localhost:1"], &odd);
    assert!(matches!(settings, Err(SettingsError::Context(_))));
}

#[test]
fn each_scenario_has_its_own_context() {
    let calls = context(
        r#"{"name": "http-custom-headers", "toolCalls": [{"name": "t", "arguments": {"a": null, "b": " x"}}]}"#,
    );
    let call = ToolCall {
        name: "t".to_owned(),
        arguments: json!({"a": null, "b": " x"}),
    };
    assert_eq!(
        calls,
        Context::ToolCalls {
            tool_calls: vec![call]
        }
    );
    for name in ["auth/pre-registration", "auth/client-credentials-basic"] {
        let text = json!({"name": name, "client_id": "i", "client_secret": "s"});
        let secret = Context::Secret {
            client_id: "i".to_owned(),
            client_secret: "s".to_owned(),
        };
        assert_eq!(context(&text.to_string()), secret);
    }
    let key = context(
        r#"{"name": "auth/client-credentials-jwt", "client_id": "i", "private_key_pem": "p"}"#,
    );
    assert!(matches!(
        key,
        Context::SigningKey {
            signing_algorithm: None,
            ..
        }
    ));
    let enterprise = context(
        r#"{"name": "auth/enterprise-managed-authorization", "client_id": "i", "client_secret": "s",
            "idp_client_id": "j", "idp_id_token": "t", "idp_issuer": "o", "idp_token_endpoint": "e"}"#,
    );
    assert!(matches!(enterprise, Context::Enterprise { .. }));
    let workload = context(
        r#"{"name": "auth/wif-jwt-bearer", "client_id": "i", "valid_jwt": "v", "wrong_audience_jwt": "w",
            "expired_jwt": "x"}"#,
    );
    assert!(matches!(workload, Context::Workload { .. }));
    assert_eq!(
        context(r#"{"name": "something-new", "x": 1}"#),
        Context::Nothing
    );
}

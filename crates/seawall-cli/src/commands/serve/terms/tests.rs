use seawall::config::{Source, check};
use seawall::{HttpClient, config::GatewayConfig};
use seawall_gateway::clients::Guard;

use super::{access, client};
use crate::failure::UsageError;

const SHA: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

fn gateway(section: &str) -> GatewayConfig {
    let text = format!(r#"{{"mcpServers": {{}}, "gateway": {section}}}"#);
    let checked = check(&Source::new(&text));
    assert_eq!(checked.problems, []);
    checked.gateway
}

fn guard(config: &GatewayConfig) -> Option<Guard> {
    Guard::of(config, HttpClient::new().unwrap())
}

/// G3: where nobody is asked who they are, only this machine's loopback is listened on, and the message says what to do.
#[test]
fn beyond_loopback_somebody_has_to_be_asked() {
    let unnamed = GatewayConfig::default();
    // One who has no token comes over stdio only.
    let over_stdio = gateway(r#"{"clients": {"a": {}}}"#);
    let named = gateway(&format!(
        r#"{{"clients": {{"a": {{"tokenSha256": "{SHA}"}}}}}}"#
    ));
    for address in ["0.0.0.0:1", "[::]:1", "192.0.2.7:1", "[2001:db8::1]:1"] {
        let address = address.parse().unwrap();
        for config in [&unnamed, &over_stdio] {
            assert!(guard(config).is_none());
            let refused = access(address, None, config).unwrap_err();
            assert!(matches!(refused, UsageError::ServeAddress { .. }));
            let said = refused.to_string();
            assert!(
                said.contains("gateway.clients") && said.contains("127.0.0.1:1"),
                "{said}"
            );
        }
        assert!(access(address, guard(&named).as_ref(), &named).is_ok());
    }
    for address in [
        "127.0.0.1:1",
        "[::1]:1",
        "127.8.8.8:1",
        "[::ffff:127.0.0.1]:1",
    ] {
        assert!(access(address.parse().unwrap(), None, &unnamed).is_ok());
    }
}

/// F4: over stdio the client is who the flag names.
#[test]
fn a_client_over_stdio_is_named() {
    let config =
        gateway(r#"{"clients": {"a": {}, "b": {"toolSearch": true}}, "toolSearch": false}"#);
    let b = client(Some("b"), &config).unwrap();
    assert_eq!((b.name(), b.searches()), ("b", true));
    let local = client(None, &config).unwrap();
    assert_eq!((local.name(), local.is_narrowed()), ("local", false));
    let unknown = client(Some("c"), &config).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "--client c: the configuration's gateway.clients has no such client; it has: a, b"
    );
}

//! Requests that tell all of themselves.

use super::{Client, Event, MODERN_META, NotSent, code, modern};
use crate::server::Claims;

#[test]
fn a_request_without_its_metadata_is_refused() {
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
    for meta in [
        String::new(),
        r#","params":{}"#.to_owned(),
        r#","params":[]"#.to_owned(),
        r#","params":{"_meta":3}"#.to_owned(),
        format!(r#","params":{{"_meta":{{{version}}}}}"#),
        format!(r#","params":{{"_meta":{{{capabilities}}}}}"#),
        format!(r#","params":{{"_meta":{{{version},{version},{capabilities}}}}}"#),
        format!(r#","params":{{"_meta":{{{version},{capabilities}}},"_meta":{{}}}}"#),
        format!(
            r#","params":{{"_meta":{{{version},"io.modelcontextprotocol/clientCapabilities":[]}}}}"#
        ),
        format!(r#","params":{{"_meta":{{{version},{capabilities},"progressToken":null}}}}"#),
        format!(
            r#","params":{{"_meta":{{{version},{capabilities},"io.modelcontextprotocol/logLevel":"loud"}}}}"#
        ),
        format!(
            r#","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":3,{capabilities}}}}}"#
        ),
    ] {
        let mut client = Client::modern();
        client.say(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list"{meta}}}"#
        ));
        let heard = client.heard();
        assert_eq!(code(&heard[0]), (-32602, true), "{meta}");
        assert!(client.events().is_empty());
    }
}

#[test]
fn what_a_request_tells_of_itself_is_handed_on() {
    let mut client = Client::modern();
    client.say(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots": {}},"io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/logLevel":"info","progressToken":0},"name":"t"}}"#,
    );
    let request = client.requests().remove(0);
    assert_eq!(request.meta.capabilities.as_str(), r#"{"roots": {}}"#);
    assert_eq!(
        request.meta.client_info.unwrap().as_str(),
        r#"{"name":"c"}"#
    );
    assert_eq!(request.meta.log_level, Some("info"));
    assert_eq!(request.meta.progress_token.unwrap().as_str(), "0");
    assert_eq!(
        request.params.unwrap().member("name").unwrap().as_str(),
        "\"t\""
    );
}

/// S4 from the other side.
#[test]
fn an_unsupported_version_is_told_what_is_supported() {
    let mut client = Client::modern();
    for (asked, said) in [
        ("v999.0.0", "v999.0.0".to_owned()),
        ("2025-11-25", "2025-11-25".to_owned()),
        (&*"é".repeat(99), "é".repeat(32)),
    ] {
        client.say(&modern("1", "tools/list").replace("2026-07-28", asked));
        let heard = client.heard();
        assert_eq!(code(&heard[0]), (-32022, true));
        let frame: serde_json::Value = serde_json::from_str(&heard[0]).unwrap();
        assert_eq!(
            frame["error"]["data"],
            serde_json::json!({"supported": ["2026-07-28"], "requested": said})
        );
    }
}

#[test]
fn methods_that_the_revision_has_no_more_are_not_found() {
    let mut client = Client::modern();
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ] {
        client.say(&modern("1", method));
        assert_eq!(code(&client.heard()[0]), (-32601, true), "{method}");
    }
    client.say(&modern("1", "tasks/get"));
    assert_eq!(client.requests().len(), 1, "the answerer knows the rest");
}

#[test]
fn the_client_is_asked_nothing() {
    let mut client = Client::modern();
    client.say(&modern("1", "tools/call"));
    let key = client.requests().remove(0).key;
    let asked = client.server.request(Some(key), "roots/list", None);
    assert_eq!(asked, Err(NotSent::NoRequests));
    client.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(client.events().is_empty() && client.heard().is_empty());
}

#[test]
fn a_subscription_is_a_request_that_stays() {
    let mut client = Client::modern();
    client.say(&modern("\"l\"", "subscriptions/listen"));
    let request = client.requests().remove(0);
    client
        .server
        .notify(
            Some(request.key),
            "notifications/subscriptions/acknowledged",
            None,
        )
        .unwrap();
    assert_eq!(client.heard().len(), 1);
    client
        .say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}"#);
    assert!(matches!(client.events()[..], [Event::Cancelled(_)]));
}

/// Over HTTP there is no connection: one request by itself.
#[test]
fn claims_tell_the_era_of_a_single_request() {
    let params = super::json(&format!("{{{MODERN_META}}}"));
    assert!(Claims::are_in(Some(&params)));
    assert!(!Claims::are_in(Some(&super::json(
        r#"{"_meta":{"progressToken":1}}"#
    ))));
    assert!(!Claims::are_in(None));
    let claims = Claims::of(Some(&params)).unwrap();
    assert_eq!(claims.version(), "2026-07-28");
    assert!(claims.accept("tools/list").is_ok());
}

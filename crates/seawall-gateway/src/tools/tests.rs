use seawall::Host;
use seawall::config::ServerConfig;
use seawall_proto::Json;

use super::Offered;
use super::entry::entry_of;
use crate::names::Names;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).expect("JSON")
}

/// G5: what is hidden in a description and a title is made visible; line breaks and tabs are not, and other members are the
/// server's own.
#[test]
fn hidden_text_is_shown() {
    let entry = r#"{"description":"a\r\n\tb\u200bc","title":"\u202e","name":"x","inputSchema":{"description":"\u200b"},"annotations":{"title":"é"}}"#;
    let shown = r#"{"description":"a\r\n\tb\\u{200b}c","title":"\\u{202e}","name":"n","inputSchema":{"description":"\u200b"},"annotations":{"title":"é"}}"#;
    assert_eq!(entry_of(&json(entry), "n").as_str(), shown);
    // A text that shows all there is keeps its bytes, escapes too.
    let plain = r#"{"name":"x","description":"\u0041"}"#;
    assert_eq!(entry_of(&json(plain), "x").as_str(), plain);
}

/// A server with one tool: a shell that answers what it reads by the order of it.
#[cfg(unix)]
async fn host() -> Host {
    let read = "read -r line; id=${line#*'\"id\":'}; id=${id%%[!0-9]*};";
    let said = |result: &str| {
        format!("{read} printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{result}}}\\n' \"$id\";")
    };
    let hello = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    let list = r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#;
    let script = format!("{}{read}{} cat >/dev/null", said(hello), said(list));
    let server = ServerConfig::stdio("s", "sh").args(["-c", &script]);
    let host = Host::builder().build();
    host.connect(server.build().expect("an entry"))
        .await
        .expect("it connects");
    host
}

/// H8: who calls one server's tool does not wait for the entries of all the others: they are made for who lists.
#[cfg(unix)]
#[tokio::test]
async fn entries_are_made_for_who_lists() {
    let host = host().await;
    let offered = Offered::of(&host.tools(), Names::default());
    assert!(offered.flow("s__t").is_some());
    assert_eq!(offered.entries_made(), 0);
    assert!(offered.page(None).is_ok_and(|page| page.contains("s__t")));
    assert_eq!(offered.entries_made(), 1);
}

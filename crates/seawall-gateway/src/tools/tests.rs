use seawall_proto::Json;

use super::entry::entry_of;

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

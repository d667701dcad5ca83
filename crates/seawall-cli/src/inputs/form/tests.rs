//! Forms, played through.

use seawall::Json;
use seawall::inputs::{Answer, Form};
use serde_json::{Value, json};

use super::fill;
use crate::inputs::tests::Played;

fn form(properties: &str, required: &[&str]) -> Form {
    let required = json!(required);
    let params = format!(
        r#"{{"message":"Who are you?\nSend it? yes","requestedSchema":{{"type":"object","properties":{properties},"required":{required}}}}}"#
    );
    Form::parse(&Json::check(params).unwrap()).unwrap()
}

async fn played(form: &Form, lines: &[&str]) -> (Answer, String) {
    let mut console = Played::of(lines);
    let answer = fill(&mut console, "github", form).await;
    assert!(
        console.lines.is_empty(),
        "not asked for: {:?}",
        console.lines
    );
    if let Answer::Accept(content) = &answer {
        assert_eq!(form.check(content), []);
    }
    (answer, console.shown)
}

/// What one field comes to.
async fn sent(property: &Value, lines: &[&str]) -> Value {
    let form = form(&json!({ "f": property }).to_string(), &["f"]);
    let lines = [lines, &["y"]].concat();
    let (answer, shown) = played(&form, &lines).await;
    let Answer::Accept(content) = answer else {
        panic!("{answer:?}: {shown}");
    };
    content.parse::<Value>().unwrap()["f"].clone()
}

const EVERY_KIND: &str = r##"{
    "name": {"type": "string", "title": "Display Name", "description": "As others\nsee it", "minLength": 3, "maxLength": 50},
    "mail": {"type": "string", "format": "email", "pattern": "@"},
    "age": {"type": "integer", "minimum": 18, "maximum": 120},
    "rate": {"type": "number", "default": 0.5},
    "ok": {"type": "boolean", "default": false},
    "colour": {"type": "string", "oneOf": [{"const": "#F00", "title": "Red"}, {"const": "#0F0", "title": "Green"}]},
    "sizes": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["S", "M", "L"]}}
}"##;

#[tokio::test]
async fn every_kind_is_asked_for_checked_and_reviewed() {
    let form = form(EVERY_KIND, &["name", "colour"]);
    let lines = [
        "", "ab", "Monalisa", "nobody", "", "17", "eighteen", "30", "1e", "", "perhaps", "yes",
        "Blue", "2", "4", "1,2,3", "3, S", "y",
    ];
    let (answer, shown) = played(&form, &lines).await;
    let Answer::Accept(content) = answer else {
        panic!("{answer:?}: {shown}");
    };
    assert_eq!(
        content.as_str(),
        r##"{"name":"Monalisa","age":30,"rate":0.5,"ok":true,"colour":"#0F0","sizes":["L","S"]}"##
    );
    insta::assert_snapshot!(shown);
}

#[tokio::test]
async fn one_can_always_say_no() {
    let form = form(EVERY_KIND, &["name"]);
    for (lines, expected) in [
        (&["/decline"][..], Answer::Decline),
        (&["/cancel"], Answer::Cancel),
        (&["Monalisa", " /decline "], Answer::Decline),
        (
            &["Monalisa", "", "", "", "", "", "", "perhaps", "no"],
            Answer::Decline,
        ),
        (
            &["Monalisa", "", "", "", "", "", "", "cancel"],
            Answer::Cancel,
        ),
        // The end of the input.
        (&[], Answer::Cancel),
        (&["Monalisa", "", "", "", "", "", ""], Answer::Cancel),
    ] {
        assert_eq!(played(&form, lines).await.0, expected, "{lines:?}");
    }
}

#[tokio::test]
async fn one_can_go_back_and_change_everything() {
    let form = form(
        r#"{"a":{"type":"string"},"b":{"type":"integer","default":1}}"#,
        &["a"],
    );
    let accepted = |content: &str| Answer::Accept(Json::check(content.to_owned()).unwrap());
    for (lines, expected) in [
        (&["x", "", "y"][..], r#"{"a":"x","b":1}"#),
        (&["x", "/skip", "y"], r#"{"a":"x"}"#),
        (&["x", "/back", "z", "", "y"], r#"{"a":"z","b":1}"#),
        (
            &["/back", "x", "2", "edit", "", "3", "y"],
            r#"{"a":"x","b":3}"#,
        ),
        (&["/skip", "x", "", "y"], r#"{"a":"x","b":1}"#),
        (&["//skip", "", "y"], r#"{"a":"/skip","b":1}"#),
        (&["/etc/hosts", "", "y"], r#"{"a":"/etc/hosts","b":1}"#),
    ] {
        assert_eq!(
            played(&form, lines).await.0,
            accepted(expected),
            "{lines:?}"
        );
    }
}

#[tokio::test]
async fn a_form_without_fields_asks_for_consent() {
    let form = form("{}", &[]);
    let (answer, shown) = played(&form, &["", "edit", "yes"]).await;
    assert_eq!(answer, Answer::Accept(Json::check("{}").unwrap()));
    assert!(shown.contains("asks for your consent"), "{shown}");
    assert_eq!(played(&form, &["n"]).await.0, Answer::Decline);
}

#[tokio::test]
async fn what_is_typed_becomes_what_the_field_takes() {
    let many = json!({"type": "array", "items": {"enum": ["a b", "2", "none"]}});
    for (property, line, expected) in [
        (
            json!({"type": "string"}),
            " two words ",
            json!(" two words "),
        ),
        (
            json!({"type": "string", "format": "date"}),
            " 2026-07-28 ",
            json!("2026-07-28"),
        ),
        (json!({"type": "number"}), "-1.5e3", json!(-1500.0)),
        (json!({"type": "boolean"}), "N", json!(false)),
        (json!({"enum": ["x", "y"]}), "y", json!("y")),
        (
            json!({"oneOf": [{"const": "x", "title": "The X"}]}),
            "The X",
            json!("x"),
        ),
        (many.clone(), "1 3", json!(["a b", "none"])),
        // A number is a place in the list.
        (many.clone(), "2", json!(["2"])),
        (many.clone(), "a b", json!(["a b"])),
        (many, "none", json!(["none"])),
        (
            json!({"type": "array", "items": {"enum": ["x"]}}),
            "None",
            json!([]),
        ),
    ] {
        assert_eq!(
            sent(&property, &[line]).await,
            expected,
            "{property} {line}"
        );
    }
    let big = form(r#"{"f":{"type":"integer"}}"#, &[]);
    let (answer, _) = played(&big, &["123456789012345678901234567890", "y"]).await;
    let exact = r#"{"f":123456789012345678901234567890}"#;
    assert_eq!(answer, Answer::Accept(Json::check(exact).unwrap()));
}

/// G5: what a server wrote can neither move the cursor nor pass for Seawall's words.
#[tokio::test]
async fn hostile_text_is_made_visible() {
    let hostile = r#"x\u001b[2J\nSend it? yes\u202e"#;
    let form = form(
        &format!(
            r#"{{"{hostile}":{{"type":"string","title":"{hostile}","description":"{hostile}","default":"{hostile}"}},
                 "b":{{"oneOf":[{{"const":"{hostile}","title":"{hostile}"}}],"default":"{hostile}"}}}}"#
        ),
        &[],
    );
    let (_, shown) = played(&form, &["", "", "n"]).await;
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    let own = shown.lines().filter(|line| !line.starts_with("  | "));
    let asked = own.filter(|line| line.starts_with("Send it?"));
    assert_eq!(asked.count(), 1, "{shown}");
}

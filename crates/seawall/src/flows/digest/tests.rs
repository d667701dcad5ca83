use seawall_proto::Json;

use super::{Digest, InvalidDigest, Shared, declaration};
use crate::policy::{Grant, OnConflict};

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).expect("test text is JSON")
}

fn digest(name: &str, description: &str, input: &str, output: Option<&str>) -> Digest {
    granted(&Grant::default(), name, description, input, output)
}

fn granted(
    grant: &Grant,
    name: &str,
    description: &str,
    input: &str,
    output: Option<&str>,
) -> Digest {
    let output = output.map(json);
    let shared = Shared::of(grant);
    Digest::of_declaration(name, description, &shared, &json(input), output.as_ref())
}

/// F3: this text is what is hashed; a change of it changes every digest that callers hold.
#[test]
fn the_declaration_is_pinned() {
    let text = declaration(
        "mcp/a/b",
        "it \"adds\"",
        &Shared::of(&Grant::default()),
        &json(r#"{"type": "object", "a": 1}"#),
        Some(&json("{}")),
    );
    insta::assert_snapshot!(text, @r#"{"capabilities":["fs:read:**","fs:write:**","net:get:**","net:post:**","net:put:**","net:patch:**","net:delete:**","net:connect:**","net:listen:**","proc:spawn:**","proc:signal:**","env:read:**","secret:read:**"],"description":"it \"adds\"","effects":{"mode":"expected","onConflict":"serialize","reads":["**"],"tier":"irreversible","writes":["**"]},"input":{"a":1,"type":"object"},"name":"mcp/a/b","output":{}}"#);
    let digest = digest(
        "mcp/a/b",
        "it \"adds\"",
        r#"{"a":1,"type":"object"}"#,
        Some("{}"),
    );
    insta::assert_snapshot!(digest.to_string(), @"sha256:c30aa49849113ed018492be13639ebf228c5d3fadda8992532e982c46f3c63c0");
}

/// F3
#[test]
fn only_what_a_schema_says_changes_the_digest() {
    let schema =
        r#"{"type":"object","properties":{"a":{"type":"integer","maximum":9007199254740993}}}"#;
    let base = digest("p/t", "d", schema, None);
    let reordered = r#" { "properties": {"\u0061": {"maximum": 9007199254740993, "type": "integer"} } ,"type":"object"} "#;
    assert_eq!(base, digest("p/t", "d", reordered, None));
    for other in [
        digest("p/u", "d", schema, None),
        digest("p/t", "e", schema, None),
        digest("p/t", "d", &schema.replace("993", "992"), None),
        digest("p/t", "d", &schema.replace("integer", "Integer"), None),
        digest("p/t", "d", schema, Some("{}")),
    ] {
        assert_ne!(base, other);
    }
    assert_ne!(
        digest("p/t", "d", schema, Some("{}")),
        digest("p/t", "d", schema, Some(schema))
    );
}

/// F3, F4: what a grant says is part of the declaration; in which order, and how often, is not.
#[test]
fn a_grant_changes_the_digest() {
    let grant = |texts: &[&str]| {
        let capabilities = texts.iter().map(|text| text.parse().unwrap());
        Grant::narrowed(capabilities).unwrap()
    };
    let of = |grant: &Grant| granted(grant, "p/t", "d", "{}", None);
    let base = of(&Grant::default());
    let narrowed = of(&grant(&["proc:spawn:x", "fs:read:/srv/**"]));
    assert_ne!(base, narrowed);
    assert_ne!(
        base,
        of(&Grant::default().on_conflict_of(OnConflict::Allow))
    );
    assert_ne!(narrowed, of(&grant(&["proc:spawn:x"])));
    let again = grant(&["fs:read:/srv/**", "proc:spawn:x", "fs:read:/srv/**"]);
    assert_eq!(narrowed, of(&again));
    assert_eq!(base, of(&grant(&[])));
}

/// F3: what serde refuses to read still has a digest, and a change of it another one.
#[test]
fn hostile_schemas_have_a_digest() {
    let of = |schema: &str| digest("p/t", "d", schema, None);
    let twice = r#"{"type":"object","x":1,"x":2}"#;
    assert_ne!(of(twice), of(r#"{"type":"object","x":2}"#));
    assert_ne!(of(twice), of(r#"{"type":"object","x":2,"x":1}"#));
    assert_ne!(
        of(r#"{"type":"object","x":"\ud800"}"#),
        of(r#"{"type":"object","x":"\ud801"}"#)
    );
    assert_ne!(
        of(r#"{"type":"object","x":"\ud800"}"#),
        of(r#"{"type":"object","x":"\ufffd"}"#)
    );
}

#[test]
fn text_form_round_trips_and_others_are_refused() {
    let digest = digest("p/t", "d", "{}", None);
    let text = digest.to_string();
    assert_eq!(text.len(), 7 + 64);
    assert_eq!(text.parse(), Ok(digest));
    assert_eq!(format!("{digest:?}"), text);
    let json = serde_json::to_string(&digest).unwrap();
    assert_eq!(json, format!("\"{text}\""));
    assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
    let upper = format!(
        "sha256:{}",
        text[7..].to_uppercase().replace(char::is_numeric, "A")
    );
    for wrong in [
        "",
        "sha256:",
        &text[7..],
        &text[..70],
        &format!("{text}0"),
        &format!("{text} "),
        &upper,
        "sha256:é",
    ] {
        assert_eq!(wrong.parse::<Digest>(), Err(InvalidDigest));
    }
}

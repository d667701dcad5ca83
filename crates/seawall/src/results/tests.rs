use std::net::TcpListener;
use std::time::{Duration, Instant};

use seawall_proto::mcp::ResultFault::{Structured, Unchecked};

use super::*;

mod any;
mod hostile;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).expect("test text is JSON")
}

fn compile(schema: &str) -> Result<OutputValidator, UnusableSchema> {
    OutputValidator::compile(&json(schema))
}

#[track_caller]
fn check(schema: &str, value: &str) -> Result<(), ResultFault> {
    compile(schema)
        .expect("test schema is usable")
        .check(&json(value))
}

/// S11
#[test]
fn a_value_is_checked_against_the_schema() {
    let schema = r#"{"type":"object","properties":{"t":{"type":"number"},"u":{"enum":["C","F"]}},
        "required":["t"],"additionalProperties":false}"#;
    assert_eq!(check(schema, r#"{"t":21.5,"u":"C"}"#), Ok(()));
    for wrong in [
        r#"{"t":"21"}"#,
        r#"{"u":"C"}"#,
        r#"{"t":1,"u":"K"}"#,
        r#"{"t":1,"x":1}"#,
        "null",
        "[]",
    ] {
        assert_eq!(check(schema, wrong), Err(Structured));
    }
}

/// S11, O1: a fault says nothing of the value, its place, or the schema.
#[test]
fn a_fault_carries_no_value_and_no_path() {
    let fault = check(
        r#"{"properties":{"secret":{"const":"hunter2"}}}"#,
        r#"{"secret":"letmein"}"#,
    )
    .unwrap_err();
    let text = format!("{fault} {fault:?}");
    for word in ["secret", "hunter2", "letmein", "/"] {
        assert!(!text.contains(word), "{text}");
    }
}

/// S11: 2020-12 unless `$schema` names another known dialect; `format` is an annotation.
#[test]
fn the_dialect_is_what_the_schema_says() {
    let tuple = r#""prefixItems":[{"type":"string"}],"items":{"type":"integer"}"#;
    assert_eq!(check(&format!("{{{tuple}}}"), r#"["a",1]"#), Ok(()));
    assert_eq!(check(&format!("{{{tuple}}}"), r#"[1,1]"#), Err(Structured));
    let draft7 = r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}"#;
    assert_eq!(check(draft7, r#"["a"]"#), Ok(()));
    assert_eq!(check(draft7, r#"["a","b"]"#), Err(Structured));
    let draft4 = r#"{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://a.example/","minimum":1,"exclusiveMinimum":true}"#;
    assert_eq!(check(draft4, "1"), Err(Structured));
    assert_eq!(
        check(
            r#"{"$schema":"https://json-schema.org/draft/2019-09/schema","format":"date"}"#,
            "\"x\""
        ),
        Ok(())
    );
    for unknown in [
        "https://json-schema.org/draft/2099-01/schema",
        "http://127.0.0.1/schema",
        "",
        "file:///etc/passwd",
    ] {
        let schema = format!(r#"{{"$schema":"{unknown}"}}"#);
        assert_eq!(compile(&schema).unwrap_err(), UnusableSchema::Dialect);
    }
}

/// S11: one dialect for the whole, and in the old ones no id beside a reference, so that every reference is read one way.
#[test]
fn mixed_dialects_are_unusable() {
    let mixed =
        r##"{"$defs":{"a":{"$id":"a","$schema":"http://json-schema.org/draft-07/schema#"}}}"##;
    assert_eq!(compile(mixed).unwrap_err(), UnusableSchema::Dialect);
    let both = r##"{"$schema":"http://json-schema.org/draft-07/schema#","items":{"$id":"http://a.example/","$ref":"#/a"},"a":{}}"##;
    assert_eq!(compile(both).unwrap_err(), UnusableSchema::Reference);
}

/// S11: this made the library panic.
#[test]
fn two_resources_of_one_url_are_unusable() {
    let twice =
        r##"{"allOf":[{"$anchor":"x","$id":"a","items":{"$dynamicRef":"#x"}},{"$id":"a"}]}"##;
    assert_eq!(compile(twice).unwrap_err(), UnusableSchema::Reference);
}

#[test]
fn a_panic_of_the_library_is_contained() {
    assert_eq!(
        unless_it_panics(|| panic!("as the library might")),
        None::<()>
    );
    assert_eq!(unless_it_panics(|| 1), Some(1));
}

/// S11
#[test]
fn local_references_resolve() {
    for schema in [
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
        r##"{"$ref":"#/$defs/a~1b%20c","$defs":{"a/b c":{"type":"string"}}}"##,
        r##"{"$ref":"#name","$defs":{"a":{"$anchor":"name","type":"string"}}}"##,
        r##"{"$dynamicRef":"#name","$defs":{"a":{"$dynamicAnchor":"name","type":"string"}}}"##,
        r##"{"$id":"https://a.example/root","$ref":"item","$defs":{"a":{"$id":"item","type":"string"}}}"##,
        r##"{"$id":"https://a.example/x/root","$ref":"/y#/$defs/z","$defs":{"a":{"$id":"/y","$defs":{"z":{"type":"string"}}}}}"##,
        r##"{"$id":"urn:example:root","$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
        r##"{"$id":"urn:example:root","$ref":"urn:example:a","$defs":{"a":{"$id":"urn:example:a","type":"string"}}}"##,
        r##"{"$ref":"item.json","$defs":{"a":{"$id":"item.json","type":"string"}}}"##,
        r##"{"$ref":"#/definitions/a","definitions":{"a":{"type":"string"}}}"##,
        r##"{"$ref":"#/components/default","components":{"default":{"type":"string"}}}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","allOf":[{"$ref":"#a"}],"definitions":{"a":{"$id":"#a","type":"string"}}}"##,
        r##"{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"string","items":{"$recursiveRef":"#"}}"##,
    ] {
        assert_eq!(check(schema, "\"x\""), Ok(()), "{schema}");
        assert_eq!(check(schema, "1"), Err(Structured), "{schema}");
    }
    let list = r##"{"properties":{"next":{"$ref":"#"}},"required":["v"],"unevaluatedProperties":{"type":"integer"}}"##;
    assert_eq!(
        check(list, r#"{"v":1,"next":{"v":2,"next":{"v":3}}}"#),
        Ok(())
    );
    assert_eq!(
        check(list, r#"{"v":1,"next":{"v":2,"next":{}}}"#),
        Err(Structured)
    );
}

/// S11: the library knows JSON Schema's own schemas by heart, so a part that takes the name of one would be read as that.
#[test]
fn names_of_meta_schemas_are_refused() {
    for id in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/meta/core",
        "http://json-schema.org/draft-07/schema",
        "http://json-schema.org/draft-07/schema#",
    ] {
        let schema =
            format!(r#"{{"$ref":"{id}","$defs":{{"x":{{"$id":"{id}","type":"integer"}}}}}}"#);
        assert_eq!(
            compile(&schema).unwrap_err(),
            UnusableSchema::Reference,
            "{id}"
        );
    }
}

/// S11: nothing is fetched, whatever the schema names. The listener would see an attempt.
#[test]
fn nothing_is_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let http = format!("http://{}/s.json", listener.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.json");
    std::fs::write(&path, "{}").unwrap();
    let file = format!("file://{}", path.display());
    for url in [
        http.as_str(),
        &file,
        "s.json",
        "//127.0.0.1/s",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        for schema in [
            format!(r#"{{"$ref":"{url}"}}"#),
            format!(r##"{{"$ref":"{url}#/a"}}"##),
            format!(r#"{{"$dynamicRef":"{url}"}}"#),
            format!(r#"{{"$id":"{url}","$ref":"other"}}"#),
            format!(r#"{{"properties":{{"a":{{"not":{{"$ref":"{url}"}}}}}}}}"#),
        ] {
            assert_eq!(
                compile(&schema).unwrap_err(),
                UnusableSchema::Reference,
                "{schema}"
            );
        }
        // Where no rule follows them, names are only names.
        for schema in [
            format!(r#"{{"$id":"{url}","type":"object"}}"#),
            format!(r#"{{"$comment":"{url}","const":{{"$ref":"{url}"}}}}"#),
            format!(r#"{{"$defs":{{"a":{{"$ref":"{url}"}}}}}}"#),
            format!(r#"{{"$defs":{{"a":{{"$id":"x","$schema":"{url}"}}}}}}"#),
        ] {
            let _ = compile(&schema);
        }
    }
    let refused = listener.accept().unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn unusable_schemas_say_why() {
    for (schema, reason) in [
        (r#"{"type":"strin"}"#, UnusableSchema::Invalid),
        (r#"{"minimum":"1"}"#, UnusableSchema::Invalid),
        (r#"{"required":1}"#, UnusableSchema::Invalid),
        (r##"{"$ref":"#/nowhere"}"##, UnusableSchema::Reference),
        (r##"{"$ref":"#nowhere"}"##, UnusableSchema::Reference),
        (r#"{"pattern":"("}"#, UnusableSchema::Pattern),
        (r#"{"pattern":"(a)\\1"}"#, UnusableSchema::Pattern),
        (
            r#"{"patternProperties":{"a(?<!b)c":{}}}"#,
            UnusableSchema::Pattern,
        ),
        (r##"{"$ref":"#"}"##, UnusableSchema::TooComplex),
        (
            r##"{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"anyOf":[{"$ref":"#/$defs/x"}]}}}"##,
            UnusableSchema::TooComplex,
        ),
    ] {
        let found = compile(schema).unwrap_err();
        assert_eq!(found, reason, "{schema}");
        assert_eq!(ResultFault::from(found), Unchecked);
    }
}

/// S11: no number is refused for its size, and none panics.
#[test]
fn numbers_beyond_doubles_are_not_refused() {
    for number in [
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
        "123456789012345678901234567890",
        "1e300",
        "1.0",
        "-0",
    ] {
        for schema in [
            r#"{"type":"integer"}"#,
            r#"{"type":"number"}"#,
            r#"{"minimum":-1e308,"maximum":1e308}"#,
            r#"{"multipleOf":1}"#,
        ] {
            assert_eq!(check(schema, number), Ok(()), "{schema} {number}");
        }
        assert_eq!(check(&format!(r#"{{"const":{number}}}"#), number), Ok(()));
        assert_eq!(check(&format!(r#"{{"enum":[{number}]}}"#), number), Ok(()));
    }
    assert_eq!(
        check(r#"{"maximum":9007199254740992}"#, "9007199254740993"),
        Err(Structured)
    );
    for number in [
        "1e-400",
        "0.1000000000000000055511151231257827",
        "1e308",
        "5e-324",
    ] {
        assert_eq!(check(r#"{"type":"number","minimum":0}"#, number), Ok(()));
        let _ = check(r#"{"multipleOf":1e-300}"#, number);
        let _ = check(r#"{"multipleOf":0.1}"#, number);
    }
}

/// S11: text that serde refuses is checked all the same.
#[test]
fn lone_surrogates_and_equal_keys_are_checked() {
    assert_eq!(
        check(r#"{"type":"string","maxLength":3}"#, r#""\ud800\\\ude00""#),
        Ok(())
    );
    assert_eq!(
        check(
            r#"{"const":"\ud83d\ude00\\ud800"}"#,
            r#""\uD83D\uDE00\\ud800""#
        ),
        Ok(())
    );
    assert_eq!(
        check(
            r#"{"const":"\ud800\ud83d\ude00"}"#,
            r#""\udfff\ud83d\ude00""#
        ),
        Ok(())
    );
    assert_eq!(
        check(r#"{"description":"\ud800","type":"integer"}"#, "1"),
        Ok(())
    );
    assert_eq!(
        check(
            r#"{"properties":{"a":{"type":"integer"}}}"#,
            r#"{"a":"x","a":1}"#
        ),
        Ok(())
    );
}

/// S11: the look-around that schema generators write is checked.
#[test]
fn patterns_with_look_around_are_checked() {
    // As Zod 4 writes an e-mail address.
    let email = r"^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$";
    let schema = format!(
        r#"{{"type":"object","properties":{{"to":{{"type":"string","allOf":[{{"minLength":3}}],"pattern":"{email}"}}}}}}"#
    );
    assert_eq!(check(&schema, r#"{"to":"a.b@example.org"}"#), Ok(()));
    for wrong in [".a@example.org", "a..b@example.org", "a@b", ""] {
        let value = format!(r#"{{"to":"{wrong}"}}"#);
        assert_eq!(check(&schema, &value), Err(Structured), "{wrong}");
    }
    let word = r#"{"pattern":"^(?!foo)[a-z]+$"}"#;
    for (value, expected) in [
        (r#""bar""#, Ok(())),
        (r#""foobar""#, Err(Structured)),
        (r#""BAR""#, Err(Structured)),
        // A pattern says nothing of what is no string.
        ("1", Ok(())),
    ] {
        assert_eq!(check(word, value), expected, "{value}");
    }
    let label = r#"{"propertyNames":{"pattern":"^(?!-)[a-z-]{1,63}(?<!-)$"}}"#;
    assert_eq!(check(label, r#"{"a-b":1}"#), Ok(()));
    assert_eq!(check(label, r#"{"-b":1}"#), Err(Structured));
    assert_eq!(check(label, r#"{"a-":1}"#), Err(Structured));
    let path = r#"{"pattern":"^/(?!/).*$"}"#;
    assert_eq!(check(path, r#""/a""#), Ok(()));
    assert_eq!(check(path, r#""//a""#), Err(Structured));
    // What is only data stays as it is.
    let data = r##"{"const":{"pattern":"^(?!a)b"},"$defs":{"a":{"$ref":"#/const"}}}"##;
    assert_eq!(check(data, r#"{"pattern":"^(?!a)b"}"#), Ok(()));
    let both = r##"{"const":{"pattern":"^(?!a)b"},"not":{"$ref":"#/const"}}"##;
    assert_eq!(compile(both).unwrap_err(), UnusableSchema::Pattern);
}

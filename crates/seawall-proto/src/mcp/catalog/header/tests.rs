//! T2: `x-mcp-header`, what is refused of it and what it puts into headers.

use std::time::Instant;

use super::{BadHeaderParam, HeaderParams};
use crate::json::Json;
use crate::limits::{InvalidTools, Limits};
use crate::mcp::catalog::{CatalogBuilder, CatalogFault, Rules, ToolFault};

fn of(schema: &str) -> Result<HeaderParams, BadHeaderParam> {
    HeaderParams::of(&Json::check(schema.to_owned()).unwrap())
}

fn values(schema: &str, arguments: &str) -> Vec<(String, String)> {
    of(schema)
        .unwrap()
        .values(&Json::check(arguments.to_owned()).unwrap())
}

fn property(schema: &str) -> String {
    format!(r#"{{"type":"object","properties":{{"p":{schema}}}}}"#)
}

fn value(schema: &str, argument: &str) -> Option<String> {
    let found = values(&property(schema), &format!(r#"{{"p":{argument}}}"#));
    assert!(found.len() <= 1);
    found.into_iter().next().map(|(name, value)| {
        assert_eq!(name, "H");
        value
    })
}

/// T2: strings as they are, integers in decimal, booleans; nothing for null, other kinds, and what is no integer.
#[test]
fn values_are_written_as_the_revision_says() {
    for (kind, argument, expected) in [
        ("string", r#""us-west1""#, Some("us-west1")),
        ("string", r#"" a\n\u00e9""#, Some(" a\né")),
        ("string", r#""""#, Some("")),
        ("string", "null", None),
        ("string", "{}", None),
        ("string", r#"["a"]"#, None),
        ("boolean", "true", Some("true")),
        ("boolean", "false", Some("false")),
        ("integer", "0", Some("0")),
        ("integer", "-0", Some("0")),
        ("integer", "-7", Some("-7")),
        ("integer", "42.0", Some("42")),
        ("integer", "4.2e1", Some("42")),
        ("integer", "9007199254740991", Some("9007199254740991")),
        ("integer", "-9007199254740991", Some("-9007199254740991")),
        ("integer", "9007199254740993", None),
        ("integer", "1e300", None),
        ("integer", "1.5", None),
    ] {
        let schema = format!(r#"{{"type":"{kind}","x-mcp-header":"H"}}"#);
        assert_eq!(
            value(&schema, argument).as_deref(),
            expected,
            "{kind} {argument}"
        );
    }
    let schema = property(r#"{"type":"string","x-mcp-header":"H"}"#);
    assert!(values(&schema, "{}").is_empty());
    assert!(values(&schema, r#"{"q":"x"}"#).is_empty());
}

/// T2: names that are no token of RFC 9110, or that stand twice whatever their case, are refused.
#[test]
fn names_are_tokens_and_unique() {
    for (name, fits) in [
        ("Region", true),
        ("a!#$%&'*+-.^_`|~9", true),
        ("", false),
        ("a b", false),
        ("a:b", false),
        ("é", false),
        (r"a\r\nX: y", false),
        (r"\u0000", false),
        ("a/b", false),
        ("(a)", false),
    ] {
        let schema = property(&format!(r#"{{"type":"string","x-mcp-header":"{name}"}}"#));
        assert_eq!(of(&schema).is_ok(), fits, "{name}");
    }
    for annotation in ["7", "null", "[]", "{}", "true"] {
        let schema = property(&format!(
            r#"{{"type":"string","x-mcp-header":{annotation}}}"#
        ));
        assert!(of(&schema).is_err(), "{annotation}");
    }
    for (other, fits) in [("Region", false), ("rEGION", false), ("Region2", true)] {
        let schema = format!(
            r#"{{"properties":{{"a":{{"type":"string","x-mcp-header":"Region"}},"b":{{"properties":{{"c":{{"type":"string","x-mcp-header":"{other}"}}}}}}}}}}"#
        );
        assert_eq!(of(&schema).is_ok(), fits, "{other}");
    }
}

/// T2: only strings, integers and booleans go into headers.
#[test]
fn only_plain_types_are_annotated() {
    for (kind, fits) in [
        ("\"string\"", true),
        ("\"integer\"", true),
        ("\"boolean\"", true),
        ("\"number\"", false),
        ("\"object\"", false),
        ("\"array\"", false),
        ("\"null\"", false),
        ("[\"string\"]", false),
    ] {
        let schema = property(&format!(r#"{{"type":{kind},"x-mcp-header":"H"}}"#));
        assert_eq!(of(&schema).is_ok(), fits, "{kind}");
    }
    assert!(of(&property(r#"{"x-mcp-header":"H"}"#)).is_err());
}

/// T2: an annotation anywhere but on a property that properties alone lead to makes the tool invalid; the same words as
/// data do not.
#[test]
fn annotation_out_of_reach_is_refused() {
    let annotated = r#"{"type":"string","x-mcp-header":"H"}"#;
    let inside = format!(r#"{{"type":"object","properties":{{"x":{annotated}}}}}"#);
    for place in [
        "items",
        "additionalProperties",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "additionalItems",
    ] {
        for within in [annotated, &inside] {
            assert!(of(&property(&format!(r#"{{"{place}":{within}}}"#))).is_err());
            assert!(
                of(&format!(r#"{{"{place}":{within}}}"#)).is_err(),
                "{place}"
            );
        }
    }
    for place in ["allOf", "anyOf", "oneOf", "prefixItems", "items"] {
        assert!(
            of(&property(&format!(r#"{{"{place}":[true,{annotated}]}}"#))).is_err(),
            "{place}"
        );
    }
    for place in [
        "$defs",
        "definitions",
        "patternProperties",
        "dependentSchemas",
        "dependencies",
    ] {
        assert!(
            of(&format!(r#"{{"{place}":{{"d":{annotated}}}}}"#)).is_err(),
            "{place}"
        );
    }
    assert!(
        of(r#"{"type":"string","x-mcp-header":"H"}"#).is_err(),
        "root"
    );
    assert!(
        of(r#"{"\u0078-mcp-header":"H"}"#).is_err(),
        "however written"
    );
    for harmless in [
        r#"{"default":{"x-mcp-header":"H"}}"#,
        r#"{"enum":[{"x-mcp-header":7}]}"#,
        r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#,
        r#"{"description":"x-mcp-header"}"#,
    ] {
        assert!(of(harmless).unwrap().is_empty(), "{harmless}");
    }
}

/// T2: the exact path is read, through objects only; an annotated property may stand beside one that leads deeper.
#[test]
fn exact_path_is_read() {
    let schema = r#"{"properties":{"a":{"properties":{"\u0062":{"type":"integer","x-mcp-header":"B"},"c":{"properties":{"d":{"type":"string","x-mcp-header":"D"}}}}},"b":{"type":"boolean","x-mcp-header":"Top"}}}"#;
    let pairs = |found: Vec<(String, String)>| {
        found
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(of(schema).unwrap().len(), 3);
    for (arguments, expected) in [
        (
            r#"{"a":{"b":1,"c":{"d":"x"}},"b":true}"#,
            "B=1 D=x Top=true",
        ),
        (r#"{"\u0061":{"b":1}}"#, "B=1"),
        (r#"{"a":[{"b":1}],"d":"x","c":{"d":"x"}}"#, ""),
        (r#"{"a":{"a":{"b":1},"b":null,"c":7}}"#, ""),
        (r#"{"b":true,"b":false}"#, "Top=false"),
        (r#"{"b":false,"b":true}"#, "Top=true"),
        ("[]", ""),
    ] {
        assert_eq!(pairs(values(schema, arguments)), expected, "{arguments}");
    }
}

/// L6: long keys on the way to many annotations, and many annotations, cost neither memory nor time out of proportion.
#[test]
fn many_annotations_behind_long_keys_are_cheap() {
    let leaves: Vec<String> = (0..1_000)
        .map(|at| format!(r#""{at}":{{"type":"string","x-mcp-header":"H{at}"}}"#))
        .collect();
    let mut schema = format!(r#"{{"properties":{{{}}}}}"#, leaves.join(","));
    let mut arguments = format!(r#"{{"7":"{}"}}"#, "v".repeat(100_000));
    for _ in 0..20 {
        let key = "k".repeat(1_000);
        schema = format!(r#"{{"properties":{{"{key}":{schema}}}}}"#);
        arguments = format!(r#"{{"{key}":{arguments}}}"#);
    }
    let schema = Json::check(schema).unwrap();
    let arguments = Json::check(arguments).unwrap();
    let begin = Instant::now();
    for _ in 0..10 {
        let params = HeaderParams::of(&schema).unwrap();
        assert_eq!(params.len(), 1_000);
        let kept: usize = params
            .steps
            .iter()
            .flatten()
            .map(|(key, _)| key.len())
            .sum();
        assert!(kept < schema.len());
        assert_eq!(params.values(&arguments).len(), 1);
    }
    // Path by path this would be 20 million bytes of keys and 2 billion of arguments.
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

/// T2, L7: over HTTP a tool with an invalid annotation is left out, whatever `invalidTools` says, and the others stay;
/// elsewhere annotations mean nothing.
#[test]
fn tool_with_an_invalid_annotation_is_left_out() {
    let page = Json::check(
        r#"{"tools":[
            {"name":"good","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}},
            {"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}},
            {"name":"plain","inputSchema":{"type":"object"}}]}"#,
    )
    .unwrap();
    for invalid_tools in [InvalidTools::Refuse, InvalidTools::Quarantine] {
        for header_params in [true, false] {
            let limits = Limits {
                invalid_tools,
                ..Limits::default()
            };
            let mut builder = CatalogBuilder::new(Rules {
                header_params,
                empty_cursor: true,
            });
            builder.page(&page, &limits).unwrap();
            let catalog = builder.finish();
            let left_out = usize::from(header_params);
            assert_eq!(catalog.tools().len(), 3 - left_out);
            assert_eq!(catalog.quarantined().len(), left_out);
            assert_eq!(catalog.get("bad").is_none(), header_params);
            assert_eq!(catalog.get("good").unwrap().header_params().len(), left_out);
            if let [left_out] = catalog.quarantined() {
                assert_eq!(
                    (left_out.index, left_out.fault),
                    (1, ToolFault::HeaderParam)
                );
            }
        }
    }
    // Every other rule still refuses.
    let page =
        Json::check(r#"{"tools":[{"name":"a/b","inputSchema":{"type":"object"}}]}"#).unwrap();
    let refused = CatalogBuilder::new(Rules {
        header_params: true,
        empty_cursor: true,
    })
    .page(&page, &Limits::default());
    assert!(matches!(refused, Err(CatalogFault::Tool { index: 0, .. })));
}

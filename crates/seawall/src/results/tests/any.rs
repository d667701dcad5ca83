//! S11: schemas and values of any shape, most of them nonsense: never a panic, never long.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const KEYS: &[&str] = &[
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$defs",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "type",
    "enum",
    "const",
    "required",
    "dependentRequired",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "a",
    "b",
    "^a",
];

const TEXTS: &[&str] = &[
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#x",
    "a",
    "b",
    "http://a.example/a",
    "object",
    "array",
    "string",
    "integer",
    "number",
    "^a*$",
    "(?!a)b",
    "(a)\\1",
    "regex",
    "date",
    "base64",
    "application/json",
    "x",
    "\u{0}",
    "é",
];

fn text() -> impl Strategy<Value = Value> {
    prop::sample::select(TEXTS).prop_map(Value::from)
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..4).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text(),
        text(),
        any::<String>().prop_map(Value::from),
    ]
}

fn nonsense() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 48, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(KEYS), inner), 0..5).prop_map(|members| {
                Value::Object(
                    members
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}

/// Values that the meta-schemas mostly accept.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Bool(true)),
        prop::sample::select(&["object", "array", "string", "integer", "number"][..])
            .prop_map(|name| serde_json::json!({"type": name})),
        prop::sample::select(&["#", "#/$defs/a", "#/$defs/b", "#x", "a"][..])
            .prop_map(|to| serde_json::json!({"$ref": to})),
        Just(serde_json::json!({"$dynamicRef": "#x"})),
        leaf().prop_map(|value| serde_json::json!({"const": value})),
        prop::collection::vec(leaf(), 1..4).prop_map(|values| serde_json::json!({"enum": values})),
        any::<f64>().prop_map(
            |number| serde_json::json!({"multipleOf": number.abs().max(1e-300), "minimum": number})
        ),
        Just(serde_json::json!({"uniqueItems": true, "minLength": 1, "pattern": "^a*$"})),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let named = prop::collection::btree_map(
            prop::sample::select(&["a", "b", "^a"][..]),
            inner.clone(),
            0..3,
        );
        let list = prop::collection::vec(inner.clone(), 1..4);
        prop::collection::vec(
            prop_oneof![
                (
                    prop::sample::select(
                        &[
                            "not",
                            "if",
                            "then",
                            "else",
                            "additionalProperties",
                            "propertyNames",
                            "unevaluatedProperties",
                            "items",
                            "contains",
                            "unevaluatedItems"
                        ][..]
                    ),
                    inner
                )
                    .prop_map(|(key, value)| (key, value)),
                (
                    prop::sample::select(&["allOf", "anyOf", "oneOf", "prefixItems"][..]),
                    list
                )
                    .prop_map(|(key, list)| (key, Value::from(list))),
                (
                    prop::sample::select(
                        &[
                            "properties",
                            "patternProperties",
                            "dependentSchemas",
                            "$defs"
                        ][..]
                    ),
                    named
                )
                    .prop_map(|(key, members)| (key, serde_json::json!(members))),
                prop::sample::select(&["$anchor", "$dynamicAnchor"][..])
                    .prop_map(|key| (key, Value::from("x"))),
                prop::sample::select(&["a", "b"][..]).prop_map(|id| ("$id", Value::from(id))),
            ],
            1..4,
        )
        .prop_map(|members| {
            Value::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect(),
            )
        })
    })
}

fn ends(schema: &Value, value: &Value) {
    let began = Instant::now();
    let (Ok(schema), Ok(value)) = (Json::of(schema), Json::of(value)) else {
        return;
    };
    if let Ok(validator) = OutputValidator::compile(&schema) {
        let _ = validator.check(&value);
    }
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{}",
        schema.as_str()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn nonsense_ends(schema in nonsense(), value in nonsense()) {
        ends(&schema, &value);
    }

    #[test]
    fn plausible_schemas_end(schema in schema(), value in nonsense()) {
        ends(&schema, &value);
    }
}

use serde_json::{Value, json};

use super::schema::Schema;
use super::typing::{self, Kind};
use super::{build, nearest};

fn built(schema: &Value, pairs: &[&str]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
    build(schema, None, &pairs).unwrap_or_else(|error| format!("error: {error}"))
}

fn over(document: &str, pairs: &[&str]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
    build(&json!({}), Some(document), &pairs).unwrap_or_else(|error| format!("error: {error}"))
}

fn with(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn string_is_taken_as_it_stands() {
    let schema = with(&json!({"s": {"type": "string"}}));
    assert_eq!(built(&schema, &["s=5"]), r#"{"s":"5"}"#);
    assert_eq!(built(&schema, &["s="]), r#"{"s":""}"#);
    assert_eq!(built(&schema, &["s=a=b \"c\"\n"]), r#"{"s":"a=b \"c\"\n"}"#);
}

/// What was given is never lost: an object after one of its members would replace it.
#[test]
fn object_after_its_member_is_refused() {
    let object =
        with(&json!({"r": {"type": "object", "properties": {"v": {}, "w": {"type": "object"}}}}));
    let refused = "error: `r` comes after one of its members and would replace it; give it before them, or them alone";
    assert_eq!(built(&object, &["r.v=1", r#"r={"x":2}"#]), refused);
    assert_eq!(
        built(&object, &["r.w.a=1", "r.w={}"]),
        refused.replace("`r`", "`r.w`")
    );
    assert_eq!(
        built(&object, &[r#"r={"x":2}"#, "r.v=1"]),
        r#"{"r":{"x":2,"v":1}}"#
    );
    // A name with a dot in it is no member of another.
    let dotted = with(&json!({"a": {"type": "integer"}, "a.b": {"type": "integer"}}));
    assert_eq!(built(&dotted, &["a.b=1", "a=2"]), r#"{"a.b":1,"a":2}"#);
}

#[test]
fn scalars_are_parsed_by_their_type() {
    let schema = with(&json!({
        "i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"}, "z": {"type": "null"},
    }));
    assert_eq!(
        built(&schema, &["i=-3", "n=2.50", "b=true", "z=null"]),
        r#"{"i":-3,"n":2.50,"b":true,"z":null}"#
    );
}

#[test]
fn wrong_scalar_is_refused_naming_key_type_and_an_example() {
    let schema = with(&json!({
        "i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"}, "z": {"type": "null"},
        "u": {"type": ["integer", "null"]}, "e": {"enum": ["open", "closed"]}, "a": {"type": "array", "items": {"type": "integer"}},
        "o": {"type": "object"},
    }));
    let errors: Vec<String> = [
        "i=3.5", "i=", "i= 3", "n=abc", "n=1e999", "n=NaN", "b=yes", "z=", "u=x", "e=ajar",
        "a=[1,", "a=x", "o=1",
    ]
    .iter()
    .map(|pair| built(&schema, &[pair]))
    .collect();
    insta::assert_snapshot!(errors.join("\n"), @r#"
    error: `i` takes an integer, as in `i=3`; `3.5` is not
    error: `i` takes an integer, as in `i=3`; `` is not
    error: `i` takes an integer, as in `i=3`; ` 3` is not
    error: `n` takes a number, as in `n=2.5`; `abc` is not
    error: `n` takes a number, as in `n=2.5`; `1e999` is not
    error: `n` takes a number, as in `n=2.5`; `NaN` is not
    error: `b` takes true or false, as in `b=true`; `yes` is not
    error: `z` takes null, as in `z=null`; `` is not
    error: `u` takes an integer or null, as in `u=3`; `x` is not
    error: `e` takes one of open, closed, as in `e=open`; `ajar` is not
    error: `a` takes a JSON array of integers, as in `a='[3]'`; `[1,` is not
    error: `a` takes a JSON array of integers, as in `a='[3]'`; `x` is not
    error: `o` takes a JSON object, as in `o='{"name": 1}'`; `1` is not
    "#);
}

#[test]
fn numbers_past_2_to_the_53_stay_exact() {
    let schema = with(
        &json!({"i": {"type": "integer"}, "a": {"type": "array", "items": {"type": "number"}}}),
    );
    assert_eq!(
        built(
            &schema,
            &[
                "i=123456789012345678901234567890",
                "a=[9007199254740993, 0.10]",
                "a=1E2",
                "x=9007199254740993"
            ]
        ),
        r#"{"i":123456789012345678901234567890,"a":[9007199254740993,0.10,1E2],"x":9007199254740993}"#
    );
}

#[test]
fn array_is_json_or_one_item_and_a_repeated_key_appends() {
    let schema = with(&json!({
        "t": {"type": "array", "items": {"type": "string"}}, "i": {"type": "array", "items": {"type": "integer"}},
    }));
    assert_eq!(built(&schema, &["t=a"]), r#"{"t":["a"]}"#);
    assert_eq!(
        built(&schema, &["t=a", "i=1", "t=2", "i=2"]),
        r#"{"t":["a","2"],"i":[1,2]}"#
    );
    assert_eq!(
        built(&schema, &[r#"t=["a", "b"]"#, "t=c", "t=[]"]),
        r#"{"t":["a","b","c"]}"#
    );
    assert_eq!(
        built(&schema, &["t=[a-z]"]),
        r#"error: `t` takes a JSON array of texts, as in `t='["text"]'`; `[a-z]` is not"#
    );
}

#[test]
fn other_key_given_twice_is_refused() {
    let schema = with(&json!({"s": {"type": "string"}}));
    assert_eq!(
        built(&schema, &["s=a", "s=b"]),
        "error: `s` is given twice; it takes text, so give it once"
    );
    assert_eq!(
        built(&schema, &["x=[1]", "x=[2]"]),
        "error: `x` is given twice; it takes any value, so give it once"
    );
}

#[test]
fn dotted_key_reaches_into_objects() {
    let schema = with(&json!({
        "o": {"type": "object", "properties": {"n": {"type": "integer"}, "t": {"type": "array", "items": {"type": "string"}}}},
        "s": {"type": "string"}, "a.b": {"type": "string"},
    }));
    assert_eq!(
        built(&schema, &["o.n=1", "o.t=x", "o.t=y", "o.p.q=z"]),
        r#"{"o":{"n":1,"t":["x","y"],"p":{"q":"z"}}}"#
    );
    assert_eq!(
        built(&schema, &[r#"o={"n": 1, "m": 2}"#, "o.n=3"]),
        r#"{"o":{"n":3,"m":2}}"#
    );
    assert_eq!(
        built(&schema, &["a.b=1", "o.n=x"]),
        "error: `o.n` takes an integer, as in `o.n=3`; `x` is not"
    );
    assert_eq!(built(&schema, &["a.b=1"]), r#"{"a.b":"1"}"#);
    assert_eq!(
        built(&schema, &["s.x=1"]),
        "error: `s` has no members: it takes text"
    );
    assert_eq!(
        built(&schema, &["u=1", "u.x=1"]),
        "error: `u` was given as something that is no object, so it has no members"
    );
    assert_eq!(
        built(&schema, &[".=1", "a.=2", ".b=3"]),
        r#"{".":1,"a.":2,".b":3}"#
    );
}

#[test]
fn key_that_reaches_too_deep_is_refused() {
    let deep = format!("{}x=1", "a.".repeat(5_000));
    assert!(built(&json!({}), &[&deep]).ends_with("reaches too deep"));
}

#[test]
fn unions_are_tried_in_their_order() {
    let schema = with(&json!({
        "a": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "c": {"oneOf": [{"const": "x"}, {"type": "boolean"}, {"type": "array", "items": {"type": "integer"}}]},
        "d": {"type": ["null", "number"]},
        "e": {"allOf": [{"$ref": "#/$defs/count"}]},
    }));
    let mut schema = schema;
    schema["$defs"] = json!({"count": {"type": "integer"}});
    assert_eq!(
        built(&schema, &["a=5", "b=null", "c=true", "d=null", "e=7"]),
        r#"{"a":5,"b":"null","c":true,"d":null,"e":7}"#
    );
    assert_eq!(
        built(&schema, &["a=five", "c=x", "d=1"]),
        r#"{"a":"five","c":"x","d":1}"#
    );
    assert_eq!(built(&schema, &["c=1", "c=2"]), r#"{"c":[1,2]}"#);
}

#[test]
fn choices_keep_their_type() {
    let schema = with(&json!({"e": {"enum": ["1", 2, true, null]}}));
    assert_eq!(built(&schema, &["e=1"]), r#"{"e":"1"}"#);
    assert_eq!(built(&schema, &["e=2"]), r#"{"e":2}"#);
    assert_eq!(built(&schema, &["e=null"]), r#"{"e":null}"#);
}

#[test]
fn unknown_key_is_json_if_it_can_be_unless_the_schema_is_closed() {
    let open = with(&json!({"limit": {"type": "integer"}}));
    assert_eq!(
        built(&open, &["x=1", "y=one", "z={\"a\": 1}"]),
        r#"{"x":1,"y":"one","z":{"a":1}}"#
    );
    let mut closed = open.clone();
    closed["additionalProperties"] = json!(false);
    assert_eq!(
        built(&closed, &["limti=1"]),
        "error: the tool has no argument `limti`; did you mean `limit`?"
    );
    assert_eq!(
        built(&closed, &["zzzzzzzz=1"]),
        "error: the tool has no argument `zzzzzzzz`"
    );
    let mut typed = open;
    typed["additionalProperties"] = json!({"type": "string"});
    assert_eq!(built(&typed, &["x=1"]), r#"{"x":"1"}"#);
}

#[test]
fn pairs_override_the_document() {
    assert_eq!(
        over(r#" {"a": 1, "b": [ 1.0 ] } "#, &[]),
        r#"{"a":1,"b":[1.0]}"#
    );
    assert_eq!(
        over(r#"{"a": 1, "b": "x  \" y"}"#, &["a=2", "c=3"]),
        r#"{"a":2,"b":"x  \" y","c":3}"#
    );
    assert_eq!(
        over(r#"{"o": {"p": 1, "q": 2}}"#, &["o.p=3"]),
        r#"{"o":{"p":3,"q":2}}"#
    );
    assert_eq!(
        over("[1]", &[]),
        "error: --args is not a JSON object; it is like '{\"key\": \"value\"}'"
    );
    assert!(over("{", &[]).starts_with("error: --args is not JSON: EOF"));
}

#[test]
fn document_is_one_line_and_otherwise_unchanged() {
    let text = "{\n \"a\": \"\\ud800 \u{2028}\\n\",\t\"b\": 1e400, \"a\": [ ]\r\n}";
    assert_eq!(
        over(text, &[]),
        "{\"a\":\"\\ud800 \u{2028}\\n\",\"b\":1e400,\"a\":[]}"
    );
}

#[test]
fn pair_without_key_or_equals_sign_is_refused() {
    for pair in ["x", "=x", ""] {
        let expected = format!(
            "error: `{pair}` is not key=value; write the key, an equals sign and the value, as in `limit=3`"
        );
        assert_eq!(built(&json!({}), &[pair]), expected);
    }
}

#[test]
fn reference_may_be_percent_encoded() {
    let schema = json!({
        "properties": {"x": {"$ref": "#/definitions/Box%3Ca~1b%3E"}},
        "definitions": {"Box<a/b>": {"type": "string"}},
    });
    assert_eq!(built(&schema, &["x=1"]), r#"{"x":"1"}"#);
}

#[test]
fn schema_that_refers_to_itself_is_finite_work() {
    let knot = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#/anyOf/1"}], "additionalProperties": false});
    assert!(built(&knot, &["x=1"]).starts_with("error: the tool has no argument `x`"));
    let knot = json!({"properties": {"x": {"type": "array", "items": {"$ref": "#/properties/x"}}}});
    assert_eq!(built(&knot, &["x=1"]), r#"{"x":[[[[[1]]]]]}"#);
    let knot = json!({"properties": {"x": {"$ref": "#/properties/x"}}});
    assert_eq!(built(&knot, &["x=1"]), r#"{"x":1}"#);
}

#[test]
fn many_ways_to_one_place_are_finite_work() {
    let many = |value: Value| vec![value; 900];
    let array = json!({"type": "array", "items": {"$ref": "#/$defs/a"}});
    let schema =
        json!({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"anyOf": many(array)}}});
    assert!(built(&schema, &["x=1"]).contains('1'));
    let types = vec!["array"; 6_000];
    let schema = json!({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": types, "items": {"$ref": "#/$defs/a"}}}});
    assert_eq!(built(&schema, &["x=1"]), r#"{"x":[[[[[1]]]]]}"#);
    let names: serde_json::Map<_, _> = (0..3_000)
        .map(|at| (format!("name{at}"), json!(true)))
        .collect();
    let schema = json!({
        "additionalProperties": false,
        "allOf": many(json!({"$ref": "#/$defs/p"})),
        "$defs": {"p": {"properties": names}},
    });
    assert_eq!(
        built(&schema, &["nane7=1"]),
        "error: the tool has no argument `nane7`; did you mean `name7`?"
    );
    let choices: Vec<_> = (0..5_000).collect();
    let array = json!({"type": "array", "items": {"$ref": "#/$defs/e"}});
    let schema =
        json!({"properties": {"x": {"anyOf": many(array)}}, "$defs": {"e": {"enum": choices}}});
    assert_eq!(built(&schema, &["x=7"]), r#"{"x":[7]}"#);
}

#[test]
fn what_choices_hold_counts() {
    let list = vec![0; 20_000];
    let array = json!({"type": "array", "items": {"$ref": "#/$defs/e"}});
    let document = json!({"$defs": {"e": {"const": list}}, "anyOf": vec![array; 400]});
    let held: usize = typing::kinds(&Schema::root(&document))
        .iter()
        .map(|kind| match kind {
            Kind::Array(items) => items.iter().map(held_by).sum(),
            other => held_by(other),
        })
        .sum();
    assert!((20_000..=50_000).contains(&held), "{held}");
    let words = json!({"enum": vec!["x".repeat(6_400); 1_000]});
    assert_eq!(typing::kinds(&Schema::root(&words)), [Kind::Any]);
    let words = json!({"enum": vec!["x".repeat(64); 1_000]});
    assert_eq!(held_by(&typing::kinds(&Schema::root(&words))[0]), 1_000);
}

/// How many values a kind's choices hold, one level into each.
fn held_by(kind: &Kind) -> usize {
    let Kind::Choice(values) = kind else { return 0 };
    let of = |value: &Value| value.as_array().map_or(1, Vec::len);
    values.iter().map(of).sum()
}

#[test]
fn a_number_has_nothing_beside_it() {
    let schema = with(&json!({"n": {"type": "number"}, "t": {"type": ["number", "string"]}}));
    for text in [
        "3 ", " 3", "3\n", "\"3\"", "[3]", "+3", "0x3", "inf", "NaN", "true", "",
    ] {
        assert!(
            built(&schema, &[&format!("n={text}")]).starts_with("error: `n` takes a number"),
            "{text:?}"
        );
    }
    assert_eq!(built(&schema, &["t=3 ", "n=-3"]), r#"{"t":"3 ","n":-3}"#);
}

#[test]
fn declared_name_with_dots_wins() {
    let integer = json!({"type": "integer"});
    let schema = with(&json!({
        "a": {"type": "object"},
        "a.b": integer,
        "c": {"type": "object"},
        "c.d": {"type": "object", "properties": {"e": integer}},
    }));
    assert_eq!(
        built(&schema, &["a.b=1", "a.x=2"]),
        r#"{"a.b":1,"a":{"x":2}}"#
    );
    assert_eq!(built(&schema, &["c.d.e=1"]), r#"{"c.d":{"e":1}}"#);
}

#[test]
fn nearest_name_is_the_one_most_alike() {
    let names = ["limits", "limit", "query"].map(str::to_owned);
    assert_eq!(nearest(&names, "limi").as_deref(), Some("limit"));
    assert_eq!(nearest(&names, "qeury").as_deref(), Some("query"));
    assert_eq!(nearest(&names, "zzzzz"), None);
}

/// What stands beside a reference counts, and so does what it leads to.
#[test]
fn types_beside_a_reference_count() {
    let mut schema = with(&json!({
        "s": {"$ref": "#/$defs/note", "type": "string"},
        "i": {"type": "array", "$ref": "#/$defs/integers"},
        "o": {"$ref": "#/$defs/open", "properties": {"id": {"type": "string"}}},
        "a": {"$ref": "#anchor", "type": "string"},
        "r": {"$ref": "other.json#/x", "type": ["null", "string"]},
        "u": {"$ref": "#/$defs/missing"},
        "d": {"$ref": "#/$defs/count", "description": "how many"},
    }));
    schema["$defs"] = json!({
        "note": {"description": "a note"},
        "integers": {"items": {"type": "integer"}},
        "open": {"type": "object", "properties": {"n": {"type": "string"}}, "additionalProperties": false},
        "count": {"type": "string"},
    });
    assert_eq!(
        built(&schema, &["s=5", "i=5", "a=5", "r=5", "u=5", "d=5"]),
        r#"{"s":"5","i":[5],"a":"5","r":"5","u":5,"d":"5"}"#
    );
    assert_eq!(
        built(&schema, &["o.id=1", "o.n=2"]),
        r#"{"o":{"id":"1","n":"2"}}"#
    );
    assert!(built(&schema, &["i=x"]).starts_with("error: `i` takes a JSON array of integers"));
    assert!(built(&schema, &["o.x=1"]).starts_with("error: the tool has no argument `o.x`"));
    // Before 2019-09 a reference stood alone.
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["$defs"]["note"]["type"] = json!("integer");
    assert_eq!(built(&schema, &["s=5", "a=5"]), r#"{"s":5,"a":"5"}"#);
}

#[test]
fn an_optional_array_takes_null() {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let schema = with(&json!({
        "a": {"anyOf": [texts, {"type": "null"}]},
        "b": {"type": ["array", "null"], "items": {"type": "string"}},
        "c": {"type": ["array", "null"]},
        "e": {"anyOf": [{"type": "array", "items": {"type": ["string", "null"]}}, {"type": "null"}]},
        "s": {"anyOf": [texts, {"type": "string"}, {"type": "null"}]},
    }));
    assert_eq!(
        built(&schema, &["a=null", "b=null"]),
        r#"{"a":null,"b":null}"#
    );
    assert_eq!(
        built(&schema, &["a=x", "a=null"]),
        "error: `a` is given twice; it takes a JSON array of texts or null, so give it once"
    );
    assert_eq!(
        built(&schema, &["a=x", "a=y", r#"b=["null"]"#]),
        r#"{"a":["x","y"],"b":["null"]}"#
    );
    // Where it can be an element, or a text, it is what the schema names first.
    assert_eq!(
        built(&schema, &["c=null", "e=null", "s=null"]),
        r#"{"c":[null],"e":["null"],"s":["null"]}"#
    );
}

/// Of two members of one name the last counts, as with every reader; what is laid over it takes the place of both.
#[test]
fn a_pair_takes_the_place_of_a_doubled_key() {
    assert_eq!(
        over(r#"{"x":1,"y":0,"x":2,"z":3}"#, &["x=5"]),
        r#"{"y":0,"x":5,"z":3}"#
    );
    assert_eq!(
        over(r#"{"o":{"a":1},"o":{"b":2},"x":1,"x":2}"#, &["o.c=3"]),
        r#"{"o":{"b":2,"c":3},"x":1,"x":2}"#
    );
}

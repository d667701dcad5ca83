//! Forms out of schemas, and answers against forms.

use proptest::prelude::*;
use seawall_proto::Json;
use serde_json::{Value, json};

use super::{Choice, Fault, FieldKind, FieldProblem, Form, FormError, NumberKind, TextFormat};
use crate::inputs::limits::{
    MAX_DEFAULT_BYTES, MAX_DESCRIPTION_BYTES, MAX_FIELDS, MAX_LABEL_BYTES, MAX_MESSAGE_BYTES,
    MAX_NAME_BYTES, MAX_OPTIONS, MAX_PATTERN_BYTES,
};

fn parse(params: &Value) -> Result<Form, FormError> {
    Form::parse(&Json::of(params).unwrap())
}

fn form(properties: &Value, required: &[&str]) -> Form {
    parse(&params(properties, required)).unwrap()
}

fn params(properties: &Value, required: &[&str]) -> Value {
    json!({
        "message": "why",
        "requestedSchema": {"type": "object", "properties": properties, "required": required},
    })
}

fn refused(properties: &Value) -> FormError {
    parse(&params(properties, &[])).unwrap_err()
}

fn faults(form: &Form, content: &Value) -> Vec<(String, Fault)> {
    form.check(&Json::of(content).unwrap())
        .into_iter()
        .map(|FieldProblem { field, fault }| (field, fault))
        .collect()
}

/// The faults of one field's value.
fn fault(property: &Value, value: &Value) -> Option<Fault> {
    let form = form(&json!({ "f": property }), &[]);
    let mut faults = faults(&form, &json!({ "f": value }));
    assert!(faults.len() < 2);
    faults.pop().map(|(_, fault)| fault)
}

fn titled(value: &str, title: &str) -> Choice {
    Choice {
        value: value.to_owned(),
        title: Some(title.to_owned()),
    }
}

#[test]
fn every_kind_of_the_specification_is_read() {
    let form = form(
        &json!({
            "name": {"type": "string", "title": "Name", "description": "Yours", "minLength": 1, "maxLength": 9,
                "pattern": "^[a-z]+$", "default": "ann"},
            "mail": {"type": "string", "format": "email"},
            "age": {"type": "integer", "minimum": 18, "maximum": 99.5},
            "score": {"type": "number"},
            "ok": {"type": "boolean", "default": true},
            "plain": {"type": "string", "enum": ["a", "b"]},
            "named": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
            "titled": {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
            "some": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["a", "b"]}},
            "others": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "default": ["a"]},
        }),
        &["mail"],
    );
    assert_eq!(form.message(), "why");
    let names: Vec<&str> = form.fields().iter().map(super::Field::name).collect();
    assert_eq!(names.len(), 10);
    let field = |name: &str| form.field(name).unwrap();

    let name = field("name");
    assert_eq!((name.label(), name.description()), ("Name", Some("Yours")));
    assert!(!name.is_required() && field("mail").is_required());
    assert_eq!(name.default().unwrap().as_str(), r#""ann""#);
    let FieldKind::Text {
        pattern,
        min_length: Some(1),
        max_length: Some(9),
        format: None,
    } = name.kind()
    else {
        panic!("{name:?}");
    };
    assert_eq!(pattern.as_ref().unwrap().as_str(), "^[a-z]+$");
    assert!(matches!(
        field("mail").kind(),
        FieldKind::Text {
            format: Some(TextFormat::Email),
            ..
        }
    ));
    let FieldKind::Number {
        kind: NumberKind::Whole,
        minimum,
        maximum,
    } = field("age").kind()
    else {
        panic!();
    };
    assert_eq!((*minimum, *maximum), (Some(18.0), Some(99.5)));
    assert!(matches!(
        field("score").kind(),
        FieldKind::Number {
            kind: NumberKind::Any,
            ..
        }
    ));
    assert!(matches!(field("ok").kind(), FieldKind::Boolean));
    let options = |name: &str| match field(name).kind() {
        FieldKind::Choice { options } | FieldKind::Choices { options, .. } => options.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        options("plain")[1],
        Choice {
            value: "b".to_owned(),
            title: None
        }
    );
    assert_eq!(options("named"), [titled("a", "A"), titled("b", "B")]);
    assert_eq!(options("titled"), options("named"));
    assert_eq!(options("others"), [titled("a", "A")]);
    assert!(matches!(
        field("some").kind(),
        FieldKind::Choices {
            min_items: Some(1),
            max_items: Some(2),
            ..
        }
    ));
}

#[test]
fn a_field_or_null_is_the_field() {
    let form = form(
        &json!({"f": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "title": "T", "default": null}}),
        &[],
    );
    let field = form.field("f").unwrap();
    assert_eq!((field.label(), field.default()), ("T", None));
    assert_eq!(
        field.check(&Json::check("0").unwrap()),
        Some(Fault::TooSmall(1.0))
    );
}

#[test]
fn a_form_without_fields_asks_for_consent() {
    let form = form(&json!({}), &[]);
    assert!(form.fields().is_empty());
    assert_eq!(faults(&form, &json!({})), []);
}

#[test]
fn what_no_form_has_is_refused() {
    for property in [
        json!({"type": "object", "properties": {}}),
        json!({"type": "array", "items": {"type": "object"}}),
        json!({"type": "array"}),
        json!({"type": "null"}),
        json!({"type": ["string", "null"]}),
        json!({"$ref": "#/$defs/a"}),
        json!({}),
        json!("string"),
        json!({"type": "string", "enum": []}),
        json!({"type": "string", "enum": [1]}),
        json!({"type": "string", "enum": ["a", "a"]}),
        json!({"type": "string", "enum": ["a"], "oneOf": [{"const": "a"}]}),
        json!({"type": "string", "title": 3}),
        json!({"type": "string", "minLength": -1}),
        json!({"type": "string", "minLength": 3, "maxLength": 2}),
        json!({"type": "number", "minimum": 3, "maximum": 2}),
        json!({"type": "boolean", "enum": ["true"]}),
        json!({"type": "array", "minItems": 2, "items": {"enum": ["a"]}}),
        json!({"type": "array", "minItems": 2, "maxItems": 1, "items": {"enum": ["a", "b"]}}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "null"}]}),
    ] {
        assert_eq!(
            refused(&json!({ "f": property })),
            FormError::Field { index: 0 },
            "{property}"
        );
    }
    for params in [
        json!({}),
        json!([]),
        json!({"message": "m"}),
        json!({"message": 1, "requestedSchema": {"type": "object", "properties": {}}}),
        json!({"message": "m", "requestedSchema": {"type": "object"}}),
        json!({"message": "m", "requestedSchema": {"properties": {}}}),
        json!({"message": "m", "requestedSchema": {"type": "array", "properties": {}}}),
        json!({"message": "m", "requestedSchema": {"type": "object", "properties": []}}),
        json!({"message": "m", "requestedSchema": {"type": "object", "properties": {}, "required": "a"}}),
    ] {
        assert_eq!(
            parse(&params).unwrap_err(),
            FormError::Malformed,
            "{params}"
        );
    }
    assert_eq!(
        parse(&params(&json!({}), &["f"])).unwrap_err(),
        FormError::Required
    );
    let twice = r#"{"message":"","requestedSchema":{"type":"object","properties":{"a":{"type":"boolean"},"\u0061":{"type":"boolean"}}}}"#;
    assert_eq!(
        Form::parse(&Json::check(twice).unwrap()).unwrap_err(),
        FormError::Repeated { index: 1 }
    );
    // A name that could not be sent back as it was.
    let lone = r#"{"message":"","requestedSchema":{"type":"object","properties":{"\ud800":{"type":"boolean"}}}}"#;
    assert_eq!(
        Form::parse(&Json::check(lone).unwrap()).unwrap_err(),
        FormError::Field { index: 0 }
    );
}

/// L6: what a server can size is bounded, and refused past the bound rather than cut.
#[test]
fn a_form_past_a_bound_is_refused() {
    let fields = |count: usize| -> Value {
        (0..count)
            .map(|at| (at.to_string(), json!({"type": "boolean"})))
            .collect()
    };
    assert_eq!(form(&fields(MAX_FIELDS), &[]).fields().len(), MAX_FIELDS);
    assert_eq!(refused(&fields(MAX_FIELDS + 1)), FormError::TooManyFields);

    let options = |count: usize| -> Value {
        let values: Vec<String> = (0..count).map(|at| at.to_string()).collect();
        json!({"f": {"type": "string", "enum": values}})
    };
    form(&options(MAX_OPTIONS), &[]);
    assert_eq!(
        refused(&options(MAX_OPTIONS + 1)),
        FormError::FieldTooLarge { index: 0 }
    );

    let text = |bytes: usize| "x".repeat(bytes);
    type Sized = (usize, fn(String) -> Value);
    let sized: [Sized; 6] = [
        (MAX_NAME_BYTES, |text| json!({text: {"type": "boolean"}})),
        (
            MAX_LABEL_BYTES,
            |text| json!({"f": {"type": "boolean", "title": text}}),
        ),
        (
            MAX_DESCRIPTION_BYTES,
            |text| json!({"f": {"type": "boolean", "description": text}}),
        ),
        (
            MAX_PATTERN_BYTES,
            |text| json!({"f": {"type": "string", "pattern": text}}),
        ),
        (MAX_LABEL_BYTES, |text| json!({"f": {"enum": [text]}})),
        (
            MAX_LABEL_BYTES,
            |text| json!({"f": {"oneOf": [{"const": "a", "title": text}]}}),
        ),
    ];
    for (limit, properties) in sized {
        form(&properties(text(limit)), &[]);
        assert_eq!(
            refused(&properties(text(limit + 1))),
            FormError::FieldTooLarge { index: 0 }
        );
    }
    let default = |bytes| json!({"f": {"type": "string", "default": text(bytes)}});
    form(&default(MAX_DEFAULT_BYTES - 2), &[]);
    let refusal = refused(&default(MAX_DEFAULT_BYTES - 1));
    assert_eq!(refusal, FormError::FieldTooLarge { index: 0 });
    let message = |bytes| {
        parse(
            &json!({"message": text(bytes), "requestedSchema": {"type": "object", "properties": {}}}),
        )
    };
    message(MAX_MESSAGE_BYTES).unwrap();
    assert_eq!(
        message(MAX_MESSAGE_BYTES + 1).unwrap_err(),
        FormError::MessageTooLong
    );
}

#[test]
fn a_default_that_its_field_refuses_is_none() {
    for property in [
        json!({"type": "integer", "default": 1.5}),
        json!({"type": "integer", "minimum": 3, "default": 2}),
        json!({"type": "string", "enum": ["a"], "default": "b"}),
        json!({"type": "boolean", "default": "true"}),
    ] {
        let form = form(&json!({ "f": property }), &[]);
        assert_eq!(form.field("f").unwrap().default(), None, "{property}");
    }
}

#[test]
fn defaults_stand_in_for_what_is_absent() {
    let form = form(
        &json!({
            "alias": {"type": "string", "default": "John Doe"},
            "big": {"type": "integer", "default": 12_345_678_901_234_567_890_u64},
            "none": {"type": "string"},
        }),
        &[],
    );
    let filled = |content: &str| form.with_defaults(&Json::check(content.to_owned()).unwrap());
    assert_eq!(
        filled("{}").as_str(),
        r#"{"alias":"John Doe","big":12345678901234567890}"#
    );
    assert_eq!(
        filled(r#"{"alias":"x"}"#).as_str(),
        r#"{"alias":"x","big":12345678901234567890}"#
    );
    assert_eq!(filled("[]").as_str(), "[]");
    assert_eq!(form.check(&filled("{}")), []);
}

#[test]
fn texts_are_checked() {
    let short = json!({"type": "string", "minLength": 2, "maxLength": 3});
    assert_eq!(fault(&short, &json!("é")), Some(Fault::TooShort(2)));
    assert_eq!(fault(&short, &json!("ééé")), None);
    assert_eq!(fault(&short, &json!("éééé")), Some(Fault::TooLong(3)));
    assert_eq!(fault(&short, &json!(22)), Some(Fault::NotText));
    assert_eq!(fault(&short, &json!(null)), Some(Fault::NotText));
    let pattern = json!({"type": "string", "pattern": "^[A-Za-z]+$"});
    assert_eq!(fault(&pattern, &json!("abc")), None);
    assert_eq!(fault(&pattern, &json!("a1")), Some(Fault::Pattern));
    // What cannot be compiled to linear time is left to the server.
    let backward = json!({"type": "string", "pattern": "(a)\\1"});
    assert_eq!(fault(&backward, &json!("b")), None);
    for (format, good, bad) in [
        (TextFormat::Email, "ann@example.com", "ann"),
        (TextFormat::Uri, "https://example.com/a", "example"),
        (TextFormat::Date, "2026-02-28", "2026-02-30"),
        (
            TextFormat::DateTime,
            "2026-07-28T09:30:00Z",
            "2026-07-28 09:30",
        ),
    ] {
        let property = json!({"type": "string", "format": format.name()});
        assert_eq!(fault(&property, &json!(good)), None);
        assert_eq!(fault(&property, &json!(bad)), Some(Fault::Format(format)));
    }
}

#[test]
fn numbers_are_checked() {
    let whole = json!({"type": "integer", "minimum": -1, "maximum": 10});
    for (value, expected) in [
        (json!(-1), None),
        (json!(10.0), None),
        (json!(-2), Some(Fault::TooSmall(-1.0))),
        (json!(11), Some(Fault::TooLarge(10.0))),
        (json!(1.5), Some(Fault::NotWhole)),
        (json!("1"), Some(Fault::NotNumber)),
    ] {
        assert_eq!(fault(&whole, &value), expected, "{value}");
    }
    assert_eq!(fault(&json!({"type": "number"}), &json!(1.5)), None);
    assert_eq!(
        fault(&json!({"type": "boolean"}), &json!(1)),
        Some(Fault::NotBoolean)
    );
}

#[test]
fn choices_are_checked() {
    let one = json!({"type": "string", "oneOf": [{"const": "a", "title": "b"}]});
    assert_eq!(fault(&one, &json!("a")), None);
    assert_eq!(fault(&one, &json!("b")), Some(Fault::NotOption));
    let some =
        json!({"type": "array", "minItems": 1, "maxItems": 2, "items": {"enum": ["a", "b", "c"]}});
    for (value, expected) in [
        (json!(["a", "c"]), None),
        (json!([]), Some(Fault::TooFew(1))),
        (json!(["a", "b", "c"]), Some(Fault::TooMany(2))),
        (json!(["a", "a"]), Some(Fault::Repeated)),
        (json!(["d"]), Some(Fault::NotOption)),
        (json!([1]), Some(Fault::NotText)),
        (json!("a"), Some(Fault::NotList)),
    ] {
        assert_eq!(fault(&some, &value), expected, "{value}");
    }
}

#[test]
fn an_answer_is_checked_whole() {
    let form = form(
        &json!({"a": {"type": "boolean"}, "b": {"type": "boolean"}}),
        &["a"],
    );
    assert_eq!(faults(&form, &json!({"a": true})), []);
    assert_eq!(
        faults(&form, &json!({"b": 1, "c": 2})),
        [
            ("b".to_owned(), Fault::NotBoolean),
            ("c".to_owned(), Fault::Unasked),
            ("a".to_owned(), Fault::Missing),
        ]
    );
    assert_eq!(
        faults(&form, &json!([])),
        [(String::new(), Fault::NotObject)]
    );
    let twice = form.check(&Json::check(r#"{"a":true,"a":false}"#).unwrap());
    assert_eq!(twice[0].fault, Fault::Repeated);
}

fn keyword() -> impl Strategy<Value = (String, Value)> {
    let name = proptest::sample::select(vec![
        "type",
        "title",
        "description",
        "format",
        "minLength",
        "maxLength",
        "pattern",
        "minimum",
        "maximum",
        "enum",
        "enumNames",
        "oneOf",
        "anyOf",
        "items",
        "minItems",
        "maxItems",
        "default",
        "$ref",
    ]);
    let value = proptest::sample::select(vec![
        json!("string"),
        json!("integer"),
        json!("number"),
        json!("boolean"),
        json!("array"),
        json!("email"),
        json!("a{1000}{1000}{1000}"),
        json!("("),
        json!(0),
        json!(3),
        json!(-1),
        json!(1e300),
        json!(null),
        json!(true),
        json!(["a", "b"]),
        json!([{"const": "a"}]),
        json!([{"type": "null"}, {"type": "string"}]),
        json!({"enum": ["a"]}),
        json!({"anyOf": [{"const": "a", "title": "A"}]}),
    ]);
    (name.prop_map(str::to_owned), value)
}

proptest! {
    /// No schema panics; a default that is kept satisfies the form.
    #[test]
    fn any_schema_is_read_or_refused(fields in proptest::collection::vec(proptest::collection::vec(keyword(), 0..8), 0..4)) {
        let properties: Value = fields
            .into_iter()
            .enumerate()
            .map(|(at, keywords)| (at.to_string(), keywords.into_iter().collect::<Value>()))
            .collect();
        if let Ok(form) = parse(&params(&properties, &[])) {
            let content = form.with_defaults(&Json::check("{}").unwrap());
            prop_assert_eq!(form.check(&content), []);
        }
    }
}

/// L6: what a form costs is bounded, whatever its patterns; those past the bound are the server's to check.
#[test]
fn patterns_past_their_bound_are_left_to_the_server() {
    let checked = |pattern: &str, count: usize| {
        let field = json!({ "type": "string", "pattern": pattern });
        let fields = (0..count).map(|at| (at.to_string(), field.clone()));
        let form = form(&Value::Object(fields.collect()), &[]);
        assert_eq!(form.fields().len(), count);
        let kinds = form
            .fields()
            .iter()
            .map(|field| format!("{:?}", field.kind()));
        kinds.filter(|kind| kind.contains("Pattern(")).count()
    };
    assert_eq!(checked("^[a-z]{1,64}$", 16), 16);
    assert_eq!(checked("a", 64), 16);
    assert_eq!(checked(&"a".repeat(1_024), 64), 4);
    assert_eq!(checked(r"(?i)\pL{60}", 64), 0, "too large each");
}

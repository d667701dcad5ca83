use proptest::prelude::*;
use seawall_proto::Json;

use super::number::ecmascript;

fn canonical(text: &str) -> String {
    super::text(&Json::check(text.to_owned()).expect("test text is JSON"))
}

/// RFC 8785, section 3.2.3 and 3.2.2: its own example of sorting and of the other rules together.
#[test]
fn the_examples_of_rfc_8785_hold() {
    let sorting = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
        "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let values: Vec<String> = Json::check(canonical(sorting))
        .expect("canonical text is JSON")
        .members()
        .into_iter()
        .map(|(_, value)| value.string().unwrap().into_owned())
        .collect();
    assert_eq!(
        values,
        [
            "Carriage Return",
            "One",
            "Control",
            "Latin Small Letter O With Diaeresis",
            "Euro Sign",
            "Emoji: Grinning Face",
            "Hebrew Letter Dalet With Dagesh",
        ]
    );
    let mixed = r#"{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#;
    // 333333333.33333329 is not the decimal value of its nearest double, so here it keeps its digits.
    assert_eq!(
        canonical(mixed),
        r#"{"literals":[null,true,false],"numbers":[33333333333333329e-8,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
}

/// RFC 8785, appendix B.
#[test]
fn doubles_are_written_as_ecmascript_does() {
    for (bits, text) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        assert_eq!(ecmascript(f64::from_bits(bits)), text);
    }
}

#[test]
fn numbers_of_one_value_have_one_text_and_others_differ() {
    for same in ["1", "1.0", "1e0", "10E-1", "0.1e+1"] {
        assert_eq!(canonical(same), "1");
    }
    for zero in ["0", "-0", "0.000", "0e99999999999999999999", "-0e-5"] {
        assert_eq!(canonical(zero), "0");
    }
    for (text, exact) in [
        ("9007199254740993", "9007199254740993e0"),
        ("-9007199254740993.0", "-9007199254740993e0"),
        ("18446744073709551615", "18446744073709551615e0"),
        ("1e-400", "1e-400"),
        ("1e-99999999999999999999", "1e-99999999999999999999"),
    ] {
        assert_eq!(canonical(text), exact);
    }
}

#[test]
fn duplicate_keys_and_lone_surrogates_are_kept_apart() {
    assert_eq!(
        canonical(r#"{"b":1,"a":2,"b":0}"#),
        r#"{"a":2,"b":1,"b":0}"#
    );
    assert_eq!(
        canonical(r#"["\uD83D","\ude00\uD83D"]"#),
        r#"["\ud83d","\ude00\ud83d"]"#
    );
    assert_ne!(canonical(r#""\ud83d""#), canonical("\"\u{fffd}\""));
    // Escaped, the letters of an escape are not the escape.
    assert_eq!(canonical(r#""\\ud83d""#), r#""\\ud83d""#);
}

#[test]
fn the_deepest_text_that_a_json_may_be_is_written() {
    let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
    assert_eq!(canonical(&deep), deep);
}

/// A JSON value as what it says: members sorted by key, numbers as decimals of our own making.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Atom(&'static str),
    Number(i64, i8),
    String(String),
    Array(Vec<Value>),
    Object(std::collections::BTreeMap<String, Value>),
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(Value::Atom),
        (any::<i64>(), -30_i8..30).prop_map(|(digits, exponent)| Value::Number(digits, exponent)),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(Value::Object),
        ]
    })
}

/// Writes it with spelling choices drawn from `choice`.
fn spell(value: &Value, choice: &mut u64, out: &mut String) {
    let mut draw = |sides: u64| {
        *choice = choice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*choice >> 33) % sides
    };
    let space = ["", " ", "\n\t", "\r\n  "][usize::try_from(draw(4)).unwrap()];
    let string = |text: &str, escape: bool| {
        if escape {
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
            format!("\"{}\"", units.collect::<String>())
        } else {
            serde_json::to_string(text).unwrap()
        }
    };
    out.push_str(space);
    match value {
        Value::Atom(text) => out.push_str(text),
        Value::Number(digits, exponent) => match draw(3) {
            0 => out.push_str(&format!("{digits}e{exponent}")),
            1 if *digits != 0 => out.push_str(&format!("{digits}00E{}", exponent - 2)),
            _ => out.push_str(&format!("{digits}.000e{exponent:+}")),
        },
        Value::String(text) => out.push_str(&string(text, draw(2) == 0)),
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                spell(element, choice, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let backwards = draw(2) == 0;
            let escape = draw(2) == 0;
            let mut members: Vec<_> = members.iter().collect();
            if backwards {
                members.reverse();
            }
            out.push('{');
            for (index, (key, member)) in members.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                out.push_str(&string(key, escape));
                out.push_str(space);
                out.push(':');
                spell(member, choice, out);
            }
            out.push('}');
        }
    }
    out.push_str(space);
}

fn spelled(value: &Value, mut choice: u64) -> String {
    let mut out = String::new();
    spell(value, &mut choice, &mut out);
    out
}

/// Digits without zeros at the end, so that values can be compared.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(0, _) => Value::Number(0, 0),
        &Value::Number(mut digits, mut exponent) => {
            while digits % 10 == 0 {
                digits /= 10;
                exponent += 1;
            }
            Value::Number(digits, exponent)
        }
        Value::Array(elements) => Value::Array(elements.iter().map(normal).collect()),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(key, value)| (key.clone(), normal(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}

proptest! {
    /// F3: key order, white space, escapes and the spelling of equal numbers do not matter.
    #[test]
    fn one_value_has_one_canonical_text(value in value(), one: u64, other: u64) {
        prop_assert_eq!(canonical(&spelled(&value, one)), canonical(&spelled(&value, other)));
    }

    /// F3: everything else does. Small changes to one value are tried against it.
    #[test]
    fn other_values_have_other_canonical_texts(value in value(), at: u64, choice: u64) {
        let changed = change(&value, at);
        prop_assert_eq!(
            normal(&value) == normal(&changed),
            canonical(&spelled(&value, choice)) == canonical(&spelled(&changed, choice)),
        );
    }

    /// It is a fixed point, and JSON.
    #[test]
    fn a_canonical_text_is_its_own(value in value(), choice: u64) {
        let once = canonical(&spelled(&value, choice));
        prop_assert_eq!(canonical(&once), once);
    }
}

/// A small change somewhere; may by chance be none.
fn change(value: &Value, at: u64) -> Value {
    let inside = at / 3;
    match value {
        Value::Atom("null") => Value::Atom("false"),
        Value::Atom("false") => Value::Number(0, 0),
        Value::Atom(_) => Value::String("true".to_owned()),
        Value::Number(digits, exponent) => Value::Number(digits ^ 1, *exponent),
        Value::String(text) => Value::String(format!("{text}\u{0}")),
        Value::Array(elements) if !elements.is_empty() && !at.is_multiple_of(3) => {
            let mut elements = elements.clone();
            let index = usize::try_from(inside).unwrap_or_default() % elements.len();
            elements[index] = change(&elements[index], inside / 7);
            Value::Array(elements)
        }
        Value::Array(elements) => {
            let mut elements = elements.clone();
            if elements.pop().is_none() {
                return Value::Object(std::collections::BTreeMap::new());
            }
            Value::Array(elements)
        }
        Value::Object(members) => {
            let mut members = members.clone();
            let index = usize::try_from(inside).unwrap_or_default() % members.len().max(1);
            let Some(key) = members.keys().nth(index).cloned() else {
                return Value::Array(Vec::new());
            };
            let member = members.remove(&key).expect("the key was just seen");
            match at % 3 {
                0 => {}
                1 => drop(members.insert(key, change(&member, inside / 7))),
                _ => drop(members.insert(format!("{key}."), member)),
            }
            Value::Object(members)
        }
    }
}

//! Whatever the text: no panic, and the same findings again (K12).

use super::*;
use proptest::prelude::*;

fn json() -> impl Strategy<Value = String> {
    let keys: Vec<&str> = keys::KNOWN
        .into_iter()
        .chain([
            "mcpServers",
            "servers",
            "defaults",
            "inputs",
            "type",
            "envFile",
            "disabled",
            "tools",
            "token",
            "x",
        ])
        .collect();
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        "[$][{](env:|input:|[A-Z]{0,3})[A-Z]{0,3}(:-)?[a-z]{0,2}[}]?"
            .prop_map(|text| serde_json::to_string(&text).unwrap()),
        "(https?|wss?|x)://([a-z]{1,4}(:[a-z]*)?@)?[a-z.]{0,5}(:[0-9]{1,6})?/[a-z?=&]{0,8}"
            .prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        let key = prop_oneof![
            4 => proptest::sample::select(keys.clone()).prop_map(str::to_owned),
            1 => any::<String>(),
        ];
        let member = (key, inner.clone())
            .prop_map(|(key, value)| format!("{}: {value}", serde_json::to_string(&key).unwrap()));
        prop_oneof![
            proptest::collection::vec(inner, 0..6)
                .prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec(member, 0..8)
                .prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

fn look_at(text: &str) -> Result<(), TestCaseError> {
    let (first, again) = (check_text(text), check_text(text));
    prop_assert_eq!(&first.problems, &again.problems);
    prop_assert_eq!(&first.warnings, &again.warnings);
    prop_assert_eq!(&first.servers, &again.servers);
    for problem in &first.problems {
        let _ = (problem.to_string(), serde_json::to_string(problem).unwrap());
    }
    for warning in &first.warnings {
        let _ = (warning.to_string(), serde_json::to_string(warning).unwrap());
    }
    let _ = format!("{first:?}");
    Ok(())
}

proptest! {
    /// K3, K12: any text has an answer.
    #[test]
    fn any_text_has_an_answer(text in any::<String>()) {
        look_at(&text)?;
    }

    /// K3, K12: any JSON has an answer.
    #[test]
    fn any_json_has_an_answer(text in json()) {
        look_at(&text)?;
        look_at(&format!(r#"{{"mcpServers": {{"a": {text}}}}}"#))?;
        look_at(&format!(r#"[{text}, {{"server": "a", "command": {text}}}]"#))?;
    }
}

/// K3: nesting past what the parser takes is an error, not a stack overflow.
#[test]
fn deep_nesting_is_a_syntax_error() {
    for open in ["[", "{\"a\":"] {
        assert_eq!(
            check_text(&open.repeat(200_000)).problems[0].kind().code(),
            "syntax"
        );
    }
}

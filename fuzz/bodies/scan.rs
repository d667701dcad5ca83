//! The structure check against serde_json (L2).

use seawall_proto::Json;
use seawall_proto::framing::{Child, Kind, scan};
use seawall_proto::json::JsonError;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The input is one text.
pub(crate) fn run(data: &[u8]) {
    let checked = Json::check(data.to_vec());
    let Ok(text) = std::str::from_utf8(data) else {
        assert_eq!(checked, Err(JsonError::NotUtf8));
        return;
    };
    let mut children: Vec<Child> = Vec::new();
    let found = scan(text, |child| children.push(child.clone()));
    let oracle = serde_json::from_str::<IgnoredAny>(text);
    assert_eq!(found.is_ok(), oracle.is_ok());
    let Ok(found) = found else {
        assert!(matches!(checked, Err(JsonError::NotJson { .. })));
        return;
    };
    assert_eq!(found.depth, depth(text));
    assert_eq!(checked.is_ok(), found.depth <= 128 && found.finite);
    for child in &children {
        let part = &text[child.value.clone()];
        assert!(serde_json::from_str::<IgnoredAny>(part).is_ok());
        assert_eq!(part, part.trim());
        assert_eq!(scan(part, |_| {}).map(|part| part.root), Ok(child.kind));
        if let Some(key) = &child.key {
            assert_eq!(&text[key.start - 1..key.start], "\"");
            assert_eq!(&text[key.end..=key.end], "\"");
        }
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return;
    };
    assert!(found.finite, "serde_json reads every number");
    let own: Vec<&Child> = children.iter().filter(|child| child.level == 1).collect();
    match &value {
        Value::Array(elements) => {
            assert_eq!(found.root, Kind::Array);
            assert_eq!(children.len(), elements.len());
            for (child, element) in own.iter().zip(elements) {
                assert_eq!(child.key, None);
                assert_eq!(&parsed(text, child), element);
            }
        }
        Value::Object(members) => {
            assert_eq!(found.root, Kind::Object);
            assert!(own.len() >= members.len());
            // serde_json keeps the last of two members with one key.
            for child in own {
                let key = key(text, child);
                assert!(members.contains_key(&key));
            }
            for (name, member) in members {
                let last = children
                    .iter()
                    .rfind(|child| child.level == 1 && &key(text, child) == name);
                assert_eq!(last.map(|child| parsed(text, child)).as_ref(), Some(member));
            }
        }
        _ => assert!(children.is_empty()),
    }
}

fn key(text: &str, child: &Child) -> String {
    let key = child.key.clone().map(|key| &text[key.start - 1..=key.end]);
    serde_json::from_str(key.unwrap_or("\"\"")).expect("a key that serde_json read before")
}

fn parsed(text: &str, child: &Child) -> Value {
    serde_json::from_str(&text[child.value.clone()]).expect("a part that serde_json read before")
}

/// The deepest nesting of a text that is JSON, counted off its brackets.
fn depth(text: &str) -> usize {
    let (mut open, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                open += 1;
                deepest = deepest.max(open);
            }
            b']' | b'}' if !in_string => open -= 1,
            _ => {}
        }
    }
    deepest
}

//! The digest against vectors: the project's own, and those of the specification where there are.

use std::path::Path;

use proptest::prelude::*;
use seawall_proto::Json;
use serde_json::Value;

use super::super::digest::{canonical_text, digest, in_set_order};
use crate::mcpl::Capability;
use crate::mcpl::manifest::Manifest;

/// Names the folder of the specification's vectors, which are not part of the project.
const FOLDER: &str = "SEAWALL_MCPL_VECTORS";

fn revision_or_error(manifest: &str) -> Result<String, &'static str> {
    let manifest = Json::check(manifest.to_owned()).unwrap();
    match digest(&manifest) {
        Ok(revision) => Ok(revision.to_string()),
        Err(error) => Err(error.as_str()),
    }
}

/// The vectors are parsed without their numbers being read: `1.0` and `1` are to give the same.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vector {
    name: String,
    #[serde(alias = "manifest")]
    input: Box<serde_json::value::RawValue>,
    #[serde(alias = "revision")]
    digest: Option<String>,
    #[serde(alias = "error")]
    expect_error: Option<String>,
    canonical_json: Option<String>,
    same_digest_as: Option<Value>,
    different_digest_from: Option<Value>,
}

fn check(vectors: &[Vector]) {
    let of = |name: &str| {
        let vector = vectors.iter().find(|vector| vector.name == name).unwrap();
        revision_or_error(vector.input.get()).unwrap()
    };
    // One name, or an array of them.
    let names = |said: &Option<Value>| -> Vec<String> {
        let said = said.clone().unwrap_or(Value::Array(Vec::new()));
        let said = if said.is_string() {
            Value::Array(vec![said])
        } else {
            said
        };
        serde_json::from_value(said).unwrap()
    };
    for vector in vectors {
        let name = &vector.name;
        let found = revision_or_error(vector.input.get());
        match (&vector.digest, &vector.expect_error) {
            (Some(revision), None) => assert_eq!(found.as_deref(), Ok(revision.as_str()), "{name}"),
            (None, Some(error)) => assert_eq!(found, Err(error.as_str()), "{name}"),
            _ => panic!("{name}: a digest or an error"),
        }
        if let Some(canonical) = &vector.canonical_json {
            let input = Json::check(vector.input.get().to_owned()).unwrap();
            assert_eq!(&canonical_text(&input).unwrap(), canonical, "{name}");
        }
        for same in names(&vector.same_digest_as) {
            assert_eq!(found.as_deref(), Ok(of(&same).as_str()), "{name}");
        }
        for other in names(&vector.different_digest_from) {
            assert_ne!(found.as_deref(), Ok(of(&other).as_str()), "{name}");
        }
    }
}

/// MCPL §17.2: the project's own vectors, the specification's worked example first.
#[test]
fn own_vectors_give_their_digests() {
    let vectors: Vec<Vector> = serde_json::from_str(include_str!("vectors.json")).unwrap();
    assert_eq!(vectors.len(), 18);
    check(&vectors);
}

/// MCPL §17.2: those of the specification, where `SEAWALL_MCPL_VECTORS` names their folder.
#[test]
fn the_specifications_vectors_give_their_digests() {
    #[derive(serde::Deserialize)]
    struct Sorted {
        input: Vec<String>,
        sorted: Vec<String>,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct File {
        vectors: Vec<Vector>,
        sort_vectors: Vec<Sorted>,
    }
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let path = Path::new(&folder).join("manifest-digest-vectors.json");
    let file: File = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(file.vectors.len() >= 25 && file.sort_vectors.len() >= 4);
    check(&file.vectors);
    for vector in file.sort_vectors {
        let mut texts = vector.input;
        in_set_order(&mut texts);
        assert_eq!(texts, vector.sorted);
    }
}

/// Manifests of the words that the digest looks at, well formed or not.
fn manifests() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "featureSets",
        "uses",
        "tagOntology",
        "coreTags",
        "tags",
        "implies",
        "keyed",
        "values",
        "facet",
        "suggestedTreatment",
        "tagsAny",
        "revision",
        "version",
        "tools",
        "pushEvents",
        "é",
        "",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(Value::Null),
    ];
    let value = leaf.prop_recursive(6, 48, 4, {
        let word = word.clone();
        move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((word.clone(), inner), 0..4).prop_map(object),
            ]
        }
    });
    prop::collection::vec((word, value), 0..4).prop_map(object)
}

fn object(members: Vec<(&str, Value)>) -> Value {
    let members = members
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    Value::Object(members.collect())
}

/// The same with every object's members and every set in the other order, written with white space.
fn turned(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().rev();
            let members: Vec<String> = members
                .map(|(key, value)| format!(" {} :\n{}", Value::from(key.as_str()), turned(value)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(turned).collect();
            format!("[ {} ]", elements.join(" ,"))
        }
        other => other.to_string(),
    }
}

proptest! {
    /// MCPL §17.2: the digest is total but for identifiers, and no spelling of the same manifest has another.
    #[test]
    fn the_digest_is_of_what_is_said(manifest in manifests()) {
        let found = revision_or_error(&manifest.to_string());
        prop_assert!(!matches!(found, Err("manifest_not_object")));
        prop_assert_eq!(&found, &revision_or_error(&turned(&manifest)));
        let mut renamed = manifest;
        renamed["revision"] = "sha256:other".into();
        prop_assert_eq!(found, revision_or_error(&renamed.to_string()));
    }

    /// MCPL §6.4, §17.5: no manifest makes anything panic, and an invalid one advertises no less than it says.
    #[test]
    fn no_manifest_panics(manifest in manifests()) {
        let raw = Json::of(&manifest).unwrap();
        let read = Manifest::of(&raw).unwrap();
        prop_assert!(read.changed_domains(&read).is_empty());
        let says = manifest["pushEvents"] == true;
        prop_assert_eq!(read.advertised().has(Capability::PushEvents), says);
    }
}

/// MCPL §17.2: whatever is an object has a digest or is refused for an identifier; no depth and no twin makes it panic.
#[test]
fn hostile_manifests_have_a_digest() {
    let deep = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    assert!(revision_or_error(&deep(128)).is_ok());
    let twice = revision_or_error(r#"{"version":"0.5","version":"0.5"}"#);
    assert_ne!(twice, revision_or_error(r#"{"version":"0.5"}"#));
    let surrogate = r#"{"version":"\ud800","featureSets":{"a":{"uses":["\ud800"]}}}"#;
    assert_eq!(revision_or_error(surrogate), Err("identifier_charset"));
    let free = r#"{"version":"\ud800","featureSets":{"a":{"x\ud800":["\ud800"]}}}"#;
    let other = r#"{"version":"\ud800","featureSets":{"a":{"x\ud800":["\ud801"]}}}"#;
    assert_ne!(
        revision_or_error(free).unwrap(),
        revision_or_error(other).unwrap()
    );
}

//! The digest against vectors: the project's own, and those of the specification where there are.

use std::path::Path;

use seawall_proto::Json;
use serde_json::Value;

use super::super::digest::{canonical_text, digest, in_set_order};

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

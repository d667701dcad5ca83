//! Digests, announcements, fetches, and what a change means.

mod changes;
mod vectors;

use std::time::{Duration, Instant};

use seawall_proto::Json;

use super::{
    Announcement, Domain, Fetching, InvalidAnnouncement, InvalidRevision, MIN_FETCH_INTERVAL,
    Manifest, NotAManifest, Revision,
};

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

fn manifest(text: &str) -> Manifest {
    Manifest::of(&json(text)).unwrap()
}

const REVISION: &str = "sha256:_YZTS0h1tqTAMZI6eElCszSQE2WNx3xhAhmgUvNI9H4";

/// MCPL §17.2, B.3: the form of a revision.
#[test]
fn a_revision_has_one_form() {
    assert_eq!(REVISION.parse::<Revision>().unwrap().as_str(), REVISION);
    for wrong in [
        "",
        "sha256:",
        &REVISION[..49],
        &format!("{REVISION}A"),
        &REVISION.replace('_', "/"),
        &REVISION.replace("sha256", "SHA256"),
        &format!(" {REVISION}"),
        "sha256:ééééééééééééééééééééé1",
    ] {
        assert_eq!(wrong.parse::<Revision>(), Err(InvalidRevision), "{wrong}");
    }
}

/// MCPL §17.5: what is no object teaches nothing; what has invalid declarations is a manifest all the same.
#[test]
fn only_an_object_is_a_manifest() {
    for none in ["[]", "null", "true", "1", r#""m""#] {
        assert_eq!(Manifest::of(&json(none)).err(), Some(NotAManifest));
    }
    let read = manifest(r#"{"pushEvents":true,"featureSets":{"a":{"uses":[1]},"é":{}}}"#);
    assert_eq!(read.advertised().capabilities().to_string(), "pushEvents");
    assert!(read.digest().is_err());
}

/// MCPL §17.2: a false claim is a defect to tell of, and no more.
#[test]
fn a_claim_is_compared_with_the_digest() {
    let truly = manifest(r#"{"version":"0.5"}"#).digest().unwrap().clone();
    let claiming = |claim: &str| manifest(&format!(r#"{{"revision":"{claim}","version":"0.5"}}"#));
    assert!(!claiming(truly.as_str()).claims_falsely());
    assert!(claiming(REVISION).claims_falsely());
    assert_eq!(claiming(REVISION).claimed().unwrap().as_str(), REVISION);
    assert!(!claiming("none").claims_falsely());
    assert_eq!(claiming("none").claimed(), None);
}

/// MCPL §17.3: a revision and domains, and nothing else.
#[test]
fn an_announcement_says_what_and_no_more() {
    let of = |members: &str| {
        let params = format!(r#"{{"revision":"{REVISION}",{members}}}"#);
        Announcement::of(&json(&params))
    };
    let read = of(r#""domains":["featureSets","capabilities","featureSets"]"#).unwrap();
    assert_eq!(read.domains, [Domain::Capabilities, Domain::FeatureSets]);
    assert_eq!(read.revision.as_str(), REVISION);
    for wrong in [
        r#""domains":[]"#,
        r#""domains":["tools"]"#,
        r#""domains":[1]"#,
        r#""domains":"capabilities""#,
        r#""domains":{"capabilities":true}"#,
        r#""domains":["capabilities","capabilities","capabilities","capabilities"]"#,
        r#""domains":["capabilities"],"domains":["featureSets"]"#,
        r#""domains":["capabilities"],"_meta":{}"#,
        r#""domains":["capabilities"],"added":["tools"]"#,
    ] {
        assert_eq!(of(wrong), Err(InvalidAnnouncement), "{wrong}");
    }
    for wrong in [
        "{}",
        "[]",
        "null",
        r#"{"revision":"r","domains":["capabilities"]}"#,
    ] {
        assert_eq!(Announcement::of(&json(wrong)), Err(InvalidAnnouncement));
    }
}

/// MCPL §17.8: however much is announced, fetches keep their distance and never run side by side.
#[test]
fn fetches_keep_their_distance() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut fetching = Fetching::new();
    assert_eq!(fetching.due(at(0)), None);
    fetching.announced();
    assert_eq!(fetching.due(at(1)), Some(at(1)));
    fetching.begin(at(1));
    for _ in 0..1_000 {
        fetching.announced();
    }
    assert_eq!(fetching.due(at(2)), None);
    fetching.end();
    assert_eq!(fetching.due(at(2)), Some(at(1) + MIN_FETCH_INTERVAL));
    assert_eq!(fetching.due(at(60)), Some(at(60)));
    assert_eq!(fetching.coalesced(), 999);
    fetching.begin(at(60));
    fetching.end();
    assert_eq!(fetching.due(at(61)), None);
}

/// MCPL §17.3: which parts changed; what is absent is not what is empty.
#[test]
fn changes_are_told_by_domain() {
    use Domain::{Capabilities, FeatureSets, TagOntology};
    let set = |inside: &str| format!(r#"{{"version":"0.5","featureSets":{{"a":{{{inside}}}}}}}"#);
    let with_ontology =
        |ontology: &str| set(&format!(r#""uses":["tools"],"tagOntology":{ontology}"#));
    let plain = || r#"{"version":"0.5"}"#.to_owned();
    for (old, new, domains) in [
        (
            plain(),
            r#"{"version":"0.6","revision":"x"}"#.to_owned(),
            &[][..],
        ),
        (
            plain(),
            r#"{"version":"0.5","pushEvents":false}"#.to_owned(),
            &[Capabilities],
        ),
        (
            plain(),
            r#"{"version":"0.5","featureSets":{}}"#.to_owned(),
            &[FeatureSets, TagOntology],
        ),
        (set(""), set(r#""uses":["tools"]"#), &[FeatureSets]),
        (
            set(r#""uses":["tools"]"#),
            with_ontology("{}"),
            &[TagOntology],
        ),
        (
            with_ontology("{}"),
            with_ontology(r#"{"open":true}"#),
            &[TagOntology],
        ),
        (with_ontology("{}"), with_ontology(" { } "), &[]),
        (
            r#"{"a":{"x":1},"b":2}"#.to_owned(),
            r#"{"b":2,"a":{"x":1.0}}"#.to_owned(),
            &[],
        ),
    ] {
        let changed = manifest(&old).changed_domains(&manifest(&new));
        assert_eq!(changed, domains, "{old} {new}");
        assert_eq!(manifest(&new).changed_domains(&manifest(&old)), domains);
    }
}

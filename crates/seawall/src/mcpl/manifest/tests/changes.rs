//! Receipts of changes.

use std::collections::BTreeSet;

use super::manifest;
use crate::mcpl::features::Selection;
use crate::mcpl::manifest::{Accepted, Manifest, Receipt, Standing, Surface};
use crate::mcpl::{CapabilitySet, Grant, McplPolicy};

struct Stands {
    manifest: Manifest,
    grant: Grant,
    selection: Selection,
}

impl Stands {
    fn of(text: &str) -> Self {
        let policy = McplPolicy::default();
        let manifest = manifest(text);
        let advertised = manifest.advertised().clone().with_tools();
        let grant = Grant::of(&advertised, &CapabilitySet::all(), &policy);
        let selection = Selection::of(manifest.features(), &grant, &policy);
        Self {
            manifest,
            grant,
            selection,
        }
    }

    fn standing(&self) -> Standing<'_> {
        Standing::new(&self.manifest, &self.grant, &self.selection)
    }
}

fn receipt(before: &str, after: &str, accepted: &mut Accepted, named: &[&str]) -> Receipt {
    let (before, after) = (Stands::of(before), Stands::of(after));
    let named: BTreeSet<String> = named.iter().map(|tag| (*tag).to_owned()).collect();
    Receipt::of(&before.standing(), &after.standing(), accepted, &named)
}

fn impacts(before: &str, after: &str) -> Vec<String> {
    let receipt = receipt(before, after, &mut Accepted::new(), &[]);
    let entries = receipt.impacts.iter().map(|entry| {
        format!(
            "{} {} {}",
            entry.impact.as_str(),
            entry.subject,
            entry.disposition.as_str()
        )
    });
    entries.collect()
}

/// MCPL §17.5, §17.6: what is gone is revoked; what is new is an input, and never granted by itself.
#[test]
fn removals_are_applied_and_additions_pend() {
    let before = r#"{"pushEvents":true,"modelInfo":true}"#;
    let after = r#"{"pushEvents":true,"channels":{"typing":true},
        "contextHooks":{"beforeInference":{"inject":{"system":true}}}}"#;
    assert_eq!(
        impacts(before, after),
        [
            "capability-revoked modelInfo applied",
            "capability-expansion-pending contextHooks.beforeInference.inject.system decision-needed",
            "capability-expansion-pending channels.typing informational",
        ]
    );
    assert!(impacts(before, before).is_empty());
}

/// MCPL §17.5: a manifest that is invalid in one place takes away in another all the same.
#[test]
fn a_partly_invalid_manifest_leaves_no_broader_authority() {
    let before =
        r#"{"pushEvents":true,"featureSets":{"a":{"uses":["tools"]},"b":{"uses":["pushEvents"]}}}"#;
    let after = r#"{"pushEvents":"yes","featureSets":{"a":{"uses":["none"]},"é":1}}"#;
    assert_eq!(
        impacts(before, after),
        [
            "capability-revoked pushEvents applied",
            "feature-degraded a applied",
            "feature-degraded b applied",
        ]
    );
    assert_eq!(
        impacts(after, before),
        [
            "capability-expansion-pending pushEvents informational",
            "feature-restored a applied",
        ]
    );
}

/// MCPL §16.5, §17.5: an ontology that changes is accepted no more; one that does not, still is.
#[test]
fn a_changed_ontology_voids_its_acceptance() {
    let with = |tags: &str| {
        format!(
            r#"{{"featureSets":{{"a":{{"uses":["tools"],"tagOntology":{{"tags":{tags}}}}},"b":{{"uses":["tools"],"tagOntology":{{}}}}}}}}"#
        )
    };
    let old = with(r#"{"a:x":{},"a:y":{}}"#);
    let new = with(r#"{"a:x":{}}"#);
    let stands = Stands::of(&old);
    let sets = stands.manifest.features();
    let mut accepted = Accepted::new();
    assert!(accepted.accept(sets.get("a").unwrap()) && accepted.accept(sets.get("b").unwrap()));
    assert!(accepted.covers(sets.get("a").unwrap()));
    let receipt = receipt(&old, &new, &mut accepted, &["a:x", "a:y", "a:z"]);
    assert_eq!(
        serde_json::to_string(&receipt.impacts).unwrap(),
        concat!(
            r#"[{"impact":"ontology-acceptance-invalidated","subject":"a","disposition":"applied"},"#,
            r#"{"impact":"ontology-reference-undeclared","subject":"a:y","disposition":"informational"}]"#
        )
    );
    assert!(!accepted.covers(sets.get("a").unwrap()));
    assert!(accepted.covers(sets.get("b").unwrap()));
    assert!(accepted.revoke("b") && !accepted.revoke("b"));
    let none = Stands::of(r#"{"featureSets":{"a":{"uses":["tools"]}}}"#);
    assert!(!accepted.accept(none.manifest.features().get("a").unwrap()));
}

/// MCPL §17.6: one receipt, in the host's words, with the parts that the host found changed.
#[test]
fn a_receipt_is_in_the_hosts_words() {
    let receipt = receipt(
        r#"{"pushEvents":true}"#,
        r#"{"requiresReview":true}"#,
        &mut Accepted::new(),
        &[],
    );
    insta::assert_snapshot!(serde_json::to_string(&receipt).unwrap(), @r#"{"revision":"sha256:35RG_jMVaAICkgRhrnFZj6mKaO3JCTjzT9VXI65bs3s","domains":["capabilities"],"impacts":[{"impact":"capability-revoked","subject":"pushEvents","disposition":"applied"}]}"#);
    let surface = Receipt::of_surface(Surface::Tools);
    insta::assert_snapshot!(serde_json::to_string(&surface).unwrap(), @r#"{"revision":null,"domains":[],"impacts":[{"impact":"surface-changed","subject":"tools","disposition":"applied"}]}"#);
}

//! What is granted, and why not.

use seawall_proto::Json;

use super::{Change, Denial, Grant, Shortfall};
use crate::mcpl::capability::{Direction, needed_for};
use crate::mcpl::{Advertisement, Capability, CapabilitySet, McplPolicy};

const EVERYTHING: &str = r#"{"pushEvents":true,"modelInfo":true,"inferenceRequest":true,
    "inferenceLifecycle":true,"contextHooks":true,"channels":true,"toolLifecycle":true}"#;

fn policy(enabled: Option<&[&str]>, disabled: &[&str]) -> McplPolicy {
    let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    McplPolicy {
        enabled_capabilities: enabled.map(patterns),
        disabled_capabilities: patterns(disabled),
        ..McplPolicy::default()
    }
}

fn grant(manifest: &str, policy: &McplPolicy) -> Grant {
    let manifest = Json::check(manifest.to_owned()).unwrap();
    let advertised = Advertisement::of(&manifest).with_tools();
    Grant::of(&advertised, &CapabilitySet::all(), policy)
}

fn effective(grant: &Grant) -> Vec<&'static str> {
    grant.effective().iter().map(Capability::as_str).collect()
}

fn why(grant: &Grant, capability: Capability) -> Option<Denial> {
    let mut denied = grant.denied().iter();
    denied
        .find(|denied| denied.capability == capability)
        .map(|denied| denied.why)
}

/// MCPL §5.4: the grant is within what is advertised, what the host offers, and what the policy allows.
#[test]
fn nothing_is_granted_that_was_not_advertised() {
    let all = policy(Some(&["*", "*.*", "channels.publish"]), &[]);
    assert_eq!(
        effective(&grant(r#"{"pushEvents":true}"#, &all)),
        ["pushEvents", "tools"]
    );
    let manifest = Json::check(EVERYTHING.to_owned()).unwrap();
    let offered: CapabilitySet = [Capability::PushEvents].into_iter().collect();
    let grant = Grant::of(
        &Advertisement::of(&manifest),
        &offered,
        &McplPolicy::default(),
    );
    assert_eq!(effective(&grant), ["pushEvents"]);
    assert_eq!(why(&grant, Capability::ModelInfo), Some(Denial::NotOffered));
}

/// MCPL §13.4, RFC-007 §4.1: what is dangerous is denied unless it is named in full; the rest is granted.
#[test]
fn what_is_dangerous_is_denied_by_default() {
    let grant = grant(EVERYTHING, &McplPolicy::default());
    let denied: Vec<&str> = grant
        .denied()
        .iter()
        .map(|each| each.capability.as_str())
        .collect();
    assert_eq!(
        denied,
        [
            "contextHooks.beforeInference.inject.system",
            "contextHooks.beforeInference.inject.beforeUser",
            "contextHooks.beforeInference.inject.afterUser",
            "toolLifecycle.observe",
            "toolLifecycle.inputs",
        ]
    );
    assert_eq!(
        why(&grant, Capability::InjectAfterUser),
        Some(Denial::ByDefault)
    );
    assert_eq!(
        why(&grant, Capability::ToolLifecycleObserve),
        Some(Denial::ToolLifecycle)
    );
    assert_eq!(
        grant.effective().len(),
        Capability::ALL.len() - denied.len()
    );
}

/// MCPL §13.4: no wildcard reaches what is denied by default; the full path does.
#[test]
fn a_wildcard_never_grants_what_is_denied_by_default() {
    let system = Capability::InjectSystem;
    let wild = policy(
        Some(&[
            "*",
            "*.*",
            "*.*.*.*",
            "contextHooks.beforeInference.inject.*",
        ]),
        &[],
    );
    assert_eq!(
        why(&grant(EVERYTHING, &wild), system),
        Some(Denial::ByDefault)
    );
    let named = policy(Some(&["*", system.as_str()]), &[]);
    assert!(grant(EVERYTHING, &named).allows(system));
    let taken = policy(Some(&[system.as_str()]), &["contextHooks"]);
    assert_eq!(
        why(&grant(EVERYTHING, &taken), system),
        Some(Denial::Disabled)
    );
}

/// MCPL §5.4: segment counts are equal, and a parent grants nothing beneath it.
#[test]
fn a_pattern_of_another_length_grants_nothing() {
    for enabled in [
        "contextHooks.*",
        "contextHooks",
        "*",
        "contextHooks.beforeInference",
    ] {
        let grant = grant(EVERYTHING, &policy(Some(&[enabled]), &[]));
        assert_eq!(
            why(&grant, Capability::Observe),
            Some(Denial::NotEnabled),
            "{enabled}"
        );
    }
    let grant = grant(EVERYTHING, &policy(Some(&["channels.*"]), &["*.typing"]));
    assert_eq!(
        effective(&grant),
        [
            "channels.register",
            "channels.lifecycle",
            "channels.publish",
            "channels.incoming",
            "channels.streaming",
            "channels.acknowledge",
        ]
    );
    assert!(grant.admits(needed("push/event")).is_err());
}

/// MCPL §5.4: an empty list of what is enabled enables nothing.
#[test]
fn an_empty_list_grants_nothing() {
    assert!(
        grant(EVERYTHING, &policy(Some(&[]), &[]))
            .effective()
            .is_empty()
    );
    assert!(
        grant(EVERYTHING, &policy(None, &["*"]))
            .effective()
            .is_empty()
    );
}

fn needed(method: &str) -> crate::mcpl::capability::Need {
    let from = needed_for(Direction::FromServer, method, None);
    from.or_else(|| needed_for(Direction::ToServer, method, None))
        .unwrap()
}

/// MCPL §5.4, §6.6: a message is admitted by what it needs, and a refusal names it.
#[test]
fn a_grant_admits_what_it_holds() {
    let grant = grant(
        EVERYTHING,
        &policy(Some(&["contextHooks.*.observe", "inferenceRequest"]), &[]),
    );
    assert_eq!(grant.admits(needed("inference/request")), Ok(()));
    assert_eq!(grant.admits(needed("context/beforeInference")), Ok(()));
    assert_eq!(grant.admits(needed("mcpl/manifestChanged")), Ok(()));
    let lacked = Shortfall::Capability(Capability::PushEvents);
    assert_eq!(grant.admits(needed("push/event")), Err(lacked));
    let lacked = Shortfall::Capability(Capability::InferenceRequestStreaming);
    assert_eq!(grant.admits(needed("inference/chunk")), Err(lacked));
    assert_eq!(
        grant.admits(needed("host/command")),
        Err(Shortfall::HostAuthority)
    );
    assert_eq!(Shortfall::HostAuthority.capability(), None);
    let nothing = Grant::none();
    let lacked = Shortfall::Capability(Capability::Observe);
    assert_eq!(
        nothing.admits(needed("context/beforeInference")),
        Err(lacked)
    );
    assert_eq!(nothing.admits(needed("featureSets/update")), Ok(()));
}

/// MCPL §6.7: reductions hold at once, expansions only after the receipt.
#[test]
fn the_way_to_another_grant_goes_through_what_both_hold() {
    let old = grant(
        r#"{"pushEvents":true,"modelInfo":true}"#,
        &McplPolicy::default(),
    );
    let new = grant(
        r#"{"pushEvents":true,"channels":{"typing":true}}"#,
        &McplPolicy::default(),
    );
    let Change { reduced, expanded } = old.change_to(&new);
    assert_eq!(reduced.to_string(), "modelInfo");
    assert_eq!(expanded.to_string(), "channels.typing");
    assert_eq!(effective(&old.reduced_to(&new)), ["pushEvents", "tools"]);
    assert!(new.change_to(&new).is_empty());
    assert!(Grant::none().change_to(&Grant::none()).is_empty());
    assert_eq!(
        Grant::none().reduced_to(&new).effective(),
        &CapabilitySet::default()
    );
}

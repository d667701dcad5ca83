//! Declarations in both forms, what is on of them, and what they may do.

use seawall_proto::Json;

use super::{FeatureSets, MAX_FEATURE_SETS, MAX_USES, Off, Refused, Selection, Uses};
use crate::mcpl::{Advertisement, Capability, CapabilitySet, Grant, McplPolicy};

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

fn declared(sets: &str) -> FeatureSets {
    FeatureSets::of(&json(&format!(r#"{{"featureSets":{sets}}}"#)))
}

fn grant(manifest: &str) -> Grant {
    let advertised = Advertisement::of(&json(manifest)).with_tools();
    Grant::of(&advertised, &CapabilitySet::all(), &McplPolicy::default())
}

fn policy(enabled: Option<&[&str]>, disabled: &[&str]) -> McplPolicy {
    let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    McplPolicy {
        enabled_feature_sets: enabled.map(patterns),
        disabled_feature_sets: patterns(disabled),
        ..McplPolicy::default()
    }
}

const THREE: &str = r#"{
    "memory.push":{"description":"p","uses":["pushEvents","pushEvents"]},
    "memory.notes":{"description":"n","uses":["tools"],"rollback":true},
    "chat":{"description":"c","uses":["channels.publish","channels.incoming"]}}"#;

fn on(selection: &Selection) -> Vec<&str> {
    selection.on().collect()
}

/// MCPL §6.1, and the form that servers in the field send.
#[test]
fn an_object_and_an_array_declare_the_same() {
    let object = declared(r#"{"a":{"description":"d","uses":["tools"]}}"#);
    let array = declared(r#"[{"name":"a","description":"d","uses":["tools"]}]"#);
    assert_eq!(object, array);
    let feature = object.get("a").unwrap();
    assert_eq!(feature.description(), Some("d"));
    assert!(!feature.can_roll_back());
    assert!(declared(THREE).get("memory.notes").unwrap().can_roll_back());
    for none in ["true", "1", "null", r#""a""#, "{}", "[]"] {
        assert!(declared(none).is_empty(), "{none}");
    }
    assert!(FeatureSets::of(&json("{}")).is_empty());
}

/// MCPL §6.4, rule 1: absent, empty or unknown `uses` switches the set off.
#[test]
fn uses_that_cannot_be_told_switch_the_set_off() {
    for (uses, named) in [
        (r#","uses":[]"#, &[][..]),
        ("", &[]),
        (r#","uses":"tools""#, &[]),
        (r#","uses":null"#, &[]),
        (r#","uses":["tools",1]"#, &[]),
        (r#","uses":["tools"],"uses":["pushEvents"]"#, &[]),
        (
            r#","uses":["tools","contextHooks.beforeInference"]"#,
            &["contextHooks.beforeInference"],
        ),
        (r#","uses":["channels.*"]"#, &["channels.*"]),
        (r#","uses":["tools "]"#, &["tools "]),
    ] {
        let sets = declared(&format!(r#"{{"a":{{"description":"d"{uses}}}}}"#));
        let selection = Selection::of(&sets, &grant("{}"), &McplPolicy::default());
        let unrecognized = named.iter().map(|name| (*name).to_owned()).collect();
        let off: Vec<Off> = selection.off().map(|off| off.why.clone()).collect();
        assert_eq!(off, [Off::InvalidUses { unrecognized }], "{uses}");
        assert_eq!(off[0].as_str(), "invalid_uses");
    }
}

/// MCPL §6.4: a declaration that stands there twice is none that can be told.
#[test]
fn a_set_that_is_declared_twice_is_off() {
    let twice = r#"[{"name":"a","uses":["tools"]},{"name":"a","uses":["pushEvents"]}]"#;
    let sets = declared(twice);
    assert_eq!((sets.len(), sets.ignored()), (1, 1));
    assert!(matches!(
        sets.get("a").unwrap().uses(),
        Uses::Invalid { .. }
    ));
}

/// Names have bounds, sets and uses too.
#[test]
fn declarations_are_bounded() {
    let names = ["", "a b", "é", "a/b", &"x".repeat(129)];
    for name in names {
        let sets = declared(&format!(r#"{{"{name}":{{"uses":["tools"]}}}}"#));
        assert_eq!((sets.len(), sets.ignored()), (0, 1), "{name}");
    }
    assert_eq!(declared(r#"[1,{},{"name":1}]"#).ignored(), 3);
    let many: Vec<String> = (0..=MAX_FEATURE_SETS)
        .map(|at| format!(r#""{at}":{{"uses":["tools"]}}"#))
        .collect();
    let sets = declared(&format!("{{{}}}", many.join(",")));
    assert_eq!((sets.len(), sets.ignored()), (MAX_FEATURE_SETS, 1));
    let uses = |count: usize| {
        let uses = vec![r#""tools""#; count].join(",");
        let sets = declared(&format!(r#"{{"a":{{"uses":[{uses}]}}}}"#));
        matches!(sets.get("a").unwrap().uses(), Uses::Valid(_))
    };
    assert!(uses(MAX_USES) && !uses(MAX_USES + 1));
}

/// MCPL §6.4: a denied capability switches off every set that uses it.
#[test]
fn a_set_is_on_where_all_that_it_uses_is_granted() {
    let sets = declared(THREE);
    let granted = grant(r#"{"pushEvents":true,"channels":{"publish":true}}"#);
    let selection = Selection::of(&sets, &granted, &McplPolicy::default());
    assert_eq!(on(&selection), ["memory.notes", "memory.push"]);
    let off = selection.off().next().unwrap();
    assert_eq!(off.name, "chat");
    assert_eq!(
        off.why.to_string(),
        "it uses what is not granted: channels.incoming"
    );
    let nothing = Selection::of(&sets, &Grant::none(), &McplPolicy::default());
    assert!(on(&nothing).is_empty());
}

/// MCPL §5.3, §6.3: omitted, every set is a candidate; a list selects; what is disabled wins, and to name a set gives it
/// nothing.
#[test]
fn a_selection_narrows_and_never_widens() {
    let sets = declared(THREE);
    let granted = grant(r#"{"pushEvents":true}"#);
    let of = |enabled: Option<&[&str]>, disabled: &[&str]| {
        let selection = Selection::of(&sets, &granted, &policy(enabled, disabled));
        on(&selection).join(" ")
    };
    assert_eq!(of(None, &[]), "memory.notes memory.push");
    assert_eq!(of(Some(&[]), &[]), "");
    assert_eq!(of(Some(&["memory.push", "chat"]), &[]), "memory.push");
    assert_eq!(of(Some(&["memory.*"]), &["memory.notes"]), "memory.push");
    assert_eq!(of(Some(&["memory"]), &[]), "");
    assert_eq!(of(None, &["memory"]), "");
    assert_eq!(of(None, &["*"]), "");
    let left_out = Selection::of(&sets, &granted, &policy(Some(&[]), &[]));
    let why = left_out.off().next().map(|off| off.why.as_str());
    assert_eq!(why, Some("not_selected"));
}

/// MCPL §6.4, rule 2, and §6.6: an unknown set, one that is off, and one that does what it did not declare.
#[test]
fn a_message_is_held_to_its_set() {
    let sets = declared(THREE);
    let granted = grant(r#"{"pushEvents":true,"inferenceRequest":true}"#);
    let selection = Selection::of(&sets, &granted, &McplPolicy::default());
    let check = |name: &str, capability| selection.check(name, capability);
    assert_eq!(check("memory.push", Capability::PushEvents), Ok(()));
    let cases = [
        (check("memory", Capability::PushEvents), -32003, None),
        (
            check("chat", Capability::ChannelsPublish),
            -32001,
            Some(r#"{"featureSet":"chat"}"#),
        ),
        (
            check("memory.push", Capability::InferenceRequest),
            -32002,
            Some(r#"{"capability":"inferenceRequest","featureSet":"memory.push"}"#),
        ),
    ];
    for (checked, code, data) in cases {
        let error = checked.unwrap_err().error();
        assert_eq!(error.code, code);
        assert_eq!(error.data.as_ref().map(Json::as_str), data);
    }
    let mismatch = check("memory.push", Capability::InferenceRequest);
    assert!(matches!(mismatch, Err(Refused::Undeclared { .. })));
}

/// MCPL §5.3: what the policy request says.
#[test]
fn the_update_says_the_grant_whole() {
    let sets = declared(THREE);
    let granted =
        grant(r#"{"pushEvents":true,"contextHooks":{"beforeInference":{"inject":true}}}"#);
    let all = McplPolicy::default();
    let update = Selection::of(&sets, &granted, &all).update(&granted, &all);
    insta::assert_snapshot!(update.to_string(), @r#"{"deniedCapabilities":["contextHooks.beforeInference.inject.system","contextHooks.beforeInference.inject.beforeUser","contextHooks.beforeInference.inject.afterUser"],"disabled":["chat"],"effectiveCapabilities":["pushEvents","tools"]}"#);
    let listed = policy(Some(&["memory.push"]), &[]);
    let update = Selection::of(&sets, &granted, &listed).update(&granted, &listed);
    assert_eq!(update["enabled"].to_string(), r#"["memory.push"]"#);
    let nothing = Selection::default().update(&Grant::none(), &all);
    assert_eq!(
        nothing.to_string(),
        r#"{"deniedCapabilities":[],"disabled":[],"effectiveCapabilities":[]}"#
    );
}

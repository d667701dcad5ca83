//! The vocabulary, advertisements both ways, and the table of methods.

use seawall_proto::Json;

use super::{
    Advertisement, Capability, CapabilitySet, Direction, Need, UnknownCapability,
    host_advertisement, manifest_of, needed_for,
};

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

fn advertised(manifest: &str) -> Vec<&'static str> {
    let advertisement = Advertisement::of(&json(manifest));
    let capabilities = advertisement.capabilities().iter();
    capabilities.map(Capability::as_str).collect()
}

/// MCPL §6.2: the vocabulary is closed, and a parent is no member of it.
#[test]
fn only_leaves_of_the_vocabulary_have_a_name() {
    for capability in Capability::ALL {
        assert_eq!(capability.as_str().parse(), Ok(*capability));
    }
    for unknown in [
        "",
        "channels",
        "contextHooks.beforeInference",
        "contextHooks.afterInference",
        "channels.observe",
        "channels.*",
        "pushevents",
        "channels.publish ",
        "channels.publish.x",
    ] {
        assert_eq!(unknown.parse::<Capability>(), Err(UnknownCapability));
    }
}

/// MCPL §5.1: `true` stands for all leaves beneath; false, absence and other types for none.
#[test]
fn true_stands_for_every_leaf_beneath() {
    assert_eq!(
        advertised(r#"{"contextHooks":{"beforeInference":true},"channels":{"publish":true}}"#),
        [
            "contextHooks.beforeInference.observe",
            "contextHooks.beforeInference.inject.system",
            "contextHooks.beforeInference.inject.beforeUser",
            "contextHooks.beforeInference.inject.afterUser",
            "channels.publish",
        ]
    );
    assert_eq!(advertised(r#"{"contextHooks":true}"#).len(), 4);
    assert_eq!(advertised(r#"{"channels":true}"#).len(), 7);
    assert_eq!(
        advertised(r#"{"toolLifecycle":true}"#),
        ["toolLifecycle.observe", "toolLifecycle.inputs"]
    );
    for none in [
        r#"{"pushEvents":false}"#,
        r#"{"pushEvents":1}"#,
        r#"{"pushEvents":"true"}"#,
        r#"{"pushEvents":{}}"#,
        r#"{"pushEvents":null}"#,
        r#"{"channels":["publish"]}"#,
        r#"{"channels":{}}"#,
        r#"{"channels.publish":true}"#,
        "[]",
        "true",
        "{}",
    ] {
        assert!(advertised(none).is_empty(), "{none}");
    }
}

/// MCPL §6.2: `inferenceRequest` is a leaf and a node.
#[test]
fn inference_is_advertised_with_and_without_streaming() {
    let both = ["inferenceRequest", "inferenceRequest.streaming"];
    assert_eq!(advertised(r#"{"inferenceRequest":true}"#), both);
    assert_eq!(
        advertised(r#"{"inferenceRequest":{"streaming":true}}"#),
        both
    );
    for alone in [r#"{"streaming":false}"#, "{}", r#"{"streaming":1}"#] {
        let manifest = format!(r#"{{"inferenceRequest":{alone}}}"#);
        assert_eq!(advertised(&manifest), ["inferenceRequest"]);
    }
    assert!(advertised(r#"{"inferenceRequest":false}"#).is_empty());
}

/// MCPL §5.4: unknown names mint nothing, at any depth, and neither does a name that stands there twice.
#[test]
fn what_is_unknown_or_said_twice_mints_nothing() {
    assert_eq!(
        advertised(r#"{"root":true,"channels":{"admin":true,"typing":true,"deep":{"x":true}}}"#),
        ["channels.typing"]
    );
    assert!(advertised(r#"{"pushEvents":false,"pushEvents":true}"#).is_empty());
    assert!(advertised(r#"{"channels":{"typing":true},"channels":true}"#).is_empty());
    assert!(advertised(r#"{"channels":{"typing":true,"\u0074yping":true}}"#).is_empty());
}

/// MCPL §6.2: `tools` is advertised by MCP's own capabilities only.
#[test]
fn tools_come_from_the_outer_capabilities() {
    assert!(advertised(r#"{"tools":true}"#).is_empty());
    let of = |text: &str| Advertisement::of_server(&json(text)).unwrap();
    let mcpl = r#""experimental":{"mcpl":{"version":"0.5","tools":true}}"#;
    assert!(!of(&format!("{{{mcpl}}}")).has(Capability::Tools));
    assert!(of(&format!(r#"{{"tools":{{}},{mcpl}}}"#)).has(Capability::Tools));
    assert!(!of(&format!(r#"{{"tools":false,{mcpl}}}"#)).has(Capability::Tools));
}

/// MCPL §3.3: without the object there is no MCP Live.
#[test]
fn a_server_without_the_object_is_a_plain_one() {
    for plain in [
        "{}",
        "[]",
        r#"{"experimental":{}}"#,
        r#"{"experimental":{"mcpl":true}}"#,
        r#"{"experimental":{"mcpl":null}}"#,
        r#"{"experimental":{"mcpl":[]}}"#,
        r#"{"experimental":{"mcpl":{},"mcpl":{}}}"#,
        r#"{"mcpl":{}}"#,
    ] {
        assert_eq!(Advertisement::of_server(&json(plain)), None, "{plain}");
        assert_eq!(manifest_of(&json(plain)), None, "{plain}");
    }
    let empty = json(r#"{"experimental":{"mcpl":{}}}"#);
    assert_eq!(
        Advertisement::of_server(&empty),
        Some(Advertisement::default())
    );
}

/// MCPL §5.2: what is offered is spelled out, leaf by leaf, so that nothing more is promised.
#[test]
fn the_host_spells_its_leaves_out() {
    let offered: CapabilitySet = [
        Capability::PushEvents,
        Capability::Tools,
        Capability::Observe,
        Capability::InjectBeforeUser,
        Capability::ChannelsPublish,
        Capability::InferenceRequest,
    ]
    .into_iter()
    .collect();
    let said = host_advertisement(&offered);
    insta::assert_snapshot!(said.to_string(), @r#"{"channels":{"publish":true},"contextHooks":{"beforeInference":{"inject":{"beforeUser":true},"observe":true}},"featureSets":true,"inferenceRequest":{"streaming":false},"pushEvents":true,"version":"0.5"}"#);
    let nothing = host_advertisement(&CapabilitySet::default());
    assert_eq!(
        nothing.to_string(),
        r#"{"featureSets":true,"version":"0.5"}"#
    );
}

/// MCPL §5.2: what is said is read back as the same, for every set of two.
#[test]
fn an_advertisement_reads_back() {
    for first in Capability::ALL {
        for second in Capability::ALL {
            let mut offered: CapabilitySet = [*first, *second].into_iter().collect();
            if offered.contains(Capability::InferenceRequestStreaming) {
                offered.insert(Capability::InferenceRequest);
            }
            let said = Json::of(&host_advertisement(&offered)).unwrap();
            let mut read = Advertisement::of(&said);
            if offered.contains(Capability::Tools) {
                read = read.with_tools();
            }
            assert_eq!(read.capabilities(), &offered);
        }
    }
}

/// MCPL §4.1, §14.1: what each method needs, in its direction only.
#[test]
fn each_method_needs_its_capability() {
    let from = |method| needed_for(Direction::FromServer, method, None);
    let to = |method| needed_for(Direction::ToServer, method, None);
    let one = |need: Option<Need>| match need {
        Some(Need::All(&[capability])) => capability.as_str(),
        _ => "",
    };
    for (method, capability) in [
        ("push/event", "pushEvents"),
        ("inference/request", "inferenceRequest"),
        ("model/info", "modelInfo"),
        ("channels/register", "channels.register"),
        ("channels/changed", "channels.register"),
        ("channels/list", "channels.register"),
        ("channels/incoming", "channels.incoming"),
        ("tools/observe", "toolLifecycle.observe"),
    ] {
        assert_eq!(one(from(method)), capability, "{method}");
        assert!(
            method == "channels/list" || to(method).is_none(),
            "{method}"
        );
    }
    for (method, capability) in [
        ("inference/lifecycle", "inferenceLifecycle"),
        ("channels/list", "channels.register"),
        ("channels/open", "channels.lifecycle"),
        ("channels/close", "channels.lifecycle"),
        ("channels/publish", "channels.publish"),
        ("channels/outgoing/chunk", "channels.streaming"),
        ("channels/outgoing/complete", "channels.streaming"),
        ("channels/acknowledge", "channels.acknowledge"),
        ("channels/typing", "channels.typing"),
        ("tools/lifecycle", "toolLifecycle.observe"),
        ("state/rollback", "tools"),
    ] {
        assert_eq!(one(to(method)), capability, "{method}");
        assert!(
            method == "channels/list" || from(method).is_none(),
            "{method}"
        );
    }
    assert!(matches!(to("context/beforeInference"), Some(Need::Any(needed)) if needed.len() == 4));
    assert_eq!(from("mcpl/manifestChanged"), Some(Need::Nothing));
    assert_eq!(to("featureSets/update"), Some(Need::Nothing));
    assert_eq!(to("mcpl/manifest"), Some(Need::Nothing));
    assert_eq!(from("host/command"), Some(Need::HostAuthority));
}

/// MCPL §6.6, §6.7, §7: what 0.5 removed, and what is not known, is no method.
#[test]
fn removed_methods_are_none() {
    for method in [
        "featureSets/changed",
        "scope/elevate",
        "context/afterInference",
        "state/update",
        "state/get",
        "branches/list",
        "push/render",
        "roots/list",
        "sampling/createMessage",
        "",
    ] {
        assert_eq!(needed_for(Direction::FromServer, method, None), None);
        assert_eq!(needed_for(Direction::ToServer, method, None), None);
    }
}

/// MCPL §11: inference in pieces needs both.
#[test]
fn a_stream_needs_streaming_too() {
    let needed = |params: &str| {
        let params = json(params);
        match needed_for(Direction::FromServer, "inference/request", Some(&params)) {
            Some(Need::All(needed)) => needed.len(),
            _ => 0,
        }
    };
    assert_eq!(needed(r#"{"stream":true}"#), 2);
    assert_eq!(needed(r#"{"stream":false,"stream":false}"#), 2);
    assert_eq!(needed(r#"{"stream":false}"#), 1);
    assert_eq!(needed("{}"), 1);
}

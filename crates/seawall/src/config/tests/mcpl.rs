//! The policy of a server of MCPL, as an entry says it (K8).

use super::*;
use crate::mcpl::Capability;
use crate::mcpl::policy::{Autofetch, Before05, ChannelSubscription, Narrowing, Pattern};

fn mcpl(members: &str) -> String {
    at_url("wss://h.example/", &format!(", {members}"))
}

fn policy(members: &str) -> McplPolicy {
    server(&mcpl(members)).mcpl().unwrap().clone()
}

fn texts(patterns: &[Pattern]) -> Vec<&str> {
    patterns.iter().map(Pattern::as_str).collect()
}

/// K8, MCPL §2.1: only an entry of MCPL has a policy; without a key it is the default.
#[test]
fn only_an_entry_of_mcpl_has_a_policy() {
    assert_eq!(
        server(&at_url("wss://h.example/", "")).mcpl(),
        Some(&McplPolicy::default())
    );
    let stdio = with(r#""protocol": "mcpl""#);
    assert_eq!(server(&stdio).mcpl(), Some(&McplPolicy::default()));
    let taking = r#""disabledCapabilities": ["x"], "scopes": {"a": {}}, "enabledFeatureSets": []"#;
    assert_eq!(server(&with(taking)).mcpl(), None);
    assert_eq!(server(&at_url("https://h.example/", "")).mcpl(), None);
}

/// K8, MCPL §2.1: every key in its typed form.
#[test]
fn every_key_is_read() {
    let read = policy(
        r#""enabledCapabilities": ["*", "channels.*"], "disabledCapabilities": ["contextHooks"],
        "enabledFeatureSets": ["memory.*"], "disabledFeatureSets": ["memory.old"],
        "mcplPolicy": "legacy", "channelSubscription": ["c1", "c2"],
        "autofetch": {"maxBytes": 1, "maxTotalBytes": 2},
        "toolLifecycle": {"observe": true, "inputs": {"tools": ["read_*"], "classes": "default"},
            "maxInputBytes": 3}"#,
    );
    assert_eq!(
        texts(read.enabled_capabilities.as_ref().unwrap()),
        ["*", "channels.*"]
    );
    assert_eq!(texts(&read.disabled_capabilities), ["contextHooks"]);
    assert_eq!(
        texts(read.enabled_feature_sets.as_ref().unwrap()),
        ["memory.*"]
    );
    assert_eq!(texts(&read.disabled_feature_sets), ["memory.old"]);
    assert_eq!(read.before_05, Before05::Legacy);
    assert!(read.channel_subscription.opens("c2"));
    let autofetch = read.autofetch.unwrap();
    assert_eq!((autofetch.max_bytes, autofetch.max_total_bytes), (1, 2));
    assert_eq!(read.tool_lifecycle.observe, Some(Narrowing::default()));
    assert_eq!(read.tool_lifecycle.max_input_bytes, 3);
    let inputs = read.tool_lifecycle.inputs.unwrap();
    assert_eq!(inputs.tools.unwrap(), ["read_*"]);
    let classes = ["computer", "shell", "files", "web", "media", "body"];
    assert_eq!(
        (inputs.classes.unwrap(), inputs.conversations),
        (classes.map(str::to_owned).to_vec(), None)
    );
}

/// MCPL §2.1: defaults, and what a switch says.
#[test]
fn switches_say_all_or_nothing() {
    assert_eq!(
        policy(r#""autofetch": {}"#).autofetch,
        Some(Autofetch::default())
    );
    assert_eq!(
        policy(r#""toolLifecycle": {"observe": false}"#),
        McplPolicy::default()
    );
    assert_eq!(
        policy(r#""channelSubscription": "auto""#).channel_subscription,
        ChannelSubscription::Auto
    );
    assert_eq!(
        policy(r#""channelSubscription": "manual""#),
        McplPolicy::default()
    );
    assert_eq!(policy(r#""mcplPolicy": "strict""#), McplPolicy::default());
    assert_eq!(
        policy(r#""enabledCapabilities": []"#).enabled_capabilities,
        Some(Vec::new())
    );
}

/// MCPL §5.4: a pattern of another length than what it is to grant, a mistyped one, and one that is none, are refused, each
/// with its index.
#[test]
fn a_pattern_that_matches_nothing_is_refused() {
    for (members, field, code) in [
        (
            r#""enabledCapabilities": ["tools", "contextHooks.*"]"#,
            "enabledCapabilities[1]",
            "mcpl_segments",
        ),
        (
            r#""enabledCapabilities": ["channels"]"#,
            "enabledCapabilities[0]",
            "mcpl_segments",
        ),
        (
            r#""enabledCapabilities": ["*.*.*.*.*"]"#,
            "enabledCapabilities[0]",
            "mcpl_capability",
        ),
        (
            r#""enabledCapabilities": ["channel.publish"]"#,
            "enabledCapabilities[0]",
            "mcpl_capability",
        ),
        (
            r#""disabledCapabilities": ["pushEvent"]"#,
            "disabledCapabilities[0]",
            "mcpl_capability",
        ),
        (
            r#""disabledCapabilities": ["chan*"]"#,
            "disabledCapabilities[0]",
            "mcpl_pattern",
        ),
        (
            r#""disabledFeatureSets": ["a..b"]"#,
            "disabledFeatureSets[0]",
            "mcpl_pattern",
        ),
        (
            r#""enabledFeatureSets": [""]"#,
            "enabledFeatureSets[0]",
            "mcpl_pattern",
        ),
    ] {
        assert_problem(&mcpl(members), field, code);
    }
    let checked = check_text(&mcpl(r#""disabledCapabilities": ["channel.publish"]"#));
    let message = checked.problems[0].kind().to_string();
    assert_eq!(
        message,
        r#"no capability of MCPL; did you mean "channels.publish"?"#
    );
    let checked = check_text(&mcpl(r#""enabledCapabilities": ["channels"]"#));
    insta::assert_snapshot!(checked.problems[0].kind().to_string(), @r#"grants nothing: a pattern has as many segments as what it grants, as in "channels.register""#);
    assert_eq!(
        warnings(&mcpl(
            r#""disabledCapabilities": ["*", "channels", "contextHooks.*"]"#
        )),
        []
    );
}

/// K8: what no server can be given is said, and changes nothing.
#[test]
fn host_commands_and_scopes_have_no_effect() {
    assert_warning(
        &mcpl(r#""allowHostCommands": true"#),
        "allowHostCommands",
        "ignored",
    );
    assert_warning(
        &mcpl(r#""scopes": {"a": {"whitelist": ["*"]}}"#),
        "scopes",
        "ignored",
    );
    assert_eq!(
        warnings(&mcpl(r#""allowHostCommands": false, "scopes": {}"#)),
        []
    );
    assert_eq!(
        policy(r#""allowHostCommands": true"#),
        McplPolicy::default()
    );
}

/// K9, MCPL §2.1: values of the wrong type are refused; a permission in a wrong shape permits nothing.
#[test]
fn a_wrong_shape_permits_nothing() {
    for (members, field) in [
        (r#""toolLifecycle": true"#, "toolLifecycle"),
        (
            r#""toolLifecycle": {"observe": "yes"}"#,
            "toolLifecycle.observe",
        ),
        (
            r#""toolLifecycle": {"observe": {"tools": "x"}}"#,
            "toolLifecycle.observe.tools",
        ),
        (
            r#""toolLifecycle": {"observe": {"classes": "all"}}"#,
            "toolLifecycle.observe.classes",
        ),
        (
            r#""toolLifecycle": {"inputs": {"classes": ["web", "tools"]}}"#,
            "toolLifecycle.inputs.classes[1]",
        ),
        (
            r#""toolLifecycle": {"maxInputBytes": 0}"#,
            "toolLifecycle.maxInputBytes",
        ),
        (r#""autofetch": true"#, "autofetch"),
        (r#""autofetch": {"maxBytes": -1}"#, "autofetch.maxBytes"),
        (r#""channelSubscription": "all""#, "channelSubscription"),
        (r#""channelSubscription": [1]"#, "channelSubscription"),
        (r#""mcplPolicy": true"#, "mcplPolicy"),
        (r#""enabledCapabilities": "tools""#, "enabledCapabilities"),
        (r#""scopes": []"#, "scopes"),
    ] {
        assert_problem(&mcpl(members), field, "invalid_value");
    }
    let misspelt = r#""autofetch": {"maxByte": 1}"#;
    assert_problem(&mcpl(misspelt), "autofetch.maxByte", "unknown_key");
    let map =
        r#"{"servers": {"a": {"url": "wss://h.example/", "toolLifecycle": {"observed": true}}}}"#;
    assert_warning(map, "toolLifecycle.observed", "unknown_key");
}

/// K8: a program's policy goes through the same checks.
#[test]
fn a_builders_policy_is_checked_too() {
    let mut asking = McplPolicy {
        enabled_capabilities: Some(vec![Capability::PushEvents.as_str().parse().unwrap()]),
        ..McplPolicy::default()
    };
    let build = |url: &str, policy: &McplPolicy| {
        ServerConfig::url("a", url)
            .mcpl(policy.clone())
            .build_in(&world())
    };
    let built = build("wss://h.example/", &asking).unwrap();
    assert_eq!(built.mcpl(), Some(&asking));
    let codes = |problems: Problems| -> Vec<&str> {
        problems
            .as_slice()
            .iter()
            .map(|problem| problem.kind().code())
            .collect()
    };
    assert_eq!(
        codes(build("https://h.example/", &asking).unwrap_err()),
        ["mcpl_policy"]
    );
    assert_eq!(
        build("https://h.example/", &McplPolicy::default())
            .unwrap()
            .mcpl(),
        None
    );
    asking.disabled_capabilities = vec!["pushEvent".parse().unwrap()];
    assert_eq!(
        codes(build("wss://h.example/", &asking).unwrap_err()),
        ["mcpl_capability"]
    );
}

//! Patterns, and what a policy names.

use proptest::prelude::*;

use super::{ChannelSubscription, InvalidPattern, McplPolicy, Narrowing, Pattern};
use crate::terms::capability::Capability;

fn pattern(text: &str) -> Pattern {
    text.parse().unwrap()
}

/// MCPL §5.4: `*` is exactly one segment, as many segments, no trailing subtree, no bare parent.
#[test]
fn what_allows_matches_segment_by_segment() {
    for (text, name) in [
        ("channels.*", "channels.publish"),
        ("*.publish", "channels.publish"),
        ("*.*", "channels.publish"),
        ("*", "tools"),
        ("a.*.c", "a.b.c"),
        ("memory:x_1-2", "memory:x_1-2"),
    ] {
        assert!(pattern(text).allows(name), "{text} {name}");
    }
    for (text, name) in [
        ("channels", "channels.publish"),
        ("channels.*", "channels"),
        ("channels.*", "channels.publish.anything"),
        ("contextHooks.*", "contextHooks.beforeInference.observe"),
        ("*", "channels.publish"),
        ("*.*.*", "channels.publish"),
        ("channels.publish", "channels.publisher"),
        ("a.*.c", "a.c"),
    ] {
        assert!(!pattern(text).allows(name), "{text} {name}");
    }
}

/// MCPL §5.4: what denies takes everything beneath with it.
#[test]
fn what_denies_takes_what_is_beneath() {
    for text in [
        "contextHooks",
        "*",
        "contextHooks.*",
        "contextHooks.beforeInference.inject",
        "contextHooks.*.inject.system",
    ] {
        let denies = pattern(text).denies("contextHooks.beforeInference.inject.system");
        assert!(denies, "{text}");
    }
    for text in [
        "contextHooks.beforeInference.inject.system.x",
        "*.*.*.*.*",
        "channels",
        "context",
    ] {
        let denies = pattern(text).denies("contextHooks.beforeInference.inject.system");
        assert!(!denies, "{text}");
    }
}

/// MCPL §5.4: a pattern that says something else than it seems to is none.
#[test]
fn a_wildcard_is_a_whole_segment() {
    for text in ["chan*", "channels.*x", "**", "a.**"] {
        let parsed = text.parse::<Pattern>();
        assert_eq!(parsed, Err(InvalidPattern::PartialWildcard), "{text}");
    }
    for text in ["", ".", "a.", ".a", "a..b", "a b", "a/b", "é", "a\n"] {
        assert_eq!(text.parse::<Pattern>(), Err(InvalidPattern::Name), "{text}");
    }
}

proptest! {
    /// MCPL §5.4: whatever a pattern allows, it denies too; no text makes it panic.
    #[test]
    fn allowing_is_narrower_than_denying(text in "[a-c.*]{0,8}", name in "[a-c.]{0,8}") {
        if let Ok(pattern) = text.parse::<Pattern>() {
            prop_assert!(!pattern.allows(&name) || pattern.denies(&name));
        }
    }
}

/// MCPL §13.4: a wildcard names nothing in full; `toolLifecycle` names what it permits.
#[test]
fn only_the_whole_path_names() {
    let mut policy = McplPolicy {
        enabled_capabilities: Some(vec![pattern("*.*.*.*"), pattern("toolLifecycle.observe")]),
        ..McplPolicy::default()
    };
    assert!(!policy.names(Capability::InjectSystem));
    assert!(!policy.names(Capability::ToolLifecycleObserve));
    policy.tool_lifecycle.observe = Some(Narrowing::default());
    assert!(policy.names(Capability::ToolLifecycleObserve));
    assert!(!policy.names(Capability::ToolLifecycleInputs));
    policy.enabled_capabilities = Some(vec![pattern(Capability::InjectSystem.as_str())]);
    assert!(policy.names(Capability::InjectSystem));
}

/// MCPL 1.13: which registered channels are opened.
#[test]
fn a_subscription_opens_what_it_lists() {
    assert!(!ChannelSubscription::default().opens("a"));
    assert!(ChannelSubscription::Auto.opens("a"));
    let listed = ChannelSubscription::Listed(vec!["a".to_owned()]);
    assert!(listed.opens("a") && !listed.opens("A") && !listed.opens(""));
}

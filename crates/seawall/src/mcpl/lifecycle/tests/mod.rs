mod class;
mod filter;
mod observer;

use std::time::Duration;

use super::*;
use crate::mcpl::policy::{DEFAULT_TOOL_CLASSES, Narrowing, TOOL_CLASSES, ToolLifecycle};
use crate::mcpl::tags::Glob;
use seawall_proto::Json;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).expect("JSON")
}

/// A call of `tool` of the server `x`, of these classes, with these arguments.
fn call(tool: &str, classes: &[ToolClass], arguments: &str) -> ToolCall {
    ToolCall {
        id: ToolCallId::mint(),
        inference_id: "inf_1".to_owned(),
        conversation_id: "conv_1".to_owned(),
        tool: format!("x--{tool}"),
        classes: classes.iter().copied().collect(),
        provider: Some(Provider {
            server_id: "x".to_owned(),
            server_tool: tool.to_owned(),
        }),
        arguments: json(arguments),
    }
}

fn shell(arguments: &str) -> ToolCall {
    call("run", &[ToolClass::Shell], arguments)
}

/// A call of a tool of the host's own.
fn own(classes: &[ToolClass]) -> ToolCall {
    ToolCall {
        tool: "say".to_owned(),
        provider: None,
        ..call("say", classes, "{}")
    }
}

fn words(words: &[&str]) -> Option<Vec<String>> {
    Some(words.iter().map(|word| (*word).to_owned()).collect())
}

fn tools(patterns: &[&str]) -> Narrowing {
    Narrowing {
        tools: words(patterns),
        ..Narrowing::default()
    }
}

fn classes(names: &[&str]) -> Narrowing {
    Narrowing {
        classes: words(names),
        ..Narrowing::default()
    }
}

/// The server `s`, with these narrowings, and this filter if it is not empty.
fn observer(observe: Narrowing, inputs: Narrowing, filter: &str) -> Observer {
    let policy = ToolLifecycle {
        observe: Some(observe),
        inputs: Some(inputs),
        ..ToolLifecycle::default()
    };
    let mut observer = Observer::new("s", Narrowings::of(&policy));
    if !filter.is_empty() {
        set(&mut observer, filter);
    }
    observer
}

fn set(observer: &mut Observer, rules: &str) {
    let params = json(&format!(r#"{{"rules":{rules}}}"#));
    observer.observe(Some(&params)).expect("a filter");
}

/// What `started` tells of arguments: `input`, `inputAltered`, `inputWithheld`; `None` if it tells nothing.
fn started(observer: &mut Observer, call: &ToolCall) -> Option<[Option<String>; 3]> {
    let told = observer.started(call, Granted::ObserveAndInputs)?;
    let part = |name| told.member(name).map(|part| part.as_str().to_owned());
    Some([part("input"), part("inputAltered"), part("inputWithheld")])
}

fn metadata() -> Option<[Option<String>; 3]> {
    Some([None, None, None])
}

fn input(text: &str) -> Option<[Option<String>; 3]> {
    Some([Some(text.to_owned()), None, None])
}

fn withheld() -> Option<[Option<String>; 3]> {
    Some([None, None, Some("true".to_owned())])
}

fn ran() -> Option<Duration> {
    Some(Duration::from_millis(380))
}

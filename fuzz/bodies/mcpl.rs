//! What a server of MCP Live sends: each line is read as everything that it could be.

use seawall::mcpl::channels::{MAX_CHANNELS, Registry, receive, verdicts};
use seawall::mcpl::content::{Block, Content, Provenance, References};
use seawall::mcpl::features::FeatureSets;
use seawall::mcpl::lifecycle::{
    CallEnd, Classes, Granted, Narrowings, Observer, ToolCall, ToolCallId, ToolClass,
};
use seawall::mcpl::locator::Locator;
use seawall::mcpl::manifest::Manifest;
use seawall::mcpl::policy::{Narrowing, ToolLifecycle};
use seawall::mcpl::push::{PushEvent, Seen};
use seawall::mcpl::{Advertisement, Invalid};
use seawall::{Json, visible};

/// The longest stub, in characters, whatever a server sends.
const MAX_STUB_CHARS: usize = 400;
/// The bound on arguments that are told.
const MAX_INPUT_BYTES: u64 = 64;

/// The input is lines: parameters, manifests, descriptors, filters, addresses.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut registry = Registry::new();
    let mut seen = Seen::new();
    let mut references = References::new();
    let mut observer = observer();
    for line in text.lines() {
        check_locator(line);
        let Ok(json) = Json::check(line.to_owned()) else {
            continue;
        };
        if let Ok(mut content) = check_refusal(Content::of(&json)) {
            check_content(&mut content, &mut references);
        }
        if let Ok(mut event) = check_refusal(PushEvent::of(&json)) {
            assert!(!event.content().is_visibly_empty());
            check_content(event.content_mut(), &mut references);
        }
        check_channels(&json, &mut registry, &mut seen);
        check_calls(&json, &mut observer);
        let advertised = Advertisement::of(&json);
        let _ = (FeatureSets::of(&json), Manifest::of(&json));
        assert_eq!(advertised, Advertisement::of(&json));
    }
}

/// A refusal says the specification's words only, and is one that can be sent.
fn check_refusal<T>(outcome: Result<T, Invalid>) -> Result<T, Invalid> {
    if let Err(invalid) = &outcome {
        let error = invalid.error();
        assert_eq!(error.code, -32602);
        assert!(Json::check(error.to_json()).is_ok());
    }
    outcome
}

fn check_content(content: &mut Content, references: &mut References) {
    references.admit(content, Provenance::PushEvent);
    assert!(serde_json::to_string(content).is_ok());
    for block in content.blocks() {
        let Block::Reference(reference) = block else {
            continue;
        };
        let stub = reference.stub();
        assert!(stub.chars().count() <= MAX_STUB_CHARS, "{stub}");
        assert_eq!(visible::visible(&stub, visible::Place::Line), stub);
        assert_eq!(
            (stub.matches('[').count(), stub.matches(']').count()),
            (1, 1),
            "{stub}"
        );
        let id = reference.id().expect("an id").as_str();
        assert!(references.record(id).is_some() && stub.contains(id));
    }
}

fn check_channels(json: &Json, registry: &mut Registry, seen: &mut Seen) {
    let allow = |id: &str| !id.starts_with("no");
    let asked = check_refusal(registry.register(json, |channel| allow(channel.id())));
    let changed = check_refusal(registry.changed(json, |channel| allow(channel.id())));
    for judged in asked
        .iter()
        .chain(changed.iter().map(|changed| &changed.verdicts))
    {
        let results = verdicts(judged).member("results").expect("results");
        assert_eq!(results.elements().len(), judged.len());
    }
    assert!(registry.len() <= MAX_CHANNELS);
    assert!(
        registry
            .iter()
            .all(|channel| allow(channel.descriptor().id()))
    );
    for received in check_refusal(receive(json, registry, seen))
        .into_iter()
        .flatten()
    {
        if let Ok(message) = received.outcome {
            let channel = registry
                .get(message.channel_id())
                .expect("a registered channel");
            assert!(channel.descriptor().direction().brings());
            assert!(!message.content().is_visibly_empty());
        }
    }
}

fn observer() -> Observer {
    let mut classes = Narrowing::default();
    classes.classes = Some(vec!["shell".to_owned()]);
    let mut policy = ToolLifecycle::default();
    policy.observe = Some(Narrowing::default());
    policy.inputs = Some(classes);
    policy.max_input_bytes = MAX_INPUT_BYTES;
    Observer::new("observer", Narrowings::of(&policy))
}

/// The line is a filter, and arguments of a call under it.
fn check_calls(json: &Json, observer: &mut Observer) {
    let _ = check_refusal(observer.observe(Some(json)));
    let _ = Classes::declared(json);
    for class in [ToolClass::Shell, ToolClass::Comms] {
        let call = ToolCall {
            id: ToolCallId::mint(),
            inference_id: "inference".to_owned(),
            conversation_id: "conversation".to_owned(),
            tool: "tool".to_owned(),
            classes: [class].into_iter().collect(),
            provider: None,
            arguments: json.clone(),
        };
        let told = observer.started(&call, Granted::ObserveAndInputs);
        let input = told.as_ref().and_then(|told| told.member("input"));
        if let Some(input) = input {
            assert_eq!(class, ToolClass::Shell);
            assert!(input.as_str().starts_with('{') && input.len() as u64 <= MAX_INPUT_BYTES);
        }
        let ended = observer.ended(&call, CallEnd::Completed, None, Granted::Observe);
        assert_eq!(told.is_some(), ended.is_some());
        let again = observer.ended(&call, CallEnd::Completed, None, Granted::Observe);
        assert!(again.is_none());
    }
}

/// What resolves is dialed over TLS, and its canonical form is its own.
fn check_locator(text: &str) {
    let Ok(locator) = text.parse::<Locator>() else {
        return;
    };
    assert_eq!(locator.configured(), text);
    let url = locator.transport();
    assert_eq!(
        (url.scheme(), url.username(), url.password()),
        ("wss", "", None)
    );
    assert!(url.fragment().is_none() && url.host().is_some());
    let again: Locator = locator
        .canonical()
        .parse()
        .expect("the canonical form is one");
    assert_eq!(again.canonical(), locator.canonical());
    assert_eq!(again.transport(), url);
}

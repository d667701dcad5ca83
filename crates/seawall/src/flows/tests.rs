use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;
use seawall_proto::connection::{ClientConfig, Connection, Time};
use seawall_proto::mcp::Catalog;

use super::*;

/// A session with a server that listed these entries.
fn session(tools: &str) -> Connection {
    let now = Time::from_epoch(Duration::ZERO);
    let mut connection = Connection::client(now, ClientConfig::new("0"));
    answer(
        &mut connection,
        1,
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#,
    );
    answer(&mut connection, 2, &format!(r#"{{"tools":[{tools}]}}"#));
    connection
}

fn answer(connection: &mut Connection, id: u64, result: &str) {
    let written = connection.transmit().map(<[u8]>::len).sum();
    connection.handle_written(written);
    let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    connection.handle_frame(Time::from_epoch(Duration::ZERO), &Bytes::from(frame));
}

/// The catalog that a session has after a server listed these entries.
pub(crate) fn catalog(tools: &str) -> Arc<Catalog> {
    let connection = session(tools);
    let reason = connection.close_reason().cloned();
    Arc::clone(
        connection
            .catalog()
            .unwrap_or_else(|| panic!("no catalog: {reason:?}")),
    )
}

fn three() -> Arc<Catalog> {
    catalog(
        r#"{"name":"add","description":"Adds.","inputSchema":{ "type":"object","x":1.50 },"outputSchema":{"type":"object"}},
           {"name":"sub","inputSchema":{"type":"object"}},
           {"name":"mul","description":"","inputSchema":{"type":"object"}}"#,
    )
}

fn flows(include: &[&str], exclude: &[&str]) -> Result<Vec<String>, ProjectError> {
    let own = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    let flows = project(
        &three(),
        &"calc".into(),
        "mcp/calc",
        &own(include),
        &own(exclude),
        &Grant::default(),
    )?;
    Ok(flows.iter().map(|flow| flow.tool().to_owned()).collect())
}

/// F1
#[test]
fn a_tool_becomes_a_flow() {
    let flows = project(
        &three(),
        &"calc".into(),
        &default_prefix("calc"),
        &[],
        &[],
        &Grant::default(),
    )
    .unwrap();
    let flow = &flows[0];
    assert_eq!(flow.name(), "mcp/calc/add");
    assert_eq!((flow.server(), flow.tool()), ("calc", "add"));
    assert_eq!(
        flow.description(),
        r#"MCP tool "add" on server "calc". Server-supplied description: Adds."#
    );
    // By value: byte for byte what the server sent.
    assert_eq!(
        flow.input_document().as_str(),
        r#"{ "type":"object","x":1.50 }"#
    );
    assert_eq!(
        flow.output_document().map(Json::as_str),
        Some(r#"{"type":"object"}"#)
    );
    assert_eq!(flows[1].description(), r#"MCP tool "sub" on server "calc""#);
    assert_eq!(flows[1].output_document(), None);
    assert_eq!(
        flows[2].description(),
        r#"MCP tool "mul" on server "calc". Server-supplied description: "#
    );
    let prefixed = project(
        &three(),
        &"calc".into(),
        "maths",
        &[],
        &[],
        &Grant::default(),
    )
    .unwrap();
    assert_eq!(prefixed[0].name(), "maths/add");
    assert_ne!(prefixed[0].digest(), flow.digest());
}

/// H8: a list as long as one may be is declared in turns, so that it holds up nobody; it comes out the same.
#[test]
fn a_long_list_is_declared_in_turns() {
    const TOOLS: usize = 40;
    let text = "x".repeat(50_000);
    let entries: Vec<String> = (0..TOOLS)
        .map(|i| {
            format!(r#"{{"name":"t{i}","description":"{text}","inputSchema":{{"type":"object"}}}}"#)
        })
        .collect();
    let catalog = catalog(&entries.join(","));
    let grant = Grant::default();
    let (server, none) = ("calc".into(), Vec::new());
    let mut in_turns = pin!(project_in_turns(
        &catalog, &server, "p", &none, &none, &grant
    ));
    let mut context = Context::from_waker(Waker::noop());
    let mut turns = 1;
    let flows = loop {
        match in_turns.as_mut().poll(&mut context) {
            Poll::Ready(flows) => break flows.unwrap(),
            Poll::Pending => turns += 1,
        }
    };
    assert_eq!(turns, TOOLS / 2, "two of them are more than a turn's");
    let digests = |flows: &[Flow]| flows.iter().map(Flow::digest).collect::<Vec<_>>();
    let at_once = project(&catalog, &server, "p", &none, &none, &grant).unwrap();
    assert_eq!(digests(&flows), digests(&at_once));
}

#[test]
fn debug_shows_nothing_of_the_servers_text() {
    let flows = project(&three(), &"calc".into(), "p", &[], &[], &Grant::default()).unwrap();
    let debug = format!("{:?}", flows[0]);
    assert!(debug.contains("p/add") && !debug.contains("Adds"));
}

/// F2: one capability per action, each of which parses, at `**`; nothing else.
#[test]
fn capabilities_are_one_per_host_action() {
    let declared: Vec<&str> = capabilities().iter().map(Capability::as_str).collect();
    let expected: Vec<String> = HostAction::ALL
        .iter()
        .map(|action| format!("{action}:**"))
        .collect();
    assert_eq!(declared, expected);
    let distinct: BTreeSet<&str> = declared.iter().copied().collect();
    assert_eq!(distinct.len(), declared.len());
    insta::assert_snapshot!(declared.join(" "), @"fs:read:** fs:write:** net:get:** net:post:** net:put:** net:patch:** net:delete:** net:connect:** net:listen:** proc:spawn:** proc:signal:** env:read:** secret:read:**");
    let flows = project(&three(), &"calc".into(), "p", &[], &[], &Grant::default()).unwrap();
    assert!(
        flows
            .iter()
            .all(|flow| flow.capabilities() == capabilities())
    );
}

/// F2
#[test]
fn effects_are_the_most_cautious() {
    let flows = project(&three(), &"calc".into(), "p", &[], &[], &Grant::default()).unwrap();
    let effects = serde_json::to_string(&flows[0].effects()).unwrap();
    assert_eq!(
        effects,
        r#"{"reads":["**"],"writes":["**"],"mode":"expected","onConflict":"serialize","tier":"irreversible"}"#
    );
}

/// F4: a grant narrows what every flow of the server declares, and changes its digest.
#[test]
fn a_grant_narrows_the_declaration() {
    let whole = project(&three(), &"calc".into(), "p", &[], &[], &Grant::default()).unwrap();
    let capability: Capability = "proc:spawn:mcp/calc".parse().unwrap();
    let grant = Grant::narrowed([capability.clone()])
        .unwrap()
        .on_conflict_of(OnConflict::Allow);
    let narrowed = project(&three(), &"calc".into(), "p", &[], &[], &grant).unwrap();
    for (whole, narrowed) in whole.iter().zip(&narrowed) {
        assert_eq!(narrowed.capabilities(), std::slice::from_ref(&capability));
        assert_eq!(narrowed.effects().on_conflict, OnConflict::Allow);
        assert_ne!(narrowed.digest(), whole.digest());
        let effects = Effects {
            on_conflict: OnConflict::Serialize,
            ..narrowed.effects()
        };
        assert_eq!(effects, Effects::OPAQUE);
    }
    let alone = Flow::of(&three().tools()[0], &"calc".into(), "p", &grant);
    assert_eq!(alone.digest(), narrowed[0].digest());
}

/// K11
#[test]
fn include_and_exclude_are_exact_and_exclude_wins() {
    assert_eq!(flows(&[], &[]).unwrap(), ["add", "sub", "mul"]);
    assert_eq!(flows(&["mul", "add", "mul"], &[]).unwrap(), ["add", "mul"]);
    assert_eq!(flows(&["mul", "add"], &["add", "gone"]).unwrap(), ["mul"]);
    assert_eq!(flows(&[], &["Add", "ad", "sub"]).unwrap(), ["add", "mul"]);
}

/// K11
#[test]
fn an_include_that_the_catalog_lacks_is_named() {
    let error = flows(&["gone", "add", "a\nb", "gone"], &["gone"]).unwrap_err();
    let ProjectError::MissingTools { missing } = &error;
    assert_eq!(missing, &["gone", "a\nb"]);
    assert_eq!(
        error.to_string(),
        r#"its catalog lacks "gone", "a\nb", which the configuration includes"#
    );
}

/// F5
#[test]
fn duplicate_flow_names_fail_the_composition() {
    let of = |server: &str, prefix: &str| {
        project(
            &three(),
            &server.into(),
            prefix,
            &[],
            &[],
            &Grant::default(),
        )
        .unwrap()
    };
    let both = compose([of("one", "mcp/one"), of("two", "mcp/two")].concat()).unwrap();
    assert_eq!(both.len(), 6);
    let error = compose([of("one", "x"), of("two", "x")].concat()).unwrap_err();
    assert_eq!(
        (
            error.name.as_str(),
            error.first.as_str(),
            error.second.as_str()
        ),
        ("x/add", "one", "two")
    );
    // O1: the tool's name is the server's text.
    assert!(!error.to_string().contains("add"));
}

proptest! {
    /// F3: no schema that a catalog holds makes the projection panic, and its digest is a function of the entry.
    #[test]
    fn any_catalog_is_projected(key: String, text: String, number: f64) {
        let number = if number.is_finite() { number } else { 0.0 };
        let entry = format!(
            r#"{{"name":"t","description":{1},"inputSchema":{{"type":"object",{0}:[{1},{2}],{0}:"\ud800{3}"}}}}"#,
            serde_json::to_string(&key).unwrap(),
            serde_json::to_string(&text).unwrap(),
            number,
            "\\udfff",
        );
        prop_assume!(key != "type");
        let one = project(&catalog(&entry), &"s".into(), "p", &[], &[], &Grant::default()).unwrap();
        let two = project(&catalog(&entry), &"s".into(), "p", &[], &[], &Grant::default()).unwrap();
        prop_assert_eq!(one[0].digest(), two[0].digest());
    }
}

/// F2: what a tool says of itself is told, and declared by nothing: a hint that is no boolean is none.
#[test]
fn class_is_what_the_annotations_say() {
    let class = |annotations: &str| {
        let entry = format!(
            r#"{{"name":"t","inputSchema":{{"type":"object"}},"annotations":{annotations}}}"#
        );
        let found = catalog(&entry);
        let flow = Flow::of(&found.tools()[0], &"s".into(), "mcp/s", &Grant::default());
        (flow.class().as_str(), flow.digest())
    };
    let classes = [
        (r#"{"readOnlyHint":true}"#, "read_only"),
        (
            r#"{"readOnlyHint":true,"destructiveHint":true}"#,
            "read_only",
        ),
        (
            r#"{"readOnlyHint":false,"destructiveHint":true}"#,
            "destructive",
        ),
        (r#"{"destructiveHint":false}"#, "other"),
        (r#"{"readOnlyHint":"true","destructiveHint":1}"#, "other"),
        ("{}", "other"),
    ];
    let digest = class("{}").1;
    for (annotations, expected) in classes {
        assert_eq!(class(annotations), (expected, digest), "{annotations}");
    }
}

//! A tool list, page by page: what is accepted keeps every rule (S9, L5, L7).

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use seawall_proto::connection::{ClientConfig, CloseReason, Connection, Time};
use seawall_proto::limits::{InvalidTools, Limits};
use seawall_proto::mcp::CatalogFault;
use seawall_proto::mcp::catalog::is_forbidden_in_name;

const MAX_TOOLS: usize = 6;
const MAX_PAGES: usize = 3;
const MAX_NAME: usize = 12;
const MAX_DOCUMENT: usize = 120;

/// Each line of the input is one page: the result of `tools/list`.
pub(crate) fn run(data: &[u8]) {
    let refused = connect(data, InvalidTools::Refuse);
    let quarantined = connect(data, InvalidTools::Quarantine);
    check(&refused);
    check(&quarantined);
    // Where nothing is left out, both policies see the same list; where something is, the one refuses.
    match (refused.close_reason(), quarantined.catalog()) {
        (None, Some(catalog)) if refused.catalog().is_some() => {
            assert!(catalog.quarantined().is_empty());
            let names = |connection: &Connection| -> Vec<String> {
                let catalog = connection.catalog().expect("it is ready");
                catalog
                    .tools()
                    .iter()
                    .map(|tool| tool.name().to_owned())
                    .collect()
            };
            assert_eq!(names(&refused), names(&quarantined));
        }
        (Some(CloseReason::Catalog(CatalogFault::Tool { index, fault })), Some(catalog)) => {
            let first = catalog.quarantined().first().expect("one was left out");
            assert_eq!((first.index, first.fault), (*index, *fault));
        }
        (Some(reason), Some(_)) => panic!("only an entry's fault can be left out: {reason}"),
        _ => {}
    }
}

fn connect(data: &[u8], invalid_tools: InvalidTools) -> Connection {
    let mut limits = Limits::default();
    limits.max_tools = MAX_TOOLS;
    limits.max_catalog_pages = MAX_PAGES;
    limits.max_tool_name_bytes = MAX_NAME;
    limits.max_tool_document_bytes = MAX_DOCUMENT;
    limits.invalid_tools = invalid_tools;
    let mut config = ClientConfig::new("0");
    config.limits = limits;
    let now = Time::from_epoch(Duration::ZERO);
    let mut connection = Connection::client(now, config);
    let mut id = 1;
    let mut answer = |connection: &mut Connection, result: &[u8]| {
        let out: usize = connection.transmit().map(<[u8]>::len).sum();
        connection.handle_written(out);
        let frame = [
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":").as_bytes(),
            result,
            b"}",
        ]
        .concat();
        id += 1;
        connection.handle_frame(now, &Bytes::from(frame));
    };
    answer(
        &mut connection,
        br#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#,
    );
    for page in data.split(|byte| *byte == b'\n').take(2 * MAX_PAGES) {
        if connection.close_reason().is_some() || connection.catalog().is_some() {
            break;
        }
        answer(&mut connection, page);
    }
    connection
}

fn check(connection: &Connection) {
    if let Some(reason) = connection.close_reason() {
        assert!(connection.catalog().is_none());
        assert!(
            !format!("{reason} {reason:?}").contains("MARKER"),
            "{reason}"
        );
        return;
    }
    let Some(catalog) = connection.catalog() else {
        return;
    };
    assert!(catalog.pages() <= MAX_PAGES);
    assert!(catalog.tools().len() + catalog.quarantined().len() <= MAX_TOOLS);
    let mut names = HashSet::new();
    let mut indices = HashSet::new();
    for tool in catalog.tools() {
        let name = tool.name();
        assert!(names.insert(name.to_owned()));
        assert!(indices.insert(tool.index()));
        assert!(!name.is_empty() && name.len() <= MAX_NAME && name != "." && name != "..");
        assert!(!name.contains('/') && !name.chars().any(is_forbidden_in_name));
        assert_eq!(
            serde_json::from_str::<String>(tool.name_json().as_str())
                .ok()
                .as_deref(),
            Some(name)
        );
        let schema = tool.input_schema();
        assert_eq!(
            schema
                .member("type")
                .and_then(|kind| kind.string().map(|text| text.into_owned()))
                .as_deref(),
            Some("object")
        );
        assert!(
            tool.output_schema()
                .is_none_or(|schema| schema.as_str().starts_with('{'))
        );
        let document = tool.description().map_or(0, str::len) + schema.len();
        assert_eq!(document, tool.document_bytes());
        assert!(document <= MAX_DOCUMENT);
        assert!(
            catalog
                .get(name)
                .is_some_and(|found| found.index() == tool.index())
        );
    }
    for entry in catalog.quarantined() {
        assert!(indices.insert(entry.index));
    }
    assert_eq!(
        indices.len(),
        indices.iter().max().map_or(0, |last| last + 1),
        "every entry is accounted for"
    );
}

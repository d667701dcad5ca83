//! One raw result, three readers.

use bytes::Bytes;
use seawall_proto::jsonrpc::{Inbound, classify};
use seawall_proto::mcp::ToolResult;
use tempfile::TempDir;

use super::{
    ModelBlock, ModelOutcome, ModelResult, Quota, ReadResult, ResultReader, Workspace,
    WorkspaceError,
};

mod model;
mod script;
mod workspace;

/// A result that a server sent.
fn result(text: &str) -> ToolResult {
    let frame = Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{text}}}"#));
    match classify(&frame) {
        Ok(Inbound::Response {
            answer: Ok(reply), ..
        }) => ToolResult::from_reply(reply).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// A result with these blocks.
fn content(blocks: &str) -> ToolResult {
    result(&format!(r#"{{"content":[{blocks}]}}"#))
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn payload(kind: &str, bytes: &[u8], media_type: &str) -> String {
    let data = base64(bytes);
    format!(r#"{{"type":"{kind}","data":"{data}","mimeType":"{media_type}"}}"#)
}

/// As many bytes, the first of them a PNG's.
fn png(size: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.resize(size, 7);
    bytes
}

/// A workspace and what stands in it.
struct Place {
    folder: TempDir,
    workspace: Workspace,
}

impl Place {
    fn new() -> Self {
        Self::with_quota(Quota::default())
    }

    fn with_quota(quota: Quota) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::with_quota(folder.path(), quota).unwrap();
        Self { folder, workspace }
    }

    fn read(&self, result: &ToolResult) -> ModelResult {
        ModelResult::read(result, &self.workspace)
    }

    /// The names below `tool-results`; empty if it does not exist.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder.path().join("tool-results")) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    fn file(&self, block: &ModelBlock) -> Vec<u8> {
        match block {
            ModelBlock::Saved { path, .. } => std::fs::read(self.folder.path().join(path)).unwrap(),
            other => panic!("{other}"),
        }
    }
}

/// N2: a module's content is unchanged, and structured content is there by presence.
#[test]
fn module_reads_the_servers_own_bytes() {
    let blocks = r#"[ {"type":"odd","n":1.50,"s":"\ud800\u202e"},7 ,{"type":"audio","data":"!"} ]"#;
    for structured in ["null", "0", "false", r#"{"a": 12345678901234567890.10}"#] {
        let result = result(&format!(
            r#"{{"content":{blocks},"structuredContent":{structured}}}"#
        ));
        let place = Place::new();
        let ReadResult::Module(Ok(read)) = ResultReader::Module.read(&result, &place.workspace)
        else {
            panic!("a success");
        };
        assert_eq!(read.content().unwrap().as_str(), blocks);
        assert_eq!(read.structured_content().unwrap().as_str(), structured);
        assert!(place.names().is_empty());
    }
    let read = super::ModuleResult::read(&content("")).unwrap();
    assert_eq!(read.structured_content(), None);
    let read = super::ModuleResult::read(&result(r#"{"structuredContent":1}"#)).unwrap();
    assert_eq!(read.content(), None);
}

/// N2: `isError` is a failure with its text; its content and structured content are still there. O1: what it displays is
/// Seawall's.
#[test]
fn module_gets_a_failed_tool_as_a_failure_with_its_text() {
    for (text, expected) in [
        (
            r#"{"content":[{"type":"text","text":"no"},{"type":"image"},{"type":"text","text":"MARKER"}],"isError":true}"#,
            "no\nMARKER",
        ),
        (
            r#"{"content":[],"structuredContent":{"why":"MARKER"},"isError":true}"#,
            r#"{"why":"MARKER"}"#,
        ),
        (
            r#"{"content":[{"type":"text","text":" "}],"isError":true}"#,
            "the tool failed and gave no text",
        ),
    ] {
        let result = result(text);
        let failure = super::ModuleResult::read(&result).unwrap_err();
        assert_eq!(failure.text(), expected);
        assert_eq!(failure.result().content(), result.content());
        assert_eq!(
            failure.result().structured_content(),
            result.structured_content()
        );
        assert_eq!(failure.to_string(), "the tool reported a failure");
    }
}

//! What a script receives: one JSON object (N3).

use seawall_proto::Json;
use seawall_proto::mcp::ToolResult;

use super::block::failure_text;
use super::{Incomplete, MAX_SHOWN_BYTES, Workspace};

/// A result as one JSON object.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptResult {
    json: String,
    incomplete: Option<Incomplete>,
}

impl ScriptResult {
    /// Reads a result. Blocks on the disk if the object is larger than [`MAX_SHOWN_BYTES`].
    #[must_use]
    pub fn read(result: &ToolResult, workspace: &Workspace) -> Self {
        let error = result.is_error().then(|| failure_text(result));
        let json = object(
            result.content().map_or("[]", Json::as_str),
            result.structured_content().map_or("null", Json::as_str),
            error.as_deref(),
        );
        if json.len() <= MAX_SHOWN_BYTES {
            return Self {
                json,
                incomplete: None,
            };
        }
        match workspace.save(json.as_bytes(), "json") {
            Ok(path) => Self {
                json: format!(
                    r#"{{"oversized":{{"chars":{},"savedTo":"{path}"}}}}"#,
                    json.chars().count()
                ),
                incomplete: None,
            },
            Err(reason) => {
                let incomplete = Incomplete {
                    unsaved: 1,
                    reason,
                    tool_failed: result.is_error(),
                };
                Self {
                    json: object("[]", "null", Some(&incomplete.to_string())),
                    incomplete: Some(incomplete),
                }
            }
        }
    }

    /// The object, as JSON text:
    ///
    /// * `{"content": […], "structuredContent": …, "isError": …}`, both as the server sent them, byte for byte. Without
    ///   content it is `[]`, without structured content `null` (what cannot be told from a `null` that was sent; a
    ///   [`ModuleResult`](super::ModuleResult) can). A failed result has `"error"` too: its text.
    /// * `{"oversized": {"chars": …, "savedTo": …}}`, if that would be more than [`MAX_SHOWN_BYTES`]: the file holds the
    ///   whole object; `chars` is its length in Unicode code points, `savedTo` its path in the workspace.
    /// * If it cannot be saved, a failed result of Seawall's own that says so: see [`incomplete`](Self::incomplete).
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Why the script has none of the result: it was too large, and could not be saved.
    #[must_use]
    pub fn incomplete(&self) -> Option<&Incomplete> {
        self.incomplete.as_ref()
    }
}

/// The object of a success, or of a failure with its text.
fn object(content: &str, structured: &str, error: Option<&str>) -> String {
    let is_error = error.is_some();
    let error = error
        .map(|text| format!(r#","error":{}"#, serde_json::Value::from(text)))
        .unwrap_or_default();
    format!(
        r#"{{"content":{content},"structuredContent":{structured},"isError":{is_error}{error}}}"#
    )
}

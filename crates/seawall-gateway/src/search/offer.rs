//! The two tools, as clients list and call them.

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::jsonrpc::{ErrorObject, INTERNAL_ERROR, INVALID_PARAMS};

use super::words::beginning;

/// The tool that finds tools.
pub(crate) const FIND: &str = "search_tools";
/// The tool that calls one.
pub(crate) const CALL: &str = "call_tool";
/// The member of `tools/list`'s `_meta` that asks, with `false`, for the list of all tools.
const META: &str = "seawall/toolSearch";

/// Tools that are found, if a client does not say how many, and at most.
const FOUND: usize = 8;
const MAX_FOUND: usize = 50;
/// So many bytes of a query are looked at.
const MAX_QUERY: usize = 1_024;
/// What is found has at most so many bytes, unless it is one tool.
const MAX_BYTES: usize = 256 * 1024;

/// The members of the list's one page.
pub(crate) const PAGE: &str = concat!(
    r#""tools":["#,
    r#"{"name":"search_tools","title":"Search tools","#,
    r#""description":"Find tools by what they do. There are many more tools than are listed here: search before you say that something cannot be done. Answers with the names, descriptions and input schemas of the tools that fit best; call one with call_tool.","#,
    r#""inputSchema":{"type":"object","properties":{"#,
    r#""query":{"type":"string","description":"Words for what the tool does, such as: create issue"},"#,
    r#""limit":{"type":"integer","minimum":1,"maximum":50,"default":8,"description":"How many tools at most"}},"required":["query"]},"#,
    r#""annotations":{"title":"Search tools","readOnlyHint":true,"openWorldHint":false}},"#,
    r#"{"name":"call_tool","title":"Call a tool","#,
    r#""description":"Call a tool that search_tools found. The result is that tool's own.","#,
    r#""inputSchema":{"type":"object","properties":{"#,
    r#""name":{"type":"string","description":"The tool's name, as search_tools tells it"},"#,
    r#""arguments":{"type":"object","description":"The arguments, as the tool's inputSchema wants them"}},"required":["name"]}}]"#
);

/// What is searched for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) words: String,
    pub(crate) limit: usize,
}

impl Query {
    /// Out of the parameters of a call.
    ///
    /// # Errors
    /// -32602: there is no query.
    pub(crate) fn of(params: Option<&Json>) -> Result<Self, ErrorObject> {
        let arguments = params.and_then(|params| params.member("arguments"));
        let member = |key| {
            arguments
                .as_ref()
                .and_then(|arguments| arguments.member(key))
        };
        let query = member("query");
        let query = query.as_ref().and_then(Json::string);
        let query = query.ok_or_else(|| invalid("search_tools needs a query, which is a text"))?;
        let limit = match member("limit") {
            None => FOUND,
            Some(limit) => {
                let limit: Option<usize> = limit.as_str().parse().ok();
                limit
                    .filter(|limit| (1..=MAX_FOUND).contains(limit))
                    .ok_or_else(|| invalid("the limit is a whole number from 1 to 50"))?
            }
        };
        Ok(Self {
            words: beginning(&query, MAX_QUERY).to_owned(),
            limit,
        })
    }
}

/// The result of a search: the entries that were found, as one text.
///
/// # Errors
/// -32603, which does not happen.
pub(crate) fn found<'e>(entries: impl Iterator<Item = &'e Json>) -> Result<Json, ErrorObject> {
    let mut text = String::from("{\"tools\":[");
    let empty = text.len();
    for entry in entries {
        if text.len() > empty {
            if text.len() + entry.len() > MAX_BYTES {
                break;
            }
            text.push(',');
        }
        text.push_str(entry.as_str());
    }
    let is_empty = text.len() == empty;
    text.push(']');
    if is_empty {
        text.push_str(",\"note\":\"no tool has any of these words; try others\"");
    }
    text.push('}');
    let text = Json::of(&text).map_err(|_| internal())?;
    let result = format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
        text.as_str()
    );
    Json::check(result).map_err(|_| internal())
}

/// The parameters of the call that a call of [`CALL`] means: everything else in them, such as `_meta`, stays.
///
/// # Errors
/// -32602: it names no tool.
pub(crate) fn called(params: Option<&Json>) -> Result<Json, ErrorObject> {
    let arguments = params.and_then(|params| params.member("arguments"));
    let (Some(params), Some(said)) = (params, arguments) else {
        return Err(invalid("call_tool needs the name of a tool"));
    };
    let name = said
        .member("name")
        .filter(|name| name.kind() == Kind::String);
    let name = name.ok_or_else(|| invalid("call_tool needs the name of a tool"))?;
    let arguments = said.member("arguments").unwrap_or_else(Json::empty_object);
    Ok(params.with_values(|key, _| match key {
        "name" => Some(name.clone()),
        "arguments" => Some(arguments.clone()),
        _ => None,
    }))
}

/// Whether `tools/list` asks for the list of all tools.
pub(crate) fn wants_all(params: Option<&Json>) -> bool {
    let meta = params.and_then(|params| params.member("_meta"));
    let said = meta.and_then(|meta| meta.member(META));
    said.is_some_and(|said| said.as_str() == "false")
}

fn invalid(what: &str) -> ErrorObject {
    ErrorObject::new(INVALID_PARAMS, format!("Invalid params: {what}"), None)
}

fn internal() -> ErrorObject {
    ErrorObject::new(INTERNAL_ERROR, "Internal error", None)
}

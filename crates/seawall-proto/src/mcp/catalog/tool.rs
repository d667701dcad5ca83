//! One entry of the list, and the rules that it must keep (S9).

use unicode_general_category::{GeneralCategory, get_general_category};

use super::Rules;
use super::header::HeaderParams;
use crate::framing::Kind;
use crate::json::{Json, decode_string};
use crate::limits::Limits;

/// A tool as the server declared it.
#[derive(Debug, Clone)]
pub struct Tool {
    name: String,
    name_json: Json,
    title: Option<String>,
    description: Option<String>,
    input_schema: Json,
    output_schema: Option<Json>,
    raw: Json,
    index: usize,
    document_bytes: usize,
    header_params: HeaderParams,
}

/// The rule that an entry breaks. It never repeats the entry's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ToolFault {
    /// It is not an object.
    #[error("is not an object")]
    NotAnObject,
    /// A member that Seawall reads stands there twice.
    #[error("has the same key twice")]
    DuplicateKey,
    /// No name, an empty one, or one that is not a string.
    #[error("has no name")]
    NoName,
    /// The name is longer than `maxToolNameBytes`.
    #[error("has a name of more than {limit} bytes (maxToolNameBytes)")]
    NameTooLong {
        /// The bound.
        limit: usize,
    },
    /// The name is `.` or `..`.
    #[error("has a name that reads as a path")]
    DotName,
    /// The name holds a `/`, a control or format character, a line or paragraph separator, or a lone surrogate.
    #[error("has a name with a forbidden character")]
    ForbiddenCharacter,
    /// An earlier entry has the same name.
    #[error("has the name of an earlier tool")]
    DuplicateName,
    /// `description` or `title` is not a string.
    #[error("has a description or title that is not a string")]
    Text,
    /// `inputSchema` is not an object whose `type` is "object".
    #[error("has no inputSchema of type \"object\"")]
    InputSchema,
    /// `outputSchema` is present and not an object.
    #[error("has an outputSchema that is not an object")]
    OutputSchema,
    /// An `x-mcp-header` stands where it may not, names no header, or names one twice (T2).
    #[error("has an invalid x-mcp-header")]
    HeaderParam,
    /// Description plus schema are longer than `maxToolDocumentBytes`.
    #[error("has a description and schema of more than {limit} bytes (maxToolDocumentBytes)")]
    DocumentTooLarge {
        /// The bound.
        limit: usize,
    },
}

impl Tool {
    /// Checks one entry (S9, `maxToolNameBytes`, `maxToolDocumentBytes`).
    pub(super) fn check(
        raw: Json,
        index: usize,
        limits: &Limits,
        rules: Rules,
    ) -> Result<Self, ToolFault> {
        if raw.kind() != Kind::Object {
            return Err(ToolFault::NotAnObject);
        }
        let [name, title, description, input, output] = raw
            .pick([
                "name",
                "title",
                "description",
                "inputSchema",
                "outputSchema",
            ])
            .map_err(|_| ToolFault::DuplicateKey)?;
        let name_json = name.ok_or(ToolFault::NoName)?;
        let name = check_name(&name_json, limits)?;
        let title = text(title)?;
        let description = text(description)?;
        let input_schema = input
            .filter(is_object_schema)
            .ok_or(ToolFault::InputSchema)?;
        if output
            .as_ref()
            .is_some_and(|schema| schema.kind() != Kind::Object)
        {
            return Err(ToolFault::OutputSchema);
        }
        let document_bytes = description.as_deref().map_or(0, str::len) + input_schema.len();
        if document_bytes > limits.max_tool_document_bytes {
            return Err(ToolFault::DocumentTooLarge {
                limit: limits.max_tool_document_bytes,
            });
        }
        let header_params = if rules.header_params {
            HeaderParams::of(&input_schema).map_err(|_| ToolFault::HeaderParam)?
        } else {
            HeaderParams::default()
        };
        Ok(Self {
            name,
            name_json,
            title,
            description,
            input_schema,
            output_schema: output,
            raw,
            index,
            document_bytes,
            header_params,
        })
    }

    /// Its name, unique in the catalog.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name as the server wrote it: a JSON string.
    #[must_use]
    pub fn name_json(&self) -> &Json {
        &self.name_json
    }

    /// Its title, if any: the server's text.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Its description, if any: the server's text.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Its input schema: an object whose `type` is "object".
    #[must_use]
    pub fn input_schema(&self) -> &Json {
        &self.input_schema
    }

    /// Its output schema, if any.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Json> {
        self.output_schema.as_ref()
    }

    /// The whole entry, with what Seawall does not read.
    #[must_use]
    pub fn raw(&self) -> &Json {
        &self.raw
    }

    /// The arguments that go into headers too; none but over HTTP on 2026-07-28 (T2).
    #[must_use]
    pub fn header_params(&self) -> &HeaderParams {
        &self.header_params
    }

    /// Its place among all entries of all pages, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Bytes of its description plus its input schema: what `maxToolDocumentBytes` bounds.
    #[must_use]
    pub fn document_bytes(&self) -> usize {
        self.document_bytes
    }
}

fn text(value: Option<Json>) -> Result<Option<String>, ToolFault> {
    match value {
        Some(value) if value.kind() != Kind::Null => {
            let text = value.string().ok_or(ToolFault::Text)?;
            Ok(Some(text.into_owned()))
        }
        _ => Ok(None),
    }
}

fn is_object_schema(schema: &Json) -> bool {
    let mut types = 0;
    let mut object = false;
    schema.children(|key, value| {
        if key.is_some_and(|key| decode_string(key).text == "type") {
            types += 1;
            object = value.string().as_deref() == Some("object");
        }
    });
    schema.kind() == Kind::Object && types == 1 && object
}

/// The name of an entry, if a tool may have that name, whatever else the entry is.
pub(super) fn name_of(raw: &Json, limits: &Limits) -> Option<String> {
    check_name(&raw.member("name")?, limits).ok()
}

fn check_name(raw: &Json, limits: &Limits) -> Result<String, ToolFault> {
    let inside = raw
        .as_str()
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .ok_or(ToolFault::NoName)?;
    let decoded = decode_string(inside);
    let name = decoded.text;
    if name.is_empty() {
        return Err(ToolFault::NoName);
    }
    if name.len() > limits.max_tool_name_bytes {
        return Err(ToolFault::NameTooLong {
            limit: limits.max_tool_name_bytes,
        });
    }
    if name == "." || name == ".." {
        return Err(ToolFault::DotName);
    }
    if decoded.lone_surrogate || name.chars().any(is_forbidden_in_name) {
        return Err(ToolFault::ForbiddenCharacter);
    }
    Ok(name.into_owned())
}

/// A character that a name may not hold: it would split a flow name, or hide from or reorder for a reader.
#[must_use]
pub fn is_forbidden_in_name(character: char) -> bool {
    character == '/'
        || matches!(
            get_general_category(character),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
        )
}

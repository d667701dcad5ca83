//! `x-mcp-header`: arguments that a server wants to see in a header too.
//!
//! Source: 2026-07-28, `basic/transports/streamable-http`, "Custom Headers from Tool Parameters".

use crate::framing::Kind;
use crate::json::Json;

const ANNOTATION: &str = "x-mcp-header";
/// Keywords whose value is one schema that no argument's path leads through.
const ASIDE: [&str; 11] = [
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];
/// Keywords whose value is an array, or an object, of such schemas.
const ASIDE_MANY: [&str; 8] = [
    "allOf",
    "anyOf",
    "oneOf",
    "prefixItems",
    "items",
    "$defs",
    "definitions",
    "dependentSchemas",
];
const PATTERNS: &str = "patternProperties";
/// The largest integer that a header may carry: 2^53 - 1.
const MAX_INTEGER: f64 = 9_007_199_254_740_991.0;

/// One argument that goes into a header `Mcp-Param-<name>` too.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeaderParam {
    /// What stands behind `Mcp-Param-`: a token of RFC 9110.
    pub name: String,
    /// The keys that lead to the argument.
    pub path: Vec<String>,
}

/// A use of `x-mcp-header` that the revision forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadHeaderParam;

/// The annotated arguments of an input schema.
pub(super) fn header_params(schema: &Json) -> Result<Vec<HeaderParam>, BadHeaderParam> {
    if memchr::memmem::find(schema.as_bytes(), b"x-mcp-").is_none()
        && !schema.as_str().contains('\\')
    {
        return Ok(Vec::new());
    }
    let mut params: Vec<HeaderParam> = Vec::new();
    // A schema, and the keys that lead to what it describes; `None` where no such path does.
    let mut open = vec![(schema.clone(), Some(Vec::new()))];
    while let Some((schema, path)) = open.pop() {
        let mut kind = None;
        let mut annotation = None;
        for (key, value) in schema.members() {
            match key.as_str() {
                ANNOTATION => annotation = Some(value),
                "type" => kind = value.string().map(|kind| kind.into_owned()),
                "properties" => {
                    for (name, property) in value.members() {
                        let path = path.as_ref().map(|path| {
                            let mut path = path.clone();
                            path.push(name);
                            path
                        });
                        open.push((property, path));
                    }
                }
                key => {
                    if ASIDE.contains(&key) && value.kind() == Kind::Object {
                        open.push((value, None));
                    } else if ASIDE_MANY.contains(&key) || key == PATTERNS {
                        let aside = value.elements().into_iter();
                        let named = value.members().into_iter().map(|(_, schema)| schema);
                        open.extend(aside.chain(named).map(|schema| (schema, None)));
                    }
                }
            }
        }
        let Some(annotation) = annotation else {
            continue;
        };
        let name = annotation.string().ok_or(BadHeaderParam)?.into_owned();
        let reachable = path.filter(|path| !path.is_empty()).ok_or(BadHeaderParam)?;
        let plain = matches!(kind.as_deref(), Some("string" | "integer" | "boolean"));
        let taken = params
            .iter()
            .any(|other| other.name.eq_ignore_ascii_case(&name));
        if !plain || taken || name.is_empty() || !name.bytes().all(is_token) {
            return Err(BadHeaderParam);
        }
        params.push(HeaderParam {
            name,
            path: reachable,
        });
    }
    params.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(params)
}

/// RFC 9110, section 5.6.2: `tchar`.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl HeaderParam {
    /// The header's value for these arguments, not yet encoded; `None` where the argument is missing, null, or neither a
    /// string, an integer nor a boolean.
    #[must_use]
    pub fn value(&self, arguments: &Json) -> Option<String> {
        let mut value = arguments.clone();
        for key in &self.path {
            value = value.member(key)?;
        }
        match value.kind() {
            Kind::String => Some(value.string()?.into_owned()),
            Kind::Bool => Some(value.as_str().to_owned()),
            Kind::Number => {
                let number: f64 = value.as_str().parse().ok()?;
                (number.fract() == 0.0 && number.abs() <= MAX_INTEGER)
                    .then(|| format!("{number:.0}"))
            }
            _ => None,
        }
    }
}

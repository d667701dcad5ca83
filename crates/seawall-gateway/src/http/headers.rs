//! What a request says in its headers, and whether its body says the same.
//!
//! Source: 2026-07-28, `basic/transports/streamable-http`, "Request Metadata", "Value Encoding" and "Server Validation".

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, header};
use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, HEADER_MISMATCH};
use seawall_proto::mcp::catalog::HeaderParams;

pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const PARAM: &str = "mcp-param-";
const SENTINEL: (&str, &str) = ("=?base64?", "?=");

/// Whether the body is JSON: a page cannot send that without asking first.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

/// `Mcp-Session-Id`.
pub(super) fn session_id(headers: &HeaderMap) -> Option<&str> {
    // What is no text is no id that was given out.
    headers
        .get(super::reply::SESSION)
        .map(|id| id.to_str().unwrap_or_default())
}

/// Checks the standard headers of a request.
///
/// # Errors
/// -32020.
pub(super) fn check(
    headers: &HeaderMap,
    version: &str,
    method: &str,
    params: Option<&Json>,
) -> Result<(), ErrorObject> {
    if plain(headers, &VERSION, "MCP-Protocol-Version")? != version {
        return Err(mismatch("MCP-Protocol-Version", "does not match the body"));
    }
    if plain(headers, &METHOD, "Mcp-Method")? != method {
        return Err(mismatch("Mcp-Method", "does not match the body"));
    }
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let name = params.and_then(|params| params.member(key));
    // Without one the request is refused for that, whatever its headers say.
    let Some(name) = name.as_ref().and_then(Json::string) else {
        return Ok(());
    };
    if decoded(plain(headers, &NAME, "Mcp-Name")?, "Mcp-Name")? != name {
        return Err(mismatch("Mcp-Name", "does not match the body"));
    }
    Ok(())
}

/// Checks the headers that mirror arguments of a tool. Headers of other names are nobody's concern.
///
/// # Errors
/// -32020.
pub(super) fn check_params(
    headers: &HeaderMap,
    mirrored: &HeaderParams,
    arguments: Option<&Json>,
) -> Result<(), ErrorObject> {
    let values = arguments.map_or_else(Vec::new, |arguments| mirrored.values(arguments));
    for name in mirrored.names() {
        let shown = format!("Mcp-Param-{name}");
        // A header's name is a token, which a name of HTTP may always be.
        let Ok(header) = HeaderName::from_bytes(format!("{PARAM}{name}").as_bytes()) else {
            continue;
        };
        let value = values.iter().find(|(of, _)| of == name);
        match (value, headers.contains_key(&header)) {
            (None, false) => {}
            (None, true) => return Err(mismatch(&shown, "mirrors no argument")),
            (Some((_, value)), _) => {
                let header = decoded(plain(headers, &header, &shown)?, &shown)?;
                if header != *value && !is_same_number(&header, value) {
                    return Err(mismatch(&shown, "does not match the body"));
                }
            }
        }
    }
    Ok(())
}

/// The one value of a header, blanks around it aside.
fn plain<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
    shown: &str,
) -> Result<&'h str, ErrorObject> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (None, _) => Err(mismatch(shown, "is missing")),
        (Some(_), Some(_)) => Err(mismatch(shown, "stands there twice")),
        (Some(value), None) => match value.to_str() {
            Ok(value) => Ok(value.trim_matches([' ', '\t'])),
            Err(_) => Err(mismatch(shown, "has an invalid character")),
        },
    }
}

/// What a value means: `=?base64?…?=` is decoded, anything else is meant as it stands.
fn decoded(value: &str, shown: &str) -> Result<String, ErrorObject> {
    let inside = value
        .strip_prefix(SENTINEL.0)
        .and_then(|rest| rest.strip_suffix(SENTINEL.1));
    let Some(inside) = inside else {
        return Ok(value.to_owned());
    };
    let bytes = STANDARD.decode(inside).ok();
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| mismatch(shown, "is not valid Base64 of UTF-8"))
}

/// Integers are compared as numbers: 42.0 is 42.
fn is_same_number(one: &str, other: &str) -> bool {
    match (one.parse::<f64>(), other.parse::<f64>()) {
        // What an argument mirrors is at most 2^53 - 1, so this is exact.
        (Ok(one), Ok(other)) => one.is_finite() && one == other,
        _ => false,
    }
}

fn mismatch(header: &str, what: &str) -> ErrorObject {
    let message = format!("Header mismatch: {header} {what}");
    ErrorObject::new(HEADER_MISMATCH, message, None)
}

//! A checked text as the value that the schema library reads.

use seawall_proto::Json;
use serde_json::Value;

/// The value; a lone surrogate, which serde refuses, becomes U+FFFD. `None` past serde's depth of 127.
pub(super) fn parse(json: &Json) -> Option<Value> {
    json.parse()
        .or_else(|_| serde_json::from_str(&without_lone_surrogates(json.as_str())))
        .ok()
}

/// Replaces the escape of each surrogate that has no partner. In JSON text a backslash stands in strings only.
fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (taken, written) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => (12, escape.get(..12)),
            (Some(0xD800..0xE000), _) => (6, Some("\\ufffd")),
            // A backslash and what it escapes; of `\uXXXX` the digits follow as they are.
            _ => (2, escape.get(..2)),
        };
        out.push_str(written.unwrap_or_default());
        rest = escape.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The code unit of the `\uXXXX` that starts here.
fn unit(escape: &str) -> Option<u16> {
    let hex = escape.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(hex, 16).ok()
}

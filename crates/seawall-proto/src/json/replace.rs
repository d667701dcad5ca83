//! JSON text that every reader of Rust strings takes.

/// Replaces the escape of each surrogate that has no partner. In JSON text a backslash stands in strings only.
pub(super) fn without_lone_surrogates(text: &str) -> String {
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

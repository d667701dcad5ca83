//! Where to dial: the configured address, the token in its query (T6).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

/// The parameter of the query that holds the token.
const TOKEN: &str = "token";
/// What every reader of a query takes for itself: RFC 3986's unreserved characters.
const UNRESERVED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The address of the handshake's request. Whatever else the query holds stays as it is, byte for byte.
pub(super) fn dialed(url: &Url, token: Option<&str>) -> Url {
    let mut dialed = as_http(url);
    if let Some(token) = token {
        let query = with_token(url.query(), token);
        dialed.set_query(Some(&query));
    }
    dialed.set_fragment(None);
    dialed
}

/// The same place, as an HTTP client names it.
fn as_http(url: &Url) -> Url {
    let mut http = url.clone();
    let scheme = if url.scheme() == "wss" {
        "https"
    } else {
        "http"
    };
    // Both are special schemes with the same default ports, so this cannot fail.
    let changed = http.set_scheme(scheme);
    debug_assert!(changed.is_ok());
    http
}

/// The query with this token in place of the first parameter of that name, and of no other one.
fn with_token(query: Option<&str>, token: &str) -> String {
    let pair = format!("{TOKEN}={}", utf8_percent_encode(token, &UNRESERVED));
    let mut placed = false;
    let mut pairs: Vec<&str> = Vec::new();
    for sent in query
        .filter(|query| !query.is_empty())
        .into_iter()
        .flat_map(|query| query.split('&'))
    {
        let name = sent.split_once('=').map_or(sent, |(name, _)| name);
        if !is_token(name) {
            pairs.push(sent);
        } else if !placed {
            placed = true;
            pairs.push(&pair);
        }
    }
    if !placed {
        pairs.push(&pair);
    }
    pairs.join("&")
}

/// Whether a server takes this name for the token's, however it is encoded.
fn is_token(name: &str) -> bool {
    name == TOKEN || percent_decode_str(name).eq(TOKEN.bytes())
}

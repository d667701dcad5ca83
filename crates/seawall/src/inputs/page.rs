//! A page that a server wants visited: its address checked, never fetched.

use std::fmt;

use seawall_proto::Json;
use serde::Deserialize;
use url::{Host, Url};

use super::limits::{MAX_MESSAGE_BYTES, MAX_URL_BYTES};

#[cfg(test)]
mod tests;

/// A page that a server wants a person to visit.
///
/// Its address is `https`, or `http` on this machine; it has a host and no user name in front of it.
///
/// Source: 2026-07-28 and 2025-11-25, `client/elicitation`, "URL Mode Elicitation Requests".
#[derive(Clone)]
pub struct Page {
    message: String,
    url: Url,
}

/// Why a page is not shown to anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The request lacks its message or its address, or they are no strings.
    #[error("the request is malformed")]
    Malformed,
    /// The message is longer than [`MAX_MESSAGE_BYTES`], or the address than [`MAX_URL_BYTES`].
    #[error("the request is too long")]
    TooLong,
    /// The address is not an absolute URL with a host.
    #[error("the address is not valid")]
    Address,
    /// The scheme is neither `https`, nor `http` on this machine.
    #[error("the address is not https")]
    Scheme,
    /// A user name or a password stands before the host, which makes an address look like another.
    #[error("the address holds a user name")]
    UserInfo,
}

#[derive(Deserialize)]
struct Params {
    message: String,
    url: String,
}

impl Page {
    /// Reads the params of an `elicitation/create` in URL mode.
    ///
    /// # Errors
    /// Why the page must not be opened.
    pub fn parse(params: &Json) -> Result<Self, PageError> {
        let Params { message, url } = params.parse().map_err(|_| PageError::Malformed)?;
        if message.len() > MAX_MESSAGE_BYTES || url.len() > MAX_URL_BYTES {
            return Err(PageError::TooLong);
        }
        let url = Url::parse(&url).map_err(|_| PageError::Address)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PageError::UserInfo);
        }
        match (url.scheme(), url.host()) {
            ("https", Some(_)) => {}
            ("http", Some(host)) if is_loopback(&host) => {}
            ("https" | "http", None) => return Err(PageError::Address),
            _ => return Err(PageError::Scheme),
        }
        // What is percent-encoded grows.
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(PageError::TooLong);
        }
        Ok(Self { message, url })
    }

    /// Why, in the server's words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The whole address, ASCII only. This, and nothing else, is to be shown and opened.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The host in ASCII: a name with punycode where it holds other characters, or an address.
    #[must_use]
    pub fn host_ascii(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Whether the host's name holds characters beyond ASCII, which can make it look like another.
    #[must_use]
    pub fn is_punycode(&self) -> bool {
        self.host_ascii()
            .split('.')
            .any(|label| label.starts_with("xn--"))
    }
}

impl fmt::Debug for Page {
    /// The origin only: the rest of an address can hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Page").field(&self.origin()).finish()
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
        Host::Domain(name) => matches!(*name, "localhost" | "localhost."),
    }
}

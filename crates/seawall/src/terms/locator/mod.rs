//! `mcpl://`: an address that names a server of MCP Live, and nothing more (RFC-004).
//!
//! It is dialed as `wss://`, never as `ws://`, on this machine either. It says nothing of what the server may do, or that one
//! is there.
//!
//! ```
//! use seawall::mcpl::locator::Locator;
//!
//! let locator: Locator = "mcpl://Example.COM:443/x?b=2&a=1".parse().expect("a locator");
//! assert_eq!(locator.canonical(), "mcpl://example.com/x?b=2&a=1");
//! assert_eq!(locator.transport().as_str(), "wss://example.com/x?b=2&a=1");
//! ```
//!
//! **Invariant:** what would change its meaning while it is resolved is refused before: another host, another path.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use url::Url;

/// The scheme, as it is written in small letters.
const SCHEME: &str = "mcpl";

/// An address of that scheme, and what it resolves to. Two are the same if their canonical forms are. Debug shows the origin.
#[derive(Clone)]
pub struct Locator {
    configured: String,
    canonical: String,
    transport: Url,
}

/// Why a text is no locator. Nothing of it is said back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidLocator {
    /// It does not begin with `mcpl://`.
    #[error("it does not begin with mcpl://")]
    Scheme,
    /// It has a fragment, which has no meaning.
    #[error("it has a fragment")]
    Fragment,
    /// It names a user.
    #[error("it has user information")]
    UserInfo,
    /// It names no host, so the first part of its path would be taken for one.
    #[error("it names no host")]
    NoHost,
    /// A segment of its path is `.` or `..`, also percent-encoded: on the way it would become another path.
    #[error("its path has a segment . or ..")]
    DotSegment,
    /// It has white space, a control character or a backslash, which parsers drop or replace.
    #[error("it has white space, a control character or a backslash")]
    Character,
    /// Its host or port is none.
    #[error("its host or port is not valid")]
    Authority,
}

impl Locator {
    /// Whether a text is of this scheme, whatever follows.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        after_scheme(text).is_some()
    }

    /// The address as it was written, byte for byte. It may hold credentials.
    #[must_use]
    pub fn configured(&self) -> &str {
        &self.configured
    }

    /// The address in the one form that all its spellings have: what tells two apart.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// What is dialed: a `wss` URL. Its query is that of the address, byte for byte where a URL can hold it.
    #[must_use]
    pub fn transport(&self) -> &Url {
        &self.transport
    }
}

impl FromStr for Locator {
    type Err = InvalidLocator;

    fn from_str(text: &str) -> Result<Self, InvalidLocator> {
        let rest = after_scheme(text).ok_or(InvalidLocator::Scheme)?;
        if rest.contains('#') {
            return Err(InvalidLocator::Fragment);
        }
        let (place, _query) = rest.split_once('?').unwrap_or((rest, ""));
        let dropped = |c: char| c.is_whitespace() || c.is_control();
        if rest.contains(dropped) || place.contains('\\') {
            return Err(InvalidLocator::Character);
        }
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        if authority.is_empty() {
            return Err(InvalidLocator::NoHost);
        }
        if authority.contains('@') {
            return Err(InvalidLocator::UserInfo);
        }
        if path.split('/').any(is_dot_segment) {
            return Err(InvalidLocator::DotSegment);
        }
        let transport =
            Url::parse(&format!("wss://{rest}")).map_err(|_| InvalidLocator::Authority)?;
        let resolved = transport.as_str().strip_prefix("wss");
        Ok(Self {
            configured: text.to_owned(),
            canonical: format!("{SCHEME}{}", resolved.unwrap_or_default()),
            transport,
        })
    }
}

fn after_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(rest)
}

fn is_dot_segment(segment: &str) -> bool {
    let plain = segment.replace("%2e", ".").replace("%2E", ".");
    plain == "." || plain == ".."
}

impl PartialEq for Locator {
    fn eq(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for Locator {}

impl fmt::Debug for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What leads to a server may hold what lets one in.
        f.debug_struct("Locator").finish_non_exhaustive()
    }
}

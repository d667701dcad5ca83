//! Access tokens: the gateway as an OAuth 2.1 resource server.
//!
//! Source: 2026-07-28, `basic/authorization`; RFC 9728 (metadata), RFC 9068 and RFC 7519 (tokens), RFC 8725 (what to check).
//!
//! **Invariant:** a token counts only if a key of the configured issuer signed it, with an algorithm that is listed here,
//! for the configured audience, and its time has come and is not over.
//! **Invariant:** whoever comes with tokens of their own making has the keys fetched at most once in a while.

mod issuer;
mod keys;
mod signature;

#[cfg(test)]
mod tests;

pub(super) use issuer::{Issuer, NotTaken};

//! What an entry of the configuration can say of a server of MCP Live, in the words that the rest of that uses too.
//!
//! Public as [`mcpl`](crate::mcpl). It stands by itself since the configuration, which checks it, is below everything that
//! acts on it.

pub mod capability;
pub mod locator;
pub mod policy;

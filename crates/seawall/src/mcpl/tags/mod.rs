//! Tags: a producer's words for what an event is, and how the host treats it for that.
//!
//! Tags are claims of the server. They are looked at once an event was admitted, and never let one in.
//!
//! **Invariant:** what a producer suggests, or says that one tag implies, changes nothing here.

mod rules;
mod set;

#[cfg(test)]
mod tests;

pub use rules::{Glob, Rule, Rules, Source};
pub use set::{InvalidTag, MAX_TAG_BYTES, MAX_TAGS, Tag, Tags};

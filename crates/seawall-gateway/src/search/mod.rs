//! Tool search: two tools in place of a list that would drown a model. `search_tools` finds tools by words, `call_tool` calls
//! one by its name.
//!
//! The ranking is BM25 over names, descriptions and the names of arguments ([`Index`]). What is searched is what one client
//! is offered and nothing else, so not even the order of what is found tells of what it may not see.
//!
//! **Invariant:** what a search costs is bounded: the words of a query, the text of a tool that is looked at, what is found.

mod index;
mod offer;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use index::Index;
pub(crate) use offer::{CALL, FIND, PAGE, Query, called, found, wants_all};
pub(crate) use words::beginning;

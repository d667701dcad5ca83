//! The vocabulary of capabilities, what a server advertises of it, what this host does, and what each method needs.
//!
//! **Invariant:** the vocabulary is closed: a name that is not in it mints nothing, however it is advertised.

mod advertisement;
mod need;
mod vocabulary;

#[cfg(test)]
mod tests;

pub use advertisement::{Advertisement, host_advertisement, manifest_of};
pub use need::{Direction, Need, needed_for};
pub use vocabulary::{Capability, CapabilitySet, UnknownCapability};

//! Who calls: a client's name, what it may see, and what it is trusted with (F4).
//!
//! The main type is [`Client`]. Every request and every session has one; one that nobody named is [`Client::local`], whom
//! nothing bounds.
//!
//! **Invariant:** a client never changes; whoever is asked what it may see gives the same answer for all its life.

mod client;
#[cfg(feature = "host")]
mod guard;
#[cfg(feature = "host")]
mod roster;
mod selection;
#[cfg(feature = "host")]
mod tokens;

#[cfg(test)]
mod tests;

pub use client::Client;
#[cfg(feature = "host")]
pub use guard::{Guard, Proof, Refused};
#[cfg(feature = "host")]
pub use roster::Roster;

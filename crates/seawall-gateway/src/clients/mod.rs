//! Who calls: a client's name, what it may see, and what it is trusted with (F4).
//!
//! The main type is [`Client`]. Every request and every session has one; one that nobody named is [`Client::local`], whom
//! nothing bounds.
//!
//! **Invariant:** a client never changes; whoever is asked what it may see gives the same answer for all its life.

mod client;
mod selection;

#[cfg(test)]
mod tests;

pub use client::Client;

//! MCP Live: servers that speak first, under grants that deny by default what is dangerous.
//!
//! A layer over the connection of MCP 2024-11-05, not a fork of it: a server that advertises `experimental.mcpl` may push
//! events, register channels, ask for inference and add to a context, as far as its [`grant`](Grant) goes. What it
//! advertises ([`capability`]) is an input and never an authority; what the operator allows is a [`McplPolicy`]; the grant
//! is what is in both, and each message is held to it when it is received. Feature sets ([`features`]), the manifest
//! ([`manifest`]) and tags ([`tags`]) say more about a server, and authorise nothing.
//!
//! What it sends is checked where it is read: [`content`] and the references in it, [`push`] events, [`channels`] and their
//! messages, what it wants to be told of tool calls ([`lifecycle`]). [`fetch`] gets what a reference leads to, and a
//! [`locator`] is an address that names a server.
//!
//! Of one connection, a [`session`] holds all of this together: it tells the server its grant, and admits what the server
//! sends. What the program around decides is in its [`callbacks`]; what a server is shown and adds before an inference in
//! [`hooks`], and the models in [`inference`]. A program uses it by [`Client::mcpl`](crate::Client::mcpl) and
//! [`Host::mcpl`](crate::Host::mcpl).
//!
//! **Invariant:** but for [`fetch`], everything here is pure: nothing reads a clock, waits, or starts anything.
//! **Invariant:** no message of MCP Live reaches, or is taken from, a server that did not advertise it.
//!
//! Source: MCP Live 0.5.0-draft, `SPEC.md` and the RFCs beside it.

pub mod callbacks;
pub mod channels;
pub mod content;
pub mod features;
pub mod fetch;
pub mod grant;
pub mod hooks;
pub mod inference;
pub mod lifecycle;
pub mod manifest;
pub mod push;
pub mod session;
pub mod tags;
mod wire;

pub use crate::terms::{capability, locator, policy};
pub use callbacks::Callbacks;
pub use capability::{Advertisement, Capability, CapabilitySet};
pub use grant::Grant;
pub use policy::McplPolicy;
pub use wire::{Fault, Invalid, MAX_DATE_CHARS, MAX_KEPT_BYTES, MAX_NAME_BYTES};

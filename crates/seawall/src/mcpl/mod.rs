//! MCP Live: servers that speak first, under grants that deny by default what is dangerous.
//!
//! A layer over the connection of MCP 2024-11-05, not a fork of it: a server that advertises `experimental.mcpl` may push
//! events, register channels, ask for inference and add to a context, as far as its [`grant`](Grant) goes. What it
//! advertises ([`capability`]) is an input and never an authority; what the operator allows is a [`McplPolicy`]; the grant
//! is what is in both, and each message is held to it when it is received. Feature sets ([`features`]), the manifest
//! ([`manifest`]) and tags ([`tags`]) say more about a server, and authorise nothing.
//!
//! **Invariant:** everything here is pure: nothing reads a clock, waits, or starts anything.
//! **Invariant:** no message of MCP Live reaches, or is taken from, a server that did not advertise it.
//!
//! Source: MCP Live 0.5.0-draft, `SPEC.md` and the RFCs beside it.

pub mod capability;
pub mod features;
pub mod grant;
pub mod manifest;
pub mod policy;
pub mod tags;

pub use capability::{Advertisement, Capability, CapabilitySet};
pub use grant::Grant;
pub use policy::McplPolicy;

//! What a client connection is made of: bounds, revisions, binding, and what its host supplies.

use std::time::Duration;

use super::Experiment;
use crate::limits::Limits;
use crate::mcp::{ClientCapabilities, Revision};

/// What a client connection is made of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The bounds.
    pub limits: Limits,
    /// Which revisions are spoken (K7).
    pub era: Era,
    /// The revision with a handshake that the configuration pins, if any (K7).
    pub pin: Option<Revision>,
    /// How messages travel.
    pub binding: Binding,
    /// What the host supplies when the server asks: exactly this is declared (S2).
    pub capabilities: ClientCapabilities,
    /// What callers may supply beside the host ([`Terms::capabilities`](super::Terms::capabilities)): declared in
    /// `initialize` too, where everything is declared that is ever supplied. Default: nothing.
    pub relayed: ClientCapabilities,
    /// The extension that is declared in `initialize`, on revisions with a handshake. Default: none.
    pub experiment: Option<Experiment>,
    /// Whether a server without tools is of use.
    pub tools: ToolsNeed,
    /// Bounds a call whose progress restarts its timeout, and any other (O4). Default: zero, which leaves progress without
    /// effect.
    pub max_total_timeout: Duration,
    /// The version that `initialize` discloses beside the name `seawall` (S1).
    pub version: &'static str,
    /// Whether diagnostics are wanted; without them, events carry none.
    pub diagnostics: bool,
}

impl ClientConfig {
    /// The defaults: [`Limits::default`], legacy over a stream, nothing supplied, tools required, no diagnostics.
    #[must_use]
    pub fn new(version: &'static str) -> Self {
        Self {
            limits: Limits::default(),
            era: Era::Legacy,
            pin: None,
            binding: Binding::Stream,
            capabilities: ClientCapabilities::default(),
            relayed: ClientCapabilities::default(),
            experiment: None,
            tools: ToolsNeed::Required,
            max_total_timeout: Duration::ZERO,
            version,
            diagnostics: false,
        }
    }
}

impl ClientConfig {
    /// What a session of a revision with a handshake is told.
    pub(super) fn declared(&self) -> ClientCapabilities {
        self.capabilities.or(self.relayed)
    }
}

/// Which revisions are spoken (K7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Era {
    /// Those with an `initialize` handshake.
    Legacy,
    /// The stateless one, 2026-07-28.
    Modern,
    /// Whichever the server speaks: it is probed, and a recognised modern error never falls back (S3).
    Auto,
}

/// How messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Binding {
    /// One stream each way, as over stdio.
    Stream,
    /// Each message in an exchange of its own, as over HTTP.
    Http,
}

/// Whether a server without tools is of use (S1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolsNeed {
    /// No: the connect fails, unless the server declares the extension that this side declares too.
    Required,
    /// Yes: its catalog is empty.
    Optional,
}

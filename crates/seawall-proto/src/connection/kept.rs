//! What a request that may have to be said again is made of.

use super::request::{Continuation, Request};
use super::wire::Meta;
use crate::mcp::ClientCapabilities;

/// What a request that may have to be said again is made of.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) request: Request,
    /// What it says of itself, where that is not what the connection says.
    pub(super) meta: Option<Meta>,
    /// What the server may ask for, where that is not what the host supplies.
    pub(super) capabilities: Option<ClientCapabilities>,
    pub(super) asked: Asked,
    /// What the leg under way says beside the request.
    pub(super) more: Continuation,
    /// Bytes that `more` keeps alive (L8).
    pub(super) held: usize,
}

/// Who is asked for another round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// This side.
    Us,
    /// The caller, by the call's result.
    Caller,
}

impl Kept {
    /// The continuation is let go of: it is not said again.
    pub(super) fn forget_continuation(&mut self) {
        self.more = Continuation::default();
        self.held = 0;
    }
}

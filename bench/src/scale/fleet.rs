//! Whoever holds many servers, and what a server is started with.

use std::future::Future;

use anyhow::Result;

/// Holds many servers. Clones share them.
pub(super) trait Fleet: Clone + Send + 'static {
    /// Starts a server, and comes back when its tools are known.
    fn connect(&self, name: &str, start: &Start) -> impl Future<Output = Result<()>> + Send;

    /// Calls a server's tool and gives up its result.
    fn call(&self, name: &str) -> impl Future<Output = Result<()>> + Send;

    /// Reads a server's list of tools again.
    fn refresh(&self, name: &str) -> impl Future<Output = Result<()>> + Send;

    /// Ends them all, if it has a way to; else they go with the process.
    fn stop(&self) -> impl Future<Output = Result<bool>> + Send;
}

/// A server's program and its arguments.
#[derive(Clone)]
pub(super) struct Start {
    pub(super) program: String,
    pub(super) args: Vec<String>,
}

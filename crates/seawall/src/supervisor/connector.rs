//! What a supervisor needs of a connection: one trait per thing that it acts on, so that it can be driven by connections
//! that fail on purpose.

use std::sync::Arc;

use seawall_proto::connection::Change;

use crate::client::Client;
use crate::config::ServerConfig;
use crate::error::Error;
use crate::flows::Flow;
pub(crate) use crate::inputs::BoxFuture;

/// Begins connections.
pub(crate) trait Connector: Send + Sync {
    /// Begins one connect. Nothing runs before its future is polled.
    fn dial(&self, config: &Arc<ServerConfig>) -> Dial;
}

/// A connect under way.
pub(crate) struct Dial {
    /// Ends in a session, or in why there is none.
    pub(crate) connecting: BoxFuture<Result<Arc<dyn Session>, Error>>,
    /// What the connect started.
    pub(crate) launch: Arc<dyn Launch>,
}

/// What one connect started, children above all, until it is confirmed gone.
pub(crate) trait Launch: Send + Sync {
    /// Asks all of it to end and lets nothing more start; waits for nothing.
    fn close(&self);

    /// Waits until all of it is gone; an error says that it is not. Each call tries again.
    fn end(&self) -> BoxFuture<Result<(), Error>>;
}

/// A live connection, as one listing shows it.
pub(crate) trait Session: Send + Sync {
    /// What it offers.
    fn flows(&self) -> &[Flow];

    /// How many tools were left out (L7).
    fn quarantined(&self) -> usize;

    /// Why it ended, if it did.
    fn closed(&self) -> Option<Error>;

    /// The next change at the server; `None` once the session ended.
    fn changed(&self) -> BoxFuture<Option<Change>>;

    /// Reads the list again.
    fn refresh(&self) -> BoxFuture<Result<Arc<dyn Session>, Error>>;

    /// The handle to call by, unless it is a test's.
    fn client(&self) -> Option<&Client>;
}

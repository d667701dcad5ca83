//! One server's life: a task that owns everything about it, from a connect's admission to the end of its teardown.
//!
//! Nobody else acts on the server; what others want comes as messages, and every one of them is answered exactly once.
//! The stages and what they hold are in [`slot`]; ids and prefixes in [`registry`]; what is offered in [`published`].
//!
//! **Invariant:** there is at most one child of a server, and nothing is started before what came before is confirmed gone.
//! **Invariant:** a supervisor awaits nothing but the next message and the next event of its stage.

mod backoff;
mod bus;
mod command;
mod connector;
mod error;
mod happened;
mod life;
mod pace;
mod published;
mod refresh;
mod registry;
mod run;
mod slot;
mod status;
mod tell;
mod totals;

#[cfg(test)]
mod tests;

pub use bus::{AlertSink, Down, EventKind, Events, Heard, HostEvent, KEPT_EVENTS, Outlook};
pub use command::Connected;
pub use error::{EndedBy, Held, HostError, Operation};
pub use published::{Listing, Snapshot};
pub use status::ServerState;
pub use totals::Totals;

pub(crate) use bus::Bus;
pub(crate) use command::Command;
pub(crate) use connector::{BoxFuture, Connector, Dial, Launch, Session};
pub(crate) use life::Life;
pub(crate) use published::Publisher;
pub(crate) use registry::{Registry, prefixes_meet};
pub(crate) use run::{Answered, Supervisor, World};
pub(crate) use status::Standing;

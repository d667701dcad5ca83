//! A configuration in, checked entries, problems and warnings out.
//!
//! The checks never read a file or a variable: what they need to know of the world they ask of the
//! [`Surroundings`] that the caller gives. The main type is [`ServerConfig`].
//!
//! **Invariant:** a [`ServerConfig`] exists only checked.
//! **Invariant:** no message and no Debug text holds a value of `env` or `headers`.

mod builder;
mod credentials;
mod draft;
mod findings;
mod load;
mod names;
mod problem;
mod server;
mod surroundings;

pub use builder::ServerConfigBuilder;
pub(crate) use credentials::is_credential_name;
pub use problem::{Expected, Origin, Place, Problem, ProblemKind, Problems, Warning, WarningKind};
pub use server::{
    CatalogMode, DEFAULT_RECONNECT_INTERVAL, DEFAULT_RECONNECT_MAX_INTERVAL, Endpoint,
    NetworkConfig, Protocol, Reconnect, Secret, ServerConfig, StdioConfig,
};
pub use surroundings::{Input, Nothing, Process, Surroundings};

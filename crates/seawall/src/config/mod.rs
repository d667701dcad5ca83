//! A configuration in, checked entries, problems and warnings out.
//!
//! The checks never read a file or a variable: what they need to know of the world they ask of the
//! [`Surroundings`] that the caller gives. The main type is [`ServerConfig`].
//!
//! **Invariant:** a [`ServerConfig`] exists only checked.
//! **Invariant:** no message and no Debug text holds a value of `env` or `headers`.

mod builder;
mod check;
mod credentials;
mod decode;
mod draft;
mod endpoint;
mod env_file;
mod expand;
mod expected;
mod findings;
mod gateway;
mod grant;
mod keys;
mod load;
mod mcpl;
mod names;
mod oauth;
mod problem;
mod server;
mod surroundings;
mod value;

#[cfg(test)]
mod tests;

pub use crate::terms::policy::McplPolicy;
pub use builder::ServerConfigBuilder;
pub use check::{Checked, Source, check};
pub use credentials::{is_credential_name, looks_like_credential};
pub use gateway::{
    AuthConfig, ClientConfig, Durability, GatewayConfig, GatewayErrors, GatewayFault, GatewayNames,
    JournalConfig, TokenDigest, WhenUnwritable,
};
pub use load::{CONFIG_FILE, CONFIG_VARIABLE, Lookup, MAX_FILE_BYTES, check_file, load};
pub use names::id_of_foreign;
pub use oauth::OAuthConfig;
pub use problem::{Expected, Origin, Place, Problem, ProblemKind, Problems, Warning, WarningKind};
pub use server::{
    CatalogMode, DEFAULT_RECONNECT_INTERVAL, DEFAULT_RECONNECT_MAX_INTERVAL, Endpoint,
    NetworkConfig, Protocol, Reconnect, Secret, ServerConfig, StdioConfig,
};
pub use surroundings::{Input, Nothing, Process, Surroundings};

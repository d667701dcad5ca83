//! A Model Context Protocol server's two fronts: stdio, and Streamable HTTP, for clients of every revision at once.
//!
//! [`Gateway`] is such a server: it offers what all servers offer of a [`seawall::Host`]. Its parts that know nothing of a
//! host stand without the feature `host`.
//!
//! A [`Service`] answers requests; [`stdio::serve`] and [`http::Endpoint`] bring them to it and say which era and which
//! client each is of. What the protocol itself demands (handshakes, sessions, headers, streams, cancellation) is done
//! here, on [`seawall_proto::server`]; what a server offers is the service's.
//!
//! **Invariant:** a request that its client cancelled, or over 2026-07-28 HTTP hung up on, is dropped, and with it the
//! future that answers it.

pub mod clients;
#[cfg(feature = "host")]
mod gateway;
pub mod http;
#[cfg(feature = "host")]
pub mod names;
#[cfg(feature = "host")]
mod observe;
#[cfg(feature = "host")]
mod offers;
#[cfg(feature = "host")]
mod page;
#[cfg(feature = "host")]
mod relay;
#[cfg(feature = "host")]
mod search;
mod service;
pub mod stdio;
#[cfg(feature = "host")]
mod tools;

#[cfg(feature = "host")]
pub use gateway::{Gateway, Options};
#[cfg(feature = "host")]
pub use observe::{Telemetry, TraceContext};
#[cfg(feature = "host")]
pub use offers::Notice;
#[cfg(feature = "host")]
pub use page::Site;
pub use service::{Answer, AskError, Exchange, Request, Service, Session, SessionId};
#[cfg(feature = "host")]
pub use tools::{Meeting, RemoteErrors};

#[cfg(test)]
mod tests;

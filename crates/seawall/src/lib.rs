//! An MCP host that keeps untrusted servers on their side of the wall.
//!
//! An MCP server is a program that somebody else wrote. Seawall starts it, bounds all that it sends, turns its tools into
//! stable declarations ([`flows`]), calls one under one deadline, and says truthfully what became of the call: never
//! sent, refused, answered, or unknown ([`Outcome`]).
//!
//! ```
//! use seawall::{Arguments, Client, ServerConfig};
//!
//! # #[cfg(unix)]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = seawall_testkit::Script::plain().server();
//! # let (command, args) = (server.program_str(), server.args.clone());
//! let config = ServerConfig::stdio("demo", command).args(args).build()?;
//! let client = Client::connect(config).await?;
//! for flow in client.flows() {
//!     println!("{}: {}", flow.name(), flow.description());
//! }
//! match client.call("echo", Arguments::text(r#"{"text": "hello"}"#)).await {
//!     Ok(result) if result.is_error() => println!("the tool failed: {}", result.raw().as_str()),
//!     Ok(result) => println!("{}", result.raw().as_str()),
//!     Err(error) => println!("{error} ({})", error.outcome()),
//! }
//! client.close().await?;
//! # Ok(())
//! # }
//! # #[cfg(not(unix))]
//! # fn main() {}
//! ```
//!
//! * [`Client`] is one connection; it clones for nothing, and its last drop leaves no process behind.
//! * [`Host`] is many of them, each with an owner, and what they offer together ([`host`]).
//! * [`policy`] says who may call what: grants narrow what flows declare, an [`Envelope`] bounds a [`Caller`].
//! * [`config`] reads the configuration files of Seawall and of other hosts, purely.
//! * [`limits`] are the bounds on a server, with their defaults.
//! * [`events`] shows what a server says beside the protocol, redacted ([`redact`]), to an observer that asks for it.
//! * [`results`] checks structured output against the tool's schema.
//! * [`visible`] shows people and models what is hidden in a server's text.
//! * [`journal`] records each call of a host before it is sent.
//! * [`mcpl`] is MCP Live, for servers that speak first, under grants.
//! * [`readers`] gives a result to a model, a module or a script, and saves what they cannot take.

pub mod client;
pub mod config;
mod error;
pub mod events;
pub mod flows;
pub mod host;
pub mod inputs;
pub mod journal;
pub mod mcpl;
pub mod oauth;
pub mod policy;
pub mod readers;
pub mod redact;
pub mod results;
mod supervisor;
mod terms;
mod transport;
pub mod visible;
mod web;

pub use client::{
    Arguments, Call, Carried, Client, ClientBuilder, Destination, EraSource, Mcpl, McplError,
    McplEvent, Noticed, Notices, Pages, Report, Request, Said, Transport,
};
pub use config::ServerConfig;
pub use error::Error;
pub use events::{Diagnostic, Hidden, LogLevel, Observer};
pub use flows::Flow;
pub use host::{Caller, Host, HostBuilder, HostError, HostRequest};
pub use policy::Envelope;
pub use seawall_proto::connection::{
    Change, Obstacle, Progress, RevisionRefusal, Session, Stats, Step,
};
pub use seawall_proto::jsonrpc::Noise;
pub use seawall_proto::limits::{self, InvalidTools, Limits};
pub use seawall_proto::mcp::{self, Catalog, Revision, Tool, ToolResult};
pub use seawall_proto::{ErrorCode, Json, Outcome};
pub use web::{
    AuthError, DocumentError, EgressPolicy, HttpClient, HttpClientBuilder, HttpClientError,
};

//! The section `gateway` of a map-shaped file: how `seawall serve` offers the servers, and to whom.
//!
//! It is Seawall's own, so unlike in entries of other hosts' files a key that is not known is refused.
//!
//! **Invariant:** no token is kept, only its SHA-256, which no text shows.

mod auth;
mod client;
mod fault;
mod journal;
mod read;
mod section;

pub use fault::GatewayFault;
pub use journal::{Durability, JournalConfig, WhenUnwritable};
pub(super) use read::read;
pub use section::{
    AuthConfig, ClientConfig, GatewayConfig, GatewayErrors, GatewayNames, TokenDigest,
};

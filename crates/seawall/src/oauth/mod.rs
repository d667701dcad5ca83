//! Logging in to a server on the network: OAuth 2.1 as MCP asks for it, 2025-03-26 to 2026-07-28 (T5).
//!
//! [`OAuth`] authorises the requests to one server. On a refusal it finds out who authorises for that server, becomes a
//! client there, gets a token by its [`Grant`] and keeps it in a [`TokenStore`] by issuer. A token that is due is renewed
//! once, whatever the number of tasks and processes that want it.
//!
//! **Invariant:** a token is sent to the server that it was issued for and nowhere else, never in an address; what one
//! issuer gave is never shown to another; nothing that a server wrote is in an error.

mod address;
mod answer;
mod authorize;
mod browser;
mod builder;
mod challenge;
mod client;
mod credentials;
mod discovery;
mod dpop;
mod fetch;
mod grant;
mod jwt;
mod memory;
mod refusal;
mod renew;
mod renewals;
mod scopes;
mod session;
mod store;
mod token;

#[cfg(test)]
mod tests;

pub use browser::{Browser, HeadlessBrowser, LoopbackBrowser, Visit};
pub use builder::OAuthBuilder;
pub use client::{ClientRegistration, StaticClient};
pub use dpop::Dpop;
pub use grant::{Assertion, Grant, IdentityProvider};
pub use jwt::SigningKey;
pub use renewals::Renewals;
pub use session::{CredentialState, OAuth};
#[cfg(feature = "keyring")]
pub use store::KeyringStore;
pub use store::{FileStore, MemoryStore, Slot, StoreLock, TokenStore};

pub use crate::web::{
    Boxed, Exchange, LoginFault, OAuthErrorCode, SettingsFault, StoreFault, Unsound,
};

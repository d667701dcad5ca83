//! The way to the web: one pool of connections, the egress policy, and how a request is authorised.
//!
//! **Invariant:** nothing is requested of an origin that the policy did not allow; redirects are never followed here.

mod authorize;
mod client;
mod error;
mod origin;
mod redirect;

pub use authorize::Boxed;
pub(crate) use authorize::{Authorize, Credentials, Refusal, Verdict, Waits};
pub use client::{DocumentError, EgressPolicy, HttpClient, HttpClientBuilder, HttpClientError};
pub(crate) use client::{EgressRefused, FetchError, Fetched, Upgrader};
pub use error::{
    AuthError, Exchange, LoginFault, OAuthErrorCode, SettingsFault, StoreFault, Unsound,
};
pub(crate) use origin::shown_origin;
pub(crate) use redirect::{Elsewhere, MAX_REDIRECTS, is_redirect, redirected};

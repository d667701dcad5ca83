//! The user's part of a login: a browser goes to the authorization server and comes back with an answer.

mod headless;
mod loopback;

use std::fmt;

use url::Url;

pub use headless::HeadlessBrowser;
pub use loopback::LoopbackBrowser;

use crate::web::{AuthError, Boxed};

/// Takes the user to an authorization server.
pub trait Browser: Send + Sync + fmt::Debug {
    /// Makes ready to receive the answer. `wanted` is the redirect address of an earlier login, which saves a new
    /// registration if it can be had again.
    ///
    /// # Errors
    /// Nothing can be received.
    fn prepare<'a>(
        &'a self,
        wanted: Option<&'a Url>,
    ) -> Boxed<'a, Result<Box<dyn Visit>, AuthError>>;
}

/// One visit of the browser, ready to receive its answer.
pub trait Visit: Send {
    /// Where the answer has to be sent.
    fn redirect(&self) -> &Url;

    /// Takes the user to `address` and waits for the answer: the redirect address with its query.
    ///
    /// The address was checked: `https`, or `http` on this machine. The answer's content is checked by the caller.
    ///
    /// # Errors
    /// No browser, or no answer in time.
    ///
    /// # Cancel safety
    /// Dropping the future stops listening.
    fn authorize(self: Box<Self>, address: Url) -> Boxed<'static, Result<Url, AuthError>>;
}

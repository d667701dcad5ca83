//! A browser for authorization servers that ask nobody.

use http::{HeaderMap, Method, header};
use url::Url;

use super::{Browser, Visit};
use crate::oauth::fetch::send;
use crate::web::{AuthError, Boxed, Exchange, HttpClient, LoginFault};

/// Requests the authorization address itself and takes the redirect for the answer: for authorization servers that
/// decide without a user, as those of tests do. Nothing listens.
#[derive(Debug, Clone)]
pub struct HeadlessBrowser {
    http: HttpClient,
    redirect: Url,
}

impl HeadlessBrowser {
    /// A browser that says it receives at `redirect`, for instance `http://localhost:3000/callback`.
    #[must_use]
    pub fn new(http: HttpClient, redirect: Url) -> Self {
        Self { http, redirect }
    }
}

impl Browser for HeadlessBrowser {
    fn prepare<'a>(
        &'a self,
        _wanted: Option<&'a Url>,
    ) -> Boxed<'a, Result<Box<dyn Visit>, AuthError>> {
        let visit = Box::new(self.clone()) as Box<dyn Visit>;
        Box::pin(async { Ok(visit) })
    }
}

impl Visit for HeadlessBrowser {
    fn redirect(&self) -> &Url {
        &self.redirect
    }

    fn authorize(self: Box<Self>, address: Url) -> Boxed<'static, Result<Url, AuthError>> {
        Box::pin(async move {
            let what = Exchange::Authorization;
            let fetched = send(
                &self.http,
                Method::GET,
                &address,
                what,
                HeaderMap::new(),
                None,
            )
            .await?;
            let location = fetched.headers.get(header::LOCATION);
            location
                .and_then(|location| location.to_str().ok())
                .and_then(|location| address.join(location).ok())
                .ok_or(AuthError::Login(LoginFault::NoCode))
        })
    }
}

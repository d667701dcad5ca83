//! How an [`OAuth`] is configured.

use std::sync::Arc;

use http::HeaderMap;
use url::Url;

use super::browser::Browser;
use super::client::{ClientRegistration, StaticClient};
use super::discovery::canonical;
use super::dpop::Dpop;
use super::grant::Grant;
use super::renewals::Renewals;
use super::scopes::Scopes;
use super::session::OAuth;
use super::store::{MemoryStore, Slot, TokenStore};
use crate::web::{AuthError, HttpClient, SettingsFault};

/// Configures an [`OAuth`]. See [`OAuth::builder`].
#[derive(Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct OAuthBuilder {
    settings: Settings,
    /// Whether a scope was given that cannot be asked for.
    asks_in_vain: bool,
}

/// What was configured.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) server: String,
    pub(super) resource: Url,
    pub(super) http: HttpClient,
    /// What the server's own requests carry.
    pub(super) headers: HeaderMap,
    pub(super) static_client: Option<StaticClient>,
    pub(super) metadata_document: Option<Url>,
    pub(super) dynamic: bool,
    pub(super) client_name: String,
    pub(super) scopes: Scopes,
    pub(super) browser: Option<Arc<dyn Browser>>,
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) grant: Grant,
    pub(super) dpop: Dpop,
    pub(super) renewals: Renewals,
}

impl OAuthBuilder {
    pub(super) fn new(server: String, resource: Url, http: HttpClient) -> Self {
        Self {
            settings: Settings {
                server,
                resource,
                http,
                headers: HeaderMap::new(),
                static_client: None,
                metadata_document: None,
                dynamic: true,
                client_name: "Seawall".to_owned(),
                scopes: Scopes::default(),
                browser: None,
                store: Arc::new(MemoryStore::new()),
                grant: Grant::default(),
                dpop: Dpop::default(),
                renewals: Renewals::default(),
            },
            asks_in_vain: false,
        }
    }

    /// Headers that the server's own requests carry, so that a login's first look at the server sees what they would see.
    /// They go to the server's origin alone. Default: none.
    pub fn headers(mut self, headers: HeaderMap) -> Self {
        self.settings.headers = headers;
        self
    }

    /// One more way of being a client. Default: [`ClientRegistration::Dynamic`] alone.
    pub fn client(mut self, client: ClientRegistration) -> Self {
        match client {
            ClientRegistration::Static(client) => self.settings.static_client = Some(client),
            ClientRegistration::MetadataDocument(url) => {
                self.settings.metadata_document = Some(url);
            }
            ClientRegistration::Dynamic => self.settings.dynamic = true,
            ClientRegistration::NotDynamic => self.settings.dynamic = false,
        }
        self
    }

    /// The name under which a client registers itself; users see it. Default: `Seawall`.
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.settings.client_name = name.into();
        self
    }

    /// Scopes that are always asked for, beside those that the server challenges with. Default: none, and then those of
    /// the server's metadata if its challenge names none. One that is not a word of visible ASCII fails the build.
    pub fn scopes<'s>(mut self, scopes: impl IntoIterator<Item = &'s str>) -> Self {
        let given: Vec<&str> = scopes.into_iter().collect();
        self.settings.scopes = given.iter().copied().collect();
        self.asks_in_vain = given
            .iter()
            .any(|scope| !self.settings.scopes.contains(scope));
        self
    }

    /// Where a user can log in. Default: nowhere, so that a login ends with [`AuthError::LoginNeeded`].
    pub fn browser(mut self, browser: Arc<dyn Browser>) -> Self {
        self.settings.browser = Some(browser);
        self
    }

    /// Where logins are kept. Default: a [`MemoryStore`].
    pub fn store(mut self, store: Arc<dyn TokenStore>) -> Self {
        self.settings.store = store;
        self
    }

    /// How a token is come by. Default: [`Grant::AuthorizationCode`].
    pub fn grant(mut self, grant: Grant) -> Self {
        self.settings.grant = grant;
        self
    }

    /// Whether tokens are bound to a key. Default: [`Dpop::Auto`].
    pub fn dpop(mut self, dpop: Dpop) -> Self {
        self.settings.dpop = dpop;
        self
    }

    /// Where its renewals are counted, so that the end of the process can wait for those of every login at once. Default:
    /// by themselves, see [`OAuth::settle`].
    pub fn renewals(mut self, renewals: Renewals) -> Self {
        self.settings.renewals = renewals;
        self
    }

    /// The authoriser.
    ///
    /// # Errors
    /// [`AuthError::Settings`].
    pub fn build(self) -> Result<OAuth, AuthError> {
        let settings = self.settings;
        if !matches!(settings.resource.scheme(), "http" | "https") {
            return Err(AuthError::Settings(SettingsFault::ResourceUrl));
        }
        if let Some(url) = &settings.metadata_document
            && (url.scheme() != "https" || url.path() == "/")
        {
            return Err(AuthError::Settings(SettingsFault::ClientUrl));
        }
        if self.asks_in_vain {
            return Err(AuthError::Settings(SettingsFault::Scope));
        }
        let needs_client = !matches!(settings.grant, Grant::AuthorizationCode);
        if needs_client && settings.static_client.is_none() {
            return Err(AuthError::Settings(SettingsFault::NoClient));
        }
        Ok(OAuth::new(settings))
    }
}

impl Settings {
    /// Where the logins of this configuration are kept.
    pub(super) fn slot(&self) -> Slot {
        let mut client = match (&self.static_client, &self.metadata_document) {
            (Some(client), _) => match &client.issuer {
                Some(issuer) => format!("static {} of {issuer}", client.id),
                None => format!("static {}", client.id),
            },
            (None, Some(url)) => format!("document {url}"),
            (None, None) => "dynamic".to_owned(),
        };
        if self.dpop == Dpop::Required {
            // A token that is not bound is never come upon.
            client.push_str(", bound");
        }
        Slot::new(canonical(&self.resource), client)
    }
}

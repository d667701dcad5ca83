//! How this program logs in to servers behind a URL: the one place that makes an entry's [`OAuth`].
//!
//! **Invariant:** a browser is only opened, and an address only shown, for somebody who said yes or typed `login`.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use seawall::config::{Endpoint, NetworkConfig, ServerConfig};
use seawall::oauth::{
    Browser, ClientRegistration, CredentialState, FileStore, LoopbackBrowser, MemoryStore, OAuth,
    Renewals, StaticClient, StoreFault, TokenStore,
};
use seawall::{AuthError, ClientBuilder, Error, HttpClient, Obstacle};
use serde::Serialize;

use crate::interrupt::{Interrupted, Interrupts};
use crate::printer::{Place, Printer, show, visible};

/// How long a renewal may hold up the end before that is told.
const PATIENCE: Duration = Duration::from_millis(500);

/// The logins of one run. Clones share the way to the web.
#[derive(Clone, Default)]
pub(crate) struct Logins {
    http: Arc<OnceLock<Option<HttpClient>>>,
    renewals: Renewals,
}

/// How a person gets to the authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// The system's browser is opened.
    Open,
    /// The address is shown on stderr.
    Tell,
}

/// What is known of a login, as it is shown.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoginState {
    pub(crate) state: &'static str,
    /// The authorization server, as it names itself: remote text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) issuer: Option<String>,
    /// What was granted: remote text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) scopes: Vec<String>,
    /// In how many seconds the token expires; it may be renewed then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_in_s: Option<u64>,
}

impl Logins {
    /// The way to the web; `None` if it cannot be opened, which a connect tells.
    fn http(&self) -> Option<HttpClient> {
        self.http.get_or_init(|| HttpClient::new().ok()).clone()
    }

    /// Lets the renewals of tokens that began come to their ends, and begins none: a refresh token that was used and whose
    /// successor is not kept is a login lost. Each takes half a minute at most; whoever has asked twice for the end has it.
    pub(crate) async fn settle(&self, interrupts: &mut Interrupts, printer: &mut Printer) {
        if interrupts.is_urgent() {
            return;
        }
        let mut settling = std::pin::pin!(self.renewals.settle());
        let soon = tokio::time::timeout(PATIENCE, settling.as_mut());
        match interrupts.unless(soon).await {
            Ok(Err(_)) => {}
            Ok(Ok(())) | Err(Interrupted) => return,
        }
        printer.talk("waiting for the renewal of a login that is under way, so that it is not lost; Ctrl-C ends at once");
        // Whoever does not want to wait says so.
        let _ = interrupts.unless(settling).await;
    }

    /// Has a connect use the login of its entry, as far as there is one.
    pub(crate) fn authorise(&self, config: &ServerConfig, builder: ClientBuilder) -> ClientBuilder {
        let Some(network) = network(config) else {
            return builder;
        };
        let builder = match self.http() {
            Some(http) => builder.http(http),
            None => return builder,
        };
        let store = store().unwrap_or_else(|_| Arc::new(MemoryStore::new()));
        // What cannot be made a login of is refused by the checks of the configuration.
        match self.make(config, network, store, None, &[]) {
            Ok(Some(oauth)) => builder.oauth(oauth),
            _ => builder,
        }
    }

    /// The login of an entry that a person is there for; `None` if the entry has none.
    pub(crate) fn with_person(
        &self,
        config: &ServerConfig,
        visit: Visit,
        scopes: &[String],
    ) -> Result<Option<OAuth>, AuthError> {
        let Some(network) = network(config) else {
            return Ok(None);
        };
        let mut browser = LoopbackBrowser::new();
        if let Some(port) = network.oauth.as_ref().and_then(|oauth| oauth.callback_port) {
            browser = browser.port(port);
        }
        if visit == Visit::Tell {
            browser = browser.telling(|address| {
                show(format!(
                    "open this address in a browser on this machine:\n  {address}\n"
                ));
            });
        }
        let store = store().map_err(AuthError::Store)?;
        self.make(config, network, store, Some(Arc::new(browser)), scopes)
    }

    /// What is stored of an entry's login; `None` if the entry has none, or it cannot be told.
    pub(crate) async fn state(&self, config: &ServerConfig) -> Option<LoginState> {
        let store = store().ok()?;
        let oauth = self
            .make(config, network(config)?, store, None, &[])
            .ok()??;
        oauth.state().await.ok().map(LoginState::from)
    }

    fn make(
        &self,
        config: &ServerConfig,
        network: &NetworkConfig,
        store: Arc<dyn TokenStore>,
        browser: Option<Arc<dyn Browser>>,
        scopes: &[String],
    ) -> Result<Option<OAuth>, AuthError> {
        let (Some(entry), Some(http)) = (&network.oauth, self.http()) else {
            return Ok(None);
        };
        let wanted = entry.scopes.iter().chain(scopes).map(String::as_str);
        let mut builder = OAuth::builder(config.server(), network.url.clone(), http)
            .scopes(wanted)
            .headers(network.header_map().unwrap_or_default())
            .renewals(self.renewals.clone())
            .store(store);
        if let Some(id) = &entry.client_id {
            let mut client = StaticClient::new(id);
            if let Some(secret) = &entry.client_secret {
                client = client.secret(secret.clone());
            }
            if let Some(issuer) = &entry.issuer {
                client = client.issuer(issuer);
            }
            builder = builder.client(ClientRegistration::Static(client));
        }
        if let Some(document) = &entry.client_metadata_url {
            builder = builder.client(ClientRegistration::MetadataDocument(document.clone()));
        }
        if let Some(browser) = browser {
            builder = builder.browser(browser);
        }
        builder.build().map(Some)
    }
}

/// Whether a connect or a call failed because somebody has to log in, or to grant more.
pub(crate) fn wants_login(error: &Error) -> bool {
    error.obstacle() == Some(Obstacle::Login)
}

/// The origin of a server behind a URL.
pub(crate) fn origin(config: &ServerConfig) -> Option<String> {
    network(config).map(|network| network.url.origin().ascii_serialization())
}

fn network(config: &ServerConfig) -> Option<&NetworkConfig> {
    match config.endpoint() {
        Endpoint::Http(network) => Some(network),
        _ => None,
    }
}

#[cfg(feature = "keyring")]
fn store() -> Result<Arc<dyn TokenStore>, StoreFault> {
    let files = FileStore::in_data_folder()?;
    Ok(Arc::new(seawall::oauth::KeyringStore::new(files)))
}

#[cfg(not(feature = "keyring"))]
fn store() -> Result<Arc<dyn TokenStore>, StoreFault> {
    Ok(Arc::new(FileStore::in_data_folder()?))
}

impl From<CredentialState> for LoginState {
    fn from(state: CredentialState) -> Self {
        let mut shown = Self {
            state: "logged_out",
            issuer: None,
            scopes: Vec::new(),
            expires_in_s: None,
        };
        match state {
            CredentialState::LoggedIn {
                issuer,
                expires,
                scopes,
            } => {
                shown.state = "logged_in";
                shown.issuer = Some(issuer);
                shown.scopes = scopes;
                shown.expires_in_s = expires.map(|expires| {
                    let left = expires.duration_since(SystemTime::now());
                    left.unwrap_or_default().as_secs()
                });
            }
            CredentialState::Expired => shown.state = "expired",
            _ => {}
        }
        shown
    }
}

impl LoginState {
    /// Whether there is a login, usable or not.
    pub(crate) fn is_there(&self) -> bool {
        self.state != "logged_out"
    }

    /// In a few words on one line.
    pub(crate) fn words(&self) -> String {
        let Some(issuer) = &self.issuer else {
            return self.state.replace('_', " ");
        };
        let mut words = format!("logged in at {}", visible(issuer, Place::Line));
        match self.expires_in_s {
            Some(0) => words.push_str(", to be renewed"),
            Some(left @ ..120) => words.push_str(&format!(", for {left} s")),
            Some(left @ ..7200) => words.push_str(&format!(", for {} min", left / 60)),
            Some(left) => words.push_str(&format!(", for {} h", left / 3600)),
            None => {}
        }
        if !self.scopes.is_empty() {
            let scopes = self.scopes.join(" ");
            words.push_str(&format!(", scopes {}", visible(&scopes, Place::Line)));
        }
        words
    }
}

//! A new login by the configured grant.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::answer;
use super::challenge::Challenge;
use super::client::{Client, register};
use super::credentials::{Kept, Login};
use super::discovery::{AuthorizationServer, Discovered};
use super::dpop::{Dpop, DpopKey};
use super::fetch::{origin, unsound};
use super::grant::{Grant, IdentityProvider};
use super::jwt::random_text;
use super::memory::How;
use super::scopes::{OFFLINE_ACCESS, Scopes};
use super::session::Shared;
use super::store;
use super::token::{TokenRequest, TokenResponse};
use crate::config::Secret;
use crate::web::{AuthError, Exchange, SettingsFault, Unsound};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// One login under way.
struct Attempt<'a> {
    found: &'a Discovered,
    /// What this issuer gave before.
    before: Option<&'a Login>,
    scopes: Scopes,
    key: Option<DpopKey>,
}

/// What a grant gave.
struct Granted {
    response: TokenResponse,
    client: Client,
    redirect: Option<Url>,
}

impl Shared {
    /// Gets a token from the authorization server that was found; keeps it and takes it over.
    pub(super) async fn grant(
        &self,
        found: Discovered,
        challenge: &Challenge,
    ) -> Result<(), AuthError> {
        let kept = self.read().await?;
        let server = &found.server;
        self.check_issuer(&kept, server)?;
        let before = kept.logins.get(&server.issuer);
        let mut scopes = self.wanted(challenge, &found, before.map(|login| &login.requested));
        if matches!(self.settings.grant, Grant::AuthorizationCode)
            && !scopes.is_empty()
            && server.scopes.contains(OFFLINE_ACCESS)
        {
            scopes = scopes.union(&[OFFLINE_ACCESS].into_iter().collect());
        }
        let attempt = Attempt {
            key: self.key(&found, challenge, before)?,
            found: &found,
            before,
            scopes,
        };
        let granted = match &self.settings.grant {
            Grant::AuthorizationCode => self.authorization_code(&attempt).await?,
            Grant::ClientCredentials => {
                let form = vec![("grant_type", "client_credentials")];
                self.direct(&attempt, form).await?
            }
            Grant::JwtBearer(assertion) => {
                let assertion = assertion.read().await?;
                self.jwt_bearer(&attempt, &assertion).await?
            }
            Grant::EnterpriseManaged(provider) => {
                let assertion = self.identity_grant(&attempt, provider).await?;
                self.jwt_bearer(&attempt, &assertion).await?
            }
        };
        self.keep(attempt, granted).await
    }

    /// A configured client is shown to the issuer that it belongs to.
    fn check_issuer(&self, kept: &Kept, server: &AuthorizationServer) -> Result<(), AuthError> {
        let Some(client) = &self.settings.static_client else {
            return Ok(());
        };
        match client.issuer.as_ref().or(kept.current.as_ref()) {
            Some(issuer) if *issuer != server.issuer => Err(AuthError::IssuerChanged {
                server: self.settings.server.clone(),
                issuer: origin(&server.url),
            }),
            _ => Ok(()),
        }
    }

    /// The key that tokens are bound to, if they are to be.
    fn key(
        &self,
        found: &Discovered,
        challenge: &Challenge,
        before: Option<&Login>,
    ) -> Result<Option<DpopKey>, AuthError> {
        let wanted = match self.settings.dpop {
            Dpop::Off => false,
            Dpop::Required => true,
            Dpop::Auto => found.server.dpop && (found.dpop || challenge.dpop),
        };
        if !wanted {
            return Ok(None);
        }
        let stored = before.and_then(|login| login.dpop_key.as_ref());
        match stored.and_then(DpopKey::restore) {
            Some(key) => Ok(Some(key)),
            None => DpopKey::generate().map(Some),
        }
    }

    async fn authorization_code(&self, attempt: &Attempt<'_>) -> Result<Granted, AuthError> {
        let server = &attempt.found.server;
        let Some(browser) = &self.settings.browser else {
            return Err(self.login_needed());
        };
        if !server.pkce {
            return Err(unsound(&server.url, Unsound::NoPkce));
        }
        let endpoint = server
            .authorization
            .as_ref()
            .ok_or_else(|| unsound(&server.url, Unsound::NoEndpoint))?;
        let before = attempt.before.and_then(|login| login.redirect.as_ref());
        let visit = browser.prepare(before).await?;
        let redirect = visit.redirect().clone();
        let client = self.client(attempt, &redirect).await?;
        let (verifier, state) = (random_text()?, random_text()?);
        let address = address(attempt, endpoint, &client, &redirect, &verifier, &state);
        let answer = visit.authorize(address).await?;
        let code = answer::code(&answer, &redirect, &state, server)?;
        let form = vec![
            ("grant_type", "authorization_code"),
            ("code", code.reveal()),
            ("redirect_uri", redirect.as_str()),
            ("code_verifier", &verifier),
        ];
        let response = self.ask(attempt, &client, form).await?;
        Ok(Granted {
            response,
            client,
            redirect: Some(redirect),
        })
    }

    /// The client to be: configured, by its document, registered before, or registered now.
    async fn client(&self, attempt: &Attempt<'_>, redirect: &Url) -> Result<Client, AuthError> {
        let settings = &self.settings;
        let server = &attempt.found.server;
        if let Some(client) = &settings.static_client {
            return Ok(client.for_server(server));
        }
        if let Some(url) = settings
            .metadata_document
            .as_ref()
            .filter(|_| server.metadata_documents)
        {
            return Ok(Client::public(url.as_str()));
        }
        let no_registration = || AuthError::NoRegistration {
            issuer: origin(&server.url),
        };
        let endpoint = server
            .registration
            .as_ref()
            .filter(|_| settings.dynamic)
            .ok_or_else(no_registration)?;
        if let Some(login) = attempt.before
            && login.redirect.as_ref() == Some(redirect)
            && !login.client.is_over()
            && login.client.may_ask_for(&attempt.scopes)
            && settings.metadata_document.as_ref().map(Url::as_str) != Some(&login.client.id)
        {
            return Ok(login.client.clone());
        }
        register(
            &settings.http,
            server,
            endpoint,
            &settings.client_name,
            redirect,
            &attempt.scopes,
        )
        .await
    }

    /// A grant that needs no user.
    async fn direct(
        &self,
        attempt: &Attempt<'_>,
        mut form: Vec<(&'static str, &str)>,
    ) -> Result<Granted, AuthError> {
        let configured = self.settings.static_client.as_ref();
        let client = configured
            .ok_or(AuthError::Settings(SettingsFault::NoClient))?
            .for_server(&attempt.found.server);
        let scope = attempt.scopes.parameter();
        form.extend(scope.as_deref().map(|scope| ("scope", scope)));
        let response = self.ask(attempt, &client, form).await?;
        Ok(Granted {
            response,
            client,
            redirect: None,
        })
    }

    async fn jwt_bearer(
        &self,
        attempt: &Attempt<'_>,
        assertion: &Secret,
    ) -> Result<Granted, AuthError> {
        let form = vec![
            ("grant_type", JWT_BEARER),
            ("assertion", assertion.reveal()),
        ];
        self.direct(attempt, form).await
    }

    /// The identity provider's grant for this server (token exchange, RFC 8693).
    async fn identity_grant(
        &self,
        attempt: &Attempt<'_>,
        provider: &IdentityProvider,
    ) -> Result<Secret, AuthError> {
        let found = attempt.found;
        let id_token = provider.id_token.read().await?;
        let client = provider.client.for_server(&found.server);
        let scope = attempt.scopes.parameter();
        let mut form = vec![
            ("grant_type", TOKEN_EXCHANGE),
            ("requested_token_type", ID_JAG),
            ("audience", found.server.issuer.as_str()),
            ("resource", found.resource.as_str()),
            ("subject_token", id_token.reveal()),
            ("subject_token_type", ID_TOKEN),
        ];
        form.extend(scope.as_deref().map(|scope| ("scope", scope)));
        let request = TokenRequest {
            endpoint: &provider.token_endpoint,
            what: Exchange::IdentityGrant,
            client: &client,
            key: provider.client.key(),
            issuer: provider.token_endpoint.as_str(),
            form,
            dpop: None,
        };
        let response = request.send(&self.settings.http, &self.nonces).await?;
        match (response.issued_token_type.as_deref(), response.access_token) {
            (Some(ID_JAG), Some(grant)) => Ok(Secret::new(grant)),
            _ => Err(unsound(&provider.token_endpoint, Unsound::Malformed)),
        }
    }

    async fn ask(
        &self,
        attempt: &Attempt<'_>,
        client: &Client,
        mut form: Vec<(&'static str, &str)>,
    ) -> Result<TokenResponse, AuthError> {
        form.push(("resource", &attempt.found.resource));
        let server = &attempt.found.server;
        let request = TokenRequest {
            endpoint: &server.token,
            what: Exchange::Token,
            client,
            key: self.signing_key(),
            issuer: &server.issuer,
            form,
            dpop: attempt.key.as_ref(),
        };
        request.send(&self.settings.http, &self.nonces).await
    }

    /// Keeps a login as the newest one.
    async fn keep(&self, attempt: Attempt<'_>, granted: Granted) -> Result<(), AuthError> {
        let server = &attempt.found.server;
        let tokens = granted.response.tokens(&server.token, &attempt.scopes)?;
        self.check_bound(tokens.scheme, None, attempt.key.as_ref())
            .map_err(|fault| unsound(&server.token, fault))?;
        let mut client = granted.client;
        if self.settings.static_client.is_some() {
            client.secret = None;
        }
        let login = Login {
            resource: attempt.found.resource.clone(),
            client,
            redirect: granted.redirect,
            token_endpoint: server.token.clone(),
            revocation_endpoint: server.revocation.clone(),
            requested: attempt.scopes,
            tokens: Some(tokens),
            dpop_key: attempt.key.map(|key| key.stored().clone()),
        };
        let lock = store::lock(&self.settings.store, &self.slot).await?;
        let mut kept = self.read().await?;
        kept.put(&server.issuer, login);
        self.memory().adopt(&kept, How::Granted);
        self.write(lock, &kept).await
    }
}

/// The address that the user is taken to.
fn address(
    attempt: &Attempt<'_>,
    endpoint: &Url,
    client: &Client,
    redirect: &Url,
    verifier: &str,
    state: &str,
) -> Url {
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    let mut parameters = vec![
        ("response_type", Cow::Borrowed("code")),
        ("client_id", Cow::Borrowed(client.id.as_str())),
        ("redirect_uri", Cow::Borrowed(redirect.as_str())),
        ("code_challenge", Cow::Owned(challenge)),
        ("code_challenge_method", Cow::Borrowed("S256")),
        ("state", Cow::Borrowed(state)),
        ("resource", Cow::Borrowed(attempt.found.resource.as_str())),
    ];
    if let Some(scope) = attempt.scopes.parameter() {
        parameters.push(("scope", Cow::Owned(scope)));
    }
    if attempt.scopes.contains(OFFLINE_ACCESS) {
        // OpenID Connect gives offline access on consent only.
        parameters.push(("prompt", Cow::Borrowed("consent")));
    }
    // What the address has of its own stays, but for what is ours to say: none is there twice.
    let mut own: Vec<_> = endpoint.query_pairs().collect();
    own.retain(|(name, _)| !parameters.iter().any(|(ours, _)| ours == name));
    let mut address = endpoint.clone();
    address
        .query_pairs_mut()
        .clear()
        .extend_pairs(own)
        .extend_pairs(parameters);
    address
}

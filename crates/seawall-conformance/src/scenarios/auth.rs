//! The scenarios whose server wants a login.

use seawall::config::Secret;
use seawall::oauth::{
    Assertion, ClientRegistration, Grant, HeadlessBrowser, IdentityProvider, OAuth, OAuthBuilder,
    SigningKey, StaticClient,
};
use seawall::{Arguments, HttpClient, Obstacle};
use std::sync::Arc;
use url::Url;

use super::{SERVER, ScenarioError, builder};
use crate::settings::{Context, Settings};

/// The client metadata document that the suite knows.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// Where the browser's answer is said to be received; nobody listens, since the browser is none.
const REDIRECT: &str = "http://localhost:3000/callback";
const TOOL: &str = "test-tool";

/// What the library has to refuse: the scenario's server, or its authorization server, cannot be trusted.
const REFUSED: [&str; 7] = [
    "auth/resource-mismatch",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "auth/scope-retry-limit",
];

/// Logs in as the context says, calls the tool, and ends; or sees that it is refused.
pub(super) async fn run(settings: &Settings) -> Result<(), ScenarioError> {
    let done = call(settings).await;
    if !REFUSED.contains(&settings.scenario.as_str()) {
        return done;
    }
    match done {
        Ok(()) => Err(ScenarioError::NotRefused),
        Err(ScenarioError::Library(error)) if is_refusal(&error) => Ok(()),
        // Whatever else went wrong is no refusal of ours.
        Err(error) => Err(error),
    }
}

/// Whether it is the login that the library would not have.
fn is_refusal(error: &seawall::Error) -> bool {
    matches!(
        error.obstacle(),
        Some(Obstacle::Login | Obstacle::Authorization)
    )
}

async fn call(settings: &Settings) -> Result<(), ScenarioError> {
    let http = HttpClient::new()?;
    let oauth = login(settings, &http)?;
    let client = builder(settings)?.http(http).oauth(oauth).connect().await?;
    client.call(TOOL, Arguments::text("{}")).await?;
    client.close().await?;
    Ok(())
}

fn login(settings: &Settings, http: &HttpClient) -> Result<OAuth, ScenarioError> {
    let resource = Url::parse(&settings.url).map_err(|_| ScenarioError::Context)?;
    let builder = OAuth::builder(SERVER, resource, http.clone());
    Ok(as_context_says(builder, settings, http)?.build()?)
}

fn as_context_says(
    builder: OAuthBuilder,
    settings: &Settings,
    http: &HttpClient,
) -> Result<OAuthBuilder, ScenarioError> {
    let known = |id: &str| StaticClient::new(id);
    let with_secret = |id: &str, secret: &str| known(id).secret(Secret::new(secret));
    Ok(match &settings.context {
        Context::SigningKey {
            client_id,
            private_key_pem,
            ..
        } => {
            let key = SigningKey::from_pem(&Secret::new(private_key_pem.as_str()))?;
            builder
                .client(ClientRegistration::Static(
                    known(client_id).private_key(key),
                ))
                .grant(Grant::ClientCredentials)
        }
        Context::Secret {
            client_id,
            client_secret,
        } => {
            let client = ClientRegistration::Static(with_secret(client_id, client_secret));
            let builder = builder.client(client);
            if settings.scenario.contains("client-credentials") {
                builder.grant(Grant::ClientCredentials)
            } else {
                visiting(builder, http)?
            }
        }
        Context::Enterprise {
            client_id,
            client_secret,
            idp_client_id,
            idp_id_token,
            idp_token_endpoint,
            ..
        } => {
            let endpoint = Url::parse(idp_token_endpoint).map_err(|_| ScenarioError::Context)?;
            let id_token = Assertion::Fixed(Secret::new(idp_id_token.as_str()));
            let provider = IdentityProvider::new(endpoint, known(idp_client_id), id_token);
            builder
                .client(ClientRegistration::Static(with_secret(
                    client_id,
                    client_secret,
                )))
                .grant(Grant::EnterpriseManaged(provider))
        }
        Context::Workload {
            client_id,
            valid_jwt,
            ..
        } => builder
            .client(ClientRegistration::Static(known(client_id)))
            .grant(Grant::JwtBearer(Assertion::Fixed(Secret::new(
                valid_jwt.as_str(),
            )))),
        Context::ToolCalls { .. } | Context::Nothing => {
            let document = Url::parse(CLIENT_DOCUMENT).map_err(|_| ScenarioError::Context)?;
            visiting(builder, http)?.client(ClientRegistration::MetadataDocument(document))
        }
    })
}

/// With a browser that only follows where it is sent.
fn visiting(builder: OAuthBuilder, http: &HttpClient) -> Result<OAuthBuilder, ScenarioError> {
    let redirect = Url::parse(REDIRECT).map_err(|_| ScenarioError::Context)?;
    let browser = HeadlessBrowser::new(http.clone(), redirect);
    Ok(builder.browser(Arc::new(browser)))
}

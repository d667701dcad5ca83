//! An authorization server's metadata (RFC 8414, OpenID Connect Discovery).

use serde::Deserialize;
use url::Url;

use crate::oauth::address;
use crate::oauth::dpop::ALGORITHM;
use crate::oauth::fetch::{Found, document, unsound};
use crate::oauth::scopes::Scopes;
use crate::web::{AuthError, Exchange, HttpClient, Unsound};

/// The one PKCE method that is used.
const S256: &str = "S256";

/// An authorization server, checked.
#[derive(Debug, Clone)]
pub(in crate::oauth) struct AuthorizationServer {
    /// Its identifier, exactly as it was written: compared as a text.
    pub(in crate::oauth) issuer: String,
    /// Its identifier as an address, for errors.
    pub(in crate::oauth) url: Url,
    pub(in crate::oauth) authorization: Option<Url>,
    pub(in crate::oauth) token: Url,
    pub(in crate::oauth) registration: Option<Url>,
    pub(in crate::oauth) revocation: Option<Url>,
    pub(in crate::oauth) scopes: Scopes,
    /// It announces PKCE with S256.
    pub(in crate::oauth) pkce: bool,
    /// How clients may authenticate; `None` if it does not say.
    pub(in crate::oauth) client_auth: Option<Vec<String>>,
    /// It takes the URL of a client metadata document as a client id.
    pub(in crate::oauth) metadata_documents: bool,
    /// It names itself in every answer (RFC 9207).
    pub(in crate::oauth) names_itself: bool,
    /// It binds tokens to a P-256 key.
    pub(in crate::oauth) dpop: bool,
}

#[derive(Debug, Deserialize)]
struct ServerMetadata {
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    scopes_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    client_id_metadata_document_supported: Option<bool>,
    authorization_response_iss_parameter_supported: Option<bool>,
    dpop_signing_alg_values_supported: Option<Vec<String>>,
}

/// The metadata of `issuer`, which the document at `named_by` names.
pub(super) async fn find(
    http: &HttpClient,
    resource: &Url,
    issuer: &str,
    named_by: &Url,
) -> Result<AuthorizationServer, AuthError> {
    let url = address::endpoint(issuer, resource)
        .filter(|url| url.query().is_none() && address::is_plain(issuer))
        .ok_or_else(|| unsound(named_by, Unsound::Address))?;
    match published(http, resource, &[issuer], &url).await? {
        Some(server) => Ok(server),
        None => Err(unsound(&url, Unsound::NoMetadata)),
    }
}

/// The authorization server of a server without metadata of its own (2025-03-26): at its origin.
pub(super) async fn at_origin(
    http: &HttpClient,
    resource: &Url,
) -> Result<AuthorizationServer, AuthError> {
    let issuer = resource.origin().ascii_serialization();
    let url =
        address::endpoint(&issuer, resource).ok_or_else(|| unsound(resource, Unsound::Address))?;
    // Nobody named it, and both texts are of the one place: many a server of that time has the second.
    let names = [issuer.as_str(), url.as_str()];
    if let Some(server) = published(http, resource, &names, &url).await? {
        return Ok(server);
    }
    let at = |path: &str| {
        let mut endpoint = url.clone();
        endpoint.set_path(path);
        endpoint
    };
    Ok(AuthorizationServer {
        authorization: Some(at("/authorize")),
        token: at("/token"),
        registration: Some(at("/register")),
        revocation: None,
        scopes: Scopes::default(),
        // That revision requires PKCE of everybody, and there is nowhere to announce it.
        pkce: true,
        client_auth: None,
        metadata_documents: false,
        names_itself: false,
        dpop: false,
        issuer,
        url,
    })
}

/// The first sound document of the addresses that the specification lists, by one of `names`.
async fn published(
    http: &HttpClient,
    resource: &Url,
    names: &[&str],
    url: &Url,
) -> Result<Option<AuthorizationServer>, AuthError> {
    let mut unusable = None;
    for candidate in well_known(url) {
        let found = document(http, &candidate, Exchange::ServerMetadata).await?;
        match found {
            Found::Document(ServerMetadata { issuer, .. }) if !names.contains(&issuer.as_str()) => {
                unusable = Some(Unsound::IssuerMismatch);
            }
            Found::Document(metadata) => {
                return checked(metadata, url.clone(), resource).map(Some);
            }
            Found::Other => {
                unusable.get_or_insert(Unsound::Malformed);
            }
            Found::Nothing => {}
        }
    }
    unusable.map_or(Ok(None), |fault| Err(unsound(url, fault)))
}

fn well_known(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let at = |path: &str| {
        let mut url = issuer.clone();
        url.set_path(path);
        url
    };
    let mut addresses = vec![
        at(&format!("/.well-known/oauth-authorization-server{path}")),
        at(&format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        addresses.push(at(&format!("{path}/.well-known/openid-configuration")));
    }
    addresses
}

fn checked(
    metadata: ServerMetadata,
    url: Url,
    resource: &Url,
) -> Result<AuthorizationServer, AuthError> {
    let endpoint = |text: Option<String>| {
        text.map(|text| {
            address::endpoint(&text, resource).ok_or_else(|| unsound(&url, Unsound::Address))
        })
        .transpose()
    };
    let lists = |list: &Option<Vec<String>>, wanted: &str| {
        list.as_ref()
            .is_some_and(|list| list.iter().any(|name| name == wanted))
    };
    Ok(AuthorizationServer {
        authorization: endpoint(metadata.authorization_endpoint)?,
        token: endpoint(metadata.token_endpoint)?
            .ok_or_else(|| unsound(&url, Unsound::NoEndpoint))?,
        registration: endpoint(metadata.registration_endpoint)?,
        revocation: endpoint(metadata.revocation_endpoint)?,
        pkce: lists(&metadata.code_challenge_methods_supported, S256),
        dpop: lists(&metadata.dpop_signing_alg_values_supported, ALGORITHM),
        scopes: metadata
            .scopes_supported
            .iter()
            .flatten()
            .map(String::as_str)
            .collect(),
        client_auth: metadata.token_endpoint_auth_methods_supported,
        metadata_documents: metadata.client_id_metadata_document_supported == Some(true),
        names_itself: metadata.authorization_response_iss_parameter_supported == Some(true),
        issuer: metadata.issuer,
        url,
    })
}

//! Finding out who authorises for a server: its own metadata (RFC 9728), then its authorization server's (RFC 8414).
//!
//! **Invariant:** a [`Discovered`] was checked: the resource is the configured server, the issuer is the one that was asked
//! for, and every address may be requested.

mod resource;
mod server;

use url::Url;

pub(super) use server::AuthorizationServer;

use super::scopes::Scopes;
use crate::web::{AuthError, HttpClient, Unsound};

/// What a login needs to know.
#[derive(Debug)]
pub(super) struct Discovered {
    /// The `resource` parameter of every request (RFC 8707).
    pub(super) resource: String,
    /// The scopes that the server's metadata lists.
    pub(super) scopes: Option<Scopes>,
    /// The server's metadata wants tokens bound to a key.
    pub(super) dpop: bool,
    pub(super) server: AuthorizationServer,
}

/// Whom to ask, if the server names several authorization servers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Preference<'p> {
    /// The first.
    First,
    /// This issuer if it is among them, else the first.
    Rather(&'p str),
}

/// Asks the server at `resource` for its metadata, and the authorization server that it names for its own.
///
/// `announced` is the address of the metadata that a refusal named. A server without metadata is one of 2025-03-26: its
/// authorization server is at its own origin, with the default endpoints if that has no metadata either.
pub(super) async fn discover(
    http: &HttpClient,
    resource: &Url,
    announced: Option<&str>,
    preference: Preference<'_>,
) -> Result<Discovered, AuthError> {
    let Some((metadata, from)) = resource::find(http, resource, announced).await? else {
        let server = server::at_origin(http, resource).await?;
        return Ok(Discovered {
            resource: canonical(resource),
            scopes: None,
            dpop: false,
            server,
        });
    };
    let names = |issuer: &&str| {
        metadata
            .authorization_servers
            .iter()
            .any(|name| name == issuer)
    };
    let first = metadata.authorization_servers.first().map(String::as_str);
    let issuer = match preference {
        Preference::First => first,
        Preference::Rather(issuer) => Some(issuer).filter(names).or(first),
    };
    let issuer =
        issuer.ok_or_else(|| super::fetch::unsound(&from, Unsound::NoAuthorizationServer))?;
    Ok(Discovered {
        server: server::find(http, resource, issuer, &from).await?,
        scopes: metadata.scopes(),
        dpop: metadata.wants_dpop(),
        resource: metadata.resource,
    })
}

/// The canonical URI of a server (RFC 8707): no fragment, and no slash that stands for nothing.
pub(super) fn canonical(resource: &Url) -> String {
    let mut url = resource.clone();
    url.set_fragment(None);
    let text = String::from(url);
    match text.strip_suffix('/') {
        Some(bare) if resource.path() == "/" && resource.query().is_none() => bare.to_owned(),
        _ => text,
    }
}

//! `auth`: whose access tokens are taken.

use jsonc_parser::ast::Value;
use url::{Host, Url};

use super::super::oauth::is_scope;
use super::super::problem::ProblemKind;
use super::read::Reading;
use super::{AuthConfig, GatewayFault};

/// The keys of `auth`.
const KEYS: [&str; 5] = ["issuer", "audience", "resource", "jwksUri", "scopes"];

pub(super) fn read(
    reading: &mut Reading<'_, '_>,
    field: &str,
    value: &Value<'_>,
) -> Option<AuthConfig> {
    let object = reading.object(field, value)?;
    let (mut issuer, mut audience, mut resource) = (None, None, None);
    let (mut jwks_uri, mut scopes) = (None, Vec::new());
    for (key, field, value) in reading.members(field, object) {
        match key {
            "issuer" => {
                let text = reading.text(&field, value).map(|(text, _)| text);
                if text
                    .as_deref()
                    .is_some_and(|text| of_issuer(text).is_none())
                {
                    reading.fault(field, GatewayFault::IssuerUrl);
                }
                issuer = text;
            }
            "audience" => audience = reading.text(&field, value).map(|(text, _)| text),
            "resource" => {
                let text = reading.text(&field, value);
                resource = text.as_ref().and_then(|(text, _)| own(text));
                if text.is_some() && resource.is_none() {
                    reading.fault(field, GatewayFault::Resource);
                }
            }
            "jwksUri" => {
                let text = reading.text(&field, value);
                jwks_uri = text.as_ref().and_then(|(text, _)| of_issuer(text));
                if text.is_some() && jwks_uri.is_none() {
                    reading.fault(field, GatewayFault::IssuerUrl);
                }
            }
            "scopes" => {
                scopes = reading.at(&field, value).texts().unwrap_or_default();
                for (at, scope) in scopes.iter().enumerate() {
                    if !is_scope(scope) {
                        let field = format!("{field}[{at}]");
                        reading.findings.problem(field, ProblemKind::Scope);
                    }
                }
            }
            _ => reading.unknown(field, key, &KEYS),
        }
    }
    for key in ["issuer", "audience"] {
        if object.get(key).is_none() {
            let kind = ProblemKind::MissingKey { key };
            reading.findings.problem(field.to_owned(), kind);
        }
    }
    let (issuer, audience) = (issuer?, audience?);
    let resource = resource.or_else(|| own(&audience));
    if resource.is_none() && object.get("resource").is_none() {
        let field = format!("{field}.resource");
        reading.fault(field, GatewayFault::ResourceMissing);
    }
    Some(AuthConfig {
        issuer,
        audience,
        resource: resource?,
        jwks_uri,
        scopes,
    })
}

/// An address of the issuer: keys that came over cleartext could be anybody's.
fn of_issuer(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_local = match url.host()? {
        Host::Domain(name) => name.trim_end_matches('.') == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_local);
    (is_safe && is_bare(&url)).then_some(url)
}

fn own(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host() && is_bare(&url)).then_some(url)
}

fn is_bare(url: &Url) -> bool {
    let has_user = !url.username().is_empty() || url.password().is_some();
    !has_user && url.query().is_none() && url.fragment().is_none()
}

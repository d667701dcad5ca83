//! `oauth`: how an entry for a server behind a URL logs in.

use std::collections::BTreeMap;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use url::Url;

use super::credentials::{sayable, secret_of_variable};
use super::decode::Shape;
use super::expand::Expander;
use super::findings::Findings;
use super::keys;
use super::problem::{Expected, ProblemKind, WarningKind};
use super::server::Secret;
use super::surroundings::Surroundings;
use super::value::Reader;

/// The keys of `oauth`.
const KEYS: [&str; 6] = [
    "clientId",
    "clientSecretEnv",
    "clientMetadataUrl",
    "issuer",
    "scopes",
    "callbackPort",
];

/// How to log in to a server. The default registers a client by itself and asks for the scopes that the server names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OAuthConfig {
    /// A client that was registered by hand. `clientId`.
    pub client_id: Option<String>,
    /// The variable that holds that client's secret. `clientSecretEnv`.
    pub client_secret_env: Option<String>,
    /// The secret as it was when the entry was checked.
    pub client_secret: Option<Secret>,
    /// The address of a client metadata document: `https`, with a path. `clientMetadataUrl`.
    pub client_metadata_url: Option<Url>,
    /// The authorization server that `client_id` is registered with. Default: the one that the server names. `issuer`.
    pub issuer: Option<String>,
    /// Scopes to ask for always, beside those that the server wants. `scopes`.
    pub scopes: Vec<String>,
    /// The local port that the browser comes back to, for clients registered with one. Default: any. `callbackPort`.
    pub callback_port: Option<u16>,
}

/// What an entry says of logging in.
#[derive(Debug, Clone, Default)]
pub(super) enum Said {
    /// Nothing: a server that asks for a login gets one.
    #[default]
    Nothing,
    /// Never.
    Off,
    /// In this way.
    On(Box<OAuthConfig>),
}

/// Reads the value of `oauth`; what cannot be read is in `findings`.
pub(super) fn read(
    value: &Value<'_>,
    shape: Shape,
    expander: &mut Expander<'_>,
    findings: &mut Findings,
) -> Option<Said> {
    match value {
        Value::NullKeyword(_) => return Some(Said::Off),
        Value::BooleanLit(literal) if literal.value => {
            return Some(Said::On(Box::default()));
        }
        Value::BooleanLit(_) => return Some(Said::Off),
        _ => {}
    }
    let Some(object) = value.as_object() else {
        let expected = Expected::ObjectOrBoolean;
        findings.problem("oauth".to_owned(), ProblemKind::Expected { expected });
        return None;
    };
    let mut config = OAuthConfig::default();
    for prop in &object.properties {
        let key = prop.name.as_str();
        let field = format!("oauth.{}", sayable(key));
        findings.locate(field.clone(), prop.start());
        let reader = Reader {
            field: &field,
            value: &prop.value,
            findings,
        };
        match key {
            "scopes" => config.scopes = reader.texts().unwrap_or_default(),
            "callbackPort" => config.callback_port = reader.port(),
            "clientSecretEnv" => config.client_secret_env = reader.non_empty().map(str::to_owned),
            "clientId" | "clientMetadataUrl" | "issuer" => {
                let Some(text) = reader.non_empty().map(str::to_owned) else {
                    continue;
                };
                let text = match shape {
                    Shape::Array => text,
                    Shape::Map => expander.expand(&text, &field, findings).text,
                };
                match key {
                    "clientId" => config.client_id = Some(text),
                    "issuer" => config.issuer = Some(text),
                    _ => match Url::parse(&text) {
                        Ok(url) => config.client_metadata_url = Some(url),
                        Err(_) => findings.problem(field, ProblemKind::Url),
                    },
                }
            }
            _ if is_literal_secret(key) => findings.problem(field, ProblemKind::LiteralSecret),
            _ => unknown(key, field, shape, findings),
        }
    }
    Some(Said::On(Box::new(config)))
}

/// Whether a text is a scope: visible ASCII without a quote and a backslash (RFC 6749, section 3.3).
pub(super) fn is_scope(text: &str) -> bool {
    let is_of_one = |byte: u8| (b'!'..=b'~').contains(&byte) && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(is_of_one)
}

fn unknown(key: &str, field: String, shape: Shape, findings: &mut Findings) {
    let said = sayable(key);
    match shape {
        Shape::Map => findings.warning(field, WarningKind::UnknownKey { key: said }),
        Shape::Array => {
            let nearest = keys::nearest_of(&KEYS, key);
            findings.problem(field, ProblemKind::UnknownKey { key: said, nearest });
        }
    }
}

/// Whether a key holds a secret itself (K5).
fn is_literal_secret(key: &str) -> bool {
    keys::is_literal_token(key)
        || matches!(
            key,
            "clientSecret"
                | "client_secret"
                | "CLIENT_SECRET"
                | "secret"
                | "refreshToken"
                | "refresh_token"
        )
}

impl Said {
    /// The field, if it says how to log in.
    pub(super) fn is_on(&self) -> Option<&'static str> {
        matches!(self, Self::On(_)).then_some("oauth")
    }

    /// Warns that nothing is logged in to over a WebSocket, if it says how.
    pub(super) fn without_effect(&self, findings: &mut Findings) -> Option<OAuthConfig> {
        if let Some(field) = self.is_on() {
            let endpoint = "a WebSocket";
            findings.warning(field.to_owned(), WarningKind::NoEffect { endpoint });
        }
        None
    }

    /// How the server behind a URL is logged in to, checked; `None` if it is not.
    pub(super) fn settle(
        &self,
        has_bearer: bool,
        headers: &BTreeMap<String, String>,
        surroundings: &dyn Surroundings,
        findings: &mut Findings,
    ) -> Option<OAuthConfig> {
        let mut config = match self {
            Self::Off => return None,
            Self::Nothing if has_bearer => return None,
            // A header that authorises goes with each request already.
            Self::Nothing
                if headers
                    .keys()
                    .any(|name| name.eq_ignore_ascii_case("authorization")) =>
            {
                return None;
            }
            Self::Nothing => OAuthConfig::default(),
            Self::On(config) => OAuthConfig::clone(config),
        };
        if has_bearer {
            let advice = ": \"bearerTokenEnv\" goes before it";
            findings.warning("oauth".to_owned(), WarningKind::Ignored { advice });
        }
        let field = |name: &str| format!("oauth.{name}");
        if let Some(name) = &config.client_secret_env {
            config.client_secret =
                secret_of_variable(name, &field("clientSecretEnv"), surroundings, findings);
            if config.client_id.is_none() {
                let kind = ProblemKind::MissingKey { key: "clientId" };
                findings.problem(field("clientSecretEnv"), kind);
            }
        }
        if config.issuer.is_some() && config.client_id.is_none() {
            let advice = " without \"clientId\": it says where that is registered";
            findings.warning(field("issuer"), WarningKind::Ignored { advice });
        }
        if let Some(url) = &config.client_metadata_url
            && (url.scheme() != "https" || url.path() == "/")
        {
            findings.problem(field("clientMetadataUrl"), ProblemKind::ClientMetadataUrl);
        }
        for (at, scope) in config.scopes.iter().enumerate() {
            if !is_scope(scope) {
                findings.problem(format!("oauth.scopes[{at}]"), ProblemKind::Scope);
            }
        }
        (!has_bearer).then_some(config)
    }
}

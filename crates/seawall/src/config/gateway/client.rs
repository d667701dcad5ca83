//! `clients`: who may come.

use std::collections::BTreeMap;

use jsonc_parser::ast::Value;

use super::super::names::is_server_id;
use super::super::problem::{Expected, ProblemKind};
use super::read::Reading;
use super::{ClientConfig, GatewayFault, TokenDigest};
use crate::policy::{Envelope, Pattern};

/// The keys of a client.
const KEYS: [&str; 7] = [
    "token",
    "tokenSha256",
    "claims",
    "envelope",
    "include",
    "exclude",
    "toolSearch",
];

const MAX_NAME_CHARS: usize = 64;
/// A token of fewer could be tried out.
const MIN_TOKEN_CHARS: usize = 16;

/// Every client, in the order of the file.
pub(super) fn read_all(
    reading: &mut Reading<'_, '_>,
    field: &str,
    value: &Value<'_>,
) -> Vec<ClientConfig> {
    let Some(object) = reading.object(field, value) else {
        return Vec::new();
    };
    let members = reading.members(field, object);
    let clients = members.into_iter();
    clients
        .filter_map(|(name, field, value)| read(reading, name, &field, value))
        .collect()
}

/// What only all of them together tell; `auth` is the field of it, if it is there.
pub(super) fn check_all(
    reading: &mut Reading<'_, '_>,
    clients: &[ClientConfig],
    auth: Option<String>,
) {
    let field = |client: &ClientConfig, key| format!("gateway.clients.{}.{key}", client.name);
    for (at, client) in clients.iter().enumerate() {
        let mut before = clients.iter().take(at);
        if client.token.is_some() && before.any(|other| other.token == client.token) {
            reading.fault(field(client, "token"), GatewayFault::SharedToken);
        }
        if client.claims.is_some() && auth.is_none() {
            reading.fault(field(client, "claims"), GatewayFault::ClaimsWithoutAuth);
        }
    }
    if let Some(auth) = auth
        && clients.iter().all(|client| client.claims.is_none())
    {
        reading.fault(auth, GatewayFault::AuthWithoutClaims);
    }
}

fn read(
    reading: &mut Reading<'_, '_>,
    name: &str,
    field: &str,
    value: &Value<'_>,
) -> Option<ClientConfig> {
    if !is_server_id(name) || name == "local" || name.chars().count() > MAX_NAME_CHARS {
        reading.fault(field.to_owned(), GatewayFault::ClientName);
    }
    let object = reading.object(field, value)?;
    let mut client = ClientConfig {
        name: name.to_owned(),
        token: None,
        claims: None,
        envelope: Envelope::everything(),
        include: None,
        exclude: Vec::new(),
        tool_search: None,
    };
    let has_both = object.get("token").is_some() && object.get("tokenSha256").is_some();
    for (key, field, value) in reading.members(field, object) {
        match key {
            "token" => client.token = token(reading, &field, value),
            "tokenSha256" if has_both => reading.fault(field, GatewayFault::TwoTokens),
            "tokenSha256" => {
                let text = reading.text(&field, value);
                let digest = text.map(|(text, _)| TokenDigest::from_hex(&text));
                match digest {
                    Some(None) => reading.fault(field, GatewayFault::NotADigest),
                    digest => client.token = digest.flatten(),
                }
            }
            "claims" => client.claims = claims(reading, &field, value),
            "envelope" => {
                let parse = |text: &str| text.parse().map_err(|_| GatewayFault::Pattern);
                let patterns: Vec<Pattern> = reading.each(&field, value, parse);
                if value
                    .as_array()
                    .is_some_and(|array| array.elements.is_empty())
                {
                    reading.fault(field, GatewayFault::EmptyEnvelope);
                }
                client.envelope = patterns.into_iter().collect();
            }
            "include" => {
                let names = selectors(reading, &field, value);
                if value
                    .as_array()
                    .is_some_and(|array| array.elements.is_empty())
                {
                    reading.findings.problem(field, ProblemKind::EmptyInclude);
                }
                client.include = Some(names);
            }
            "exclude" => client.exclude = selectors(reading, &field, value),
            "toolSearch" => client.tool_search = reading.at(&field, value).boolean(),
            _ => reading.unknown(field, key, &KEYS),
        }
    }
    Some(client)
}

fn token(reading: &mut Reading<'_, '_>, field: &str, value: &Value<'_>) -> Option<TokenDigest> {
    let problems = reading.findings.problem_count();
    let (token, is_literal) = reading.text(field, value)?;
    // RFC 6750, section 2.1.
    let is_sent = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    let fault = if reading.findings.problem_count() > problems {
        // A variable of it is not set, which was told.
        return None;
    } else if is_literal {
        GatewayFault::LiteralToken
    } else if !token.bytes().all(is_sent) {
        GatewayFault::TokenCharacters
    } else if token.len() < MIN_TOKEN_CHARS {
        GatewayFault::ShortToken
    } else {
        return Some(TokenDigest::of(&token));
    };
    reading.fault(field.to_owned(), fault);
    None
}

fn claims(
    reading: &mut Reading<'_, '_>,
    field: &str,
    value: &Value<'_>,
) -> Option<BTreeMap<String, String>> {
    let object = reading.object(field, value)?;
    let mut claims = BTreeMap::new();
    for (claim, field, value) in reading.members(field, object) {
        if value.as_string_lit().is_none() {
            let expected = Expected::Text;
            reading
                .findings
                .problem(field, ProblemKind::Expected { expected });
        } else if let Some((text, _)) = reading.text(&field, value) {
            claims.insert(claim.to_owned(), text);
        }
    }
    Some(claims)
}

/// Names of servers, and of things of servers.
fn selectors(reading: &mut Reading<'_, '_>, field: &str, value: &Value<'_>) -> Vec<String> {
    let servers = reading.servers;
    reading.each(field, value, |text| {
        let (server, name) = match text.split_once('/') {
            None => (text, None),
            Some((server, name)) => (server, Some(name)),
        };
        if !is_server_id(server) || name == Some("") {
            return Err(GatewayFault::Selector);
        }
        if !servers.contains(server) {
            return Err(GatewayFault::UnknownServer);
        }
        Ok(text.to_owned())
    })
}

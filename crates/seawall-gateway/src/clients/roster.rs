//! Who may come, as the configuration says.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use seawall::config::{ClientConfig, GatewayConfig, TokenDigest};
use serde_json::{Map, Value};
use subtle::ConstantTimeEq as _;

use super::Client;

/// The clients of a configuration. Debug shows their names alone.
pub struct Roster(Vec<Entry>);

struct Entry {
    client: Arc<Client>,
    token: Option<TokenDigest>,
    claims: Option<BTreeMap<String, String>>,
}

impl Roster {
    /// The clients of a checked configuration.
    #[must_use]
    pub fn of(config: &GatewayConfig) -> Self {
        let entry = |said: &ClientConfig| Entry {
            client: Arc::new(Client::of(said, config)),
            token: said.token,
            claims: said.claims.clone(),
        };
        Self(config.clients.iter().map(entry).collect())
    }

    /// The client of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Arc<Client>> {
        let found = self.0.iter().find(|entry| entry.client.name() == name);
        found.map(|entry| Arc::clone(&entry.client))
    }

    /// The names, in the order of the configuration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| entry.client.name())
    }

    /// Whether anybody is known by a token of its own.
    pub(super) fn has_tokens(&self) -> bool {
        self.0.iter().any(|entry| entry.token.is_some())
    }

    /// Whose token it is. How long it takes says nothing of the tokens that there are.
    pub(super) fn of_token(&self, token: &str) -> Option<Arc<Client>> {
        let digest = TokenDigest::of(token);
        let mut found = None;
        for entry in &self.0 {
            let Some(own) = entry.token else { continue };
            if bool::from(own.as_bytes().ct_eq(digest.as_bytes())) {
                found = Some(Arc::clone(&entry.client));
            }
        }
        found
    }

    /// Whose access token has these claims: the first who asks for no others.
    pub(super) fn of_claims(&self, claims: &Map<String, Value>) -> Option<Arc<Client>> {
        let found = self.0.iter().find(|entry| {
            let wanted = entry.claims.as_ref();
            wanted.is_some_and(|wanted| {
                let mut wanted = wanted.iter();
                wanted.all(|(claim, value)| holds(claims.get(claim), claim, value))
            })
        });
        let client = &found?.client;
        Some(match claims.get("sub").and_then(Value::as_str) {
            Some(subject) => Arc::new(Client::clone(client).on_behalf_of(subject)),
            None => Arc::clone(client),
        })
    }
}

/// Whether a claim is the value, or has it among others: in an array, or in the list of words that `scope` is (RFC 9068,
/// section 2.2.3).
fn holds(claim: Option<&Value>, name: &str, value: &str) -> bool {
    match claim {
        Some(Value::String(text)) if name == "scope" => text.split(' ').any(|word| word == value),
        Some(Value::String(text)) => text == value,
        Some(Value::Array(values)) => values.iter().any(|one| one == value),
        _ => false,
    }
}

/// Whether the token's `scope`, or `scp` as others write it, has all of these.
pub(super) fn has_scopes(claims: &Map<String, Value>, scopes: &[String]) -> bool {
    let given = ["scope", "scp"].map(|claim| claims.get(claim));
    let is_given = |scope: &String| {
        let mut given = given.iter();
        given.any(|claim| holds(*claim, "scope", scope))
    };
    scopes.iter().all(is_given)
}

impl fmt::Debug for Roster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

//! The section, checked.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::JournalConfig;
use crate::policy::Envelope;

/// How a gateway offers the servers, and to whom. The default is a file without the section: no client is named.
///
/// Serialised it is what `seawall check` shows: nothing in it is secret.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GatewayConfig {
    /// How tools are named. `names`.
    pub names: Option<GatewayNames>,
    /// What clients see of servers' error texts. `remoteErrors`.
    pub remote_errors: Option<GatewayErrors>,
    /// Whether clients are offered a search instead of the list of all tools. Default: no. `toolSearch`.
    pub tool_search: bool,
    /// The hosts that it answers as beside loopback names: lower case, without a port. `hosts`.
    pub hosts: Vec<String>,
    /// The origins whose pages it answers beside loopback ones: `scheme://host[:port]`. `origins`.
    pub origins: Vec<String>,
    /// Who may come, in the order of the file. `clients`.
    pub clients: Vec<ClientConfig>,
    /// Whose access tokens are taken, if anybody's. `auth`.
    pub auth: Option<AuthConfig>,
    /// Where calls are recorded, and how. `journal`.
    pub journal: JournalConfig,
}

/// One client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ClientConfig {
    /// Its name, by which logs and the journal know it. The key in `clients`.
    pub name: String,
    /// The token that it presents. `token`, `tokenSha256`.
    pub token: Option<TokenDigest>,
    /// What an access token of it holds: each of these claims with this value, or with it among others. `claims`.
    pub claims: Option<BTreeMap<String, String>>,
    /// What it is trusted with. Default: everything. `envelope`.
    #[serde(serialize_with = "patterns")]
    pub envelope: Envelope,
    /// The servers, and the `server/tool`s, that it sees. Default: all. `include`.
    pub include: Option<Vec<String>>,
    /// Those of them that it does not see. `exclude`.
    pub exclude: Vec<String>,
    /// Its own word on [`GatewayConfig::tool_search`]. `toolSearch`.
    pub tool_search: Option<bool>,
}

/// How access tokens are checked: the gateway as an OAuth 2.1 resource server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuthConfig {
    /// Who issues them, as it stands in them. `issuer`.
    pub issuer: String,
    /// For whom they have to be, as it stands in them. `audience`.
    pub audience: String,
    /// The gateway's own address, for its metadata (RFC 9728). Default: the audience. `resource`.
    pub resource: Url,
    /// Where the issuer's keys are. Default: where its metadata says. `jwksUri`.
    pub jwks_uri: Option<Url>,
    /// The scopes that every token needs. `scopes`.
    pub scopes: Vec<String>,
}

/// How a gateway names tools. `names`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum GatewayNames {
    /// `server__tool`.
    Scoped,
    /// The tools' own names.
    Plain,
}

/// What clients of a gateway see of servers' error texts. `remoteErrors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum GatewayErrors {
    /// The text, after redaction.
    Redacted,
    /// Nothing. `withhold`.
    Withheld,
}

/// The SHA-256 of a token. Neither Debug nor serialisation shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Of a token.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Out of 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).ok()?;
            if !pair.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            *byte = u8::from_str_radix(pair, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

impl Serialize for TokenDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("****")
    }
}

fn patterns<S: Serializer>(envelope: &Envelope, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        envelope
            .patterns()
            .iter()
            .map(crate::policy::Pattern::as_str),
    )
}

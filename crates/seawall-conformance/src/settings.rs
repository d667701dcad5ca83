//! What the suite tells the client: the server's URL as the last argument, the rest in variables.

#[cfg(test)]
mod tests;

use seawall::Revision;
use serde::Deserialize;

const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";
const REVISION: &str = "MCP_CONFORMANCE_PROTOCOL_VERSION";

/// One run of the client.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where the scenario's server is.
    pub(crate) url: String,
    /// The scenario's name, such as `auth/basic-cimd`.
    pub(crate) scenario: String,
    /// The revision whose rules the scenario's server speaks by.
    pub(crate) revision: Revision,
    /// What else the scenario gives its client.
    pub(crate) context: Context,
}

/// What a scenario gives its client beside the URL: names as in the suite's `src/schemas/context.ts`.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(tag = "name")]
pub(crate) enum Context {
    /// The tool calls to make, with exactly these arguments.
    #[serde(rename = "http-custom-headers")]
    ToolCalls {
        #[serde(rename = "toolCalls")]
        tool_calls: Vec<ToolCall>,
    },
    /// A client that signs its assertions with this key.
    #[serde(rename = "auth/client-credentials-jwt")]
    SigningKey {
        client_id: String,
        private_key_pem: String,
        signing_algorithm: Option<String>,
    },
    /// A client that knows its secret.
    #[serde(
        rename = "auth/pre-registration",
        alias = "auth/client-credentials-basic"
    )]
    Secret {
        client_id: String,
        client_secret: String,
    },
    /// A client whose user logged in at the company's identity provider.
    #[serde(rename = "auth/enterprise-managed-authorization")]
    Enterprise {
        client_id: String,
        client_secret: String,
        idp_client_id: String,
        idp_id_token: String,
        idp_issuer: String,
        idp_token_endpoint: String,
    },
    /// A workload, and the assertions that its platform issued; only the first is meant to be used.
    #[serde(rename = "auth/wif-jwt-bearer")]
    Workload {
        client_id: String,
        valid_jwt: String,
        wrong_audience_jwt: String,
        expired_jwt: String,
    },
    /// Nothing, or nothing that is known here.
    #[default]
    #[serde(other)]
    Nothing,
}

/// One call that the scenario asks for.
#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    pub(crate) arguments: serde_json::Value,
}

/// Why the client cannot know what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("usage: {SCENARIO}=… {REVISION}=… conformance-client URL")]
    Usage,
    #[error("{REVISION} is no revision that Seawall speaks")]
    Revision,
    #[error("{CONTEXT} cannot be read")]
    Context(#[source] serde_json::Error),
}

impl Settings {
    /// Reads the last of the arguments and the suite's variables.
    ///
    /// # Errors
    /// If something that every scenario has is missing or makes no sense.
    pub(crate) fn resolve(
        arguments: impl Iterator<Item = String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let url = arguments.last().ok_or(SettingsError::Usage)?;
        let scenario = variable(SCENARIO).ok_or(SettingsError::Usage)?;
        let revision = variable(REVISION).ok_or(SettingsError::Usage)?;
        let context = match variable(CONTEXT) {
            Some(text) => serde_json::from_str(&text).map_err(SettingsError::Context)?,
            None => Context::Nothing,
        };
        Ok(Self {
            url,
            scenario,
            revision: revision.parse().map_err(|_| SettingsError::Revision)?,
            context,
        })
    }
}

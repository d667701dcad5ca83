//! What one checked entry holds.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use seawall_proto::limits::Limits;
use seawall_proto::mcp::revision::Revision;
use url::Url;

use super::credentials::looks_like_credential;
use super::oauth::OAuthConfig;
use super::problem::Warning;
use crate::policy::Grant;
use crate::terms::locator::Locator;
use crate::terms::policy::McplPolicy;

/// Default of [`ServerConfig::reconnect_interval`].
pub const DEFAULT_RECONNECT_INTERVAL: Duration = Duration::from_millis(5_000);
/// Default of [`ServerConfig::reconnect_max_interval`].
pub const DEFAULT_RECONNECT_MAX_INTERVAL: Duration = Duration::from_millis(300_000);

/// Everything that one entry says, checked.
///
/// One that exists is valid: it comes out of [`check`](super::check) or out of the builder that
/// [`ServerConfig::stdio`] and [`ServerConfig::url`] begin, and both run the same checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    pub(super) server: String,
    pub(super) endpoint: Endpoint,
    pub(super) protocol: Protocol,
    pub(super) limits: Limits,
    pub(super) max_total_timeout: Duration,
    pub(super) name_prefix: String,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) grant: Grant,
    pub(super) reconnect: Reconnect,
    pub(super) reconnect_interval: Duration,
    pub(super) reconnect_max_interval: Duration,
    pub(super) required: bool,
    pub(super) catalog: CatalogMode,
    pub(super) mcpl: Option<McplPolicy>,
    pub(super) warnings: Vec<Warning>,
}

impl ServerConfig {
    /// The server's id: not empty, without `/`, control, format and line-separator characters, not `.` or `..`.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Where the server is.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// How the server is spoken to.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The bounds on the server.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Bounds a call whose progress restarts the request timeout. Default: [`Limits::request_timeout`], which
    /// leaves progress without effect. `maxTotalTimeoutMs`.
    #[must_use]
    pub fn max_total_timeout(&self) -> Duration {
        self.max_total_timeout
    }

    /// What comes before `/<tool>` in the names of the server's flows. Default: `mcp/<server>`. `namePrefix`.
    #[must_use]
    pub fn name_prefix(&self) -> &str {
        &self.name_prefix
    }

    /// The only tools to offer, by their exact names. Empty: all of them. `include`.
    #[must_use]
    pub fn include(&self) -> &[String] {
        &self.include
    }

    /// Tools to leave out, by their exact names, after [`ServerConfig::include`]. `exclude`.
    #[must_use]
    pub fn exclude(&self) -> &[String] {
        &self.exclude
    }

    /// Whether `include` and `exclude` let the tool of this exact name through.
    #[must_use]
    pub fn admits_tool(&self, name: &str) -> bool {
        (self.include.is_empty() || self.include.iter().any(|wanted| wanted == name))
            && !self.exclude.iter().any(|unwanted| unwanted == name)
    }

    /// What the server's flows declare. Default: everything, one call of a run after the other. `grant`, `onConflict`.
    #[must_use]
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// Whether a lost connection is made again. `reconnect`.
    #[must_use]
    pub fn reconnect(&self) -> Reconnect {
        self.reconnect
    }

    /// The first delay before a reconnect. `reconnectIntervalMs`.
    #[must_use]
    pub fn reconnect_interval(&self) -> Duration {
        self.reconnect_interval
    }

    /// The longest delay before a reconnect; never below [`ServerConfig::reconnect_interval`].
    /// `reconnectMaxIntervalMs`.
    #[must_use]
    pub fn reconnect_max_interval(&self) -> Duration {
        self.reconnect_max_interval
    }

    /// Whether any failure of the server stops the host. `required`.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// Whether the published tools follow the server's changes. `catalog`.
    #[must_use]
    pub fn catalog(&self) -> CatalogMode {
        self.catalog
    }

    /// What a server of MCPL is allowed. `None`: the entry is none of MCPL (K8). `enabledCapabilities`,
    /// `disabledCapabilities`, `enabledFeatureSets`, `disabledFeatureSets`, `mcplPolicy`, `channelSubscription`,
    /// `autofetch`, `toolLifecycle`.
    #[must_use]
    pub fn mcpl(&self) -> Option<&McplPolicy> {
        self.mcpl.as_ref()
    }

    /// What the checks of the entry warned of, without lines and columns.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// A child process that speaks over its stdin and stdout.
    Stdio(StdioConfig),
    /// Streamable HTTP.
    Http(NetworkConfig),
    /// A WebSocket (MCPL).
    WebSocket(NetworkConfig),
}

/// How to start a child process. Debug hides the environment's values and what looks like a credential in `args`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StdioConfig {
    /// The program; a bare name is looked up in the `PATH` that the child gets.
    pub command: String,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The working directory. `None`: the host's own.
    pub cwd: Option<PathBuf>,
    /// Declared variables, expanded; they win over everything that is passed on.
    pub env: BTreeMap<String, String>,
    /// Names of the host's variables to pass on beside the fixed few.
    pub pass_env: Vec<String>,
    /// Whether the host's whole environment is passed on.
    pub inherit_env: bool,
}

impl fmt::Debug for StdioConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args: Vec<&str> = self
            .args
            .iter()
            .map(|arg| {
                if looks_like_credential(arg) {
                    "****"
                } else {
                    arg.as_str()
                }
            })
            .collect();
        f.debug_struct("StdioConfig")
            .field("command", &self.command)
            .field("args", &args)
            .field("cwd", &self.cwd)
            .field("env", &HiddenValues(&self.env))
            .field("pass_env", &self.pass_env)
            .field("inherit_env", &self.inherit_env)
            .finish()
    }
}

/// How to reach a server on the network. Debug hides the headers' values, the token and the URL beyond its origin.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkConfig {
    /// An absolute URL: `http`, `https`, `ws` or `wss`. What is dialed.
    pub url: Url,
    /// The address as it was written, where it is an `mcpl` one; `url` is what it resolves to.
    pub locator: Option<Locator>,
    /// Headers of each request, expanded.
    pub headers: BTreeMap<String, String>,
    /// The variable that holds the bearer token, to resolve it again when the server refuses it.
    pub bearer_token_env: Option<String>,
    /// The bearer token as it was when the entry was checked.
    pub bearer_token: Option<Secret>,
    /// How to log in where the server asks for that; `None`: not at all, or with the bearer token.
    pub oauth: Option<OAuthConfig>,
}

impl NetworkConfig {
    /// The headers, their values marked as sensitive.
    ///
    /// # Errors
    /// The name of the first one that no request can carry.
    pub fn header_map(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let unusable = || name.clone();
            let name = HeaderName::try_from(name.as_str()).map_err(|_| unusable())?;
            let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| unusable())?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        Ok(headers)
    }
}

impl fmt::Debug for NetworkConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.url.origin().ascii_serialization();
        f.debug_struct("NetworkConfig")
            .field("url", &format_args!("{origin}/****"))
            .field("headers", &HiddenValues(&self.headers))
            .field("bearer_token_env", &self.bearer_token_env)
            .field("bearer_token", &self.bearer_token)
            .field("oauth", &self.oauth)
            .finish()
    }
}

/// A text that Debug prints as `****`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("****")
    }
}

/// How a server is spoken to (K7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// A revision with a handshake, negotiated. The default of a `command`.
    Legacy,
    /// A stateless revision, 2026-07-28 and later.
    Modern,
    /// 2024-11-05 with the MCP Live extension. The default of a `ws` or `wss` URL.
    Mcpl,
    /// Found out by asking. The default of an `http` or `https` URL.
    Auto,
    /// Exactly this revision.
    Pinned(Revision),
}

/// Whether a lost connection is made again (H2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Reconnect {
    /// The entry does not say: off in the library, on in a host that runs by itself. The default.
    #[default]
    Unsaid,
    /// The entry says yes.
    On,
    /// The entry says no.
    Off,
}

/// Whether the published tools follow the server's changes (H5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CatalogMode {
    /// A change that the server announces is fetched and published. The default.
    #[default]
    Live,
    /// The tools of the connect stay until the next connect.
    Frozen,
}

/// A map whose Debug shows names only.
struct HiddenValues<'a>(&'a BTreeMap<String, String>);

impl fmt::Debug for HiddenValues<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.0.keys().map(|name| (name, format_args!("****"))))
            .finish()
    }
}

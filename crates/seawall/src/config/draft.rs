//! An entry whose values have their types, and the checks that make a [`ServerConfig`] of it.
//!
//! The file and the builder both end here, so an entry that exists passed the same checks whichever way it came.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use seawall_proto::limits::{Limits, MAX_LIMIT, MAX_TIMEOUT_MS};
use url::{Host, Url};

use super::credentials::{
    is_credential_name, looks_like_credential, sayable, secret_of_variable, url_credentials,
};
use super::findings::Findings;
use super::grant;
use super::names::{
    is_framing_header, is_header_name, is_header_value, is_name_prefix, is_server_id,
    is_variable_name,
};
use super::oauth;
use super::problem::{Expected, ProblemKind, WarningKind};
use super::server::{
    CatalogMode, DEFAULT_RECONNECT_INTERVAL, DEFAULT_RECONNECT_MAX_INTERVAL, Endpoint,
    NetworkConfig, Protocol, Reconnect, Secret, ServerConfig, StdioConfig,
};
use super::surroundings::Surroundings;

/// What `transport` or `type` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Stdio,
    Http,
    WebSocket,
}

impl Transport {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::WebSocket => "websocket",
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct Draft {
    pub(super) server: String,
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) pass_env: Vec<String>,
    pub(super) inherit_env: bool,
    pub(super) url: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) bearer_token_env: Option<String>,
    pub(super) transport: Option<Transport>,
    pub(super) protocol: Option<Protocol>,
    pub(super) limits: Limits,
    pub(super) max_total_timeout: Option<Duration>,
    pub(super) name_prefix: Option<String>,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    /// What its flows declare.
    pub(super) grant: grant::Said,
    pub(super) reconnect: Reconnect,
    pub(super) reconnect_interval: Option<Duration>,
    pub(super) reconnect_max_interval: Option<Duration>,
    pub(super) required: bool,
    pub(super) catalog: CatalogMode,
    /// Whether a `command` or `url` was written that could not be read; its problem is known by then.
    pub(super) endpoint_is_unread: bool,
    /// Fields whose value is written out and is a credential by its name or form (K5).
    pub(super) literal_credentials: Vec<String>,
    /// Fields that ask for MCPL behaviour (K8).
    pub(super) mcpl_asks: Vec<&'static str>,
    /// How the server is logged in to.
    pub(super) oauth: oauth::Said,
    /// Fields that were written and mean something for a program only, or for a URL only.
    pub(super) stdio_only: Vec<&'static str>,
    pub(super) network_only: Vec<&'static str>,
}

impl Draft {
    /// Makes an entry, or says in `findings` why not.
    pub(super) fn finish(
        self,
        surroundings: &dyn Surroundings,
        findings: &mut Findings,
    ) -> Option<ServerConfig> {
        let warnings = findings.warning_count();
        if !is_server_id(&self.server) {
            findings.problem("server".to_owned(), ProblemKind::ServerId);
        }
        self.check_common(findings);
        let grant = self.grant.settle(findings);
        let endpoint = self.endpoint(surroundings, findings)?;
        for field in &self.literal_credentials {
            findings.warning(field.clone(), WarningKind::LiteralCredential);
        }
        let protocol = self.protocol.unwrap_or(match endpoint {
            Endpoint::Stdio(_) => Protocol::Legacy,
            Endpoint::Http(_) => Protocol::Auto,
            Endpoint::WebSocket(_) => Protocol::Mcpl,
        });
        check_protocol(protocol, &endpoint, findings);
        if protocol != Protocol::Mcpl {
            for field in &self.mcpl_asks {
                findings.problem((*field).to_owned(), ProblemKind::McplPolicy);
            }
        }
        if !findings.entry_is_sound() {
            return None;
        }
        let reconnect_interval = self
            .reconnect_interval
            .unwrap_or(DEFAULT_RECONNECT_INTERVAL);
        Some(ServerConfig {
            name_prefix: self
                .name_prefix
                .unwrap_or_else(|| format!("mcp/{}", self.server)),
            server: self.server,
            endpoint,
            protocol,
            max_total_timeout: self
                .max_total_timeout
                .unwrap_or(self.limits.request_timeout),
            limits: self.limits,
            include: self.include,
            exclude: self.exclude,
            grant,
            reconnect: self.reconnect,
            reconnect_interval,
            reconnect_max_interval: self
                .reconnect_max_interval
                .unwrap_or(DEFAULT_RECONNECT_MAX_INTERVAL)
                .max(reconnect_interval),
            required: self.required,
            catalog: self.catalog,
            warnings: findings.warnings_since(warnings),
        })
    }

    fn check_common(&self, findings: &mut Findings) {
        if self
            .name_prefix
            .as_deref()
            .is_some_and(|prefix| !is_name_prefix(prefix))
        {
            findings.problem("namePrefix".to_owned(), ProblemKind::NamePrefix);
        }
        for (field, list) in [("include", &self.include), ("exclude", &self.exclude)] {
            check_not_empty(field, list, findings);
        }
        check_limits(&self.limits, findings);
        let intervals = [
            ("maxTotalTimeoutMs", self.max_total_timeout),
            ("reconnectIntervalMs", self.reconnect_interval),
            ("reconnectMaxIntervalMs", self.reconnect_max_interval),
        ];
        for (field, interval) in intervals {
            if interval.is_some_and(|interval| !is_timeout(interval)) {
                findings.problem(
                    field.to_owned(),
                    ProblemKind::Expected {
                        expected: Expected::Timeout,
                    },
                );
            }
        }
        let first = self
            .reconnect_interval
            .unwrap_or(DEFAULT_RECONNECT_INTERVAL);
        if self
            .reconnect_max_interval
            .is_some_and(|longest| longest < first)
        {
            findings.problem(
                "reconnectMaxIntervalMs".to_owned(),
                ProblemKind::ReconnectIntervals,
            );
        }
    }

    /// Which of the two the entry is (K6).
    fn endpoint(
        &self,
        surroundings: &dyn Surroundings,
        findings: &mut Findings,
    ) -> Option<Endpoint> {
        if self.endpoint_is_unread {
            return None;
        }
        let field = || "transport".to_owned();
        match (self.transport, &self.command, &self.url) {
            (None, None, None) => {
                findings.problem(None, ProblemKind::NoEndpoint);
                None
            }
            (None, Some(_), Some(_)) => {
                findings.problem(None, ProblemKind::TwoEndpoints);
                None
            }
            (Some(Transport::Stdio), None, _) => {
                findings.problem(field(), ProblemKind::TransportNeeds { key: "command" });
                None
            }
            (Some(Transport::Http | Transport::WebSocket), _, None) => {
                findings.problem(field(), ProblemKind::TransportNeeds { key: "url" });
                None
            }
            (None | Some(Transport::Stdio), Some(command), _) => {
                Some(self.stdio(command, findings))
            }
            (transport, _, Some(url)) => self.network(transport, url, surroundings, findings),
        }
    }

    fn stdio(&self, command: &str, findings: &mut Findings) -> Endpoint {
        self.refuse_stdio_credentials(findings);
        for field in self
            .network_only
            .iter()
            .filter(|field| **field != "bearerTokenEnv" && Some(**field) != self.oauth.is_on())
        {
            findings.warning(
                (*field).to_owned(),
                WarningKind::NoEffect {
                    endpoint: "\"command\"",
                },
            );
        }
        let texts = std::iter::once(("command".to_owned(), command))
            .chain(
                self.args
                    .iter()
                    .enumerate()
                    .map(|(at, arg)| (format!("args[{at}]"), arg.as_str())),
            )
            .chain(
                self.cwd
                    .iter()
                    .filter_map(|cwd| Some(("cwd".to_owned(), cwd.to_str()?))),
            );
        for (field, text) in texts {
            if text.contains('\0') {
                findings.problem(field, ProblemKind::NulCharacter);
            } else if text.is_empty() && !field.starts_with("args") {
                findings.problem(
                    field,
                    ProblemKind::Expected {
                        expected: Expected::NonEmptyText,
                    },
                );
            }
        }
        for (name, value) in &self.env {
            if !is_variable_name(name) {
                findings.problem("env".to_owned(), ProblemKind::VariableName);
            } else if value.contains('\0') {
                findings.problem(format!("env.{name}"), ProblemKind::NulCharacter);
            }
        }
        for (at, name) in self.pass_env.iter().enumerate() {
            if !is_variable_name(name) {
                findings.problem(format!("passEnv[{at}]"), ProblemKind::VariableName);
            }
        }
        Endpoint::Stdio(StdioConfig {
            command: command.to_owned(),
            args: self.args.clone(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            pass_env: self.pass_env.clone(),
            inherit_env: self.inherit_env,
        })
    }

    fn refuse_stdio_credentials(&self, findings: &mut Findings) {
        let bearer = self.bearer_token_env.is_some().then_some("bearerTokenEnv");
        for field in bearer.into_iter().chain(self.oauth.is_on()) {
            findings.problem(field.to_owned(), ProblemKind::CredentialOnStdio);
        }
    }

    fn network(
        &self,
        transport: Option<Transport>,
        url: &str,
        surroundings: &dyn Surroundings,
        findings: &mut Findings,
    ) -> Option<Endpoint> {
        for field in &self.stdio_only {
            findings.warning(
                (*field).to_owned(),
                WarningKind::NoEffect {
                    endpoint: "\"url\"",
                },
            );
        }
        let bearer_token = self.bearer_token(surroundings, findings);
        self.check_headers(findings);
        let Ok(url) = Url::parse(url) else {
            findings.problem("url".to_owned(), ProblemKind::Url);
            return None;
        };
        let (scheme, implied) = match url.scheme() {
            "http" => ("http", Transport::Http),
            "https" => ("https", Transport::Http),
            "ws" => ("ws", Transport::WebSocket),
            "wss" => ("wss", Transport::WebSocket),
            _ => {
                findings.problem("url".to_owned(), ProblemKind::Scheme);
                return None;
            }
        };
        if transport.is_some_and(|said| said != implied) {
            findings.problem(
                "transport".to_owned(),
                ProblemKind::TransportDisagrees { scheme },
            );
        }
        if implied == Transport::Http && (!url.username().is_empty() || url.password().is_some()) {
            findings.problem("url".to_owned(), ProblemKind::UserInfo);
        }
        self.warn_of_cleartext(&url, findings);
        let has_bearer = self.bearer_token_env.is_some();
        let oauth = match implied {
            Transport::Http => self
                .oauth
                .settle(has_bearer, &self.headers, surroundings, findings),
            _ => self.oauth.without_effect(findings),
        };
        let network = NetworkConfig {
            url,
            headers: self.headers.clone(),
            bearer_token_env: self.bearer_token_env.clone(),
            bearer_token,
            oauth,
        };
        Some(match implied {
            Transport::WebSocket => Endpoint::WebSocket(network),
            _ => Endpoint::Http(network),
        })
    }

    /// The token that `bearerTokenEnv` names (K5).
    fn bearer_token(
        &self,
        surroundings: &dyn Surroundings,
        findings: &mut Findings,
    ) -> Option<Secret> {
        let name = self.bearer_token_env.as_ref()?;
        let token = secret_of_variable(name, "bearerTokenEnv", surroundings, findings)?;
        if !is_header_value(token.reveal()) {
            let name = sayable(name);
            let kind = ProblemKind::VariableValue { name };
            findings.problem("bearerTokenEnv".to_owned(), kind);
        }
        Some(token)
    }

    fn check_headers(&self, findings: &mut Findings) {
        for (name, value) in &self.headers {
            if !is_header_name(name) {
                findings.problem("headers".to_owned(), ProblemKind::Header);
            } else if is_framing_header(name) {
                findings.problem(format!("headers.{name}"), ProblemKind::FramingHeader);
            } else if !is_header_value(value) {
                findings.problem(format!("headers.{name}"), ProblemKind::Header);
            }
        }
    }

    /// One warning for all credentials that would travel in the clear (K10).
    fn warn_of_cleartext(&self, url: &Url, findings: &mut Findings) {
        if !matches!(url.scheme(), "http" | "ws") || is_loopback(url) {
            return;
        }
        let headers = self
            .headers
            .iter()
            .filter(|(name, value)| {
                !value.is_empty() && (is_credential_name(name) || looks_like_credential(value))
            })
            .map(|(name, _)| format!("headers.{name}"));
        let fields: Vec<String> = self
            .bearer_token_env
            .is_some()
            .then(|| "bearerTokenEnv".to_owned())
            .into_iter()
            .chain(self.oauth.is_on().map(str::to_owned))
            .chain(headers)
            .chain(url_credentials(url).into_iter().map(str::to_owned))
            .collect();
        if let Some(first) = fields.first() {
            let place = first.split(' ').next().unwrap_or_default().to_owned();
            findings.warning(
                place,
                WarningKind::CleartextCredential {
                    fields: sayable(&fields.join(", ")),
                },
            );
        }
    }
}

fn check_not_empty(field: &str, list: &[String], findings: &mut Findings) {
    for (at, text) in list.iter().enumerate() {
        if text.is_empty() {
            let expected = Expected::NonEmptyText;
            findings.problem(format!("{field}[{at}]"), ProblemKind::Expected { expected });
        }
    }
}

/// The limits of a builder; those of a file are checked as they are read, and so pass here (K9).
fn check_limits(limits: &Limits, findings: &mut Findings) {
    let timeouts = [
        ("handshakeTimeoutMs", limits.handshake_timeout),
        ("requestTimeoutMs", limits.request_timeout),
    ];
    for (field, timeout) in timeouts {
        if !is_timeout(timeout) {
            findings.problem(
                field.to_owned(),
                ProblemKind::Expected {
                    expected: Expected::Timeout,
                },
            );
        }
    }
    let sizes = [
        ("queueCapacity", limits.queue_capacity),
        ("maxFrameBytes", limits.max_frame_bytes),
        ("maxOutboundFrameBytes", limits.max_outbound_frame_bytes),
        ("maxTools", limits.max_tools),
        ("maxToolNameBytes", limits.max_tool_name_bytes),
        ("maxToolDocumentBytes", limits.max_tool_document_bytes),
        ("maxCatalogPages", limits.max_catalog_pages),
        ("maxStderrBytes", limits.max_stderr_bytes),
        ("maxBufferedBytes", limits.max_buffered_bytes),
    ];
    for (field, size) in sizes {
        if size == 0 || u64::try_from(size).is_ok_and(|size| size > MAX_LIMIT) {
            findings.problem(
                field.to_owned(),
                ProblemKind::Expected {
                    expected: Expected::Limit,
                },
            );
        }
    }
}

/// Whether a duration is one that `…Ms` can say.
fn is_timeout(timeout: Duration) -> bool {
    (1..=u128::from(MAX_TIMEOUT_MS)).contains(&timeout.as_millis())
}

fn check_protocol(protocol: Protocol, endpoint: &Endpoint, findings: &mut Findings) {
    let word = match protocol {
        Protocol::Mcpl => "mcpl",
        Protocol::Modern => "modern",
        Protocol::Pinned(revision) if !revision.is_legacy() => "modern",
        Protocol::Pinned(_) | Protocol::Legacy | Protocol::Auto => return,
    };
    let transport = match (endpoint, word) {
        (Endpoint::Http(_), "mcpl") => Transport::Http,
        (Endpoint::WebSocket(_), "modern") => Transport::WebSocket,
        _ => return,
    };
    let kind = ProblemKind::ProtocolOverTransport {
        protocol: word,
        transport: transport.as_str(),
    };
    findings.problem("protocol".to_owned(), kind);
}

/// Whether a URL leads to this machine (K10): also as `localhost.` and as a mapped IPv4 address.
fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => {
            address.is_loopback()
                || address
                    .to_ipv4_mapped()
                    .is_some_and(|address| address.is_loopback())
        }
        Some(Host::Domain(domain)) => {
            let domain = domain.strip_suffix('.').unwrap_or(domain);
            domain == "localhost" || domain.ends_with(".localhost")
        }
        None => false,
    }
}

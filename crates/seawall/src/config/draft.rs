//! An entry whose values have their types, and the checks that make a [`ServerConfig`] of it.
//!
//! The file and the builder both end here, so an entry that exists passed the same checks whichever way it came.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use seawall_proto::limits::{Limits, MAX_LIMIT, MAX_TIMEOUT_MS};

use super::findings::Findings;
use super::grant;
use super::mcpl;
use super::names::{is_name_prefix, is_server_id};
use super::oauth;
use super::problem::{Expected, ProblemKind, WarningKind};
use super::server::{
    CatalogMode, DEFAULT_RECONNECT_INTERVAL, DEFAULT_RECONNECT_MAX_INTERVAL, Protocol, Reconnect,
    ServerConfig,
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
    pub(super) const fn as_str(self) -> &'static str {
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
    /// Which of `command` and `url` was written and could not be read; its problem is known by then.
    pub(super) unread: Vec<&'static str>,
    /// Fields whose value is written out and is a credential by its name or form (K5).
    pub(super) literal_credentials: Vec<String>,
    /// What it allows a server of MCPL (K8).
    pub(super) mcpl: mcpl::Said,
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
        let (transport, endpoint) = self.endpoint(surroundings, findings);
        for field in &self.literal_credentials {
            findings.warning(field.clone(), WarningKind::LiteralCredential);
        }
        let protocol = self.settle_protocol(transport, findings);
        let mcpl = self.mcpl.settle(protocol, findings);
        let (endpoint, protocol) = (endpoint?, protocol?);
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
            mcpl,
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

//! What an entry connects to, and the checks of every value that belongs to it.
//!
//! **Invariant:** a value is checked whatever else is wrong with its entry (K3).

use url::{Host, Url};

use super::credentials::{
    is_credential_name, looks_like_credential, sayable, secret_of_variable, url_credentials,
};
use super::draft::{Draft, Transport};
use super::findings::Findings;
use super::names::{is_framing_header, is_header_name, is_header_value, is_variable_name};
use super::problem::{Expected, ProblemKind, WarningKind};
use super::server::{Endpoint, NetworkConfig, Protocol, Secret, StdioConfig};
use super::surroundings::Surroundings;
use crate::terms::locator::Locator;

impl Draft {
    /// Which of the two the entry is (K6): its transport as far as it can be told, and its endpoint if there is one.
    pub(super) fn endpoint(
        &self,
        surroundings: &dyn Surroundings,
        findings: &mut Findings,
    ) -> (Option<Transport>, Option<Endpoint>) {
        let has_command = self.command.is_some() || self.unread.contains(&"command");
        let has_url = self.url.is_some() || self.unread.contains(&"url");
        let needs = |key| ProblemKind::TransportNeeds { key };
        let (field, kind) = match (self.transport, has_command, has_url) {
            (None, false, false) => (None, ProblemKind::NoEndpoint),
            (None, true, true) => (None, ProblemKind::TwoEndpoints),
            (Some(Transport::Stdio), true, _) | (None, true, false) => {
                return (Some(Transport::Stdio), self.stdio(findings));
            }
            (_, _, true) if self.transport != Some(Transport::Stdio) => {
                return self.network(surroundings, findings);
            }
            (Some(Transport::Stdio), ..) => (Some("transport"), needs("command")),
            _ => (Some("transport"), needs("url")),
        };
        findings.problem(field.map(str::to_owned), kind);
        // It is not known which of its values have an effect, so all are looked at.
        self.check_stdio_values(findings);
        let _ = self.network_values(self.transport, surroundings, findings);
        (self.transport, None)
    }

    /// How the server is spoken to: what the entry says, or what is usual over its transport.
    pub(super) fn settle_protocol(
        &self,
        transport: Option<Transport>,
        findings: &mut Findings,
    ) -> Option<Protocol> {
        let usual = transport.map(|transport| match transport {
            Transport::Stdio => Protocol::Legacy,
            Transport::Http => Protocol::Auto,
            Transport::WebSocket => Protocol::Mcpl,
        });
        let protocol = self.protocol.or(usual)?;
        if let Some(transport) = transport {
            check_protocol(protocol, transport, findings);
        }
        if protocol != Protocol::Mcpl {
            for field in self.mcpl.asks() {
                findings.problem(field.to_owned(), ProblemKind::McplPolicy);
            }
        }
        Some(protocol)
    }

    fn stdio(&self, findings: &mut Findings) -> Option<Endpoint> {
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
        self.check_stdio_values(findings);
        Some(Endpoint::Stdio(StdioConfig {
            command: self.command.clone()?,
            args: self.args.clone(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            pass_env: self.pass_env.clone(),
            inherit_env: self.inherit_env,
        }))
    }

    fn check_stdio_values(&self, findings: &mut Findings) {
        let args = self.args.iter().enumerate();
        let cwd = self.cwd.as_deref().and_then(|cwd| cwd.to_str());
        let texts = std::iter::empty()
            .chain(
                self.command
                    .as_deref()
                    .map(|text| ("command".to_owned(), text)),
            )
            .chain(args.map(|(at, arg)| (format!("args[{at}]"), arg.as_str())))
            .chain(cwd.map(|cwd| ("cwd".to_owned(), cwd)));
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
            }
            if value.contains('\0') {
                findings.problem(format!("env.{name}"), ProblemKind::NulCharacter);
            }
        }
        for (at, name) in self.pass_env.iter().enumerate() {
            if !is_variable_name(name) {
                findings.problem(format!("passEnv[{at}]"), ProblemKind::VariableName);
            }
        }
    }

    fn refuse_stdio_credentials(&self, findings: &mut Findings) {
        let bearer = self.bearer_token_env.is_some().then_some("bearerTokenEnv");
        for field in bearer.into_iter().chain(self.oauth.is_on()) {
            findings.problem(field.to_owned(), ProblemKind::CredentialOnStdio);
        }
    }

    fn network(
        &self,
        surroundings: &dyn Surroundings,
        findings: &mut Findings,
    ) -> (Option<Transport>, Option<Endpoint>) {
        for field in &self.stdio_only {
            findings.warning(
                (*field).to_owned(),
                WarningKind::NoEffect {
                    endpoint: "\"url\"",
                },
            );
        }
        self.network_values(self.transport, surroundings, findings)
    }

    /// The endpoint behind the URL, if that is one; every value is checked either way.
    fn network_values(
        &self,
        said: Option<Transport>,
        surroundings: &dyn Surroundings,
        findings: &mut Findings,
    ) -> (Option<Transport>, Option<Endpoint>) {
        let bearer_token = self.bearer_token(surroundings, findings);
        self.check_headers(findings);
        let url = self.checked_url(said, findings);
        let transport = url.as_ref().map(|(_, implied, _)| *implied).or(said);
        let has_bearer = self.bearer_token_env.is_some();
        let oauth = match transport {
            Some(Transport::WebSocket) => self.oauth.without_effect(findings),
            _ => self
                .oauth
                .settle(has_bearer, &self.headers, surroundings, findings),
        };
        let endpoint = url.map(|(url, implied, locator)| {
            let network = NetworkConfig {
                url,
                locator,
                headers: self.headers.clone(),
                bearer_token_env: self.bearer_token_env.clone(),
                bearer_token,
                oauth,
            };
            match implied {
                Transport::WebSocket => Endpoint::WebSocket(network),
                _ => Endpoint::Http(network),
            }
        });
        (transport, endpoint)
    }

    /// The URL to dial, the transport that its scheme implies, and the `mcpl` address that it is the URL of.
    fn checked_url(
        &self,
        said: Option<Transport>,
        findings: &mut Findings,
    ) -> Option<(Url, Transport, Option<Locator>)> {
        let text = self.url.as_deref()?;
        let locator = Locator::is_one(text).then(|| text.parse::<Locator>());
        let locator = match locator.transpose() {
            Ok(locator) => locator,
            Err(why) => {
                findings.problem("url".to_owned(), ProblemKind::Locator { why });
                return None;
            }
        };
        let url = match &locator {
            Some(locator) => Ok(locator.transport().clone()),
            None => Url::parse(text),
        };
        let Ok(url) = url else {
            findings.problem("url".to_owned(), ProblemKind::Url);
            return None;
        };
        let (scheme, implied) = match url.scheme() {
            _ if locator.is_some() => ("mcpl", Transport::WebSocket),
            "http" => ("http", Transport::Http),
            "https" => ("https", Transport::Http),
            "ws" => ("ws", Transport::WebSocket),
            "wss" => ("wss", Transport::WebSocket),
            _ => {
                findings.problem("url".to_owned(), ProblemKind::Scheme);
                return None;
            }
        };
        if said.is_some_and(|said| said != implied && said != Transport::Stdio) {
            findings.problem(
                "transport".to_owned(),
                ProblemKind::TransportDisagrees { scheme },
            );
        }
        if implied == Transport::Http && (!url.username().is_empty() || url.password().is_some()) {
            findings.problem("url".to_owned(), ProblemKind::UserInfo);
        }
        self.warn_of_cleartext(&url, findings);
        Some((url, implied, locator))
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
                continue;
            }
            if is_framing_header(name) {
                findings.problem(format!("headers.{name}"), ProblemKind::FramingHeader);
            }
            if !is_header_value(value) {
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

fn check_protocol(protocol: Protocol, transport: Transport, findings: &mut Findings) {
    let word = match protocol {
        Protocol::Mcpl => "mcpl",
        Protocol::Modern => "modern",
        Protocol::Pinned(revision) if !revision.is_legacy() => "modern",
        Protocol::Pinned(_) | Protocol::Legacy | Protocol::Auto => return,
    };
    if !matches!(
        (transport, word),
        (Transport::Http, "mcpl") | (Transport::WebSocket, "modern")
    ) {
        return;
    }
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

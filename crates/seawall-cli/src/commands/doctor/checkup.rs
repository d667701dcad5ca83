//! What one server's visit found, and the verdict.

use std::sync::Arc;
use std::time::Duration;

use seawall::client::Report;
use seawall::config::{Endpoint, ServerConfig};
use seawall::mcp::{Catalog, Quarantined, Tool};
use seawall::redact::shown_url;
use seawall::{Client, EraSource, Error, Session, Step, Transport};
use serde::Serialize;

use super::mcpl::{Live, Standing};
use super::remedy;
use crate::commands::outputs::Unusable;
use crate::failure::{ErrorReport, Status};
use crate::logins::LoginState;
use crate::printer::{Heard, count_invisible};

/// From this share of a limit on, the limit is worth a word, in percent.
const NEAR_PERCENT: u64 = 80;
/// From here on an unanswered question is worth a word.
const SLOW_PROBE_MS: f64 = 1_000.0;
/// The limit that only says how much is kept.
const KEPT_STDERR: &str = "maxStderrBytes";

/// How a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// Nothing keeps it from work.
    Healthy,
    /// It works, but for tools that are left out or cannot be called.
    Degraded,
    /// It does not work, or does not end.
    Failed,
}

/// Where a server is, as far as its checkup shows that.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) server: String,
    /// Its URL without what may be secret in it; `None` for a program.
    pub(super) url: Option<String>,
    /// Whether the entry brings a token of its own.
    pub(super) has_token: bool,
    /// What is stored of its login, before the visit.
    pub(super) login: Option<LoginState>,
}

impl Place {
    pub(super) fn of(config: &ServerConfig) -> Self {
        let network = match config.endpoint() {
            Endpoint::Http(network) | Endpoint::WebSocket(network) => Some(network),
            _ => None,
        };
        Self {
            server: config.server().to_owned(),
            url: network.map(|network| shown_url(&network.url)),
            has_token: network.is_some_and(|network| network.bearer_token_env.is_some()),
            login: None,
        }
    }
}

/// What was seen of a server before its connection was closed.
pub(super) struct Seen {
    report: Report,
    session: Session,
    catalog: Arc<Catalog>,
    /// Tools that cannot be called.
    pub(super) unusable: Vec<Unusable>,
    /// What it has of MCP Live.
    live: Standing,
}

impl Seen {
    pub(super) fn of(client: &Client, live: Standing) -> Self {
        Self {
            report: client.report(),
            session: client.session().clone(),
            catalog: Arc::clone(client.catalog()),
            unusable: Vec::new(),
            live,
        }
    }
}

/// One visit.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Checkup {
    pub(super) server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) login: Option<LoginState>,
    pub(super) verdict: Verdict,
    /// What to know or to do, worst first.
    pub(super) remedies: Vec<String>,
    pub(super) connect_ms: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) found: Option<Found>,
    #[serde(flatten)]
    pub(super) error: Option<ErrorReport>,
    /// The last lines of stderr, for a person's eyes only.
    #[serde(skip)]
    pub(super) last_words: Vec<String>,
    #[serde(skip)]
    status: Status,
}

/// What a connection showed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found {
    pub(super) transport: &'static str,
    pub(super) revision: String,
    /// `legacy` or `modern`.
    pub(super) era: &'static str,
    /// How the era was found out.
    pub(super) era_source: &'static str,
    /// The capabilities of the protocol that it declares.
    pub(super) offers: Vec<&'static str>,
    pub(super) handshake: Vec<Exchange>,
    pub(super) tools: usize,
    pub(super) catalog_pages: usize,
    pub(super) catalog_bytes: usize,
    pub(super) limits: Vec<Use>,
    pub(super) noise_lines: u64,
    pub(super) stderr_lines: u64,
    pub(super) quarantined: Vec<LeftOut>,
    pub(super) unusable: Vec<Unusable>,
    pub(super) invisible_characters: Vec<Invisible>,
    /// What it has of MCP Live, if its entry asks for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mcpl: Option<Live>,
    pub(super) close_ms: u128,
}

/// One exchange of the handshake.
#[derive(Debug, Serialize)]
pub(super) struct Exchange {
    pub(super) step: String,
    pub(super) ms: f64,
}

/// How much of a limit was used.
#[derive(Debug, Serialize)]
pub(super) struct Use {
    pub(super) option: &'static str,
    pub(super) used: u64,
    pub(super) limit: u64,
}

/// A tool that was left out.
#[derive(Debug, Serialize)]
pub(super) struct LeftOut {
    pub(super) index: usize,
    /// Its name, if that may be one: remote text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) reason: String,
}

/// A tool whose words hold characters that nobody sees.
#[derive(Debug, Serialize)]
pub(super) struct Invisible {
    pub(super) tool: String,
    pub(super) count: usize,
}

impl Use {
    /// In percent, rounded down.
    pub(super) fn percent(&self) -> u64 {
        self.used.saturating_mul(100) / self.limit.max(1)
    }
}

impl Checkup {
    pub(super) fn of_failure(
        place: Place,
        connect: Duration,
        error: &Error,
        heard: &Heard,
    ) -> Self {
        let mut remedies = vec![remedy::of_error(error, &place)];
        if heard.is_noisy() && place.url.is_none() {
            remedies.push(remedy::NOISY.to_owned());
        }
        Self {
            verdict: Verdict::Failed,
            remedies,
            server: place.server,
            url: place.url,
            login: place.login,
            connect_ms: connect.as_millis(),
            found: None,
            error: Some(ErrorReport::of(error)),
            last_words: heard.last_words(),
            status: Status::of(error),
        }
    }

    pub(super) fn of_connection(
        place: Place,
        connect: Duration,
        seen: &Seen,
        close: Duration,
        unclosed: Option<&Error>,
        heard: &Heard,
    ) -> Self {
        let found = Found::of(seen, close, heard.stderr_bytes());
        let unclosed_remedy = unclosed.map(|error| remedy::of_error(error, &place));
        let mut remedies: Vec<String> = unclosed_remedy.into_iter().collect();
        remedies.extend(seen.live.remedies());
        remedies.extend(remedy::of_found(&found, &place));
        let missing = found.quarantined.len() + found.unusable.len();
        let missing = missing + usize::from(seen.live.is_lacking());
        let (verdict, status) = verdict(unclosed, missing);
        Self {
            server: place.server,
            url: place.url,
            login: place.login,
            verdict,
            remedies,
            connect_ms: connect.as_millis(),
            found: Some(found),
            error: unclosed.map(ErrorReport::of),
            last_words: if unclosed.is_some() {
                heard.last_words()
            } else {
                Vec::new()
            },
            status,
        }
    }

    pub(super) fn status(&self) -> Status {
        self.status
    }
}

impl Found {
    fn of(seen: &Seen, close: Duration, stderr_bytes: usize) -> Self {
        let report = &seen.report;
        let left_out = |quarantined: &Quarantined| LeftOut {
            index: quarantined.index,
            name: quarantined.name.clone(),
            reason: quarantined.fault.to_string(),
        };
        Self {
            transport: match report.transport {
                Transport::Stdio => "stdio",
                Transport::EventStream => "http_sse",
                Transport::WebSocket => "websocket",
                _ => "streamable_http",
            },
            revision: report.revision.to_string(),
            era: if report.revision.is_legacy() {
                "legacy"
            } else {
                "modern"
            },
            era_source: match report.era {
                EraSource::Remembered => "remembered",
                EraSource::Discovered => "discovered",
                EraSource::FellBack => "fell_back",
                _ => "configured",
            },
            offers: offers(&seen.session),
            handshake: report
                .stats
                .handshake
                .iter()
                .map(|(step, took)| Exchange {
                    step: step.to_string(),
                    ms: (took.as_secs_f64() * 10_000.0).round() / 10.0,
                })
                .collect(),
            tools: report.tools,
            catalog_pages: report.catalog_pages,
            catalog_bytes: report.catalog_bytes,
            limits: uses(report, stderr_bytes),
            noise_lines: report.stats.noise,
            stderr_lines: report.stderr_lines,
            quarantined: report.quarantined.iter().map(left_out).collect(),
            unusable: seen.unusable.clone(),
            invisible_characters: invisible_texts(&seen.catalog),
            mcpl: seen.live.live().cloned(),
            close_ms: close.as_millis(),
        }
    }

    /// How long a legacy server kept silent to the question for its era, if that took a while.
    pub(super) fn unanswered_probe_ms(&self) -> Option<f64> {
        let probe = self.handshake.first()?;
        let silent = self.era_source == "fell_back" && self.transport == "stdio";
        let took = probe.step == Step::Discover.to_string() && probe.ms >= SLOW_PROBE_MS;
        (silent && took).then_some(probe.ms)
    }

    /// The limits that are nearly used up. What is kept of stderr may be full: nothing fails by that.
    pub(super) fn near(&self) -> impl Iterator<Item = &Use> {
        let fails = |limit: &&Use| limit.option != KEPT_STDERR && limit.percent() >= NEAR_PERCENT;
        self.limits.iter().filter(fails)
    }
}

/// How a server is that was connected to.
fn verdict(unclosed: Option<&Error>, missing: usize) -> (Verdict, Status) {
    match (unclosed, missing) {
        (Some(error), _) => (Verdict::Failed, Status::of(error)),
        (None, 0) => (Verdict::Healthy, Status::Done),
        (None, _) => (Verdict::Degraded, Status::Unusable),
    }
}

fn uses(report: &Report, stderr_bytes: usize) -> Vec<Use> {
    let limits = &report.limits;
    let slowest = report
        .stats
        .handshake
        .iter()
        .map(|(_, took)| took.as_millis())
        .max()
        .unwrap_or(0);
    let tools = report.tools + report.quarantined.len();
    let count = |option, used: usize, limit: usize| Use {
        option,
        used: used as u64,
        limit: limit as u64,
    };
    let time = |option, used: u128, limit: Duration| Use {
        option,
        used: u64::try_from(used).unwrap_or(u64::MAX),
        limit: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
    };
    let mut uses = vec![
        time("handshakeTimeoutMs", slowest, limits.handshake_timeout),
        // A visit calls nothing.
        time("requestTimeoutMs", 0, limits.request_timeout),
        count("maxTools", tools, limits.max_tools),
        count(
            "maxCatalogPages",
            report.catalog_pages,
            limits.max_catalog_pages,
        ),
        count(
            "maxToolNameBytes",
            report.longest_tool_name,
            limits.max_tool_name_bytes,
        ),
        count(
            "maxToolDocumentBytes",
            report.largest_tool_document,
            limits.max_tool_document_bytes,
        ),
        count(
            "maxFrameBytes",
            report.stats.longest_frame_in,
            limits.max_frame_bytes,
        ),
        count(
            "maxOutboundFrameBytes",
            report.stats.longest_frame_out,
            limits.max_outbound_frame_bytes,
        ),
        count(
            "queueCapacity",
            report.stats.most_queued,
            limits.queue_capacity,
        ),
        count(
            "maxBufferedBytes",
            report.stats.most_buffered,
            limits.max_buffered_bytes,
        ),
    ];
    if report.transport == Transport::Stdio {
        uses.push(count(KEPT_STDERR, stderr_bytes, limits.max_stderr_bytes));
    }
    uses
}

/// Which of the protocol's capabilities the server declares, in an order of our own.
fn offers(session: &Session) -> Vec<&'static str> {
    let known = ["tools", "resources", "prompts", "completions", "logging"];
    let declares = |name: &&str| session.capabilities.member(name).is_some();
    known.into_iter().filter(declares).collect()
}

/// The tools whose title or description holds characters that a reader cannot see.
fn invisible_texts(catalog: &Catalog) -> Vec<Invisible> {
    let count = |tool: &Tool| {
        let texts = [tool.title(), tool.description()];
        texts
            .into_iter()
            .flatten()
            .map(count_invisible)
            .sum::<usize>()
    };
    let found = catalog.tools().iter().map(|tool| Invisible {
        tool: tool.name().to_owned(),
        count: count(tool),
    });
    found.filter(|found| found.count > 0).collect()
}

#[cfg(test)]
mod tests;

//! What one server's visit found, and the verdict.

use std::time::Duration;

use seawall::Error;
use seawall::client::Report;
use seawall::mcp::{Catalog, Quarantined, Tool};
use serde::Serialize;

use super::remedy;
use crate::failure::{ErrorReport, Status};
use crate::printer::{Heard, count_invisible};

/// From this share of a limit on, the limit is worth a word, in percent.
const NEAR_PERCENT: u64 = 80;
/// The limit that only says how much is kept.
const KEPT_STDERR: &str = "maxStderrBytes";

/// How a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// Nothing keeps it from work.
    Healthy,
    /// It works, with tools left out.
    Degraded,
    /// It does not work, or does not end.
    Failed,
}

/// One visit.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Checkup {
    pub(super) server: String,
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
    pub(super) revision: String,
    pub(super) handshake: Vec<Exchange>,
    pub(super) tools: usize,
    pub(super) catalog_pages: usize,
    pub(super) catalog_bytes: usize,
    pub(super) limits: Vec<Use>,
    pub(super) noise_lines: u64,
    pub(super) stderr_lines: u64,
    pub(super) quarantined: Vec<LeftOut>,
    pub(super) invisible_characters: Vec<Invisible>,
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
        server: String,
        connect: Duration,
        error: &Error,
        heard: &Heard,
    ) -> Self {
        Self {
            server,
            verdict: Verdict::Failed,
            remedies: vec![remedy::of_error(error)],
            connect_ms: connect.as_millis(),
            found: None,
            error: Some(ErrorReport::of(error)),
            last_words: heard.last_words(),
            status: Status::of(error),
        }
    }

    pub(super) fn of_connection(
        server: String,
        connect: Duration,
        report: &Report,
        invisible: Vec<Invisible>,
        close: Duration,
        unclosed: Option<&Error>,
        heard: &Heard,
    ) -> Self {
        let found = Found::of(report, invisible, close, heard.stderr_bytes());
        let mut remedies: Vec<String> = unclosed.map(remedy::of_error).into_iter().collect();
        remedies.extend(remedy::of_found(&found));
        let (verdict, status) = match unclosed {
            Some(error) => (Verdict::Failed, Status::of(error)),
            None if found.quarantined.is_empty() => (Verdict::Healthy, Status::Done),
            None => (Verdict::Degraded, Status::Unusable),
        };
        Self {
            server,
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
    fn of(
        report: &Report,
        invisible: Vec<Invisible>,
        close: Duration,
        stderr_bytes: usize,
    ) -> Self {
        let left_out = |quarantined: &Quarantined| LeftOut {
            index: quarantined.index,
            reason: quarantined.fault.to_string(),
        };
        Self {
            revision: report.revision.to_string(),
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
            invisible_characters: invisible,
            close_ms: close.as_millis(),
        }
    }

    /// The limits that are nearly used up. What is kept of stderr may be full: nothing fails by that.
    pub(super) fn near(&self) -> impl Iterator<Item = &Use> {
        let fails = |limit: &&Use| limit.option != KEPT_STDERR && limit.percent() >= NEAR_PERCENT;
        self.limits.iter().filter(fails)
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
    vec![
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
        count(KEPT_STDERR, stderr_bytes, limits.max_stderr_bytes),
    ]
}

/// The tools whose title or description holds characters that a reader cannot see.
pub(super) fn invisible_texts(catalog: &Catalog) -> Vec<Invisible> {
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

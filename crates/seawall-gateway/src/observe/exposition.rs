//! Everything that is counted, as Prometheus reads it: the text format of OpenMetrics.
//!
//! Counters live where things happen; a scrape reads them. Labels are ids of servers, which are the operator's, and words
//! of Seawall's own; never a tool, a client, or anything else that somebody at either end names.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use seawall::host::{ServerState, ServerStatus};

use super::Meter;

/// The type of [`exposition`]'s text.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is measured at the moment of a scrape.
#[derive(Debug)]
pub(crate) struct Gauges {
    pub(crate) begun: SystemTime,
    pub(crate) sessions: usize,
    pub(crate) subscriptions: usize,
    pub(crate) servers: Vec<ServerStatus>,
    pub(crate) meters: Vec<Arc<Meter>>,
}

/// All of it.
///
/// # Errors
/// None that can happen: the text is made in memory.
pub(crate) fn exposition(gauges: Gauges) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(gauges));
    let mut text = String::new();
    text::encode(&mut text, &registry)?;
    Ok(text)
}

impl Collector for Gauges {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        self.gateway(&mut encoder)?;
        self.calls(&mut encoder)?;
        self.servers(&mut encoder)
    }
}

impl Gauges {
    fn gateway(&self, encoder: &mut DescriptorEncoder) -> fmt::Result {
        let help = "The version of the gateway";
        encoder
            .encode_descriptor("seawall", help, None, MetricType::Info)?
            .encode_info(&[("version", env!("CARGO_PKG_VERSION"))])?;
        let begun = self.begun.duration_since(UNIX_EPOCH).unwrap_or_default();
        let help = "When the gateway started, since the epoch";
        let name = "seawall_start_time";
        let begun = ConstGauge::new(begun.as_secs_f64());
        let unit = Some(&Unit::Seconds);
        begun.encode(encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?)?;
        let help = "Sessions of clients; of 2026-07-28 over HTTP there are none";
        let sessions = ConstGauge::new(self.sessions);
        let name = "seawall_client_sessions";
        sessions.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)?;
        let help = "Subscriptions of clients to changes";
        let subscriptions = ConstGauge::new(self.subscriptions);
        let name = "seawall_client_subscriptions";
        subscriptions.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
    }

    fn calls(&self, encoder: &mut DescriptorEncoder) -> fmt::Result {
        let help =
            "Calls of tools that ended, by server, by what the tool says of itself, and by outcome";
        let mut family =
            encoder.encode_descriptor("seawall_calls", help, None, MetricType::Counter)?;
        for meter in &self.meters {
            for (class, ended, count) in meter.counts() {
                let labels = [
                    ("server", &**meter.server()),
                    ("class", class.as_str()),
                    ("outcome", ended.as_str()),
                ];
                ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
            }
        }
        let help = "Calls of tools under way";
        let mut family =
            encoder.encode_descriptor("seawall_calls_in_flight", help, None, MetricType::Gauge)?;
        for meter in &self.meters {
            let labels = [("server", &**meter.server())];
            ConstGauge::new(meter.in_flight()).encode(family.encode_family(&labels)?)?;
        }
        let help = "How long calls of tools took, as the gateway saw it";
        let unit = Some(&Unit::Seconds);
        let kind = MetricType::Histogram;
        let mut family = encoder.encode_descriptor("seawall_call_duration", help, unit, kind)?;
        for meter in &self.meters {
            let (buckets, sum) = meter.histogram();
            let count = buckets.iter().map(|(_, count)| count).sum();
            let labels = [("server", &**meter.server())];
            family
                .encode_family(&labels)?
                .encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
        }
        Ok(())
    }

    fn servers(&self, encoder: &mut DescriptorEncoder) -> fmt::Result {
        let name = "seawall_server_state";
        let help = "1 for the state that a server is in, 0 for the others";
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for server in &self.servers {
            for (state, word) in STATES {
                let labels = [("server", server.server.as_str()), ("state", word)];
                let is = u32::from(server.state == state);
                ConstGauge::new(is).encode(family.encode_family(&labels)?)?;
            }
        }
        self.gauge(
            encoder,
            "seawall_server_tools",
            "Tools of a server that are offered",
            |one| u64::try_from(one.flows).unwrap_or(u64::MAX),
        )?;
        let help = "Failures of a server in a row";
        self.gauge(encoder, "seawall_server_failures", help, |one| {
            one.failures.into()
        })?;
        let help = "Sessions with a server that were begun again";
        self.counter(encoder, ("seawall_server_restarts", help, None), |one| {
            one.connects.saturating_sub(1)
        })?;
        let bytes = Some(&Unit::Bytes);
        let help = "Received of a server, in whole messages";
        self.counter(encoder, ("seawall_server_received", help, bytes), |one| {
            one.totals.received_bytes
        })?;
        let help = "Sent to a server, in messages";
        self.counter(encoder, ("seawall_server_sent", help, bytes), |one| {
            one.totals.sent_bytes
        })?;
        let help = "Lines of a server that are no messages";
        self.counter(encoder, ("seawall_server_noise", help, None), |one| {
            one.totals.noise
        })?;
        let help = "Replies of a server to no pending request";
        self.counter(
            encoder,
            ("seawall_server_stray_replies", help, None),
            |one| one.totals.stray_replies,
        )?;
        let help = "Secrets taken out of what was recorded of a server";
        self.counter(encoder, ("seawall_server_redactions", help, None), |one| {
            one.totals.redactions
        })
    }

    fn gauge(
        &self,
        encoder: &mut DescriptorEncoder,
        name: &str,
        help: &str,
        value: impl Fn(&ServerStatus) -> u64,
    ) -> fmt::Result {
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for server in &self.servers {
            let labels = [("server", server.server.as_str())];
            ConstGauge::new(value(server)).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn counter(
        &self,
        encoder: &mut DescriptorEncoder,
        (name, help, unit): (&str, &str, Option<&Unit>),
        value: impl Fn(&ServerStatus) -> u64,
    ) -> fmt::Result {
        let mut family = encoder.encode_descriptor(name, help, unit, MetricType::Counter)?;
        for server in &self.servers {
            let labels = [("server", server.server.as_str())];
            ConstCounter::new(value(server)).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// The states of a server, each in one word.
pub(crate) const STATES: [(ServerState, &str); 7] = [
    (ServerState::Connecting, "connecting"),
    (ServerState::Up, "up"),
    (ServerState::Degraded, "degraded"),
    (ServerState::Waiting, "waiting"),
    (ServerState::Closing, "closing"),
    (ServerState::Unreaped, "unreaped"),
    (ServerState::Down, "down"),
];

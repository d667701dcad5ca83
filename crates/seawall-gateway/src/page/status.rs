//! `/status.json`: how everything stands, for the page and for scripts.

use std::time::{SystemTime, UNIX_EPOCH};

use seawall::host::{ServerState, ServerStatus};
use serde_json::{Value, json};

use crate::gateway::{Gateway, Readiness};
use crate::observe::{Call, Meter, STATES};

pub(super) fn of(gateway: &Gateway) -> Value {
    let observed = gateway.observed();
    let gauges = gateway.gauges();
    let uptime = gauges.begun.elapsed().unwrap_or_default();
    let in_flight: u64 = gauges.meters.iter().map(|meter| meter.in_flight()).sum();
    let tools: usize = gauges.servers.iter().map(|server| server.flows).sum();
    let servers = gauges.servers.iter();
    let servers =
        servers.map(|server| server_of(server, observed.known(&server.server).as_deref()));
    let recent: Vec<Value> = observed.recent().all().iter().map(call_of).collect();
    json!({
        "gateway": {
            "version": env!("CARGO_PKG_VERSION"),
            "state": state_of(&gateway.readiness()),
            "nowMs": epoch_ms(SystemTime::now()),
            "uptimeMs": whole(uptime.as_millis()),
            "callsInFlight": in_flight,
            "sessions": gauges.sessions,
            "subscriptions": gauges.subscriptions,
            "tools": tools,
        },
        "servers": servers.collect::<Vec<Value>>(),
        "recent": recent,
    })
}

/// The state of a server in one word.
pub(super) fn word(state: ServerState) -> &'static str {
    let found = STATES.into_iter().find(|(known, _)| *known == state);
    found.map_or("unknown", |(_, word)| word)
}

fn state_of(readiness: &Readiness) -> &'static str {
    match readiness {
        Readiness::Ready => "ready",
        Readiness::Starting => "starting",
        Readiness::Lacking(_) => "required servers are not up",
        Readiness::Ending => "ending",
    }
}

fn server_of(server: &ServerStatus, meter: Option<&Meter>) -> Value {
    let error = server.last_error.as_ref();
    let error =
        error.map(|error| json!({"code": error.code().as_str(), "message": error.to_string()}));
    let quarantined = server.report.as_ref();
    let quarantined = quarantined.map_or(0, |report| report.quarantined.len());
    json!({
        "server": server.server,
        "state": word(server.state),
        "required": server.required,
        "revision": server.revision.map(|revision| revision.as_str()),
        "transport": server.transport.map(|transport| transport.to_string()),
        "tools": server.flows,
        "toolsLeftOut": quarantined,
        "restarts": server.connects.saturating_sub(1),
        "failures": server.failures,
        "lastError": error,
        "receivedBytes": server.totals.received_bytes,
        "sentBytes": server.totals.sent_bytes,
        "noise": server.totals.noise,
        "redactions": server.totals.redactions,
        "calls": meter.map(calls_of),
    })
}

/// What is counted of a server's calls; the times of the newest, the oldest of them first.
fn calls_of(meter: &Meter) -> Value {
    let (mut good, mut bad) = (0, 0);
    for (_, ended, count) in meter.counts() {
        match ended.is_good() {
            true => good += count,
            false => bad += count,
        }
    }
    let times = meter.times();
    let mut sorted: Vec<u64> = times.iter().map(|(us, _)| *us).collect();
    sorted.sort_unstable();
    let quantile = |percent: usize| {
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().map(ms)
    };
    let newest: Vec<Value> = times
        .iter()
        .map(|(us, good)| json!({"ms": ms(*us), "good": good}))
        .collect();
    json!({
        "inFlight": meter.in_flight(),
        "good": good,
        "bad": bad,
        "p50Ms": quantile(50),
        "p95Ms": quantile(95),
        "newest": newest,
    })
}

fn call_of(call: &Call) -> Value {
    let us = u64::try_from(call.elapsed.as_micros()).unwrap_or(u64::MAX);
    json!({
        "atMs": epoch_ms(call.at),
        "server": call.server.as_deref(),
        "tool": call.tool,
        "client": call.client,
        "outcome": call.ended.as_str(),
        "good": call.ended.is_good(),
        "ms": ms(us),
    })
}

fn epoch_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    whole(since.as_millis())
}

fn whole(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// Milliseconds with three digits after the point.
fn ms(us: u64) -> f64 {
    std::time::Duration::from_micros(us).as_secs_f64() * 1_000.0
}

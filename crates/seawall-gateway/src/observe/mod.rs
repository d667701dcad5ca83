//! What is counted of calls, and the few of them that are remembered: for `/metrics`, the status page and traces.
//!
//! A call is [begun](Observe::begin), told [what it is of](Observed::of) once that is known, and [ended](Observed::ended);
//! one that is dropped before that was cancelled.
//!
//! **Invariant:** nothing of what a call says or answers is kept; of what servers and clients name, only a tool's name, and
//! that in the few calls that are remembered alone.
//! **Invariant:** what is kept is bounded by the number of servers that were ever configured.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use seawall::Flow;
use seawall_proto::Json;
use tokio::time::Instant;

mod ended;
mod exposition;
mod meter;
mod recent;
mod trace;

#[cfg(test)]
mod tests;

pub(crate) use ended::Ended;
pub(crate) use exposition::{CONTENT_TYPE, Gauges, STATES, exposition};
pub(crate) use meter::Meter;
pub(crate) use recent::{Call, Recent};
pub use trace::{Telemetry, TraceContext};

use trace::Traced;

/// Counts calls. Shared by whoever makes one and whoever looks.
#[derive(Debug, Default)]
pub(crate) struct Observe {
    /// By the id of the server. Locked for moments.
    meters: RwLock<BTreeMap<Arc<str>, Arc<Meter>>>,
    /// Of calls that came to no server.
    none: Arc<Meter>,
    recent: Recent,
    telemetry: Option<Arc<dyn Telemetry>>,
}

impl Observe {
    /// Counts, and tells spans there too.
    pub(crate) fn new(telemetry: Option<Arc<dyn Telemetry>>) -> Self {
        Self {
            telemetry,
            ..Self::default()
        }
    }

    /// One more call, of a client by this name, with these parameters.
    pub(crate) fn begin(self: &Arc<Self>, client: &str, params: Option<&Json>) -> Observed {
        let meter = Arc::clone(&self.none);
        meter.begin();
        Observed {
            observe: Arc::clone(self),
            traced: Traced::begin(client, self.telemetry.as_ref(), params),
            meter,
            flow: None,
            client: client.to_owned(),
            begun: Instant::now(),
            said: None,
            over: false,
        }
    }

    /// The meters of all servers that were called so far, in the order of their ids; last, that of calls that came to none.
    pub(crate) fn meters(&self) -> Vec<Arc<Meter>> {
        let meters = self.meters.read().unwrap_or_else(PoisonError::into_inner);
        meters
            .values()
            .chain([&self.none])
            .map(Arc::clone)
            .collect()
    }

    /// The meter of a server, if it was ever called.
    pub(crate) fn known(&self, server: &str) -> Option<Arc<Meter>> {
        let meters = self.meters.read().unwrap_or_else(PoisonError::into_inner);
        meters.get(server).map(Arc::clone)
    }

    /// The newest calls.
    pub(crate) fn recent(&self) -> &Recent {
        &self.recent
    }

    fn meter(&self, server: &str) -> Arc<Meter> {
        if let Some(meter) = self.known(server) {
            return meter;
        }
        let mut meters = self.meters.write().unwrap_or_else(PoisonError::into_inner);
        let made = || Arc::new(Meter::of(server));
        Arc::clone(meters.entry(server.into()).or_insert_with(made))
    }
}

/// A call that is under way.
///
/// # Drop behavior
/// Before its end, it counts as cancelled.
#[derive(Debug)]
pub(crate) struct Observed {
    observe: Arc<Observe>,
    traced: Traced,
    meter: Arc<Meter>,
    flow: Option<Flow>,
    client: String,
    begun: Instant,
    /// What the result says of itself.
    said: Option<Ended>,
    over: bool,
}

impl Observed {
    /// It is a call of this flow.
    pub(crate) fn of(&mut self, flow: &Flow) {
        self.traced.of(flow);
        let meter = self.observe.meter(flow.server());
        meter.begin();
        self.meter.leave();
        self.meter = meter;
        self.flow = Some(flow.clone());
    }

    /// Where it is in its trace, if somebody is told of it, and once it is known what it is [of](Self::of).
    pub(crate) fn trace(&self) -> Option<&TraceContext> {
        self.traced.context()
    }

    /// Its result says so of itself.
    pub(crate) fn says(&mut self, said: Ended) {
        self.said = Some(said);
    }

    /// It ended: it failed so, or has a result.
    pub(crate) fn ended(mut self, failed: Option<Ended>) {
        let ended = failed.or(self.said).unwrap_or(Ended::Ok);
        self.end(ended);
    }

    fn end(&mut self, ended: Ended) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        self.traced.ended(ended);
        let elapsed = self.begun.elapsed();
        let class = self.flow.as_ref().map(Flow::class);
        self.meter.ended(class, ended, elapsed);
        self.observe.recent.push(Call {
            at: SystemTime::now(),
            server: self.flow.as_ref().map(|_| Arc::clone(self.meter.server())),
            tool: self.flow.as_ref().map(|flow| flow.tool().to_owned()),
            client: std::mem::take(&mut self.client),
            ended,
            elapsed,
        });
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.end(Ended::Cancelled);
    }
}

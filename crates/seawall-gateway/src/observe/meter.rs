//! The counters of one server. Whoever counts waits for nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use seawall::flows::ToolClass;

use super::Ended;

/// The upper bounds of the histogram's buckets, in milliseconds, inclusive; past the last one there is one more.
pub(crate) const BOUNDS_MS: [u64; 16] = [
    1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000,
];

/// Classes, each at the place that its number says.
pub(crate) const CLASSES: [ToolClass; 3] = [
    ToolClass::ReadOnly,
    ToolClass::Destructive,
    ToolClass::Other,
];

/// So many of a server's newest calls are told apart.
const KEPT_TIMES: usize = 60;

/// What is counted of the calls of one server.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    server: Arc<str>,
    in_flight: AtomicU64,
    ended: [[AtomicU64; Ended::ALL.len()]; CLASSES.len()],
    buckets: [AtomicU64; BOUNDS_MS.len() + 1],
    sum_us: AtomicU64,
    /// How long the newest calls took: twice the microseconds, one more for one that went well, and one more; 0 is none.
    times: Times,
    /// Where the next of them goes.
    next: AtomicUsize,
}

#[derive(Debug)]
struct Times([AtomicU64; KEPT_TIMES]);

impl Default for Times {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Meter {
    pub(super) fn of(server: &str) -> Self {
        Self {
            server: server.into(),
            ..Self::default()
        }
    }

    /// The id of the server; empty if there is none.
    pub(crate) fn server(&self) -> &Arc<str> {
        &self.server
    }

    pub(super) fn begin(&self) {
        self.in_flight.fetch_add(1, Relaxed);
    }

    /// A call turned out to be another's.
    pub(super) fn leave(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    pub(super) fn ended(&self, class: Option<ToolClass>, ended: Ended, elapsed: Duration) {
        let class = match class {
            Some(ToolClass::ReadOnly) => 0,
            Some(ToolClass::Destructive) => 1,
            _ => 2,
        };
        let counter = self
            .ended
            .get(class)
            .and_then(|all| all.get(ended as usize));
        if let Some(counter) = counter {
            counter.fetch_add(1, Relaxed);
        }
        let us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MS.partition_point(|bound| bound * 1_000 < us);
        if let Some(bucket) = self.buckets.get(bucket) {
            bucket.fetch_add(1, Relaxed);
        }
        self.sum_us.fetch_add(us, Relaxed);
        let place = self.next.fetch_add(1, Relaxed) % KEPT_TIMES;
        if let Some(time) = self.times.0.get(place) {
            let us = us.min(u64::MAX >> 2);
            time.store((us << 1 | u64::from(ended.is_good())) + 1, Relaxed);
        }
        self.leave();
    }

    /// Calls under way.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight.load(Relaxed)
    }

    /// Calls that ended, of each class and in each way in which there were some.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (ToolClass, Ended, u64)> {
        let classes = CLASSES.into_iter().zip(&self.ended);
        classes
            .flat_map(|(class, all)| {
                let counts = Ended::ALL.into_iter().zip(all);
                counts.map(move |(ended, count)| (class, ended, count.load(Relaxed)))
            })
            .filter(|(_, _, count)| *count > 0)
    }

    /// How long the newest calls took, in microseconds, the oldest first, and whether they went well. Calls that end at this
    /// very moment may stand out of order.
    pub(crate) fn times(&self) -> Vec<(u64, bool)> {
        let next = self.next.load(Relaxed) % KEPT_TIMES;
        let (newer, older) = self.times.0.split_at(next);
        let times = older.iter().chain(newer).map(|time| time.load(Relaxed));
        times
            .filter(|time| *time > 0)
            .map(|time| ((time - 1) >> 1, (time - 1) & 1 == 1))
            .collect()
    }

    /// The histogram of how long calls took: each bucket's bound in seconds with the calls in it, and the sum in seconds.
    pub(crate) fn histogram(&self) -> (Vec<(f64, u64)>, f64) {
        let bounds = BOUNDS_MS.into_iter().map(Duration::from_millis);
        let bounds = bounds.map(|bound| bound.as_secs_f64());
        let buckets = bounds.chain([f64::INFINITY]).zip(&self.buckets);
        let buckets = buckets.map(|(bound, count)| (bound, count.load(Relaxed)));
        let sum = Duration::from_micros(self.sum_us.load(Relaxed));
        (buckets.collect(), sum.as_secs_f64())
    }
}

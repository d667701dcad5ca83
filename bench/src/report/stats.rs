//! Medians, spreads and ratios over the repetitions.

use crate::plan::{Cell, Kind, Sample};
use crate::run::Results;

/// One number of a sample.
#[derive(Clone, Copy)]
pub(super) enum Figure {
    Median,
    P99,
    CpuPerCall,
    CallsPerSecond,
    AboveIdle,
    Idle,
}

/// What the repetitions gave.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Figure {
    pub(super) fn of(self, sample: &Sample) -> Option<f64> {
        let per_call = |whole: f64| whole / count(sample.calls);
        Some(match self {
            Self::Median => sample.median_seconds?,
            Self::P99 => sample.p99_seconds?,
            Self::CpuPerCall => per_call(sample.cpu_seconds),
            Self::CallsPerSecond => count(sample.calls) / sample.seconds,
            Self::AboveIdle => count(sample.peak_bytes.saturating_sub(sample.idle_bytes)),
            Self::Idle => count(sample.idle_bytes),
        })
    }

    /// The number as people read it.
    pub(super) fn text(self, value: f64) -> String {
        match self {
            Self::Median | Self::P99 | Self::CpuPerCall => {
                let micros = value * 1e6;
                match micros {
                    100.0.. => format!("{micros:.0} µs"),
                    _ => format!("{micros:.1} µs"),
                }
            }
            Self::CallsPerSecond => match value {
                10_000.0.. => format!("{:.0}k", value / 1e3),
                1_000.0.. => format!("{:.1}k", value / 1e3),
                _ => format!("{value:.0}"),
            },
            Self::AboveIdle | Self::Idle => format!("{:.1} MiB", value / f64::from(1 << 20)),
        }
    }
}

/// A figure's spread, if any repetition gave it.
pub(super) fn spread(results: &Results, cell: Cell, kind: Kind, figure: Figure) -> Option<Spread> {
    let samples = results.samples(cell, kind);
    Spread::of(
        samples
            .iter()
            .flatten()
            .filter_map(|sample| figure.of(sample)),
    )
}

/// One client's figure divided by another's, repetition by repetition: what drifts hits both.
pub(super) fn ratio(
    results: &Results,
    cell: Cell,
    figure: Figure,
    of: Kind,
    by: Kind,
) -> Option<Spread> {
    let upper = results.samples(cell, of);
    let lower = results.samples(cell, by);
    Spread::of(upper.iter().zip(&lower).filter_map(|(upper, lower)| {
        let upper = figure.of(upper.as_ref()?)?;
        let lower = figure.of(lower.as_ref()?)?;
        Some(upper / lower)
    }))
}

impl Spread {
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let upper = *values.get(middle)?;
        let median = match values.get(middle.wrapping_sub(1)) {
            Some(lower) if values.len().is_multiple_of(2) => f64::midpoint(*lower, upper),
            _ => upper,
        };
        Some(Self {
            median,
            least: *values.first()?,
            most: *values.last()?,
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
fn count(value: u64) -> f64 {
    value as f64
}

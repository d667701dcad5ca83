//! Where Seawall's figures shall be, and whether they are.

use super::stats::{Figure, ratio, spread};
use super::table::ABSENT;
use crate::plan::{Cell, Kind};
use crate::run::Results;

const MIB: f64 = 1_048_576.0;

/// Where a figure of Seawall's shall be.
pub(super) enum Aim {
    /// Divided by the floor's.
    FloorsOrLess(f64),
    /// Divided by the floor's.
    FloorsOrMore(f64),
    /// Divided by rmcp's.
    RmcpsOrMore(f64),
    /// Divided by rmcp's, below one.
    LessThanRmcps,
    /// Itself, in MiB.
    MibOrLess(f64),
}

impl Aim {
    pub(super) fn text(&self, results: &Results, cell: Cell, figure: Figure) -> String {
        let by = |kind| ratio(results, cell, figure, Kind::Seawall, kind).map(|ratio| ratio.median);
        match *self {
            Self::FloorsOrLess(most) => {
                let met = by(Kind::Floor).map(|value| value <= most);
                format!("at most {most}: {}", verdict(met))
            }
            Self::FloorsOrMore(least) => {
                let met = by(Kind::Floor).map(|value| value >= least);
                format!("at least {least}: {}", verdict(met))
            }
            Self::RmcpsOrMore(least) => {
                let value = by(Kind::Rmcp);
                let met = verdict(value.map(|value| value >= least));
                let value = value.map_or_else(|| ABSENT.to_owned(), |value| format!("{value:.1}"));
                format!("at least {least} × rmcp: {met} ({value})")
            }
            Self::LessThanRmcps => {
                let met = by(Kind::Rmcp).map(|value| value < 1.0);
                format!("less than rmcp: {}", verdict(met))
            }
            Self::MibOrLess(most) => {
                let value = spread(results, cell, Kind::Seawall, figure);
                let met = value.map(|value| value.most <= most * MIB);
                format!("at most {most} MiB: {}", verdict(met))
            }
        }
    }
}

fn verdict(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "met",
        Some(false) => "not met",
        None => "not measured",
    }
}

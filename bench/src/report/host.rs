//! The table of many servers.

use std::fmt::Write;

use super::machine::Machine;
use super::stats::Spread;
use super::table::{ABSENT, ratio_or_absent};
use crate::plan::Kind;
use crate::scale::{CALLS, SERVERS, Scaled, Scene, TOOLS};

/// A row: where its figure comes from, what it is called, its unit, and the most that Seawall's shall be.
struct Row {
    scene: Scene,
    figure: &'static str,
    name: String,
    unit: Unit,
    most: Option<f64>,
}

#[derive(Clone, Copy)]
enum Unit {
    Millis,
    KiB,
    PerSecond,
    Cores,
    Times,
}

impl Unit {
    fn text(self, value: f64) -> String {
        match self {
            Self::Millis => format!("{:.1} ms", value * 1e3),
            Self::KiB => format!("{:.0} KiB", value / 1024.0),
            Self::PerSecond => format!("{:.1}k", value / 1e3),
            Self::Cores => format!("{value:.2}"),
            Self::Times => format!("{value:.2} ×"),
        }
    }
}

fn rows() -> Vec<Row> {
    let row = |scene, figure, name: &str, unit, most| Row {
        scene,
        figure,
        name: name.to_owned(),
        unit,
        most,
    };
    let calls = Scene::Calls;
    let lists = Scene::Catalogs;
    vec![
        row(
            calls,
            "connect",
            &format!("{SERVERS} servers connect"),
            Unit::Millis,
            None,
        ),
        row(
            calls,
            "memory",
            "memory of the host's process per idle server, one tool",
            Unit::KiB,
            Some(256.0 * 1024.0),
        ),
        row(
            calls,
            "rate",
            &format!("{CALLS} calls in flight: calls per second"),
            Unit::PerSecond,
            None,
        ),
        row(calls, "cpu", "cores in use meanwhile", Unit::Cores, None),
        row(calls, "median", "a call's median", Unit::Millis, None),
        row(calls, "p99", "p99", Unit::Millis, None),
        row(
            calls,
            "troubled rate",
            "the same, with one server stuck and one flooding: calls per second",
            Unit::PerSecond,
            None,
        ),
        row(
            calls,
            "troubled p99",
            "p99 of the others",
            Unit::Millis,
            None,
        ),
        row(
            calls,
            "troubled by",
            "that p99 ÷ the one before",
            Unit::Times,
            Some(1.5),
        ),
        row(calls, "stop", "all servers stopped", Unit::Millis, None),
        row(
            lists,
            "connect",
            &format!("{SERVERS} servers of {TOOLS} tools connect"),
            Unit::Millis,
            None,
        ),
        row(
            lists,
            "memory",
            "memory of the host's process per server",
            Unit::KiB,
            None,
        ),
        row(lists, "refresh", "all lists read again", Unit::Millis, None),
        row(
            lists,
            "refresh cpu",
            "CPU of the host's process for it",
            Unit::Millis,
            None,
        ),
    ]
}

/// The table of many servers, as Markdown.
pub(crate) fn host(scaled: &Scaled, machine: &Machine) -> String {
    let mut page = format!("{}\n", machine.line());
    page.push_str("| | Seawall's `Host` | rmcp in a loop | Seawall ÷ rmcp | aim for Seawall |\n");
    page.push_str("| --- | ---: | ---: | ---: | --- |\n");
    for row in rows() {
        let values = |kind| scaled.figures(row.scene, kind, row.figure);
        let (seawall, rmcp) = (values(Kind::Seawall), values(Kind::Rmcp));
        let ratios = seawall.iter().zip(&rmcp);
        let ratios = ratios.filter_map(|(seawall, rmcp)| Some((*seawall)? / (*rmcp)?));
        let ratio = match row.unit {
            Unit::Times => None,
            _ => Spread::of(ratios.filter(|ratio| ratio.is_finite())),
        };
        let own = Spread::of(seawall.iter().copied().flatten());
        let aim = match (row.most, &own) {
            (None, _) => String::new(),
            (Some(most), Some(own)) => {
                let met = if own.median <= most { "met" } else { "not met" };
                format!("at most {}: {met}", row.unit.text(most))
            }
            (Some(_), None) => "not measured".to_owned(),
        };
        let ratio = ratio_or_absent(ratio);
        // Writing to a String does not fail.
        let _ = writeln!(
            page,
            "| {} | {} | {} | {ratio} | {aim} |",
            row.name,
            spread(own, row.unit),
            spread(Spread::of(rmcp.into_iter().flatten()), row.unit),
        );
    }
    page.push('\n');
    for failure in scaled.failures() {
        let _ = writeln!(page, "- {failure}.");
    }
    page
}

fn spread(values: Option<Spread>, unit: Unit) -> String {
    let Some(values) = values else {
        return ABSENT.to_owned();
    };
    // The unit once.
    let bare = |value| {
        let text = unit.text(value);
        text.split(' ').next().unwrap_or_default().to_owned()
    };
    format!(
        "{} ({}–{})",
        unit.text(values.median),
        bare(values.least),
        bare(values.most)
    )
}

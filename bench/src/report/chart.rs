//! The ratios as bars.

use std::fmt::{self, Write};

use super::stats::{Figure, ratio};
use crate::plan::{Cell, Kind, Load, Over, size};
use crate::run::Results;

const WIDTH: f64 = 760.0;
/// Where bars begin; their labels are left of it.
const LEFT: f64 = 150.0;
/// Where the longest bar ends; its number is right of it.
const RIGHT: f64 = 690.0;
const BAR: f64 = 14.0;
/// From one group of bars to the next.
const GROUP: f64 = 44.0;

/// One part of the chart, with a scale of its own.
struct Panel {
    title: &'static str,
    groups: Vec<Group>,
}

/// The bars of one cell: Seawall's and rmcp's ratio to the floor, where they were measured.
struct Group {
    label: String,
    ratios: [(Kind, Option<f64>); 2],
}

/// The chart of a half as SVG, legible on light and on dark.
pub(crate) fn svg(results: &Results, over: Over) -> String {
    let alone = over.sizes().iter().map(|&bytes| {
        let cell = Cell::new(over, Load::Alone, bytes);
        group(results, cell, size(bytes), Figure::Median)
    });
    let in_flight = over.sizes().iter().flat_map(|&bytes| {
        over.in_flight().iter().map(move |&calls| {
            let cell = Cell::new(over, Load::InFlight(calls), bytes);
            let label = format!("{} × {calls}", size(bytes));
            group(results, cell, label, Figure::CallsPerSecond)
        })
    });
    let panels = [
        Panel {
            title: "One call at a time: median latency ÷ floor’s (shorter is better)",
            groups: alone.collect(),
        },
        Panel {
            title: "In flight: calls per second ÷ floor’s (longer is better)",
            groups: in_flight.collect(),
        },
    ];
    let mut chart = String::new();
    // Writing to a String does not fail.
    let _ = draw(&mut chart, &panels, over);
    chart
}

fn group(results: &Results, cell: Cell, label: String, figure: Figure) -> Group {
    let of = |kind| {
        let ratio = ratio(results, cell, figure, kind, Kind::Floor);
        (kind, ratio.map(|ratio| ratio.median))
    };
    Group {
        label,
        ratios: [of(Kind::Seawall), of(Kind::Rmcp)],
    }
}

impl Panel {
    fn height(&self) -> f64 {
        self.groups.iter().map(|_| GROUP).sum::<f64>() + 54.0
    }

    /// The longest bar's ratio; the floor's own line is always in sight.
    fn longest(&self) -> f64 {
        let ratios = self.groups.iter().flat_map(|group| group.ratios);
        ratios.filter_map(|(_, ratio)| ratio).fold(1.0, f64::max)
    }
}

fn draw(chart: &mut String, panels: &[Panel], over: Over) -> fmt::Result {
    let height = 40.0 + panels.iter().map(Panel::height).sum::<f64>();
    writeln!(
        chart,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" aria-label="Seawall and rmcp relative to the raw floor">
<style>
text {{ font: 13px system-ui, sans-serif; fill: #24292f; }}
.title {{ font-weight: 600; }}
.seawall {{ fill: #0b7285; }}
.rmcp {{ fill: #9aa5b1; }}
.floor {{ stroke: #c2410c; stroke-width: 1.5; stroke-dasharray: 4 3; }}
@media (prefers-color-scheme: dark) {{
  text {{ fill: #e6edf3; }}
  .seawall {{ fill: #3bc9db; }}
  .rmcp {{ fill: #6b7785; }}
  .floor {{ stroke: #fb923c; }}
}}
</style>"#
    )?;
    legend(chart, over)?;
    let mut top = 40.0;
    for panel in panels {
        draw_panel(chart, panel, top)?;
        top += panel.height();
    }
    writeln!(chart, "</svg>")
}

fn legend(chart: &mut String, over: Over) -> fmt::Result {
    let floor = match over {
        Over::Stdio => "write the line, read the line, match nothing",
        Over::Http => "post the body, read the body, match nothing",
    };
    writeln!(
        chart,
        r#"<rect class="seawall" x="{LEFT}" y="12" width="14" height="14" rx="2"/><text x="170" y="24">Seawall</text>
<rect class="rmcp" x="250" y="12" width="14" height="14" rx="2"/><text x="270" y="24">rmcp</text>
<line class="floor" x1="336" y1="10" x2="336" y2="28"/><text x="346" y="24">the floor: {floor}</text>"#
    )
}

fn draw_panel(chart: &mut String, panel: &Panel, top: f64) -> fmt::Result {
    let scale = (RIGHT - LEFT) / panel.longest();
    let title = panel.title;
    writeln!(
        chart,
        r#"<text class="title" x="16" y="{:.0}">{title}</text>"#,
        top + 18.0
    )?;
    let first = top + 34.0;
    let mut y = first;
    for group in &panel.groups {
        let label = &group.label;
        let (label_x, label_y) = (LEFT - 12.0, y + BAR + 5.0);
        writeln!(
            chart,
            r#"<text x="{label_x:.0}" y="{label_y:.0}" text-anchor="end">{label}</text>"#
        )?;
        for (index, (kind, ratio)) in group.ratios.iter().enumerate() {
            let bar_y = if index == 0 { y } else { y + BAR + 2.0 };
            draw_bar(chart, *kind, *ratio, bar_y, scale)?;
        }
        y += GROUP;
    }
    let x = LEFT + scale;
    writeln!(
        chart,
        r#"<line class="floor" x1="{x:.1}" y1="{:.0}" x2="{x:.1}" y2="{:.0}"/>"#,
        first - 6.0,
        y - 6.0
    )
}

fn draw_bar(chart: &mut String, kind: Kind, ratio: Option<f64>, y: f64, scale: f64) -> fmt::Result {
    let text_y = y + BAR - 2.5;
    let Some(ratio) = ratio else {
        let x = LEFT + 6.0;
        return writeln!(
            chart,
            r#"<text x="{x:.0}" y="{text_y:.1}">{}: failed</text>"#,
            kind.name()
        );
    };
    let class = kind.name().to_ascii_lowercase();
    let width = ratio * scale;
    let text_x = LEFT + width + 6.0;
    writeln!(
        chart,
        r#"<rect class="{class}" x="{LEFT}" y="{y:.0}" width="{width:.1}" height="{BAR}" rx="2"/><text x="{text_x:.1}" y="{text_y:.1}">{ratio:.2}</text>"#
    )
}

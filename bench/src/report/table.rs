//! Rows of the tables.

use std::fmt::Write;

use super::aim::Aim;
use super::stats::{Figure, Spread, ratio, spread};
use crate::plan::{Cell, Kind};
use crate::run::Results;

pub(super) const ABSENT: &str = "–";

pub(super) fn head(page: &mut String, first: &str) -> std::fmt::Result {
    writeln!(
        page,
        "| {first} | | floor | Seawall | rmcp | Seawall ÷ floor | rmcp ÷ floor | aim for Seawall |"
    )?;
    writeln!(
        page,
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"
    )
}

pub(super) fn row(
    page: &mut String,
    results: &Results,
    cell: Cell,
    name: &str,
    what: &str,
    figure: Figure,
    aims: &[Aim],
) -> std::fmt::Result {
    write!(page, "| {name} | {what} |")?;
    for kind in Kind::ALL {
        write!(page, " {} |", figure_text(results, cell, kind, figure))?;
    }
    for kind in [Kind::Seawall, Kind::Rmcp] {
        let ratio = ratio(results, cell, figure, kind, Kind::Floor);
        write!(page, " {} |", ratio_or_absent(ratio))?;
    }
    writeln!(page, " {} |", aims_text(results, cell, figure, aims))
}

pub(super) fn memory(
    page: &mut String,
    results: &Results,
    cell: Cell,
    name: &str,
    figure: Figure,
    aims: &[Aim],
) -> std::fmt::Result {
    write!(page, "| {name} |")?;
    for kind in Kind::ALL {
        write!(page, " {} |", figure_text(results, cell, kind, figure))?;
    }
    writeln!(page, " {} |", aims_text(results, cell, figure, aims))
}

fn figure_text(results: &Results, cell: Cell, kind: Kind, figure: Figure) -> String {
    let Some(Spread {
        median,
        least,
        most,
    }) = spread(results, cell, kind, figure)
    else {
        return ABSENT.to_owned();
    };
    // The unit once.
    let bare = |value| {
        let text = figure.text(value);
        text.split(' ').next().unwrap_or_default().to_owned()
    };
    format!("{} ({}–{})", figure.text(median), bare(least), bare(most))
}

pub(super) fn ratio_or_absent(ratio: Option<Spread>) -> String {
    ratio.map_or_else(
        || ABSENT.to_owned(),
        |Spread {
             median,
             least,
             most,
         }| format!("**{median:.2}** ({least:.2}–{most:.2})"),
    )
}

fn aims_text(results: &Results, cell: Cell, figure: Figure, aims: &[Aim]) -> String {
    let texts: Vec<String> = aims
        .iter()
        .map(|aim| aim.text(results, cell, figure))
        .collect();
    texts.join("; ")
}

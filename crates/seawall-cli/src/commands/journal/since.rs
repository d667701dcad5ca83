//! `--since`: how long ago, or when.

use std::time::SystemTime;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ZonedDateTime};

use super::JournalProblem;

pub(super) fn parse(text: &str) -> Result<SystemTime, JournalProblem> {
    let now = ZonedDateTime::now();
    at(text, &now).ok_or_else(|| JournalProblem::Since {
        text: text.to_owned(),
    })
}

/// `2h`, `1h30m`, `7d`; `2026-11-30T17:00:00Z`; `2026-11-30 17:00`, `2026-11-30` and `17:00` in `now`'s time zone.
pub(super) fn at(text: &str, now: &ZonedDateTime) -> Option<SystemTime> {
    let text = text.trim();
    if let Some(ago) = ago(text, now) {
        return Some(ago);
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return moment.try_into().ok();
    }
    let zone = now.time_zone();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        // An hour, a year or a count of something: nobody can tell.
        return None;
    }
    if let Ok(time) = text.parse::<Time>() {
        return here(now.date().to_datetime(time), zone);
    }
    if let Ok(moment) = text.parse::<DateTime>() {
        return here(moment, zone);
    }
    let date = text.parse::<Date>().ok()?;
    here(date.to_datetime(Time::midnight()), zone)
}

/// A span of time before `now`.
fn ago(text: &str, now: &ZonedDateTime) -> Option<SystemTime> {
    let span: jiff::Span = text.parse().ok()?;
    let then = now.checked_sub(span.abs()).ok()?;
    let is_past = now.duration_since(&then) >= SignedDuration::ZERO;
    is_past.then(|| then.timestamp().try_into().ok()).flatten()
}

fn here(moment: DateTime, zone: &TimeZone) -> Option<SystemTime> {
    let moment = zone.to_ambiguous_timestamp(moment).compatible().ok()?;
    moment.try_into().ok()
}

use std::time::{Duration, SystemTime};

use jiff::ZonedDateTime;

use super::{since, view};

/// J1: the times that `--since` understands.
#[test]
fn since_is_an_age_or_a_moment() {
    let now: ZonedDateTime = "2026-11-30T18:00:00+01:00[+01:00]".parse().unwrap();
    let at = |text: &str| {
        let moment = since::at(text, &now)?;
        let seconds = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        Some(now.timestamp().as_second() - i64::try_from(seconds.as_secs()).unwrap())
    };
    assert_eq!(at("90s"), Some(90));
    assert_eq!(at("15m"), Some(15 * 60));
    assert_eq!(at("1h30m"), Some(90 * 60));
    assert_eq!(at(" 7d "), Some(7 * 24 * 3_600));
    assert_eq!(at("2026-11-30T16:00:00Z"), Some(3_600));
    assert_eq!(at("2026-11-30 17:30"), Some(1_800));
    assert_eq!(at("2026-11-30"), Some(18 * 3_600));
    assert_eq!(at("17:00"), Some(3_600));
    for text in ["", "soon", "12", "2026-13-01", "99999999y", "-"] {
        assert_eq!(at(text), None, "{text}");
    }
}

#[test]
fn sizes_and_times_are_short() {
    assert_eq!(view::took(Duration::from_micros(7)), "7 µs");
    assert_eq!(view::took(Duration::from_micros(1_234)), "1.2 ms");
    assert_eq!(view::took(Duration::from_micros(9_999_999)), "9999 ms");
    assert_eq!(view::took(Duration::from_secs(12)), "12 s");
    assert_eq!(view::bytes(17), "17 B");
    assert_eq!(view::bytes(20_480), "20 KiB");
    assert_eq!(view::bytes(20_971_520), "20 MiB");
}

use std::time::Duration;

use super::backoff::{Backoff, jittered};
use super::prefixes_meet;
use crate::config::ServerConfig;

/// H2: doubling from the first interval to the longest, within a quarter of either side.
#[test]
fn delays_double_to_the_longest_within_a_quarter() {
    let config = ServerConfig::stdio("demo", "true").build().unwrap();
    let mut backoff = Backoff::default();
    let expected = [
        5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000,
    ];
    for expected in expected.into_iter().chain([300_000; 60]) {
        backoff.fail();
        for _ in 0..20 {
            let delay = backoff.delay(&config).as_millis();
            let around = expected * 3 / 4..=expected * 5 / 4;
            assert!(around.contains(&delay), "{delay} for {expected}");
        }
    }
    backoff.reset();
    assert_eq!(backoff.failures(), 0);
}

/// H2: the jitter reaches both ends.
#[test]
fn jitter_spreads_over_half_the_delay() {
    let whole = Duration::from_secs(4);
    assert_eq!(jittered(whole, 0), Duration::from_secs(3));
    assert_eq!(jittered(whole, u32::MAX), Duration::from_secs(5));
}

/// H6: equal and nested prefixes meet; a common beginning alone does not.
#[test]
fn equal_and_nested_prefixes_meet() {
    for (one, other) in [("a", "a"), ("a/b", "a"), ("a", "a/b/c")] {
        assert!(prefixes_meet(one, other), "{one} {other}");
    }
    for (one, other) in [("a", "ab"), ("a/b", "a/c"), ("ab/c", "a/c")] {
        assert!(!prefixes_meet(one, other), "{one} {other}");
    }
}

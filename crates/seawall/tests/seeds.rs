//! Every committed seed of the `config`, `mcpl` and `redact` fuzz targets, through their bodies, and as many programs again.

#![cfg(test)]

#[path = "../../../fuzz/bodies/config.rs"]
mod config;
#[path = "../../../fuzz/bodies/mcpl.rs"]
mod mcpl;
#[path = "../../../fuzz/bodies/redact.rs"]
mod redact;

use proptest::prelude::*;

/// Runs `body` over the seeds of `target`.
fn replay(target: &str, body: fn(&[u8])) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let mut seeds = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        body(&std::fs::read(&path).unwrap());
        seeds += 1;
    }
    assert!(seeds > 0, "{} has seeds", folder.display());
}

/// K3, K9, K12, H6.
#[test]
fn config_seeds_hold() {
    replay("config", config::run);
}

/// MCP Live 0.5, sections 9, 10.3 and 14; RFC-004, RFC-005, RFC-007.
#[test]
fn mcpl_seeds_hold() {
    replay("mcpl", mcpl::run);
}

/// R1, R2.
#[test]
fn redact_seeds_hold() {
    replay("redact", redact::run);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// R1, R2: secrets of every kind, in every spelling, whole and in pieces, side by side and over each other.
    #[test]
    fn redaction_is_as_the_slow_reading(program in prop::collection::vec(any::<u8>(), 0..500)) {
        redact::run(&program);
    }
}

//! Redaction against the slow reading of the `redact` fuzz target: its committed seeds, and as many programs again.

#![cfg(test)]

#[path = "../../../fuzz/bodies/redact.rs"]
mod body;

use proptest::prelude::*;

/// R1, R2.
#[test]
fn redact_seeds_hold() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/redact");
    let mut seeds = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        body::run(&std::fs::read(&path).unwrap());
        seeds += 1;
    }
    assert!(seeds > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// R1, R2: secrets of every kind, in every spelling, whole and in pieces, side by side and over each other.
    #[test]
    fn redaction_is_as_the_slow_reading(program in prop::collection::vec(any::<u8>(), 0..500)) {
        body::run(&program);
    }
}

//! Every committed seed, through the body of its fuzz target.

use std::path::Path;

use crate::bodies;

/// Runs `body` over the seeds of `target`.
fn replay(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
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

#[test]
fn line_seeds_hold() {
    replay("line", bodies::line::run);
}

#[test]
fn sse_seeds_hold() {
    replay("sse", bodies::sse::run);
}

#[test]
fn scan_seeds_hold() {
    replay("scan", bodies::scan::run);
}

#[test]
fn envelope_seeds_hold() {
    replay("envelope", bodies::envelope::run);
}

#[test]
fn catalog_seeds_hold() {
    replay("catalog", bodies::catalog::run);
}

#[test]
fn operations_seeds_hold() {
    replay("operations", bodies::operations::run);
}

#[test]
fn serving_seeds_hold() {
    replay("serving", bodies::serving::run);
}

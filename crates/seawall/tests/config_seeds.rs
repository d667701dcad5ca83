//! Every committed seed of the `config` fuzz target, through its body.

#![cfg(test)]

#[path = "../../../fuzz/bodies/config.rs"]
mod body;

/// K3, K9, K12, H6.
#[test]
fn config_seeds_hold() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/config");
    let mut seeds = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        body::run(&std::fs::read(&path).unwrap());
        seeds += 1;
    }
    assert!(seeds > 0);
}

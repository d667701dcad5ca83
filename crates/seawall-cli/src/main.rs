//! The `seawall` command line.

fn main() {}

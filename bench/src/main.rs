//! The benchmark's program; all of it is in the library, where its tests are.

use std::process::ExitCode;

fn main() -> ExitCode {
    seawall_bench::main()
}

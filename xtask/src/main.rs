//! The project's own commands: `tidy` (the shape of the tree as checks), `peers` (real servers to test against)
//! and `test` (the peers, then every test).
//!
//! It never touches anything outside the tree but the peers' cache folder.

mod peers;
mod talk;
mod test;
mod tidy;
mod tree;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy                       check the shape of the tree: sizes, imports, folders, licences, rules without a test
  peers [--list] [--json]    install the pinned MCP servers that tests talk to; --list prints how each is started
  test [ARGUMENT …]          install the peers, then run `cargo test ARGUMENT …`, of all packages unless -p names one

SEAWALL_PEERS names the folder of the peers; without it, the platform's cache folder holds them.";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    match command.as_deref() {
        Some("tidy") if rest.is_empty() => tidy::run(),
        Some("peers") => peers::run(&rest),
        Some("test") => test::run(&rest),
        Some("help" | "--help" | "-h") => {
            talk::data(USAGE);
            ExitCode::SUCCESS
        }
        _ => usage(),
    }
}

/// Says how the command is used, and fails.
fn usage() -> ExitCode {
    talk::say(USAGE);
    ExitCode::from(2)
}

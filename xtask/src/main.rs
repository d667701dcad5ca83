//! The project's own commands: `tidy` (the shape of the tree as checks), `peers` (real servers to test against),
//! `test` (the peers, then every test) and `conformance` (the official suite).
//!
//! It never touches anything outside the tree but the peers' cache folder.

mod conformance;
mod peers;
mod talk;
mod test;
mod tidy;
mod tree;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy                       check the shape of the tree: sizes, imports, folders, licences, rules without a test
  peers [--list] [--json]    install the pinned MCP servers and clients of the tests; --list prints how each is started
  peers --gateways           install the pinned gateways that `cargo bench -- gateway` measures beside Seawall's
  test [ARGUMENT …]          install the peers, then run `cargo test ARGUMENT …`, of all packages unless -p names one
  conformance [OPTION …]     run the official conformance suite against the client, the server, and the server through the
                             gateway, every set of requirements
      --client, --server, --gateway, --across
                                 just this; the last is through the gateway, from clients of 2025-11-25 to a server of
                                 2026-07-28; of a single scenario the client, if none is named
      --requirements SET         just this set: 2026-07-28 or 2025-11-25
      --scenario NAME --spec-version REVISION
                                 just this scenario, and tell every check of it that did not pass
      --write                    write docs/conformance.md, and raise the counts that later runs are held to

SEAWALL_PEERS names the folder of the peers; without it, the platform's cache folder holds them.";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    match command.as_deref() {
        Some("tidy") if rest.is_empty() => tidy::run(),
        Some("peers") => peers::run(&rest),
        Some("conformance") => conformance::run(&rest),
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

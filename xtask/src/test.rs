//! `cargo xtask test`: the peers, then every test of the workspace.

use std::process::{Command, ExitCode};

use crate::{peers, talk};

/// Installs the peers and runs `cargo test --workspace` with them; its exit status is the answer.
pub(super) fn run(arguments: &[String]) -> ExitCode {
    let cache = match peers::install() {
        Ok((cache, _)) => cache,
        Err(error) => return peers::fail(&error),
    };
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(crate::tree::root())
        .args(["test", "--workspace"])
        .args(arguments)
        .env(peers::VARIABLE, cache);
    match cargo.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => ExitCode::from(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1),
        ),
        Err(error) => {
            talk::say(format_args!("test: cargo cannot be run: {error}"));
            ExitCode::FAILURE
        }
    }
}

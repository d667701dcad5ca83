//! `cargo xtask test`: the peers, then every test of the workspace.

#[cfg(test)]
mod tests;

use std::process::{Command, ExitCode};

use crate::{peers, talk};

/// Installs the peers and runs `cargo test` with them, of the whole workspace unless a package is named; its exit status
/// is the answer.
pub(super) fn run(arguments: &[String]) -> ExitCode {
    let cache = match peers::install() {
        Ok((cache, _)) => cache,
        Err(error) => return peers::fail(&error),
    };
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(crate::tree::root())
        .arg("test")
        .env(peers::VARIABLE, cache);
    if !names_package(arguments) {
        cargo.arg("--workspace");
    }
    cargo.args(arguments);
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

/// Whether cargo is told which package to test.
fn names_package(arguments: &[String]) -> bool {
    let of_cargo = arguments.iter().take_while(|argument| *argument != "--");
    of_cargo
        .map(String::as_str)
        .any(|argument| argument.starts_with("-p") || argument.starts_with("--package"))
}

//! `cargo xtask test`: the peers, then every test of the workspace, then the tests that need the peers.

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
    let narrowed = names_package(arguments);
    let mut all = arguments.to_vec();
    if !narrowed {
        all.insert(0, "--workspace".to_owned());
    }
    if let Err(failed) = cargo_test(&cache, &all) {
        return failed;
    }
    if narrowed {
        return ExitCode::SUCCESS;
    }
    let of_cargo = arguments
        .iter()
        .take_while(|argument| *argument != "--")
        .cloned();
    let with_peers = "-p seawall-cli --test it -- --ignored peers:: six:: clients::".split(' ');
    let with_peers: Vec<String> = of_cargo.chain(with_peers.map(str::to_owned)).collect();
    match cargo_test(&cache, &with_peers) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => failed,
    }
}

fn cargo_test(cache: &std::path::Path, arguments: &[String]) -> Result<(), ExitCode> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(crate::tree::root())
        .arg("test")
        .args(arguments)
        .env(peers::VARIABLE, cache);
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(ExitCode::from(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1),
        )),
        Err(error) => {
            talk::say(format_args!("test: cargo cannot be run: {error}"));
            Err(ExitCode::FAILURE)
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

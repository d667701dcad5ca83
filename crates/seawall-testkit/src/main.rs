//! `scripted-server script JSON | script-file PATH | mcpl JSON | mcpl-file PATH | plain | echo --bytes N`: see the crate's documentation.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    let code = seawall_testkit::server::main(std::env::args().skip(1));
    #[cfg(not(unix))]
    let code = seawall_testkit::EXIT_USAGE;
    ExitCode::from(code)
}

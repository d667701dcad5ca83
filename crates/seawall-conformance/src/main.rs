//! `conformance-client URL`: the client that the official MCP conformance suite runs, once per scenario.
//!
//! It does what the scenario asks for through the public API of the library, and nothing that a program on it could not
//! do. The last line of stdout is [`DONE`] if all went as the scenario means it to, a refusal that the scenario wants
//! included; without that line `cargo xtask conformance` counts the scenario as red, whatever the suite says.

mod scenarios;
mod settings;

use std::io::Write as _;
use std::process::ExitCode;

use settings::Settings;

/// What stdout ends with if the scenario was gone through.
const DONE: &str = "done";

fn main() -> ExitCode {
    let variable = |name: &str| std::env::var(name).ok();
    let settings = match Settings::resolve(std::env::args().skip(1), variable) {
        Ok(settings) => settings,
        Err(error) => {
            say(&error);
            return ExitCode::from(2);
        }
    };
    match run(&settings) {
        Ok(()) => {
            drop(writeln!(std::io::stdout().lock(), "{DONE}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(settings: &Settings) -> Result<(), scenarios::ScenarioError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(scenarios::ScenarioError::Runtime)?;
    runtime.block_on(scenarios::run(settings))
}

/// Says an error and its causes on stderr, which the suite keeps beside its checks.
fn say(error: &dyn std::error::Error) {
    let mut text = format!("conformance-client: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}

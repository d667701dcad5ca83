//! Connects to a stdio server, lists its tools, calls one, and says what became of the call.
//!
//! `cargo run --example call -- add '{"a":2,"b":3}' seawall demo-server`

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example talks to a person"
)]

use seawall::{Arguments, Client, ServerConfig};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut next = |what: &str| {
        words.next().ok_or(format!(
            "usage: call TOOL JSON COMMAND [ARG …] ({what} is missing)"
        ))
    };
    let (tool, arguments, command) = (next("TOOL")?, next("JSON")?, next("COMMAND")?);

    let config = ServerConfig::stdio("example", command)
        .args(words)
        .build()?;
    let client = Client::connect(config).await?;
    for flow in client.flows() {
        eprintln!("{}", flow.name());
    }
    match client.call(&tool, Arguments::text(arguments)).await {
        Ok(result) => println!("{}", result.raw().as_str()),
        Err(error) => eprintln!("{error} [{}, {}]", error.code(), error.outcome()),
    }
    client.close().await?;
    Ok(())
}

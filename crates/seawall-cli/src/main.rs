//! The `seawall` command line.
mod demo_server;
mod args;
mod arguments;
fn main() -> std::io::Result<()> { demo_server::run(std::io::stdin(), std::io::stdout().lock()) }

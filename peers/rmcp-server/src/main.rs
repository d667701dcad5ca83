//! A small MCP server on the official Rust SDK: a peer for Seawall's tests.
//!
//! Without arguments it serves three tools over stdin and stdout. With `--six` it serves the six tools that all peers of the
//! newer tests have; with `--http` those on a free port of 127.0.0.1, whose URL it prints as its one line; `--modern` and
//! `--legacy` leave it only the revisions of one era.

mod six;

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Counted {
    text: String,
    characters: u64,
    bytes: u64,
}

struct Peer;

#[tool_router]
impl Peer {
    #[tool(description = "Add two integers")]
    fn add(&self, Parameters(Pair { a, b }): Parameters<Pair>) -> String {
        a.saturating_add(b).to_string()
    }

    #[tool(description = "Give the text back")]
    fn echo(&self, Parameters(Text { text }): Parameters<Text>) -> String {
        text
    }

    #[tool(description = "Count the text, as structured content")]
    fn structured(&self, Parameters(Text { text }): Parameters<Text>) -> Json<Counted> {
        let (characters, bytes) = (text.chars().count() as u64, text.len() as u64);
        Json(Counted {
            text,
            characters,
            bytes,
        })
    }
}

#[tool_handler]
impl ServerHandler for Peer {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let six = six::Six::new(match (has("--modern"), has("--legacy")) {
        (true, false) => six::Eras::Modern,
        (false, true) => six::Eras::Legacy,
        _ => six::Eras::Both,
    });
    if has("--http") {
        six.serve_http().await
    } else if has("--six") {
        six.serve(rmcp::transport::stdio()).await?.waiting().await?;
        Ok(())
    } else {
        Peer.serve(rmcp::transport::stdio())
            .await?
            .waiting()
            .await?;
        Ok(())
    }
}

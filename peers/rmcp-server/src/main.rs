//! A small MCP server on the official Rust SDK: a peer for Seawall's tests.

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
    Peer.serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}

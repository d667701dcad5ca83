//! What the client does in each scenario.

use std::io;

use seawall::config::{Problems, Protocol};
use seawall::{Arguments, Client, ServerConfig};

use crate::settings::{Context, Settings};

/// The id of the scenario's server.
const SERVER: &str = "conformance";

/// Why a scenario was not gone through.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScenarioError {
    #[error("no runtime")]
    Runtime(#[source] io::Error),
    #[error("the entry is refused")]
    Configuration(#[from] Problems),
    #[error("the library refused or failed")]
    Library(#[from] seawall::Error),
    #[error("the server has no tool `{0}`")]
    NoTool(&'static str),
    #[error("the context is not that of this scenario")]
    Context,
    #[error("not built yet")]
    NotBuilt,
}

/// Goes through the scenario.
///
/// # Errors
/// If something did not end as the scenario means it to.
pub(crate) async fn run(settings: &Settings) -> Result<(), ScenarioError> {
    match settings.scenario.as_str() {
        // To connect is to shake hands, or to discover, and to list the tools.
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => {
            connect(settings).await?.close().await?;
            Ok(())
        }
        "tools_call" => call(settings, "add_numbers", r#"{"a": 2, "b": 3}"#).await,
        "sse-retry" => call(settings, "test_reconnection", "{}").await,
        "http-invalid-tool-headers" => {
            call(settings, "valid_tool", r#"{"region": "us-west1"}"#).await
        }
        "http-custom-headers" => custom_headers(settings).await,
        "json-schema-2020-12-preservation" => echo_schema(settings).await,
        _ => Err(ScenarioError::NotBuilt),
    }
}

async fn connect(settings: &Settings) -> Result<Client, ScenarioError> {
    let config = ServerConfig::url(SERVER, &settings.url)
        .protocol(Protocol::Pinned(settings.revision))
        .build()?;
    Ok(Client::connect(config).await?)
}

/// One call, whose arguments are written out.
async fn call(settings: &Settings, tool: &str, arguments: &str) -> Result<(), ScenarioError> {
    let client = connect(settings).await?;
    client
        .call(tool, Arguments::text(arguments.to_owned()))
        .await?;
    client.close().await?;
    Ok(())
}

/// The calls of the context, whose values are hard to carry in headers.
async fn custom_headers(settings: &Settings) -> Result<(), ScenarioError> {
    let Context::ToolCalls { tool_calls } = &settings.context else {
        return Err(ScenarioError::Context);
    };
    let client = connect(settings).await?;
    for call in tool_calls {
        let arguments = Arguments::text(call.arguments.to_string());
        client.call(&call.name, arguments).await?;
    }
    client.close().await?;
    Ok(())
}

/// One tool's input schema, given to another tool as it was received.
async fn echo_schema(settings: &Settings) -> Result<(), ScenarioError> {
    const TOOL: &str = "json_schema_2020_12_tool";
    let client = connect(settings).await?;
    let tool = client
        .catalog()
        .get(TOOL)
        .ok_or(ScenarioError::NoTool(TOOL))?;
    let arguments = format!(r#"{{"schema": {}}}"#, tool.input_schema().as_str());
    client
        .call("json_schema_echo", Arguments::text(arguments))
        .await?;
    client.close().await?;
    Ok(())
}

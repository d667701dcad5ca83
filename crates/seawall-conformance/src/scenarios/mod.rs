//! What the client does in each scenario.

use std::io;
use std::sync::Arc;

use seawall::config::{Problems, Protocol};
use seawall::inputs::{Answer, BoxFuture, FieldKind, Form, FormSupplier, Suppliers};
use seawall::{Arguments, AuthError, Client, ClientBuilder, HttpClientError, Json, ServerConfig};

mod auth;

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
    #[error("the library took what it has to refuse")]
    NotRefused,
    #[error("no login can be made of the context")]
    Login(#[from] AuthError),
    #[error("no HTTP client")]
    Http(#[from] HttpClientError),
    #[error("the scenario is not known here")]
    Unknown,
}

/// Goes through the scenario.
///
/// # Errors
/// If something did not end as the scenario means it to.
pub(crate) async fn run(settings: &Settings) -> Result<(), ScenarioError> {
    match settings.scenario.as_str() {
        // To connect is to shake hands, or to discover, and to list the tools.
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => {
            let client = connect(settings).await?;
            if client.catalog().pages() == 0 {
                // It announces no tools, and answers all the same.
                client.request("tools/list", None).await?;
            }
            client.close().await?;
            Ok(())
        }
        "tools_call" => call(settings, "add_numbers", r#"{"a": 2, "b": 3}"#).await,
        "sse-retry" => call(settings, "test_reconnection", "{}").await,
        "http-invalid-tool-headers" => {
            call(settings, "valid_tool", r#"{"region": "us-west1"}"#).await
        }
        "http-custom-headers" => custom_headers(settings).await,
        "http-standard-headers" => standard_headers(settings).await,
        "elicitation-sep1034-client-defaults" => {
            call(settings, "test_client_elicitation_defaults", "{}").await
        }
        "sep-2322-client-request-state" => request_state(settings).await,
        "json-schema-2020-12-preservation" => echo_schema(settings).await,
        scenario if scenario.starts_with("auth/") => auth::run(settings).await,
        _ => Err(ScenarioError::Unknown),
    }
}

async fn connect(settings: &Settings) -> Result<Client, ScenarioError> {
    Ok(builder(settings)?.connect().await?)
}

fn builder(settings: &Settings) -> Result<ClientBuilder, ScenarioError> {
    // A legacy scenario's server may settle on an older revision than the run's.
    let protocol = if settings.revision.is_legacy() {
        Protocol::Legacy
    } else {
        Protocol::Modern
    };
    let config = ServerConfig::url(SERVER, &settings.url)
        .protocol(protocol)
        .build()?;
    Ok(Client::builder(config)
        .suppliers(Suppliers::default().with_form(Arc::new(Accepting)))
        .tools_optional())
}

/// Accepts every form: what has a default gets it, what is a question of yes or no is answered with yes.
struct Accepting;

impl FormSupplier for Accepting {
    fn fill(&self, _: &str, form: Form) -> BoxFuture<Answer> {
        let yes = Json::check("true").ok();
        let members: Vec<(String, Json)> = form
            .fields()
            .iter()
            .filter(|field| field.default().is_none())
            .filter(|field| matches!(field.kind(), FieldKind::Boolean))
            .filter_map(|field| Some((field.name().to_owned(), yes.clone()?)))
            .collect();
        let content = Form::content(&members).map(|content| form.with_defaults(&content));
        let answer = content.map_or(Answer::Cancel, Answer::Accept);
        Box::pin(std::future::ready(answer))
    }
}

/// One request of each kind that has headers of its own.
async fn standard_headers(settings: &Settings) -> Result<(), ScenarioError> {
    let client = connect(settings).await?;
    for tool in client.catalog().tools() {
        client.call(tool.name(), Arguments::text("{}")).await?;
    }
    for resource in client.resources().await?.entries {
        if let Some(uri) = resource.member("uri") {
            client
                .read_resource(&uri.string().unwrap_or_default())
                .await?;
        }
    }
    for prompt in client.prompts().await?.entries {
        if let Some(name) = prompt.member("name") {
            client
                .prompt(&name.string().unwrap_or_default(), None)
                .await?;
        }
    }
    client.close().await?;
    Ok(())
}

/// Calls of several rounds, and one beside them that has nothing to do with them.
async fn request_state(settings: &Settings) -> Result<(), ScenarioError> {
    let client = connect(settings).await?;
    let call = |tool: &str| client.call(tool, Arguments::text("{}"));
    let (state, unrelated) =
        tokio::join!(call("test_mrtr_echo_state"), call("test_mrtr_unrelated"));
    state?;
    unrelated?;
    call("test_mrtr_no_state").await?;
    call("test_mrtr_no_result_type").await?;
    client.close().await?;
    Ok(())
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

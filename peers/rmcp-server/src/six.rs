//! The six tools that every peer of the newer tests has, by the same names and with the same results.

use std::borrow::Cow;
use std::future::IntoFuture as _;
use std::time::Duration;

use rmcp::handler::server::tool::InputResponses as Answers;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams,
    InputRequest, InputRequests, InputRequiredResult, ProgressNotificationParam, ProtocolVersion,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{ElicitationError, RequestContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const QUESTION: &str = "What is your name?";

/// Which revisions are left to a server.
#[derive(Clone, Copy)]
pub enum Eras {
    Modern,
    Legacy,
    Both,
}

#[derive(Clone)]
pub struct Six {
    eras: Eras,
}

#[derive(Deserialize, JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Duty {
    ms: u64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Name {
    name: String,
}

rmcp::elicit_safe!(Name);

fn text(words: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(words)])
}

/// What a client of the newer era is asked for.
fn question() -> Result<InputRequiredResult, ErrorData> {
    let schema =
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: QUESTION.into(),
        requested_schema: serde_json::from_value(schema)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?,
    };
    let mut requests = InputRequests::new();
    requests.insert(
        "name".into(),
        InputRequest::Elicitation(ElicitRequest::new(params)),
    );
    Ok(InputRequiredResult::from_input_requests(requests))
}

#[tool_router]
impl Six {
    #[tool(description = "Give the text back")]
    fn echo(&self, Parameters(words): Parameters<Text>) -> CallToolResult {
        text(words.text)
    }

    #[tool(
        description = "Add two integers, as structured content",
        output_schema = rmcp::handler::server::tool::schema_for_output::<Sum>()
    )]
    fn add(&self, Parameters(Pair { a, b }): Parameters<Pair>) -> CallToolResult {
        CallToolResult::structured(json!({"sum": a.saturating_add(b)}))
    }

    #[tool(description = "Fail, always")]
    fn fail(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("failed on purpose")])
    }

    #[tool(description = "Take so many milliseconds, and tell of the progress")]
    async fn slow(
        &self,
        Parameters(Duty { ms }): Parameters<Duty>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let token = context.meta.get_progress_token();
        for progress in 1..=3 {
            tokio::time::sleep(Duration::from_millis(ms / 3)).await;
            if let Some(token) = token.clone() {
                let told =
                    ProgressNotificationParam::new(token, f64::from(progress)).with_total(3.0);
                drop(context.peer.notify_progress(told).await);
            }
        }
        text(format!("took {ms} ms"))
    }

    #[tool(description = "Ask for a name")]
    async fn ask(
        &self,
        Answers(answers): Answers,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if context.meta.protocol_version().is_some() {
            let Some(answer) = answers.as_ref().and_then(|answers| answers.get("name")) else {
                return Ok(question()?.into());
            };
            let name = answer["content"]["name"].as_str();
            let action = answer["action"].as_str().unwrap_or_default();
            let words = name.map_or_else(|| action.to_owned(), |name| format!("hello, {name}"));
            return Ok(text(words).into());
        }
        let words = match context.peer.elicit::<Name>(QUESTION).await {
            Ok(Some(answer)) => format!("hello, {}", answer.name),
            Ok(None) => "accept".to_owned(),
            Err(ElicitationError::UserDeclined) => "decline".to_owned(),
            Err(ElicitationError::UserCancelled) => "cancel".to_owned(),
            Err(error) => return Err(ErrorData::internal_error(error.to_string(), None)),
        };
        Ok(text(words).into())
    }

    #[tool(description = "Give a picture of one pixel")]
    fn image(&self) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::image(PIXEL, "image/png")])
    }
}

#[tool_handler]
impl ServerHandler for Six {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        const LEGACY: [ProtocolVersion; 4] = [
            ProtocolVersion::V_2025_11_25,
            ProtocolVersion::V_2025_06_18,
            ProtocolVersion::V_2025_03_26,
            ProtocolVersion::V_2024_11_05,
        ];
        const MODERN: [ProtocolVersion; 1] = [ProtocolVersion::V_2026_07_28];
        match self.eras {
            Eras::Modern => MODERN.to_vec().into(),
            Eras::Legacy => LEGACY.to_vec().into(),
            Eras::Both => [&MODERN[..], &LEGACY[..]].concat().into(),
        }
    }
}

impl Six {
    pub fn new(eras: Eras) -> Self {
        Self { eras }
    }

    /// Serves a free port of 127.0.0.1, with sessions where the revision has them, until stdin ends.
    pub async fn serve_http(self) -> Result<(), Box<dyn std::error::Error>> {
        let service: StreamableHttpService<Self, LocalSessionManager> = StreamableHttpService::new(
            move || Ok(self.clone()),
            Default::default(),
            StreamableHttpServerConfig::default().with_legacy_session_mode(true),
        );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}/mcp", listener.local_addr()?);
        let router = axum::Router::new().nest_service("/mcp", service);
        let (mut stdin, mut sink) = (tokio::io::stdin(), tokio::io::sink());
        let ended = tokio::io::copy(&mut stdin, &mut sink);
        tokio::select! {
            served = axum::serve(listener, router).into_future() => served?,
            _ = ended => {}
        }
        // A read of stdin may still be under way in a thread of the runtime's.
        std::process::exit(0)
    }
}

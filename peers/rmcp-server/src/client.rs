//! The official Rust SDK's client: what it does with the server with everything, and what it saw of it, as one JSON object on
//! stdout.
//!
//! `rmcp-client legacy|modern stdio COMMAND ARG…`, or `… http URL`.

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, Implementation, ProgressNotificationParam, ProtocolVersion,
    SubscriptionFilter,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RequestContext, RoleClient,
    RunningService,
};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ErrorData};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(15);

#[derive(Default)]
struct Told {
    steps: Mutex<Vec<f64>>,
    changed: Notify,
}

struct Handler(Arc<Told>);

impl ClientHandler for Handler {
    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"response": "me"})))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.steps.lock().expect("no panic").push(params.progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(
            capabilities,
            Implementation::new("seawall-client-rmcp", "1.0.0"),
        )
    }
}

type Failed = Box<dyn Error + Send + Sync>;

struct Story {
    client: RunningService<RoleClient, Handler>,
    told: Arc<Told>,
    seen: Map<String, Value>,
}

impl Story {
    async fn call(&self, name: &str, arguments: Value) -> Result<CallToolResult, Failed> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        Ok(self.client.call_tool(params).await?)
    }

    /// A result as JSON.
    async fn result(&self, name: &str, arguments: Value) -> Result<Value, Failed> {
        Ok(serde_json::to_value(self.call(name, arguments).await?)?)
    }

    async fn tell(&mut self, key: &str, action: impl AsyncFnOnce(&Self) -> Result<Value, Failed>) {
        let value = match timeout(PATIENCE, action(self)).await {
            Ok(Ok(value)) => value,
            Ok(Err(error)) => json!({"failed": error.to_string()}),
            Err(_) => json!({"failed": "nothing in time"}),
        };
        self.seen.insert(key.to_owned(), value);
    }

    async fn run(&mut self) {
        let revision = async |story: &Self| {
            let info = story.client.peer().peer_info().ok_or("no server")?;
            Ok(json!(info.protocol_version.to_string()))
        };
        self.tell("revision", revision).await;
        let tools =
            async |story: &Self| Ok(json!(story.client.peer().list_all_tools().await?.len()));
        self.tell("tools", tools).await;
        let plain = async |story: &Self| {
            let result = story.result("test_simple_text", json!({})).await?;
            Ok(result["content"][0]["text"].clone())
        };
        self.tell("plain", plain).await;
        let error = async |story: &Self| {
            let result = story.result("test_error_handling", json!({})).await?;
            Ok(json!({"isError": result["isError"], "text": result["content"][0]["text"]}))
        };
        self.tell("error", error).await;
        let unknown = async |story: &Self| {
            let params = CallToolRequestParams::new("no_such_tool");
            Ok(match story.client.call_tool(params).await {
                Err(rmcp::ServiceError::McpError(error)) => json!(error.code.0),
                Err(error) => json!(error.to_string()),
                Ok(_) => json!("answered"),
            })
        };
        self.tell("unknown", unknown).await;
        let structured = async |story: &Self| {
            let arguments = json!({"a": 1, "b": 2});
            let result = story.result("test_structured_content", arguments).await?;
            Ok(result["structuredContent"].clone())
        };
        self.tell("structured", structured).await;
        let image = async |story: &Self| {
            let result = story.result("test_image_content", json!({})).await?;
            let block = &result["content"][0];
            let is_data = block["data"].as_str().is_some_and(|data| !data.is_empty());
            Ok(json!({"type": block["type"], "mimeType": block["mimeType"], "isData": is_data}))
        };
        self.tell("image", image).await;
        let progress = async |story: &Self| {
            story.call("test_tool_with_progress", json!({})).await?;
            let steps = story.told.steps.lock().expect("no panic").clone();
            Ok(json!(steps))
        };
        self.tell("progress", progress).await;
        let cancelled = async |story: &Self| {
            // A call that is dropped is cancelled.
            let call = story.call("test_slow", json!({"ms": 60_000}));
            let given_up = timeout(Duration::from_millis(300), call).await.is_err();
            let after = story.call("test_simple_text", json!({})).await?;
            Ok(json!(given_up && after.content.len() == 1))
        };
        self.tell("cancelled", cancelled).await;
        let changed = async |story: &Self| {
            let is_modern = story
                .client
                .peer()
                .peer_info()
                .is_some_and(|info| info.protocol_version == ProtocolVersion::V_2026_07_28);
            if is_modern {
                let filter = SubscriptionFilter::builder().tools_list_changed().build();
                let mut subscription = story.client.peer().listen(filter).await?;
                story.call("test_trigger_tool_change", json!({})).await?;
                return Ok(json!(subscription.next().await?.is_some()));
            }
            story.call("test_trigger_tool_change", json!({})).await?;
            story.told.changed.notified().await;
            Ok(json!(true))
        };
        self.tell("changed", changed).await;
        let elicited = async |story: &Self| {
            let arguments = json!({"message": "Who?"});
            let result = story.result("test_elicitation", arguments).await?;
            Ok(result["content"][0]["text"].clone())
        };
        self.tell("elicited", elicited).await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [era, transport, target, rest @ ..] = &arguments[..] else {
        return Err("rmcp-client legacy|modern stdio COMMAND ARG… | http URL".into());
    };
    let lifecycle = match era.as_str() {
        "modern" => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        },
        _ => ClientLifecycleMode::Initialize,
    };
    let told = Arc::new(Told::default());
    let handler = Handler(Arc::clone(&told));
    let client = match transport.as_str() {
        "http" => {
            let transport = StreamableHttpClientTransport::from_uri(target.as_str());
            handler.serve_with_lifecycle(transport, lifecycle).await?
        }
        _ => {
            let mut command = tokio::process::Command::new(target);
            command.args(rest);
            let transport = TokioChildProcess::new(command)?;
            handler.serve_with_lifecycle(transport, lifecycle).await?
        }
    };
    let mut story = Story {
        client,
        told,
        seen: Map::new(),
    };
    story.run().await;
    println!("{}", Value::Object(story.seen));
    story.client.cancel().await?;
    Ok(())
}

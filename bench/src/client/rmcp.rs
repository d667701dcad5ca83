//! The official Rust SDK's client over its child process transport.

use std::sync::Arc;

use anyhow::{Result, ensure};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::Map;

use super::drive::Caller;
use super::{Server, TOOL};

#[derive(Clone)]
pub(super) struct Rmcp {
    service: Arc<RunningService<RoleClient, ()>>,
}

pub(super) async fn connect(server: &Server) -> Result<Rmcp> {
    let transport = TokioChildProcess::new(tokio::process::Command::from(server.command()))?;
    let service = ().serve(transport).await?;
    let tools = service.list_all_tools().await?;
    ensure!(tools.len() == 1, "one tool was expected");
    Ok(Rmcp {
        service: Arc::new(service),
    })
}

impl Caller for Rmcp {
    async fn call(&self) -> Result<()> {
        let params = CallToolRequestParams::new(TOOL).with_arguments(Map::new());
        let result = self.service.call_tool(params).await?;
        ensure!(result.is_error != Some(true), "the tool failed");
        Ok(())
    }
}

//! The official Rust SDK's client, one for each server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, Tool};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::Map;

use super::fleet::{Fleet, Start};
use super::server::TOOL;

/// A server's client, and its tools: a host keeps both.
struct Server {
    service: RunningService<RoleClient, ()>,
    tools: Mutex<Vec<Tool>>,
}

#[derive(Clone, Default)]
pub(super) struct Rmcp {
    servers: Arc<Mutex<BTreeMap<String, Arc<Server>>>>,
}

impl Rmcp {
    fn server(&self, name: &str) -> Result<Arc<Server>> {
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.get(name).cloned().context("no such server")
    }
}

impl Fleet for Rmcp {
    async fn connect(&self, name: &str, start: &Start) -> Result<()> {
        let mut command = tokio::process::Command::new(&start.program);
        command.args(&start.args);
        let service = ().serve(TokioChildProcess::new(command)?).await?;
        let tools = Mutex::new(service.list_all_tools().await?);
        let server = Arc::new(Server { service, tools });
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.insert(name.to_owned(), server);
        Ok(())
    }

    async fn call(&self, name: &str) -> Result<()> {
        let params = CallToolRequestParams::new(TOOL).with_arguments(Map::new());
        let result = self.server(name)?.service.call_tool(params).await?;
        ensure!(result.is_error != Some(true), "the tool failed");
        Ok(())
    }

    async fn refresh(&self, name: &str) -> Result<()> {
        let server = self.server(name)?;
        let tools = server.service.list_all_tools().await?;
        *server.tools.lock().unwrap_or_else(PoisonError::into_inner) = tools;
        Ok(())
    }

    async fn stop(&self) -> Result<bool> {
        Ok(false)
    }
}

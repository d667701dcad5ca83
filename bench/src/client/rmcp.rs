//! The official Rust SDK's client over its child process transport and its Streamable HTTP transport.

use std::sync::Arc;

use anyhow::{Result, ensure};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::Map;

use super::drive::Caller;
use super::{Server, TOOL};
use crate::plan::HTTP_IN_FLIGHT;

#[derive(Clone)]
pub(super) struct Rmcp {
    service: Arc<RunningService<RoleClient, ()>>,
}

/// Over stdio.
pub(super) async fn connect(server: &Server) -> Result<Rmcp> {
    let transport = TokioChildProcess::new(tokio::process::Command::from(server.command()))?;
    listed(().serve(transport).await?).await
}

/// Over HTTP, at its best: by default it opens a connection for each call, and posts at most 16 at a time.
pub(super) async fn reach(url: &str) -> Result<Rmcp> {
    // This build of reqwest brings no TLS of its own; one that is there already is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().tcp_nodelay(true).build()?;
    let config =
        StreamableHttpClientTransportConfig::with_uri(url).max_concurrent_requests(HTTP_IN_FLIGHT);
    let transport = StreamableHttpClientTransport::with_client(http, config);
    listed(().serve(transport).await?).await
}

async fn listed(service: RunningService<RoleClient, ()>) -> Result<Rmcp> {
    let tools = service.list_all_tools().await?;
    ensure!(tools.len() == 1, "one tool was expected");
    Ok(Rmcp {
        service: Arc::new(service),
    })
}

impl Caller for Rmcp {
    async fn call(&mut self) -> Result<()> {
        let params = CallToolRequestParams::new(TOOL).with_arguments(Map::new());
        let result = self.service.call_tool(params).await?;
        ensure!(result.is_error != Some(true), "the tool failed");
        Ok(())
    }

    async fn another(&self) -> Result<Self> {
        Ok(self.clone())
    }
}

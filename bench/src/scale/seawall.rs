//! Seawall's `Host`.

use std::time::Duration;

use anyhow::{Result, ensure};
use seawall::config::ServerConfig;
use seawall::host::Connected;
use seawall::{Arguments, Host};

use super::fleet::{Fleet, Start};
use super::server::TOOL;

#[derive(Clone)]
pub(super) struct Seawall(Host);

impl Seawall {
    pub(super) fn new() -> Self {
        Self(Host::builder().build())
    }
}

impl Fleet for Seawall {
    async fn connect(&self, name: &str, start: &Start) -> Result<()> {
        let config = ServerConfig::stdio(name, &start.program)
            .args(&start.args)
            .build()?;
        let connected = self.0.connect(config).await?;
        ensure!(matches!(connected, Connected::Up), "not up");
        Ok(())
    }

    async fn call(&self, name: &str) -> Result<()> {
        let flow = format!("mcp/{name}/{TOOL}");
        let result = self.0.call(&flow, Arguments::text("{}")).await?;
        ensure!(!result.is_error(), "the tool failed");
        Ok(())
    }

    async fn refresh(&self, name: &str) -> Result<()> {
        Ok(self.0.refresh(name).await?)
    }

    async fn stop(&self) -> Result<bool> {
        self.0.stop(Duration::from_secs(20)).await?;
        Ok(true)
    }
}

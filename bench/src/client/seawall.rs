//! Seawall's client.

use anyhow::{Context, Result, ensure};
use seawall::config::ServerConfig;
use seawall::{Arguments, Client};

use super::drive::Caller;
use super::{Server, TOOL};

#[derive(Clone)]
pub(super) struct Seawall {
    client: Client,
}

/// Over HTTP: one client, which speaks the newest revision that the server has.
pub(super) async fn reach(url: &str) -> Result<Seawall> {
    let config = ServerConfig::url("bench", url).build()?;
    Ok(Seawall {
        client: Client::connect(config).await?,
    })
}

/// Over stdio.
pub(super) async fn connect(server: &Server) -> Result<Seawall> {
    let program = server
        .program
        .to_str()
        .context("a path that is not UTF-8")?;
    let config = ServerConfig::stdio("bench", program)
        .args(&server.args)
        .build()?;
    Ok(Seawall {
        client: Client::connect(config).await?,
    })
}

impl Caller for Seawall {
    async fn call(&mut self) -> Result<()> {
        let result = self.client.call(TOOL, Arguments::text("{}")).await?;
        ensure!(!result.is_error(), "the tool failed");
        Ok(())
    }

    async fn another(&self) -> Result<Self> {
        Ok(self.clone())
    }
}

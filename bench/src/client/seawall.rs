//! Seawall's client.

use anyhow::{Result, bail};

use super::drive::Caller;
use super::Server;

#[derive(Clone)]
pub(super) struct Seawall;

pub(super) async fn connect(_server: &Server) -> Result<Seawall> {
    bail!("not there yet")
}

impl Caller for Seawall {
    async fn call(&self) -> Result<()> {
        bail!("not there yet")
    }
}

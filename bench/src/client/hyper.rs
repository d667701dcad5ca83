//! The floor over HTTP: a bare hyper connection that is kept alive. It posts the bytes that Seawall posts, reads the whole
//! body, and matches nothing; each overlapping call has a connection of its own, which is what HTTP/1.1 makes of it.

use std::io::Write;
use std::net::SocketAddr;

use anyhow::{Result, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::TOOL;
use super::drive::Caller;

/// One connection.
pub(super) struct Hyper {
    address: SocketAddr,
    sender: SendRequest<Full<Bytes>>,
    /// The connection's own task.
    _connection: JoinSet<hyper::Result<()>>,
    next_id: u64,
}

impl Hyper {
    pub(super) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        Ok(Self {
            address,
            sender,
            _connection: tasks,
            next_id: 1,
        })
    }
}

impl Caller for Hyper {
    async fn call(&mut self) -> Result<()> {
        self.next_id += 1;
        let request = Request::post("/mcp")
            .header("mcp-method", "tools/call")
            .header("mcp-name", TOOL)
            .header("mcp-protocol-version", "2026-07-28")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header(header::CONTENT_TYPE, "application/json")
            .header(
                header::USER_AGENT,
                concat!("floor/", env!("CARGO_PKG_VERSION")),
            )
            .header(header::ACCEPT_ENCODING, "gzip")
            .header(header::HOST, self.address.to_string())
            .body(Full::from(body(self.next_id)))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        ensure!(response.status().is_success(), "refused");
        response.into_body().collect().await?.to_bytes();
        Ok(())
    }

    async fn another(&self) -> Result<Self> {
        Self::connect(self.address).await
    }
}

/// What Seawall's client posts for a call.
fn body(id: u64) -> Vec<u8> {
    let mut body = Vec::with_capacity(320);
    // Writing to a Vec does not fail.
    let _ = write!(
        body,
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{TOOL}","arguments":{{}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"seawall","version":"0.1.0"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    body
}

//! The bare client over HTTP: connections that are kept alive, in one session of 2025-11-25, as all gateways speak it.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use memchr::memmem;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::IN_FLIGHT;
use crate::client::TOOL;
use crate::client::drive::Caller;

const SESSION: &str = "mcp-session-id";

/// One connection.
pub(super) struct Post {
    address: SocketAddr,
    session: Option<HeaderValue>,
    sender: SendRequest<Full<Bytes>>,
    /// The connection's own task.
    _connection: JoinSet<hyper::Result<()>>,
    next_id: u64,
}

impl Post {
    /// Shakes hands.
    pub(super) async fn connect(address: SocketAddr) -> Result<Self> {
        let mut post = Self::dial(address, None).await?;
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bare","version":"0"}}}"#;
        let response = post.send(hello.to_owned()).await?;
        ensure!(response.status().is_success(), "{}", response.status());
        let session = response.headers().get(SESSION).cloned();
        response.into_body().collect().await?;
        post.session = session;
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let response = post.send(ready.to_owned()).await?;
        ensure!(response.status().is_success(), "{}", response.status());
        response.into_body().collect().await?;
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        post.result(list.to_owned()).await?;
        Ok(post)
    }

    async fn dial(address: SocketAddr, session: Option<HeaderValue>) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        Ok(Self {
            address,
            session,
            sender,
            _connection: tasks,
            next_id: 2,
        })
    }

    async fn send(&mut self, body: String) -> Result<Response<Incoming>> {
        let mut request = Request::post("/mcp")
            .header("mcp-protocol-version", "2025-11-25")
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .header(HOST, self.address.to_string());
        if let Some(session) = &self.session {
            request = request.header(SESSION, session);
        }
        if self.sender.ready().await.is_err() {
            // Some hang up after a stream.
            let again = Self::dial(self.address, self.session.clone()).await?;
            (self.sender, self._connection) = (again.sender, again._connection);
        }
        Ok(self
            .sender
            .send_request(request.body(Full::from(body))?)
            .await?)
    }

    /// The result of a request, plain or as an event.
    async fn result(&mut self, body: String) -> Result<()> {
        let response = self.send(body).await?;
        ensure!(response.status().is_success(), "{}", response.status());
        let body = response.into_body().collect().await?.to_bytes();
        ensure!(
            memmem::find(&body, b"\"result\"").is_some(),
            "no result: {}",
            String::from_utf8_lossy(body.get(..200.min(body.len())).unwrap_or_default())
        );
        Ok(())
    }
}

impl Caller for Post {
    async fn call(&mut self) -> Result<()> {
        let id = self.next_id;
        // Those of the other connections of this session are others.
        self.next_id += 1;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{TOOL}","arguments":{{}}}}}}"#
        );
        self.result(body).await
    }

    async fn another(&self) -> Result<Self> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static CONNECTIONS: AtomicU64 = AtomicU64::new(1);
        let mut another = Self::dial(self.address, self.session.clone()).await?;
        another.next_id = CONNECTIONS.fetch_add(1, Ordering::Relaxed) << 32;
        Ok(another)
    }
}

/// So many calls, so many of them at a time.
pub(super) fn many(address: SocketAddr, calls: u64) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let first = Post::connect(address).await?;
        let mut tasks = JoinSet::new();
        for _ in 0..IN_FLIGHT {
            let mut post = first.another().await?;
            tasks.spawn(async move {
                for _ in 0..calls / IN_FLIGHT as u64 {
                    post.call().await?;
                }
                anyhow::Ok(())
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.context("a caller ended")??;
        }
        Ok(())
    })
}

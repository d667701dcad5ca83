//! The way to the collector, for the exporter's own thread.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::{Builder, Runtime};

/// A batch that takes longer is lost. Fixed: the default of the standard.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A longer answer is none.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Sends one request at a time, on a runtime of its own: whoever exports waits for it, and is no task of another runtime.
pub(super) struct Client {
    client: reqwest::Client,
    runtime: Mutex<Runtime>,
}

impl Client {
    /// # Errors
    /// The system's settings cannot be used.
    pub(super) fn new() -> Result<Self, std::io::Error> {
        // The first provider of the process stays; another one's is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(TIMEOUT)
            // Nobody looks after a connection between two batches.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(std::io::Error::other)?;
        Ok(Self {
            client,
            runtime: Mutex::new(Builder::new_current_thread().enable_all().build()?),
        })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut response = self.client.execute(request.try_into()?).await?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err("the collector's answer is too long".into());
            }
            body.extend_from_slice(&chunk);
        }
        let mut answer = Response::new(Bytes::from(body));
        *answer.status_mut() = response.status();
        *answer.headers_mut() = std::mem::take(response.headers_mut());
        Ok(answer)
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        runtime.block_on(self.send(request))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

//! Connections: accepted, bounded, and ended with the listener.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::connection::{CHUNK, Life, Patience};
use super::{Body, HttpLimits};

/// How long what is under way may take once the listener ends. Fixed.
const DRAIN: Duration = Duration::from_secs(2);
/// After accepting failed, which is for want of something, it is tried again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Requests at once on one connection of HTTP/2. Fixed.
const MAX_STREAMS: u32 = 128;
/// Headers of one request, and bytes of them. Fixed.
const MAX_HEADERS: usize = 100;
const MAX_HEADER_BYTES: usize = 64 * 1024;
const MAX_HEADER_LIST: u32 = 64 * 1024;
/// What a connection of HTTP/2 holds for a stream that is not read. Fixed.
const MAX_SEND_BYTES: usize = CHUNK;
/// How often a client of HTTP/2 is asked whether it is there, and how long it may take to say so. Fixed.
const PING: Duration = Duration::from_secs(30);

/// Answers every request on `listener` with `handler`, HTTP/1.1 and HTTP/2, until `stop` is done; then lets what is under
/// way end, for a moment.
///
/// # Cancel safety
/// Dropping it ends every connection.
pub async fn listen<H, F>(
    listener: TcpListener,
    limits: &HttpLimits,
    handler: H,
    stop: impl Future<Output = ()>,
) where
    H: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES)
        .header_read_timeout(limits.header_timeout);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEADER_LIST)
        .max_send_buf_size(MAX_SEND_BYTES)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING);
    let patience = Patience {
        begin: limits.header_timeout,
        idle: limits.connection_idle,
        taking: limits.taking_timeout,
    };
    let slots = Arc::new(Semaphore::new(limits.max_connections));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    loop {
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await;
            (listener.accept().await, slot)
        };
        let (accepted, slot) = tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => continue,
            accepted = accepted => accepted,
        };
        let Ok((stream, _)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Answers are small and wanted at once.
        let _ = stream.set_nodelay(true);
        let handler = handler.clone();
        let life = Life::new();
        let begun = life.clone();
        let service = service_fn(move |request| {
            let under_way = begun.begin();
            let response = handler(request);
            async move {
                let response = response.await;
                Ok::<_, Infallible>(response.map(|body| under_way.watch(body)))
            }
        });
        let connection = builder
            .serve_connection(TokioIo::new(stream), service)
            .into_owned();
        let connection = graceful.watch(connection);
        connections.spawn(async move {
            // How a connection ended is the client's affair.
            tokio::select! {
                _ = connection => {}
                () = life.over(patience) => {}
            }
            drop(slot);
        });
    }
    drop(listener);
    let _ = timeout(DRAIN, graceful.shutdown()).await;
    connections.shutdown().await;
}

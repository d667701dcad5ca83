//! The library against real processes, most of which misbehave on purpose.

#![cfg(unix)]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod calls;
mod endings;
mod everything;
mod host;
mod host_drops;
mod host_mcpl;
mod host_requests;
mod hostile;
mod http_answers;
mod http_calls;
mod http_connecting;
mod http_host;
mod http_logins;
mod http_rounds;
mod http_sessions;
mod http_streams;
mod http_support;
#[cfg(feature = "journal")]
mod journal;
mod mcpl;
mod mcpl_hostile;
mod mcpl_support;
mod spawning;
mod stdio_eras;
mod websockets;

use std::sync::{Arc, Mutex};

use seawall::config::ServerConfigBuilder;
use seawall::{Client, Diagnostic, Error, ErrorCode, Limits, Observer, Outcome, ServerConfig};
use seawall_testkit::Server;

/// What a hostile server writes wherever it can: no public message may hold it (O1).
const MARKER: &str = "REMOTE-MARKER";

fn entry(server: &Server) -> ServerConfigBuilder {
    ServerConfig::stdio("test", server.program_str()).args(server.args.iter().cloned())
}

async fn connect(server: &Server) -> Result<Client, Error> {
    Client::connect(entry(server).build().expect("a valid entry")).await
}

async fn connected(server: &Server) -> Client {
    connect(server).await.expect("connects")
}

async fn connect_limited(
    server: &Server,
    change: impl FnOnce(&mut Limits),
) -> Result<Client, Error> {
    let mut limits = Limits::default();
    change(&mut limits);
    Client::connect(entry(server).limits(limits).build().expect("a valid entry")).await
}

/// Code and outcome, once it is certain that the text is Seawall's own.
fn verdict(error: &Error) -> (ErrorCode, Outcome) {
    for text in [error.to_string(), format!("{error:?}"), error.message()] {
        assert!(!text.contains(MARKER), "remote text in {text}");
    }
    assert!(
        error.to_string().starts_with("MCP server \"test\": "),
        "{error}"
    );
    (error.code(), error.outcome())
}

/// Keeps what it is told.
#[derive(Default)]
struct Recorder(Mutex<Vec<Diagnostic>>);

impl Recorder {
    fn seen(&self) -> Vec<Diagnostic> {
        self.0.lock().expect("not poisoned").clone()
    }
}

impl Observer for Recorder {
    fn observe(&self, server: &str, diagnostic: &Diagnostic) {
        assert_eq!(server, "test");
        self.0
            .lock()
            .expect("not poisoned")
            .push(diagnostic.clone());
    }
}

async fn observed(builder: ServerConfigBuilder) -> (Result<Client, Error>, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let client = Client::builder(builder.build().expect("a valid entry"))
        .observer(Arc::clone(&recorder) as Arc<dyn Observer>)
        .connect()
        .await;
    (client, recorder)
}

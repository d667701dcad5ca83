//! The service that the fronts' tests serve.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, METHOD_NOT_FOUND};
use seawall_proto::mcp::catalog::HeaderParams;
use seawall_proto::server::{Offer, RequestMeta};
use tokio::time::sleep;

use crate::clients::Client;
use crate::{Answer, AskError, Exchange, Request, Service, Session};

/// A result whose text nothing may change.
pub(crate) const RESULT: &str = r#"{ "content":[] ,"n":1.00,"s":"\u0041"}"#;

/// Does what a method's name says.
#[derive(Default)]
pub(crate) struct Obedient {
    /// Requests that are served now.
    pub(crate) running: AtomicUsize,
    pub(crate) sessions: Mutex<Vec<Session>>,
    pub(crate) told: Mutex<Vec<String>>,
    /// Whose requests they were.
    pub(crate) clients: Mutex<Vec<String>>,
}

impl Obedient {
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    pub(crate) fn clients(&self) -> Vec<String> {
        self.clients.lock().unwrap().clone()
    }

    pub(crate) fn session(&self) -> Session {
        self.sessions.lock().unwrap().last().unwrap().clone()
    }
}

struct Running(Arc<Obedient>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

impl Service for Obedient {
    fn offer(&self, _client: &Client, _meta: &RequestMeta) -> Offer {
        Offer {
            capabilities: json(r#"{"tools":{}}"#),
            server_info: json(r#"{"name":"obedient","version":"1"}"#),
            instructions: None,
        }
    }

    async fn serve(self: Arc<Self>, request: Request, exchange: Exchange) -> Answer {
        self.running.fetch_add(1, Ordering::SeqCst);
        let client = request.client.name().to_owned();
        self.clients.lock().unwrap().push(client);
        let _running = Running(Arc::clone(&self));
        let tell = async |text: &str| {
            let _ = exchange
                .notify("notifications/message", Some(&json(text)))
                .await;
        };
        match request.method.as_str() {
            "tools/call" | "tools/list" => Ok(json(RESULT)),
            "test/slow" => {
                sleep(Duration::from_secs(5)).await;
                Ok(json(RESULT))
            }
            "test/never" => std::future::pending().await,
            "test/panic" => panic!("a service may be broken"),
            "test/tell" => {
                tell("1").await;
                sleep(Duration::from_secs(1)).await;
                tell("2").await;
                Ok(json(RESULT))
            }
            "test/flood" => {
                for _ in 0..1_000 {
                    tell("0").await;
                }
                Ok(json(RESULT))
            }
            "test/hang-up" => {
                exchange.hang_up();
                sleep(Duration::from_secs(1)).await;
                Ok(json(RESULT))
            }
            "test/ask" => match exchange.ask("roots/list", None).await {
                Ok(result) => Ok(result),
                Err(AskError::Refused(error)) => Err(error),
                Err(other) => Err(ErrorObject::new(7, format!("{other:?}"), None)),
            },
            "test/needs" => Err(ErrorObject::new(-32021, "Missing", None)),
            _ => Err(ErrorObject::new(METHOD_NOT_FOUND, "Method not found", None)),
        }
    }

    fn header_params(&self, _client: &Client, tool: &str) -> Option<HeaderParams> {
        let schema = r#"{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"Limit"}}}"#;
        (tool == "mirrored").then(|| HeaderParams::of(&json(schema)).unwrap())
    }

    fn opened(&self, session: &Session) {
        self.sessions.lock().unwrap().push(session.clone());
    }

    fn told(&self, _session: &Session, method: &str, _params: Option<&Json>) {
        self.told.lock().unwrap().push(method.to_owned());
    }
}

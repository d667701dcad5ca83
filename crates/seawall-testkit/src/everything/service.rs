//! The service: each method, and what every result of a modern revision carries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ring::hmac;
use ring::rand::SystemRandom;
use seawall_gateway::clients;
use seawall_gateway::{Answer, Exchange, Request, Service, Session, SessionId};
use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND};
use seawall_proto::mcp::LOG_LEVELS;
use seawall_proto::mcp::catalog::HeaderParams;
use seawall_proto::server::{Offer, RequestMeta};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::call::{Call, Done, Stop, error, invalid};
use crate::changes::Change;

const TOOLS: &str = include_str!("tools.json");
const PROMPTS: &str = include_str!("prompts.json");
const RESOURCES: &str = include_str!("resources.json");

/// What was told and not read yet; a listener that is later misses some.
const CHANGES: usize = 64;

/// The server.
pub(crate) struct Everything {
    offer: Offer,
    pub(crate) tools: Value,
    pub(crate) prompts: Value,
    pub(crate) resources: Value,
    /// Signs what a client is to bring back.
    pub(crate) key: hmac::Key,
    pub(crate) changes: broadcast::Sender<Change>,
    pub(crate) clients: Mutex<HashMap<SessionId, Client>>,
}

/// What is kept of a session.
#[derive(Default)]
pub(crate) struct Client {
    pub(crate) session: Option<Session>,
    /// The index of its level among the levels; everything is told until it is set.
    pub(crate) level: usize,
    pub(crate) followed: Vec<String>,
}

impl Everything {
    /// `None` if there is no randomness, or its own lists are no JSON.
    pub(crate) fn new() -> Option<Self> {
        let parse = |text| serde_json::from_str::<Value>(text).ok();
        let part = |value: Value| Json::of(&value).ok();
        let capabilities = json!({
            "tools": {"listChanged": true},
            "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true},
            "completions": {},
            "logging": {},
        });
        let offer = Offer {
            capabilities: part(capabilities)?,
            server_info: part(server_info())?,
            instructions: part(json!("Everything that a conformance suite asks for.")),
        };
        Some(Self {
            offer,
            tools: parse(TOOLS)?,
            prompts: parse(PROMPTS)?,
            resources: parse(RESOURCES)?,
            key: hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok()?,
            changes: broadcast::channel(CHANGES).0,
            clients: Mutex::default(),
        })
    }

    pub(crate) fn clients(&self) -> MutexGuard<'_, HashMap<SessionId, Client>> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|_, client| client.session.as_ref().is_none_or(|one| !one.is_closed()));
        clients
    }

    /// Changes what is kept of the session that a call is of.
    fn keep(&self, call: &Call, change: impl FnOnce(&mut Client)) -> Done {
        if let Some(session) = call.exchange.session() {
            let mut clients = self.clients();
            let client = clients.entry(session.id()).or_default();
            client.session = Some(session.clone());
            change(client);
        }
        Ok(json!({}))
    }

    /// Writes a line of the log, if the client wants such.
    pub(crate) async fn log(&self, call: &Call, level: &str, data: &str) {
        let rank = |level: &str| LOG_LEVELS.iter().position(|known| *known == level);
        let wanted = if call.is_modern() {
            call.meta.log_level.and_then(rank)
        } else {
            let session = call.exchange.session().map(Session::id);
            let clients = self.clients();
            let client = session.and_then(|id| clients.get(&id));
            Some(client.map_or(0, |client| client.level))
        };
        if wanted.is_some_and(|wanted| rank(level) >= Some(wanted)) {
            let params = json!({"level": level, "logger": "everything", "data": data});
            call.tell("notifications/message", &params).await;
        }
    }

    async fn answer(&self, id: &Value, method: &str, call: &Call) -> Done {
        let legacy = !call.is_modern();
        match method {
            "tools/list" => Ok(json!({"tools": self.tools})),
            "tools/call" => self.call(call).await,
            "prompts/list" => Ok(json!({"prompts": self.prompts})),
            "prompts/get" => self.prompt(call).await,
            "resources/list" => Ok(json!({"resources": self.resources["resources"]})),
            "resources/templates/list" => {
                Ok(json!({"resourceTemplates": self.resources["templates"]}))
            }
            "resources/read" => Self::read(call),
            "completion/complete" => Self::complete(call),
            "subscriptions/listen" if !legacy => self.listen(id, call).await,
            "logging/setLevel" if legacy => {
                let level = call.needs("/level")?;
                let at = LOG_LEVELS.iter().position(|known| *known == level);
                let at = at.ok_or_else(|| invalid("there is no such level", None))?;
                self.keep(call, |client| client.level = at)
            }
            "resources/subscribe" if legacy => {
                let uri = call.needs("/uri")?.to_owned();
                self.keep(call, |client| client.followed.push(uri))
            }
            "resources/unsubscribe" if legacy => {
                let uri = call.needs("/uri")?;
                self.keep(call, |client| client.followed.retain(|one| one != uri))
            }
            _ => Err(error(METHOD_NOT_FOUND, "Method not found", None)),
        }
    }
}

impl Service for Everything {
    fn offer(&self, _client: &clients::Client, _meta: &RequestMeta) -> Offer {
        self.offer.clone()
    }

    async fn serve(self: Arc<Self>, request: Request, exchange: Exchange) -> Answer {
        let params = request.params.as_ref().map(Json::parse::<Value>);
        let Ok(params) = params.unwrap_or_else(|| Ok(json!({}))) else {
            return Err(ErrorObject::new(INVALID_PARAMS, "Invalid params", None));
        };
        let id = serde_json::from_str(request.id.as_json()).unwrap_or_default();
        let call = Call {
            params,
            meta: request.meta,
            exchange,
        };
        let result = match self.answer(&id, &request.method, &call).await {
            Ok(result) | Err(Stop::Inputs(result)) => result,
            Err(Stop::Error(error)) => return Err(error),
        };
        let result = if call.is_modern() {
            modern(result, &request.method)
        } else {
            result
        };
        let broken = |_| ErrorObject::new(INTERNAL_ERROR, "Internal error", None);
        Json::of(&result).map_err(broken)
    }

    fn header_params(&self, _client: &clients::Client, tool: &str) -> Option<HeaderParams> {
        let tools = self.tools.as_array()?;
        let tool = tools.iter().find(|one| one["name"] == tool)?;
        HeaderParams::of(&Json::of(&tool["inputSchema"]).ok()?).ok()
    }

    fn opened(&self, session: &Session) {
        let mut clients = self.clients();
        clients.entry(session.id()).or_default().session = Some(session.clone());
    }
}

fn server_info() -> Value {
    json!({"name": "everything-server", "title": "Everything", "version": env!("CARGO_PKG_VERSION")})
}

/// What a result of a modern revision says of itself (2026-07-28, `basic/index` and `server/utilities/caching`).
fn modern(mut result: Value, method: &str) -> Value {
    let Some(members) = result.as_object_mut() else {
        return result;
    };
    let kind = members
        .entry("resultType")
        .or_insert_with(|| json!("complete"));
    let scope = match method {
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => "public",
        "resources/read" => "private",
        _ => "",
    };
    if kind == "complete" && !scope.is_empty() {
        members.insert("ttlMs".to_owned(), json!(60_000));
        members.insert("cacheScope".to_owned(), json!(scope));
    }
    let meta = members.entry("_meta").or_insert_with(|| json!({}));
    meta["io.modelcontextprotocol/serverInfo"] = server_info();
    result
}

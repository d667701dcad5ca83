//! The gateway: one server that offers what all servers of a [`Host`] offer (G1).
//!
//! **Invariant:** it is a caller of the host and nothing more.
//! **Invariant:** no lock is held across an await; whatever waits for a client ends with that client's request.

mod changes;
mod state;
#[cfg(test)]
mod tests;
mod views;

use std::fmt;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use seawall::Host;
use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;
use seawall_proto::mcp::catalog::HeaderParams;
use seawall_proto::server::{Offer, RequestMeta};
use serde_json::json;
use tokio::sync::{Semaphore, SemaphorePermit, TryAcquireError, broadcast, watch};
use tokio::time::{Instant, timeout_at};

use crate::clients::Client;
use crate::names::Names;
use crate::observe::{Ended, Observe, Telemetry};
use crate::offers::{Kind, Notice, Offers};
use crate::relay::Relays;
use crate::search;
use crate::service::{Answer, Exchange, Request, Service, Session};
use crate::tools::{self, Meeting, Offered, RemoteErrors};
use changes::{Change, Told};
pub(crate) use state::Readiness;
use views::Views;

/// How long lists and calls wait for the servers' first connects, from the gateway's beginning on. Fixed: some
/// clients give up a server that lists nothing within ten.
const FIRST_CONNECTS: Duration = Duration::from_secs(7);
/// Open subscriptions of all clients. Fixed.
const MAX_LISTENERS: usize = 1_024;
/// Changes that wait for a subscription whose client reads slowly; past it the client is told of everything. Fixed.
const MAX_CHANGES: usize = 256;

/// How a gateway behaves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// How tools are named. Default: `server__tool`.
    pub names: Names,
    /// What clients see of servers' error texts. Default: the text, redacted.
    pub remote_errors: RemoteErrors,
    /// Calls of all clients under way at once; one more is refused. Default: 1 024.
    pub max_calls: usize,
    /// Where spans of calls are told. Default: nowhere, and clients' trace contexts go on unchanged.
    pub telemetry: Option<Arc<dyn Telemetry>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            names: Names::default(),
            remote_errors: RemoteErrors::default(),
            max_calls: 1_024,
            telemetry: None,
        }
    }
}

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The servers are being connected for the first time.
    Starting,
    Serving,
    /// Nothing new is begun.
    Ending,
}

/// What a call comes to.
enum Meant {
    /// A call of a server's tool.
    Call(Request),
    /// Its answer.
    Answer(Answer),
}

/// A gateway in front of a host. Serve it on a front: [`stdio::serve`](crate::stdio::serve), or an
/// [`Endpoint`](crate::http::Endpoint).
pub struct Gateway {
    host: Host,
    options: Options,
    server_info: Json,
    capabilities: Json,
    stage: watch::Sender<Stage>,
    calls: Semaphore,
    listeners: Semaphore,
    views: Views,
    told: Told,
    offers: Offers,
    changes: broadcast::Sender<Change>,
    /// Subscriptions that there were.
    listened: AtomicU64,
    observe: Arc<Observe>,
    begun: SystemTime,
    /// Until then the first connects are waited for: a server that never comes up holds up nobody after.
    patient_until: Instant,
    relays: Relays,
}

impl Gateway {
    /// A gateway that waits for [`started`](Self::started) before it lists or calls anything.
    #[must_use]
    pub fn new(host: Host, options: Options) -> Self {
        let part =
            |value: serde_json::Value| Json::of(&value).unwrap_or_else(|_| Json::empty_object());
        // What comes later has to be announced, and could not be if it was not declared: so all of it is, always.
        let capabilities = json!({
            "tools": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true},
            "prompts": {"listChanged": true},
            "completions": {},
            "logging": {},
        });
        Self {
            offers: Offers::new(host.clone(), options.names, options.remote_errors),
            changes: broadcast::Sender::new(MAX_CHANGES),
            listened: AtomicU64::new(0),
            host,
            server_info: part(json!({"name": "seawall", "version": env!("CARGO_PKG_VERSION")})),
            capabilities: part(capabilities),
            stage: watch::Sender::new(Stage::Starting),
            calls: Semaphore::new(options.max_calls.min(Semaphore::MAX_PERMITS)),
            listeners: Semaphore::new(MAX_LISTENERS),
            views: Views::default(),
            told: Told::default(),
            observe: Arc::new(Observe::new(options.telemetry.clone())),
            begun: SystemTime::now(),
            patient_until: Instant::now() + FIRST_CONNECTS,
            relays: Relays::default(),
            options,
        }
    }

    /// The servers' first connects are through: what waited for them goes on.
    pub fn started(&self) {
        self.stage.send_if_modified(|stage| {
            let starting = *stage == Stage::Starting;
            if starting {
                *stage = Stage::Serving;
            }
            starting
        });
    }

    /// Tells clients of changes, and has servers tell of the resources that clients follow, for as long as it is polled: to be
    /// run once, beside the front.
    pub async fn announce(&self) {
        changes::announce(self).await;
    }

    /// Ends: new calls are refused, subscriptions end, calls that wait for their clients' answers are given up, and those
    /// under way may end within `budget`. Whether all did.
    ///
    /// # Cancel safety
    /// What was begun stays so.
    pub async fn drain(&self, budget: Duration) -> bool {
        self.stage.send_replace(Stage::Ending);
        self.relays.end();
        let until = Instant::now() + budget;
        let all = u32::try_from(self.options.max_calls).unwrap_or(u32::MAX);
        timeout_at(until, self.calls.acquire_many(all))
            .await
            .is_ok()
    }

    /// Tools that are not offered, since several have one name.
    #[must_use]
    pub fn meetings(&self) -> Vec<Meeting> {
        let offered = self.views.whole(&self.host.tools(), self.options.names);
        offered.meetings().to_vec()
    }

    /// Takes what is to be told to the operator and was not yet: what is left out of resources and prompts.
    #[must_use]
    pub fn notices(&self) -> Vec<Notice> {
        self.offers.notices()
    }

    /// What is offered to this client at this moment.
    fn offered(&self, client: &Client) -> Arc<Offered> {
        self.views
            .of(client, &self.host.tools(), self.options.names)
    }

    /// Room for one more call.
    fn begin_call(&self) -> Result<SemaphorePermit<'_>, &'static str> {
        if *self.stage.borrow() == Stage::Ending {
            return Err("the gateway is ending");
        }
        self.calls.try_acquire().map_err(|error| match error {
            TryAcquireError::Closed => "the gateway is ending",
            TryAcquireError::NoPermits => "too many calls are under way through the gateway",
        })
    }

    /// Waits for the servers' first connects, while they may take.
    async fn begun(&self) {
        let mut stage = self.stage.subscribe();
        let begun = stage.wait_for(|stage| *stage != Stage::Starting);
        // Past it the list is what it is; the client is told when it changes.
        let _ = timeout_at(self.patient_until, begun).await;
    }

    /// One page of tools, as the members of a result.
    fn tools(&self, request: &Request) -> Result<String, ErrorObject> {
        let params = request.params.as_ref();
        let cursor = params.and_then(|params| params.member("cursor"));
        if request.client.searches() && !search::wants_all(params) {
            return Ok(search::PAGE.to_owned());
        }
        self.offered(&request.client).page(cursor.as_ref())
    }

    /// What a call of a client that searches means, if it is of one of the two tools that such a client has.
    fn meant(&self, mut request: Request) -> Meant {
        let params = request.params.as_ref();
        let name = params.and_then(|params| params.member("name"));
        let name = name.as_ref().and_then(Json::string);
        match name.as_deref() {
            Some(search::FIND) if request.client.searches() => {
                let found = self.offered(&request.client).search(params);
                Meant::Answer(found.map(|found| tools::for_era(&found, &request.meta)))
            }
            Some(search::CALL) if request.client.searches() => match search::called(params) {
                Ok(meant) => {
                    request.params = Some(meant);
                    Meant::Call(request)
                }
                Err(error) => Meant::Answer(Err(error)),
            },
            _ => Meant::Call(request),
        }
    }

    /// A page as a result.
    fn listed(&self, page: &str, meta: &RequestMeta) -> Answer {
        let text = if meta.revision.is_legacy() {
            format!("{{{page}}}")
        } else {
            format!(
                "{{\"resultType\":\"complete\",{page},\"ttlMs\":0,\"cacheScope\":\"private\",\
                 \"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{}}}}}",
                self.server_info.as_str()
            )
        };
        Json::check(text).map_err(|_| tools::internal())
    }

    fn next_listener(&self) -> u64 {
        self.listened.fetch_add(1, Ordering::Relaxed)
    }

    /// Resources, prompts and completions; `None` for a method that is none of theirs.
    async fn offer_of_servers(&self, request: &Request, exchange: &Exchange) -> Option<Answer> {
        let meta = &request.meta;
        let session = exchange.session().filter(|_| meta.revision.is_legacy());
        let is_ours = matches!(
            (request.method.as_str(), session),
            ("resources/read" | "prompts/get" | "completion/complete", _)
                | ("resources/subscribe" | "resources/unsubscribe", Some(_))
        );
        if let Some(kind) = Kind::of_method(&request.method) {
            self.begun().await;
            let page = self
                .offers
                .page(&request.client, kind, request.params.as_ref());
            let page = page.await;
            return Some(page.and_then(|page| self.listed(&page, meta)));
        }
        if !is_ours {
            return None;
        }
        self.begun().await;
        let _permit = match self.begin_call() {
            Ok(permit) => permit,
            Err(why) => return Some(Err(tools::not_taken(why))),
        };
        Some(match (request.method.as_str(), session) {
            ("resources/read", _) => {
                let begin = |wiring| self.offers.read(request, wiring);
                self.relays.carry(request, exchange, begin).await
            }
            ("prompts/get", _) => {
                let begin = |wiring| self.offers.prompt(request, wiring);
                self.relays.carry(request, exchange, begin).await
            }
            ("completion/complete", _) => self.offers.completion(request).await,
            ("resources/subscribe", Some(session)) => self.offers.subscribe(request, session).await,
            ("resources/unsubscribe", Some(session)) => self.offers.unsubscribe(request, session),
            _ => Err(tools::method_not_found()),
        })
    }
}

impl Service for Gateway {
    fn offer(&self, _client: &Client, _meta: &RequestMeta) -> Offer {
        Offer {
            capabilities: self.capabilities.clone(),
            server_info: self.server_info.clone(),
            instructions: None,
        }
    }

    async fn serve(self: Arc<Self>, request: Request, exchange: Exchange) -> Answer {
        let is_legacy = request.meta.revision.is_legacy();
        match request.method.as_str() {
            "tools/list" => {
                self.begun().await;
                let page = self.tools(&request)?;
                self.listed(&page, &request.meta)
            }
            "tools/call" => {
                self.begun().await;
                let request = match self.meant(request) {
                    Meant::Call(request) => request,
                    Meant::Answer(answer) => return answer,
                };
                let begun = || {
                    let params = request.params.as_ref();
                    self.observe.begin(request.client.name(), params)
                };
                let begin = |wiring| {
                    let remote = self.options.remote_errors;
                    let observed = begun();
                    let offered = self.offered(&request.client);
                    let call =
                        tools::call(&self.host, &offered, &request, wiring, remote, observed);
                    ready(call)
                };
                let _permit = self.begin_call().map_err(|why| {
                    begun().ended(Some(Ended::Refused));
                    tools::not_taken(why)
                })?;
                self.relays.carry(&request, &exchange, begin).await
            }
            "logging/setLevel" => self.relays.set_level(&request, exchange.session()),
            "subscriptions/listen" if !is_legacy => {
                changes::listen(&self, &request, &exchange).await
            }
            _ => {
                let answer = self.offer_of_servers(&request, &exchange).await;
                answer.unwrap_or_else(|| Err(tools::method_not_found()))
            }
        }
    }

    fn header_params(&self, client: &Client, tool: &str) -> Option<HeaderParams> {
        self.offered(client).header_params(tool)
    }

    fn opened(&self, session: &Session) {
        self.told.add(session);
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("host", &self.host)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

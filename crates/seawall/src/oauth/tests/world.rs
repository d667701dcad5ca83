//! A server that wants a token, its authorization server, and a request as a transport would send it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

use crate::oauth::{HeadlessBrowser, OAuth, OAuthBuilder, TokenStore};
use crate::web::{AuthError, Authorize as _, HttpClient, Refusal, Verdict, Waits};

/// Where the answers of [`HeadlessBrowser`] would go.
pub(super) const REDIRECT: &str = "http://127.0.0.1:9/callback";

/// A request that the world saw.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) path: String,
    /// The query, or the form of a POST.
    pub(super) fields: BTreeMap<String, String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
    query: Vec<(String, String)>,
}

impl Seen {
    pub(super) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// The query as it was sent.
    pub(super) fn query(&self) -> Vec<(String, String)> {
        self.query.clone()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(super) fn scopes(&self) -> Vec<&str> {
        self.field("scope").split_ascii_whitespace().collect()
    }
}

/// An answer of the world.
#[derive(Debug, Clone, Default)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![("Content-Type".into(), "application/json".into())],
            body: body.to_string(),
        }
    }

    pub(super) fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    pub(super) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

type Answer = dyn Fn(&Seen, &World) -> Option<Reply> + Send + Sync;

/// The world: what it does, and what it saw.
#[derive(Clone)]
pub(super) struct World {
    pub(super) origin: String,
    /// Asked first; `None` leaves it to the defaults.
    special: Arc<Answer>,
    pub(super) state: Arc<Mutex<State>>,
}

/// What can be changed while the world runs.
pub(super) struct State {
    pub(super) seen: Vec<Seen>,
    /// Where the server's metadata stands, if anywhere.
    pub(super) resource_metadata: Option<String>,
    /// What the server's metadata says.
    pub(super) resource: Value,
    pub(super) metadata_path: Option<String>,
    pub(super) metadata: Value,
    /// The challenge after `Bearer `.
    pub(super) challenge: String,
    /// The parameters of the redirect beside code and state.
    pub(super) redirect: Vec<(String, String)>,
    pub(super) accepted: Vec<String>,
    pub(super) issued: u32,
    pub(super) nonces: u32,
    pub(super) registered: Value,
    pub(super) token: Value,
    code_challenge: String,
}

/// A world that runs until it is dropped.
pub(super) struct Running {
    pub(super) world: World,
    pub(super) http: HttpClient,
    _tasks: JoinSet<()>,
}

impl Running {
    /// A world with the defaults: metadata where it belongs, registration, PKCE, tokens of an hour.
    pub(super) async fn start() -> Self {
        Self::with(|_, _| None).await
    }

    pub(super) async fn with(
        special: impl Fn(&Seen, &World) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let world = World {
            state: Arc::new(Mutex::new(State::new(&origin))),
            special: Arc::new(special),
            origin,
        };
        let mut tasks = JoinSet::new();
        let serving = world.clone();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let world = serving.clone();
                connections.spawn(async move { world.serve(stream).await });
            }
        });
        Self {
            world,
            http: HttpClient::new().unwrap(),
            _tasks: tasks,
        }
    }

    pub(super) fn url(&self) -> Url {
        Url::parse(&format!("{}/mcp", self.world.origin)).unwrap()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.world.state.lock().unwrap());
    }

    /// A login to this world with a browser that asks nobody.
    pub(super) fn oauth(&self) -> OAuthBuilder {
        let browser = HeadlessBrowser::new(self.http.clone(), Url::parse(REDIRECT).unwrap());
        OAuth::builder("demo", self.url(), self.http.clone()).browser(Arc::new(browser))
    }

    pub(super) fn oauth_in(&self, store: &Arc<dyn TokenStore>) -> OAuth {
        self.oauth().store(Arc::clone(store)).build().unwrap()
    }

    /// Sends a request as a transport does; its final status.
    pub(super) async fn call(&self, oauth: &OAuth) -> Result<u16, AuthError> {
        self.call_at(oauth, &self.url()).await
    }

    pub(super) async fn call_at(&self, oauth: &OAuth, url: &Url) -> Result<u16, AuthError> {
        self.send(oauth, url, Waits::Somebody).await
    }

    /// Sends a request as a transport does that nobody waits for.
    pub(super) async fn call_in_background(&self, oauth: &OAuth) -> Result<u16, AuthError> {
        self.send(oauth, &self.url(), Waits::Nobody).await
    }

    async fn send(&self, oauth: &OAuth, url: &Url, waits: Waits) -> Result<u16, AuthError> {
        let method = Method::POST;
        let mut refusals = 0;
        for _ in 0..20 {
            let credentials = oauth.credentials(&method, url).await?;
            let mut request = self.http.request(method.clone(), url).unwrap().body("{}");
            for (name, value) in credentials.iter().flat_map(|found| &found.headers) {
                request = request.header(name, value);
            }
            let answer = HttpClient::fetch(request, 1 << 20).await.unwrap();
            if !matches!(answer.status.as_u16(), 401 | 403) {
                return Ok(answer.status.as_u16());
            }
            let refusal = Refusal {
                method: &method,
                url,
                status: answer.status,
                headers: &answer.headers,
                used: credentials.map(|credentials| credentials.generation),
                refusals,
                waits,
            };
            match oauth.refused(refusal).await? {
                Verdict::Retry => refusals += 1,
                Verdict::Amend => {}
                Verdict::GiveUp => return Ok(answer.status.as_u16()),
            }
        }
        panic!("it would go on for ever")
    }

    /// The requests of a path, oldest first.
    pub(super) fn seen(&self, path: &str) -> Vec<Seen> {
        let state = self.world.state.lock().unwrap();
        let of = state.seen.iter().filter(|seen| seen.path == path);
        of.cloned().collect()
    }

    /// The paths that were requested, oldest first, without the server's own.
    pub(super) fn paths(&self) -> Vec<String> {
        let state = self.world.state.lock().unwrap();
        let paths = state.seen.iter().map(|seen| seen.path.clone());
        paths.filter(|path| path != "/mcp").collect()
    }
}

impl State {
    fn new(origin: &str) -> Self {
        Self {
            seen: Vec::new(),
            resource_metadata: Some("/.well-known/oauth-protected-resource/mcp".into()),
            resource: json!({
                "resource": format!("{origin}/mcp"),
                "authorization_servers": [origin],
            }),
            metadata_path: Some("/.well-known/oauth-authorization-server".into()),
            metadata: json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "revocation_endpoint": format!("{origin}/revoke"),
                "code_challenge_methods_supported": ["S256"],
            }),
            challenge: String::new(),
            redirect: Vec::new(),
            accepted: Vec::new(),
            issued: 0,
            nonces: 0,
            registered: json!({ "client_id": "registered" }),
            token: json!({ "token_type": "Bearer", "expires_in": 3600 }),
            code_challenge: String::new(),
        }
    }
}

impl World {
    async fn serve(&self, mut stream: TcpStream) {
        let Some(seen) = read(&mut stream).await else {
            return;
        };
        self.state.lock().unwrap().seen.push(seen.clone());
        let reply = (self.special)(&seen, self).unwrap_or_else(|| self.default(&seen));
        if reply.status == 0 {
            return std::future::pending().await;
        }
        let mut text = format!(
            "HTTP/1.1 {} X\r\nContent-Length: {}\r\nConnection: close\r\n",
            reply.status,
            reply.body.len()
        );
        for (name, value) in &reply.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(&reply.body);
        let _ = stream.write_all(text.as_bytes()).await;
        let _ = stream.shutdown().await;
    }

    pub(super) fn default(&self, seen: &Seen) -> Reply {
        let mut state = self.state.lock().unwrap();
        let path = Some(seen.path.clone());
        if path == state.resource_metadata {
            return Reply::json(200, &state.resource);
        }
        if path == state.metadata_path {
            return Reply::json(200, &state.metadata);
        }
        match seen.path.as_str() {
            "/mcp" => {
                let sent = seen.header("authorization");
                if state.accepted.iter().any(|token| token == sent) {
                    return Reply::status(200);
                }
                let challenge = format!("Bearer {}", state.challenge);
                Reply::status(401).header("WWW-Authenticate", challenge)
            }
            "/register" => Reply::json(201, &state.registered),
            "/revoke" => Reply::status(200),
            "/authorize" => {
                let mut target = Url::parse(seen.field("redirect_uri")).unwrap();
                target
                    .query_pairs_mut()
                    .append_pair("code", "the-code")
                    .append_pair("state", seen.field("state"))
                    .extend_pairs(state.redirect.clone());
                seen.field("code_challenge")
                    .clone_into(&mut state.code_challenge);
                Reply::status(302).header("Location", target.as_str())
            }
            "/token" => {
                if seen.field("grant_type") == "authorization_code" {
                    let digest = Sha256::digest(seen.field("code_verifier"));
                    assert_eq!(URL_SAFE_NO_PAD.encode(digest), state.code_challenge);
                }
                Reply::json(200, &state.issue())
            }
            _ => Reply::status(404),
        }
    }
}

impl State {
    /// A new token, accepted from now on.
    pub(super) fn issue(&mut self) -> Value {
        self.issued += 1;
        let token = format!("token-{}", self.issued);
        let mut answer = self.token.clone();
        self.accepted = vec![format!("Bearer {token}"), format!("DPoP {token}")];
        answer["access_token"] = json!(token);
        answer
    }
}

async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let seen = parse(head, body)?;
            let length = seen.header("content-length").parse().unwrap_or(0);
            if body.len() >= length {
                return Some(seen);
            }
        }
        let count = stream.read(&mut buffer).await.ok()?;
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
}

fn parse(head: &str, body: &str) -> Option<Seen> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    words.next()?;
    let url = Url::parse("http://world").ok()?.join(words.next()?).ok()?;
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let form = headers
        .get("content-type")
        .is_some_and(|kind| kind.contains("form"));
    let text = if form {
        body
    } else {
        url.query().unwrap_or("")
    };
    Some(Seen {
        path: url.path().to_owned(),
        fields: url::form_urlencoded::parse(text.as_bytes())
            .into_owned()
            .collect(),
        headers,
        body: body.to_owned(),
        query: url.query_pairs().into_owned().collect(),
    })
}

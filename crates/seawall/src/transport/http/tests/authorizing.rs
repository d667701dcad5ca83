//! Refusals for want of authorisation.

use std::sync::Mutex;

use http::Method;
use http::header::AUTHORIZATION;
use secrecy::SecretString;
use url::Url;

use super::super::StaticBearer;
use super::*;
use crate::web::{AuthError, Boxed, Credentials, Refusal, Verdict, Waits};

/// Authorises with a number that counts up, and never gives up.
#[derive(Debug, Default)]
struct Stubborn(Mutex<(u64, Vec<Seen>)>);

/// What was refused: method, path, challenge, status, generation, how often before.
type Seen = (String, String, bool, u16, Option<u64>, u32);

impl Authorize for Stubborn {
    fn credentials<'a>(
        &'a self,
        _: &'a Method,
        _: &'a Url,
    ) -> Boxed<'a, Result<Option<Credentials>, AuthError>> {
        let generation = self.0.lock().unwrap().0;
        let headers = vec![(AUTHORIZATION, HeaderValue::from(generation))];
        Box::pin(std::future::ready(Ok(Some(Credentials {
            headers,
            generation,
        }))))
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> Boxed<'a, Result<Verdict, AuthError>> {
        let mut state = self.0.lock().unwrap();
        state.0 += 1;
        state.1.push((
            refusal.method.to_string(),
            refusal.url.path().to_owned(),
            refusal.headers.contains_key("www-authenticate"),
            refusal.status.as_u16(),
            refusal.used,
            refusal.refusals,
        ));
        Box::pin(std::future::ready(Ok(Verdict::Retry)))
    }
}

/// Cannot authorise anything.
#[derive(Debug)]
struct Hopeless;

impl Authorize for Hopeless {
    fn credentials<'a>(
        &'a self,
        _: &'a Method,
        _: &'a Url,
    ) -> Boxed<'a, Result<Option<Credentials>, AuthError>> {
        let server = "s".to_owned();
        Box::pin(std::future::ready(Err(AuthError::LoginNeeded { server })))
    }

    fn refused<'a>(&'a self, _: Refusal<'a>) -> Boxed<'a, Result<Verdict, AuthError>> {
        Box::pin(std::future::ready(Ok(Verdict::GiveUp)))
    }
}

fn authorized(url: &str, authorizer: impl Authorize + 'static) -> HttpConfig {
    HttpConfig {
        authorizer: Some(Arc::new(authorizer)),
        ..modern(url)
    }
}

/// O2, T5: 401 and 403 without anybody to ask are the refusal that they are.
#[tokio::test]
async fn refusal_without_an_authorizer_stands() {
    for code in [401, 403] {
        let challenge = "www-authenticate: Bearer error=\"insufficient_scope\"";
        let acts = vec![HttpAct::answer(code, &[challenge], "")];
        assert_eq!(one(acts).await, ended(&[], status(code)));
    }
}

/// T5: after a refusal the same post goes again with new credentials.
#[tokio::test]
async fn refused_post_goes_again_with_new_credentials() {
    let peer = HttpPeer::start(|_, request| match request.header("authorization") {
        Some("0") => vec![HttpAct::answer(401, &["www-authenticate: Bearer"], "no")],
        Some("1") => vec![HttpAct::answer(403, &[], "no")],
        _ => vec![HttpAct::json(200, REPLY)],
    });
    let stubborn = Arc::new(Stubborn::default());
    let mut config = modern(&peer.url("/mcp"));
    config.authorizer = Some(Arc::<Stubborn>::clone(&stubborn));
    let mut http = StreamableHttp::new(config);
    http.post(post(1, PostKind::Request));
    assert_eq!(outcome(&mut http, 1).await, ended(&[(200, REPLY)], OK));
    let requests = peer.requests();
    assert_eq!(requests.len(), 3);
    assert!(
        requests
            .iter()
            .all(|request| request.body == requests[0].body)
    );
    let refused = |challenged, status, generation, before| {
        let (method, path) = ("POST".to_owned(), "/mcp".to_owned());
        (method, path, challenged, status, Some(generation), before)
    };
    assert_eq!(
        stubborn.0.lock().unwrap().1,
        [refused(true, 401, 0, 0), refused(false, 403, 1, 1)]
    );
}

/// T5: 401 for ever ends after five more attempts, whatever the authorizer hopes for.
#[tokio::test]
async fn endless_refusals_end() {
    let error = r#"{"jsonrpc":"2.0","error":{"code":1,"message":"no"}}"#;
    let peer = HttpPeer::start(move |_, _| vec![HttpAct::json(401, error)]);
    let mut http = StreamableHttp::new(authorized(&peer.url("/"), Stubborn::default()));
    http.post(post(1, PostKind::Request));
    assert_eq!(
        outcome(&mut http, 1).await,
        ended(&[(401, error)], status(401))
    );
    assert_eq!(peer.requests().len(), 6);
}

/// O2: what cannot be authorised is not sent.
#[tokio::test]
async fn post_without_credentials_is_not_dispatched() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::json(200, REPLY)]);
    let mut http = StreamableHttp::new(authorized(&peer.url("/"), Hopeless));
    http.post(post(1, PostKind::Request));
    let outcome = outcome(&mut http, 1).await;
    assert!(!outcome.dispatched);
    let server = "s".to_owned();
    assert_eq!(
        outcome.end,
        Some(End::Auth(AuthError::LoginNeeded { server }))
    );
    assert_eq!(peer.requests().len(), 0);
}

fn bearer(tokens: &'static [&'static str]) -> StaticBearer {
    let asked = Mutex::new(0);
    StaticBearer::new(SecretString::from("old"), move || {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        tokens
            .get(*asked - 1)
            .map(|&token| SecretString::from(token))
    })
}

/// T4: a bearer is kept, resolved again once on 401, and sent again only if it changed.
#[tokio::test]
async fn bearer_is_resolved_again_once() {
    for (tokens, seen, end) in [
        (&["new"][..], &["old", "new", "new"][..], OK),
        (&["old", "new"], &["old"], status(401)),
        (&[], &["old"], status(401)),
        (&["bad", "new"], &["old", "bad"], status(401)),
    ] {
        let peer = HttpPeer::start(|_, request| match request.header("authorization") {
            Some("Bearer new") => vec![HttpAct::json(200, REPLY)],
            _ => vec![HttpAct::answer(401, &[], "")],
        });
        let mut http = StreamableHttp::new(authorized(&peer.url("/"), bearer(tokens)));
        http.post(post(1, PostKind::Request));
        assert_eq!(outcome(&mut http, 1).await.end.unwrap(), end);
        if end == OK {
            http.post(post(2, PostKind::Request));
            outcome(&mut http, 2).await;
        }
        let requests = peer.requests();
        let bearers: Vec<_> = requests
            .iter()
            .map(|request| request.header("authorization").unwrap_or_default())
            .map(|value| value.trim_start_matches("Bearer "))
            .collect();
        assert_eq!(bearers, seen);
    }
}

/// T4: 403 says nothing against the token.
#[tokio::test]
async fn bearer_is_not_resolved_again_on_403() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::answer(403, &[], "")]);
    let mut http = StreamableHttp::new(authorized(&peer.url("/"), bearer(&["new"])));
    http.post(post(1, PostKind::Request));
    assert_eq!(outcome(&mut http, 1).await, ended(&[], status(403)));
    assert_eq!(peer.requests().len(), 1);
}

/// T4: a variable of the environment that did not change does not change the verdict.
#[tokio::test]
async fn bearer_of_an_unchanged_variable_is_not_sent_again() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::answer(401, &[], "")]);
    let token = std::env::var("PATH").unwrap_or_default();
    let bearer = StaticBearer::of_variable("PATH".to_owned(), SecretString::from(token));
    let mut http = StreamableHttp::new(authorized(&peer.url("/"), bearer));
    http.post(post(1, PostKind::Request));
    assert_eq!(outcome(&mut http, 1).await, ended(&[], status(401)));
    assert_eq!(peer.requests().len(), 1);
}

/// R1: neither the authorizer nor a request shows the token.
#[test]
fn bearer_is_hidden() {
    assert_eq!(format!("{:?}", bearer(&[])), "StaticBearer { .. }");
}

/// R1: every token that was given out is to be hidden, the newest 16 of them, not the last alone.
#[test]
fn bearers_of_before_are_secrets_too() {
    let asked = Mutex::new(0);
    let bearer = StaticBearer::new(SecretString::from("token-0"), move || {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        Some(SecretString::from(format!("token-{asked}")))
    });
    let (url, headers) = ("http://127.0.0.1/".parse().unwrap(), HeaderMap::new());
    for generation in 0..20 {
        let verdict = bearer.refused(Refusal {
            method: &Method::POST,
            url: &url,
            status: http::StatusCode::UNAUTHORIZED,
            headers: &headers,
            used: Some(generation),
            refusals: 0,
            waits: Waits::Somebody,
        });
        let verdict = futures_util::FutureExt::now_or_never(verdict);
        assert!(matches!(verdict, Some(Ok(Verdict::Retry))));
        let secrets = bearer.secrets();
        assert!(secrets.len() <= 16);
        for one in (0..=generation + 1).rev().take(16) {
            let token = format!("token-{one}");
            assert!(
                secrets.iter().any(|known| known.reveal() == token),
                "{token}"
            );
        }
    }
}

/// Never has anything to authorise with.
#[derive(Debug)]
struct Slow;

impl Authorize for Slow {
    fn credentials<'a>(
        &'a self,
        _: &'a Method,
        _: &'a Url,
    ) -> Boxed<'a, Result<Option<Credentials>, AuthError>> {
        Box::pin(std::future::pending())
    }

    fn refused<'a>(&'a self, _: Refusal<'a>) -> Boxed<'a, Result<Verdict, AuthError>> {
        Box::pin(std::future::pending())
    }
}

/// O1: whoever drives the exchange can tell that it waits for its credentials, and for nothing of the server.
#[tokio::test]
async fn waiting_for_credentials_is_told() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::json(200, REPLY)]);
    let mut http = StreamableHttp::new(authorized(&peer.url("/mcp"), Slow));
    let waiting = post(1, PostKind::Request);
    let gate = waiting.handover.clone();
    assert!(!gate.is_authorising());
    http.post(waiting);
    nothing(&mut http, Duration::from_millis(50)).await;
    assert!(gate.is_authorising() && !gate.is_begun());
    http.hang_up(1);
    nothing(&mut http, Duration::from_millis(50)).await;
    assert!(!gate.is_authorising());
    assert!(peer.requests().is_empty());
}

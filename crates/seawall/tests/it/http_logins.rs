//! Logins that a connection comes upon.

use std::sync::Arc;
use std::time::Duration;

use seawall::config::Secret;
use seawall::oauth::{ClientRegistration, Grant, HeadlessBrowser, OAuth, StaticClient};
use seawall::{Arguments, EgressPolicy, HttpClient};
use seawall_testkit::{HttpAct, HttpPeer, HttpRequest};

use super::http_support::*;
use super::*;

const WANTED: [&str; 1] = ["www-authenticate: Bearer"];

/// The authorization server's part; its user says no.
fn denying(request: &HttpRequest) -> Vec<HttpAct> {
    let origin = format!("http://{}", request.header("host").unwrap_or_default());
    if request
        .target
        .starts_with("/.well-known/oauth-authorization-server")
    {
        let metadata = format!(
            r#"{{"issuer":"{origin}","authorization_endpoint":"{origin}/authorize","token_endpoint":"{origin}/token","registration_endpoint":"{origin}/register","code_challenge_methods_supported":["S256"]}}"#
        );
        return vec![HttpAct::json(200, &metadata)];
    }
    if request.target.starts_with("/register") {
        return vec![HttpAct::json(201, r#"{"client_id":"c"}"#)];
    }
    vec![HttpAct::answer(404, &[], MARKER)]
}

/// T5: a stream that a server keeps refusing asks nobody to log in, however often it is opened again.
#[tokio::test]
async fn a_refused_stream_asks_nobody() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = HttpPeer::start(move |_, request| {
            let path = request.target.starts_with("/PATH-MARKER");
            match method_of(request).as_str() {
                "GET" | "DELETE" if path => vec![HttpAct::answer(401, &WANTED, "")],
                "subscriptions/listen" => vec![HttpAct::answer(401, &WANTED, "")],
                _ if !path => denying(request),
                _ => honest_with(kind, request, r#"{"tools":{"listChanged":true}}"#),
            }
        });
        let http = HttpClient::new().expect("a client");
        let redirect = "http://127.0.0.1:9/callback".parse().expect("a URL");
        let browser = Arc::new(HeadlessBrowser::new(http.clone(), redirect));
        let resource = peer.url(TARGET).parse().expect("a URL");
        let oauth = OAuth::builder("test", resource, http).browser(browser);
        let config = entry_of(&peer).protocol(protocol_of(kind)).build();
        let client = Client::builder(config.expect("a valid entry"))
            .oauth(oauth.build().expect("a login"))
            .connect()
            .await
            .expect("connects");
        let refused = || match kind {
            Kind::Modern => count(&peer, "subscriptions/listen"),
            Kind::Legacy => {
                let own = |one: &&HttpRequest| {
                    one.method == "GET" && one.target.starts_with("/PATH-MARKER")
                };
                peer.requests().iter().filter(own).count()
            }
        };
        soon(|| refused() > 1).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        client.call("ok", Arguments::none()).await.expect("goes on");
        client.close().await.expect("closes");
        let visits = peer.requests();
        let visits = visits
            .iter()
            .filter(|one| one.target.starts_with("/authorize"));
        assert_eq!(visits.count(), 0, "{kind:?}");
    }
}

/// O2, T4: a call whose deadline passes while another token is got was refused, and is not called one that may have been
/// carried out.
#[tokio::test]
async fn a_deadline_while_a_token_is_got_is_a_refusal() {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = HttpPeer::start(move |_, request| match request.target.as_str() {
            target if !target.starts_with("/PATH-MARKER") => vec![HttpAct::Hang],
            _ if calls(request, "t") => vec![HttpAct::answer(401, &WANTED, "")],
            _ => honest(kind, request),
        });
        let http = HttpClient::new().expect("a client");
        let resource = peer.url(TARGET).parse().expect("a URL");
        let itself = StaticClient::new("c").secret(Secret::new("TOKEN-MARKER"));
        let oauth = OAuth::builder("test", resource, http)
            .client(ClientRegistration::Static(itself))
            .grant(Grant::ClientCredentials);
        let config = entry_of(&peer).protocol(protocol_of(kind)).build();
        let client = Client::builder(config.expect("a valid entry"))
            .oauth(oauth.build().expect("a login"))
            .connect()
            .await
            .expect("connects");
        let call = client.call("t", Arguments::none());
        let error = call.timeout(Duration::from_millis(500)).await;
        assert_eq!(
            verdict_of(&error.expect_err("late")),
            (ErrorCode::Timeout, Outcome::ErrorResponse, None),
            "{kind:?}"
        );
        client.close().await.expect("closes");
        assert_eq!(count(&peer, "tools/call"), 1, "{kind:?}");
        assert_eq!(count(&peer, "notifications/cancelled"), 0, "{kind:?}");
    }
}

/// O1: a login that the egress policy forbids is told by that policy's code.
#[tokio::test]
async fn a_login_that_the_egress_policy_forbids_is_capability_refused() {
    let peer = HttpPeer::start(|_, request| match calls(request, "t") {
        true => vec![HttpAct::answer(401, &WANTED, "")],
        false => honest(Kind::Modern, request),
    });
    let http = HttpClient::builder()
        .egress(Arc::new(|method: &str, _: &str| method == "POST") as Arc<dyn EgressPolicy>)
        .build()
        .expect("a client");
    let resource = peer.url(TARGET).parse().expect("a URL");
    let itself = StaticClient::new("c").secret(Secret::new("TOKEN-MARKER"));
    let oauth = OAuth::builder("test", resource, http.clone())
        .client(ClientRegistration::Static(itself))
        .grant(Grant::ClientCredentials);
    let config = entry_of(&peer).protocol(protocol_of(Kind::Modern)).build();
    let client = Client::builder(config.expect("a valid entry"))
        .http(http)
        .oauth(oauth.build().expect("a login"))
        .connect()
        .await
        .expect("connects");
    let error = client.call("t", Arguments::none()).await;
    let (code, outcome, _) = verdict_of(&error.expect_err("forbidden"));
    assert_eq!(
        (code, outcome),
        (ErrorCode::CapabilityRefused, Outcome::ErrorResponse)
    );
}

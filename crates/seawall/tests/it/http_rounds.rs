//! Over HTTP: calls in rounds, and what a server tells without being asked (O4, S2, S7, H5).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use seawall::config::Protocol;
use seawall::inputs::{Answer, BoxFuture, Form, FormSupplier, Root, RootsSupplier, Suppliers};
use seawall::{Arguments, Change, Json};
use seawall_testkit::{HttpAct, HttpPeer, HttpRequest};

use super::http_support::*;
use super::*;

pub(super) const FORM: &str = r#"{"method":"elicitation/create","params":{"mode":"form","message":"REMOTE-MARKER","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}"#;

/// Fills every form in, after this long.
pub(super) struct Filler(pub(super) Duration);

impl FormSupplier for Filler {
    fn fill(&self, _: &str, _: Form) -> BoxFuture<Answer> {
        let pause = self.0;
        Box::pin(async move {
            tokio::time::sleep(pause).await;
            Answer::Accept(Json::check(r#"{"name":"Ada"}"#).expect("JSON"))
        })
    }
}

struct Home;

impl RootsSupplier for Home {
    fn roots(&self, _: &str) -> BoxFuture<Vec<Root>> {
        Box::pin(async { vec![Root::new("file:///home/ada").expect("a root")] })
    }
}

pub(super) fn suppliers(pause: Duration) -> Suppliers {
    Suppliers::default()
        .with_form(Arc::new(Filler(pause)))
        .with_roots(Arc::new(Home))
}

pub(super) fn input_required(state: &str) -> String {
    format!(
        "{{\"resultType\":\"input_required\",\"requestState\":\"{state}\",\"inputRequests\":{{\"f\":{FORM},\"r\":{{\"method\":\"roots/list\"}}}}}}"
    )
}

async fn supplied(peer: &HttpPeer, kind: Kind, suppliers: Suppliers) -> Client {
    let config = entry_of(peer).protocol(protocol_of(kind)).build();
    Client::builder(config.expect("a valid entry"))
        .suppliers(suppliers)
        .connect()
        .await
        .expect("connects")
}

/// A server that asks for a form and the roots before it answers a call of `t`.
fn asking() -> HttpPeer {
    but_for_t(Kind::Modern, |request| {
        match message(request)["params"].get("inputResponses") {
            None => reply(request, &input_required("REMOTE-MARKER")),
            Some(_) => reply(request, ANSWER),
        }
    })
}

/// O4: what is asked for is supplied, in a leg of its own; the deadline is one.
#[tokio::test]
async fn input_is_supplied() {
    let peer = asking();
    let client = supplied(&peer, Kind::Modern, suppliers(Duration::ZERO)).await;
    client.call("t", Arguments::none()).await.expect("answered");
    let legs: Vec<_> = peer
        .requests()
        .iter()
        .filter(|one| calls(one, "t"))
        .map(message)
        .collect();
    assert_eq!(legs.len(), 2);
    let [first, second] = [&legs[0], &legs[1]];
    assert_ne!(first["id"], second["id"]);
    assert_eq!(second["params"]["requestState"], MARKER);
    let answers = &second["params"]["inputResponses"];
    assert_eq!(answers["f"]["content"]["name"], "Ada");
    assert_eq!(answers["r"]["roots"][0]["uri"], "file:///home/ada");
    let capabilities = &first["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert!(capabilities["roots"].is_object() && capabilities["sampling"].is_null());
}

/// S2, O4: nothing supplied means nothing declared, and what is asked for all the same ends the call as unknown.
#[tokio::test]
async fn input_that_nobody_supplies() {
    let peer = asking();
    let client = client_of(Kind::Modern, &peer).await;
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("nobody");
    let (_, outcome, _) = verdict_of(&error);
    assert_eq!(outcome, Outcome::NoResponse);
    assert!(error.message().contains("nothing was in flight"), "{error}");
    assert_eq!(count(&peer, "tools/call"), 1);
    client.call("ok", Arguments::none()).await.expect("goes on");
}

/// O4: a deadline, or a caller that leaves, between two legs: unknown, nothing was in flight, and nothing is cancelled.
#[tokio::test]
async fn deadline_between_legs() {
    let peer = asking();
    let client = supplied(&peer, Kind::Modern, suppliers(Duration::from_secs(60))).await;
    let began = Instant::now();
    let call = client
        .call("t", Arguments::none())
        .timeout(Duration::from_millis(300));
    let error = call.await.expect_err("too slow");
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::Timeout, Outcome::NoResponse, None)
    );
    assert!(error.message().contains("nothing was in flight"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(client.report().stats.cancelled, 0);
    // And the end of the session there.
    let call = client.call("t", Arguments::none());
    let closing = async {
        soon(|| count(&peer, "tools/call") == 2).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        client.close().await.expect("closes");
    };
    let (error, ()) = tokio::join!(call, closing);
    let error = error.expect_err("closed");
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::ConnectionClosed, Outcome::NoResponse, None)
    );
    assert!(error.message().contains("nothing was in flight"), "{error}");
}

/// O4: a server that asks for round after round is not gone along with for ever, and not in a spin.
#[tokio::test]
async fn rounds_without_end() {
    for asked in [
        input_required("s"),
        r#"{"resultType":"input_required","requestState":"s"}"#.to_owned(),
    ] {
        let peer = but_for_t(Kind::Modern, move |request| reply(request, &asked));
        let client = supplied(&peer, Kind::Modern, suppliers(Duration::ZERO)).await;
        let error = client
            .call("t", Arguments::none())
            .await
            .expect_err("no end");
        let (_, outcome, _) = verdict_of(&error);
        assert_eq!(outcome, Outcome::NoResponse);
        assert_eq!(count(&peer, "tools/call"), 11);
    }
}

/// O4, O2: a later leg that fails does not make the call one that was not carried out.
#[tokio::test]
async fn later_legs_that_fail() {
    for (acts, expected) in [
        (vec![HttpAct::Close], Outcome::NoResponse),
        (vec![HttpAct::answer(500, &[], MARKER)], Outcome::NoResponse),
        (
            vec![HttpAct::answer(401, &[], MARKER)],
            Outcome::ErrorResponse,
        ),
        (
            vec![HttpAct::answer(429, &["retry-after: 0"], MARKER)],
            Outcome::NoResponse,
        ),
    ] {
        let later = acts.clone();
        let peer = but_for_t(
            Kind::Modern,
            move |request| match message(request)["params"].get("inputResponses") {
                None => reply(request, &input_required("s")),
                Some(_) => later.clone(),
            },
        );
        let client = supplied(&peer, Kind::Modern, suppliers(Duration::ZERO)).await;
        let error = client
            .call("t", Arguments::none())
            .await
            .expect_err("fails");
        let (_, outcome, _) = verdict_of(&error);
        assert_eq!(outcome, expected, "{acts:?} {error}");
        assert_eq!(count(&peer, "tools/call"), 2);
    }
}

/// S7: the same suppliers answer a legacy server's requests.
#[tokio::test]
async fn legacy_requests_are_supplied() {
    let peer = but_for_t(Kind::Legacy, |request| {
        let form = FORM.strip_prefix('{').expect("an object");
        vec![
            HttpAct::stream(),
            HttpAct::chunk(format!(
                "data: {{\"jsonrpc\":\"2.0\",\"id\":\"form\",{form}\n\n"
            )),
            HttpAct::chunk("data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}\n\n"),
            HttpAct::Wait(Duration::from_millis(500)),
            HttpAct::chunk(format!("data: {}\n\n", reply_text(request, ANSWER))),
            HttpAct::last_chunk(),
        ]
    });
    let client = supplied(&peer, Kind::Legacy, suppliers(Duration::ZERO)).await;
    client.call("t", Arguments::none()).await.expect("answered");
    let answer = |id: serde_json::Value| {
        let messages: Vec<_> = peer.requests().iter().map(message).collect();
        messages
            .into_iter()
            .find(|one| one["id"] == id && one.get("method").is_none())
    };
    soon(|| answer("form".into()).is_some() && answer(7.into()).is_some()).await;
    assert_eq!(
        answer("form".into()).expect("answered")["result"]["content"]["name"],
        "Ada"
    );
    assert_eq!(
        answer(7.into()).expect("answered")["result"]["roots"][0]["uri"],
        "file:///home/ada"
    );
}

/// T2: a header mismatch is cured by one new list and one more request, no more.
#[tokio::test]
async fn header_mismatch() {
    let mismatch = |request: &HttpRequest| {
        let id = &message(request)["id"];
        vec![HttpAct::json(
            400,
            &format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32020,\"message\":\"REMOTE-MARKER\"}}}}"
            ),
        )]
    };
    let seen = AtomicUsize::new(0);
    let once = but_for_t(Kind::Modern, move |request| {
        match seen.fetch_add(1, Ordering::SeqCst) {
            0 => mismatch(request),
            _ => reply(request, ANSWER),
        }
    });
    let client = client_of(Kind::Modern, &once).await;
    client.call("t", Arguments::none()).await.expect("answered");
    assert_eq!(
        methods(&once)[2..],
        ["tools/call", "tools/list", "tools/call"]
    );
    let always = but_for_t(Kind::Modern, mismatch);
    let client = client_of(Kind::Modern, &always).await;
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("twice");
    let (_, outcome, _) = verdict_of(&error);
    assert_eq!(
        (outcome, error.json_rpc_code()),
        (Outcome::ErrorResponse, Some(-32020))
    );
    assert_eq!(count(&always, "tools/call"), 2);
}

const LISTED: &str = r#"{"tools":{"listChanged":true}}"#;

fn told(request: &HttpRequest, method: &str) -> String {
    let id = &message(request)["id"];
    format!(
        "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{method}\",\"params\":{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}},\"notifications\":{{\"toolsListChanged\":true}}}}}}\n\n"
    )
}

/// H5: a modern server's changes are told; when the stream ends it is opened again after a pause, and what may have been
/// missed is told as a change.
#[tokio::test]
async fn modern_list_changed() {
    let peer = HttpPeer::start(|_, request| {
        if method_of(request) != "subscriptions/listen" {
            return honest_with(Kind::Modern, request, LISTED);
        }
        let acknowledged = told(request, "subscriptions/acknowledged");
        let changed = told(request, "tools/list_changed");
        stream(&[acknowledged.as_bytes(), changed.as_bytes()])
    });
    let client = connect_to(&peer, Protocol::Modern).await.expect("connects");
    for _ in 0..2 {
        let change = tokio::time::timeout(Duration::from_secs(20), client.changed()).await;
        assert_eq!(change.expect("told"), Some(Change::Tools));
    }
    assert!((1..=3).contains(&count(&peer, "subscriptions/listen")));
    client.call("ok", Arguments::none()).await.expect("goes on");
}

/// H5: however the stream fails, it is opened again at the pace of a backoff, and costs no call.
#[tokio::test]
async fn bad_subscriptions_cost_no_call() {
    for acts in [
        vec![HttpAct::Close],
        vec![HttpAct::Hang],
        vec![HttpAct::answer(404, &[], MARKER)],
        vec![HttpAct::answer(401, &[], MARKER)],
        vec![HttpAct::answer(500, &[], MARKER)],
        vec![HttpAct::json(200, "{}")],
        vec![HttpAct::stream(), HttpAct::last_chunk()],
        vec![HttpAct::stream(), HttpAct::chunks_forever(b": ping\n\n")],
    ] {
        let own = acts.clone();
        let peer = HttpPeer::start(move |_, request| match method_of(request).as_str() {
            "subscriptions/listen" => own.clone(),
            _ => honest_with(Kind::Modern, request, LISTED),
        });
        let client = connect_to(&peer, Protocol::Modern).await.expect("connects");
        for _ in 0..20 {
            let call = client.call("ok", Arguments::none());
            let result = call.timeout(Duration::from_secs(10)).await;
            assert!(result.is_ok(), "{acts:?} {result:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(count(&peer, "subscriptions/listen") <= 2, "{acts:?}");
        client.close().await.expect("closes");
    }
}

/// S5, L6: an event without an end on the stream of changes is cut at its bound, and ends the session.
#[tokio::test]
async fn endless_event_on_a_subscription() {
    let peer = HttpPeer::start(|_, request| match method_of(request).as_str() {
        "subscriptions/listen" => vec![
            HttpAct::stream(),
            HttpAct::chunks_forever(b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"),
        ],
        _ => honest_with(Kind::Modern, request, LISTED),
    });
    let client = connect_to(&peer, Protocol::Modern).await.expect("connects");
    soon(|| peer.gone() >= 1).await;
    let error = client.closed();
    // S5: an oversize frame ends the session, on whichever stream it comes.
    let error = error.expect("ended");
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::ProtocolError, Outcome::NotSent, None)
    );
}

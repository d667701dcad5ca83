//! Calls of legacy servers for clients of 2026-07-28, without a host: what is parked, by whom it is taken up again.

use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use seawall::LogLevel;
use seawall::inputs::{Refusal, Relay as _};
use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, RequestId};
use seawall_proto::mcp::ClientCapabilities;
use seawall_proto::server::{Claims, RequestMeta};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::told::{Lines, Teller, Told};
use super::{Relays, Wiring, Work};
use crate::clients::Client;
use crate::service::{Answer, Exchange, Request, Way};

const ALL: &str = r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#;

struct Gate {
    relays: Relays,
    /// Calls that were begun.
    begun: AtomicUsize,
}

impl Gate {
    fn new() -> Self {
        Self {
            relays: Relays::default(),
            begun: AtomicUsize::new(0),
        }
    }

    /// A `tools/call` with these further parameters, of a client that has everything.
    async fn call(&self, more: &Value, work: impl FnOnce(Wiring) -> Work) -> Answer {
        let (answer, _told) = self.call_telling(more, work).await;
        answer
    }

    async fn call_telling(
        &self,
        more: &Value,
        work: impl FnOnce(Wiring) -> Work,
    ) -> (Answer, Vec<String>) {
        let (sender, mut told) = mpsc::channel(64);
        let exchange = Exchange(Way::Alone(sender));
        let request = request(more);
        let begin = |wiring| {
            self.begun.fetch_add(1, Ordering::SeqCst);
            ready(Ok(work(wiring)))
        };
        let carried = self.relays.carry(&request, &exchange, begin);
        let answer = timeout(Duration::from_secs(3_600), carried).await;
        let mut lines = Vec::new();
        while let Ok(line) = told.try_recv() {
            let line: Bytes = line;
            lines.push(String::from_utf8(line.to_vec()).unwrap());
        }
        (answer.expect("in time"), lines)
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }
}

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

fn meta(params: &Json) -> RequestMeta {
    let claims = Claims::of(Some(params)).unwrap();
    claims.accept("tools/call").unwrap()
}

fn request(more: &Value) -> Request {
    let mut params = json!({"name": "t", "arguments": {"a": 1}});
    let capabilities: Value = serde_json::from_str(ALL).unwrap();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "progressToken": "p",
    });
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    let params = Json::of(&params).unwrap();
    Request {
        id: RequestId::of(&json("1")).unwrap(),
        method: "tools/call".to_owned(),
        meta: meta(&params),
        params: Some(params),
        client: Client::local(),
    }
}

/// Asks these, all at once, and answers with what came.
fn asking(methods: &'static [&'static str]) -> impl FnOnce(Wiring) -> Work {
    move |wiring| {
        Box::pin(async move {
            let asked: Vec<_> = methods
                .iter()
                .map(|method| wiring.relay.ask(method, Some(json(r#"{"x": 1.0}"#))))
                .collect();
            let mut answers = Vec::new();
            for asked in asked {
                answers.push(said(asked.await));
            }
            Ok(Json::of(&answers).unwrap())
        })
    }
}

fn said(answer: Result<Json, Refusal>) -> String {
    match answer {
        Ok(answer) => answer.as_str().to_owned(),
        Err(refusal) => format!("refused: {}", refusal.message),
    }
}

fn never(_: Wiring) -> Work {
    Box::pin(pending())
}

fn unexpected(_: Wiring) -> Work {
    Box::pin(async { Err(ErrorObject::new(1, "it began anew", None)) })
}

/// The state of a result that asks; what it asks for.
fn asks(answer: Answer) -> (Value, Value) {
    let result: Value = answer.expect("a result").parse().unwrap();
    assert_eq!(result["resultType"], "input_required");
    (
        result["requestState"].clone(),
        result["inputRequests"].clone(),
    )
}

fn again(state: &Value, responses: &Value) -> Value {
    json!({"requestState": state, "inputResponses": responses})
}

/// G2: what a legacy server asks becomes a result that asks, byte for byte; the next request goes on with the same call.
#[tokio::test(start_paused = true)]
async fn a_call_waits_for_its_clients_answers() {
    let gate = Gate::new();
    let work = asking(&["roots/list", "elicitation/create"]);
    let answer = gate.call(&json!({}), work).await;
    let text = answer.as_ref().unwrap().as_str();
    let requests = r#""inputRequests":{"1":{"method":"roots/list","params":{"x": 1.0}},"2":{"method":"elicitation/create","params":{"x": 1.0}}}"#;
    assert!(text.contains(requests), "{text}");
    let (state, _) = asks(answer);
    assert_eq!(state.as_str().unwrap().len(), 64);
    // Not all of it: the rest is asked for again, under a new state.
    let one = again(&state, &json!({"2": {"action": "decline"}, "9": {}}));
    let (next, requests) = asks(gate.call(&one, unexpected).await);
    assert_ne!(next, state);
    assert_eq!(
        requests,
        json!({"1": {"method": "roots/list", "params": {"x": 1.0}}})
    );
    let rest = again(&next, &json!({"1": {"roots": []}}));
    let answer = gate.call(&rest, unexpected).await.unwrap();
    assert_eq!(
        answer.as_str(),
        r#"["{\"roots\":[]}","{\"action\":\"decline\"}"]"#
    );
    assert_eq!((gate.begun(), gate.relays.parked.len()), (1, 0));
}

/// G2: a state is good for one request, with the same parameters; any other is refused and leaves the call as it is. One that
/// nobody gave is left to the server.
#[tokio::test(start_paused = true)]
async fn a_state_is_bound() {
    let gate = Gate::new();
    let (state, _) = asks(gate.call(&json!({}), asking(&["roots/list"])).await);
    let responses = json!({"1": {"roots": []}});
    for other in [
        json!({"name": "u"}),
        json!({"arguments": {"a": 2}}),
        json!({"arguments": {}}),
        json!({"more": 1}),
    ] {
        let mut foreign = again(&state, &responses);
        let members = foreign.as_object_mut().unwrap();
        members.extend(other.as_object().unwrap().clone());
        let refused = gate.call(&foreign, unexpected).await.unwrap_err();
        assert_eq!(refused.code, -32_602);
        assert!(refused.message.contains("requestState"));
    }
    for odd in [json!(1), json!([state])] {
        let refused = gate.call(&again(&odd, &responses), unexpected).await;
        assert_eq!(refused.unwrap_err().code, -32_602);
    }
    assert_eq!((gate.begun(), gate.relays.parked.len()), (1, 1));
    let mine = again(&state, &responses);
    assert!(gate.call(&mine, unexpected).await.is_ok());
    // Used, or guessed: no parked call's. What a server of rounds gave goes to it as it came.
    let mut cut = state.as_str().unwrap().to_owned();
    cut.pop();
    for unknown in [state, json!(cut), json!("")] {
        let more = again(&unknown, &responses);
        let seen = gate.call(&more, |wiring| {
            let (responses, state) = wiring.rounds.clone().unwrap();
            assert_eq!(state.unwrap().as_str(), unknown.to_string());
            assert_eq!(responses.unwrap().as_str(), r#"{"1":{"roots":[]}}"#);
            unexpected(wiring)
        });
        assert_eq!(seen.await.unwrap_err().code, 1);
    }
}

/// G2: an answer that came while nobody was there is kept a while; then nothing is left of the call.
#[tokio::test(start_paused = true)]
async fn a_client_that_never_comes_back_leaves_nothing() {
    let gate = Gate::new();
    let gives_up = |wiring: Wiring| -> Work {
        Box::pin(async move {
            let asked = wiring.relay.ask("roots/list", None);
            let asked = timeout(Duration::from_secs(120), asked).await;
            assert!(asked.is_err());
            Err(ErrorObject::new(-32_603, "the call took too long", None))
        })
    };
    let (state, _) = asks(gate.call(&json!({}), gives_up).await);
    asks(gate.call(&json!({}), gives_up).await);
    sleep(Duration::from_secs(130)).await;
    assert_eq!(gate.relays.parked.len(), 2);
    // Who comes late learns what became of it.
    let late = again(&state, &json!({"1": {}}));
    let ended = gate.call(&late, unexpected).await.unwrap_err();
    assert_eq!(ended.message, "the call took too long");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(gate.relays.parked.len(), 0);
}

/// L6: so many calls of one client wait; one more is refused at its server, and goes on.
#[tokio::test(start_paused = true)]
async fn parked_calls_are_bounded() {
    let gate = Gate::new();
    for _ in 0..32 {
        asks(gate.call(&json!({}), asking(&["roots/list"])).await);
    }
    let full = gate
        .call(&json!({}), asking(&["roots/list"]))
        .await
        .unwrap();
    assert!(
        full.as_str().contains("refused: too many calls wait"),
        "{}",
        full.as_str()
    );
    assert_eq!(gate.relays.parked.len(), 32);
}

fn to_visit(pages: &Value) -> Work {
    let data = Json::of(&json!({"elicitations": pages})).unwrap();
    Box::pin(async { Err(ErrorObject::new(-32_042, "visit", Some(data))) })
}

/// G2: pages that a server wants visited before the call is made again are asked for by a result, and the request that says
/// they were makes the call again; one that does not sends nothing.
#[tokio::test(start_paused = true)]
async fn pages_to_visit_are_a_round() {
    let gate = Gate::new();
    let page =
        json!({"mode": "url", "elicitationId": "e", "url": "https://example.com/", "message": "m"});
    let pages = json!([page, page]);
    let (state, requests) = asks(gate.call(&json!({}), |_| to_visit(&pages)).await);
    assert_eq!(
        requests["1"],
        json!({"method": "elicitation/create", "params": page})
    );
    assert_eq!(requests.as_object().unwrap().len(), 2);
    let yes = json!({"action": "accept"});
    let both = again(&state, &json!({"1": yes, "2": yes}));
    let answer = gate.call(&both, |wiring| {
        assert!(matches!(wiring.rounds, Some((None, None))));
        Box::pin(ready(Ok(json("{}"))))
    });
    assert_eq!(answer.await.unwrap().as_str(), "{}");
    assert_eq!((gate.begun(), gate.relays.parked.len()), (2, 0));
    for short in [
        json!({"1": yes}),
        json!({"1": yes, "2": {"action": "decline"}}),
        json!({}),
    ] {
        let (state, _) = asks(gate.call(&json!({}), |_| to_visit(&pages)).await);
        let begun = gate.begun();
        let refused = gate
            .call(&again(&state, &short), unexpected)
            .await
            .unwrap_err();
        assert_eq!(refused.code, -32_603);
        assert!(refused.message.ends_with("nothing was sent"));
        assert_eq!(gate.begun(), begun);
    }
    // A client that does not come back in time leaves nothing.
    let (state, _) = asks(gate.call(&json!({}), |_| to_visit(&pages)).await);
    sleep(Duration::from_secs(601)).await;
    let late = gate
        .call(&again(&state, &json!({"1": yes, "2": yes})), unexpected)
        .await;
    assert_eq!(late.unwrap_err().code, -32_602);
    sleep(Duration::from_secs(61)).await;
    assert_eq!(gate.relays.parked.len(), 0);
    // What is no page, or too many, is the failure that it is.
    for odd in [json!([1]), json!([]), json!(vec![page; 65])] {
        let told = gate.call(&json!({}), |_| to_visit(&odd)).await.unwrap_err();
        assert_eq!(told.code, -32_603);
    }
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// G3: an end, and the gateway's drop, drop the calls that wait, which tells their servers.
#[tokio::test(start_paused = true)]
async fn an_end_drops_parked_calls() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let gate = Gate::new();
    let work = |wiring: Wiring| -> Work {
        let held = Dropped(Arc::clone(&dropped));
        Box::pin(async move {
            let _held = held;
            wiring.relay.ask("roots/list", None).await.ok();
            pending().await
        })
    };
    let (state, _) = asks(gate.call(&json!({}), work).await);
    gate.relays.end();
    sleep(Duration::from_millis(1)).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    let gone = gate.call(&again(&state, &json!({})), unexpected).await;
    assert_eq!(gone.unwrap_err().code, 1);
    asks(gate.call(&json!({}), work).await);
    drop(gate);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

/// S8: a request that goes on with a parked call and is dropped drops the call with it.
#[tokio::test(start_paused = true)]
async fn a_dropped_request_drops_its_call() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let gate = Gate::new();
    let held = Dropped(Arc::clone(&dropped));
    let work = |wiring: Wiring| -> Work {
        Box::pin(async move {
            let _held = held;
            wiring.relay.ask("roots/list", None).await.ok();
            pending().await
        })
    };
    let (state, _) = asks(gate.call(&json!({}), work).await);
    let on = again(&state, &json!({"1": {}}));
    let left = timeout(Duration::from_secs(1), gate.call(&on, never)).await;
    assert!(left.is_err());
    assert_eq!(
        (dropped.load(Ordering::SeqCst), gate.relays.parked.len()),
        (1, 0)
    );
}

/// S7: a question that its server took back is not asked any longer, and the call ends as it ends.
#[tokio::test(start_paused = true)]
async fn a_question_taken_back_is_not_waited_for() {
    let gate = Gate::new();
    let work = |wiring: Wiring| -> Work {
        Box::pin(async move {
            let asked = wiring.relay.ask("roots/list", None);
            timeout(Duration::from_secs(1), asked).await.unwrap_err();
            sleep(Duration::from_secs(1)).await;
            let answer = wiring.relay.ask("sampling/createMessage", None).await;
            Ok(Json::of(&said(answer)).unwrap())
        })
    };
    let (state, _) = asks(gate.call(&json!({}), work).await);
    sleep(Duration::from_millis(1_500)).await;
    // Nothing of it is answered, and it is not asked again: the call goes on to its next question.
    let (next, requests) = asks(gate.call(&again(&state, &json!({})), unexpected).await);
    assert_eq!(requests, json!({"2": {"method": "sampling/createMessage"}}));
    let sampled = again(&next, &json!({"2": {"role": "x"}}));
    let answer = gate.call(&sampled, unexpected).await;
    assert_eq!(answer.unwrap().as_str(), r#""{\"role\":\"x\"}""#);
}

/// G2: lines of the log go before the answer, from the level on that the request tells; none if it tells none.
#[tokio::test(start_paused = true)]
async fn lines_go_to_the_request_that_wants_them() {
    let logging = |wiring: Wiring| -> Work {
        Box::pin(async move {
            for level in ["debug", "info", "error", "odd"] {
                wiring
                    .relay
                    .log(json(&format!(r#"{{"level":"{level}","data":1}}"#)));
            }
            Ok(json("{}"))
        })
    };
    let gate = Gate::new();
    let mut more = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let (_, told) = gate.call_telling(&more, logging).await;
    assert!(told.is_empty(), "{told:?}");
    more["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
    let (_, told) = gate.call_telling(&more, logging).await;
    let line = |level| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","data":1}}}}"#
        )
    };
    assert_eq!(told, [line("info"), line("error")]);
}

/// L6: a flood of lines takes no room of questions, and what a client does not want costs nothing.
#[test]
fn lines_leave_room_for_questions() {
    let everything = ClientCapabilities::all();
    let (teller, mut told) = Teller::new(everything, 1, Lines::All);
    for _ in 0..1_000 {
        teller.log(json("{}"));
    }
    let _asked: Vec<_> = (0..16).map(|_| teller.ask("roots/list", None)).collect();
    let mut questions = 0;
    while let Ok(one) = told.try_recv() {
        questions += usize::from(matches!(one, Told::Question(_)));
    }
    assert_eq!(questions, 16);
    let (teller, mut told) = Teller::new(everything, 1, Lines::From(LogLevel::Error));
    teller.log(json(r#"{"level":"warning"}"#));
    assert!(told.try_recv().is_err());
}

/// G2: a state of one client is nothing to another, whoever it is on behalf of, and the call stays for whose it is.
#[tokio::test(start_paused = true)]
async fn a_state_is_its_clients() {
    let gate = Gate::new();
    let (sender, _told) = mpsc::channel(64);
    let exchange = Exchange(Way::Alone(sender));
    let carried = async |client: Arc<Client>, more: &Value| {
        let mut request = request(more);
        request.client = client;
        let work = |wiring| ready(Ok(asking(&["roots/list"])(wiring)));
        gate.relays.carry(&request, &exchange, work).await
    };
    let one = Arc::new(Client::named("one").on_behalf_of("alice"));
    let (state, _) = asks(carried(Arc::clone(&one), &json!({})).await);
    let more = again(&state, &json!({"1": {"roots": []}}));
    for other in [
        Client::named("two").on_behalf_of("alice"),
        Client::named("one").on_behalf_of("bob"),
        Client::named("one"),
    ] {
        let refused = carried(Arc::new(other), &more).await.unwrap_err();
        assert_eq!(refused.code, -32_602);
        assert_eq!(gate.relays.parked.len(), 1);
    }
    assert!(carried(one, &more).await.is_ok());
}

//! What a server over HTTP answers to a call, and what the caller is told of it (O1, O2, L1, L6, T4).

use std::time::{Duration, Instant};

use seawall::Arguments;
use seawall_testkit::{HttpAct, HttpPeer, HttpRequest};

use super::http_support::*;
use super::*;

const GZIP_BOMB: &[u8] = include_bytes!("../../src/transport/http/tests/zeroes.gz");
const DEADLINE: Duration = Duration::from_secs(5);
const HTML: &[&str] = &["content-type: text/html"];
const JSON: &[&str] = &["content-type: application/json"];

/// What is expected of one answer.
struct Expected {
    code: ErrorCode,
    outcome: Outcome,
    status: Option<u16>,
    session_goes_on: bool,
}

const fn unknown(code: ErrorCode, status: Option<u16>) -> Expected {
    Expected {
        code,
        outcome: Outcome::NoResponse,
        status,
        session_goes_on: true,
    }
}

const fn ending() -> Expected {
    Expected {
        session_goes_on: false,
        ..unknown(ErrorCode::ProtocolError, None)
    }
}

/// Has a call of `t` answered so on both eras, and then a call of `ok` honestly.
async fn expect(
    name: &str,
    acts: impl Fn(&HttpRequest) -> Vec<HttpAct> + Clone + Send + Sync + 'static,
    expected: Expected,
) {
    for kind in [Kind::Modern, Kind::Legacy] {
        let peer = but_for_t(kind, acts.clone());
        let client = client_of(kind, &peer).await;
        let began = Instant::now();
        let call = client.call("t", Arguments::none()).timeout(DEADLINE);
        let error = call.await.expect_err(name);
        assert_eq!(
            verdict_of(&error),
            (expected.code, expected.outcome, expected.status),
            "{name} {kind:?}: {error}"
        );
        assert!(
            began.elapsed() < DEADLINE * 2,
            "{name} {kind:?} {:?}",
            began.elapsed()
        );
        assert_eq!(count(&peer, "tools/call"), 1, "{name} {kind:?}");
        let next = client.call("ok", Arguments::none()).await;
        assert_eq!(
            next.is_ok(),
            expected.session_goes_on,
            "{name} {kind:?}: {next:?}"
        );
        if let Err(next) = next {
            assert_eq!(
                verdict_of(&next),
                (expected.code, Outcome::NotSent, None),
                "{name}"
            );
        }
        client.close().await.expect("closes");
    }
}

/// O1, O2, O3: a status that is no success is unknown for a call, whatever its body; its text is not repeated.
#[tokio::test]
async fn refusals_by_status() {
    for status in [400, 402, 405, 418, 429, 500, 502, 503, 504, 599] {
        for (headers, body) in [
            (HTML, "<h1>REMOTE-MARKER</h1>"),
            (&[], ""),
            (JSON, ""),
            (JSON, "<h1>REMOTE-MARKER</h1>"),
            (JSON, r#"{"error":"REMOTE-MARKER"}"#),
            (JSON, r#"["REMOTE-MARKER"]"#),
        ] {
            let name = format!("{status} {body:?}");
            let expected = unknown(ErrorCode::ConnectionClosed, Some(status));
            expect(
                &name,
                move |_| vec![HttpAct::answer(status, headers, body)],
                expected,
            )
            .await;
        }
    }
}

/// O2, H8: a refusal is one, and costs its call alone, though its body is a result, or a message that is none.
#[tokio::test]
async fn refusals_that_say_something_else() {
    let bodies: [fn(&HttpRequest) -> String; 3] = [
        |request| reply_text(request, ANSWER),
        |_| r#"{"jsonrpc":"2.0","id":null,"error":"REMOTE-MARKER"}"#.to_owned(),
        |_| r#"{"jsonrpc":"2.0","id":null,"result":{}}"#.to_owned(),
    ];
    for (status, outcome) in [
        (400, Outcome::NoResponse),
        (401, Outcome::ErrorResponse),
        (403, Outcome::ErrorResponse),
        (500, Outcome::NoResponse),
    ] {
        for (at, body) in bodies.into_iter().enumerate() {
            let expected = Expected {
                outcome,
                ..unknown(ErrorCode::ConnectionClosed, Some(status))
            };
            expect(
                &format!("{status} with body {at}"),
                move |request| vec![HttpAct::json(status, &body(request))],
                expected,
            )
            .await;
        }
    }
}

/// O2: a call is not said again to a server that asks for patience, whatever it asks for.
#[tokio::test]
async fn patience_is_not_for_calls() {
    for status in [429, 503] {
        for wait in ["0", "1", "99999999999", "-1", "REMOTE-MARKER"] {
            let header = format!("retry-after: {wait}");
            let expected = unknown(ErrorCode::ConnectionClosed, Some(status));
            expect(
                &header.clone(),
                move |_| vec![HttpAct::answer(status, &[&header], "")],
                expected,
            )
            .await;
        }
    }
}

/// O2: 401 and 403 are refusals, with a challenge or without, and said once where there is nothing to say it with.
#[tokio::test]
async fn refusals_of_authority() {
    for status in [401, 403] {
        for header in [
            "x: y",
            "www-authenticate: Bearer",
            "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"REMOTE-MARKER\"",
            "www-authenticate: Bearer resource_metadata=\"http://127.0.0.1:1/REMOTE-MARKER\"",
            "www-authenticate: ,,=,\"",
        ] {
            let expected = Expected {
                outcome: Outcome::ErrorResponse,
                ..unknown(ErrorCode::ConnectionClosed, Some(status))
            };
            expect(
                header,
                move |_| vec![HttpAct::answer(status, &[header], "REMOTE-MARKER")],
                expected,
            )
            .await;
        }
    }
}

/// O2: a body that lies about its length keeps nobody waiting and changes nothing.
#[tokio::test]
async fn lying_lengths() {
    let lying = |status: u16, length: usize| {
        vec![
            HttpAct::head(
                status,
                &[
                    "content-type: application/json",
                    &format!("content-length: {length}"),
                ],
            ),
            HttpAct::Send(b"{\"jsonrpc\":".to_vec()),
            HttpAct::Close,
        ]
    };
    expect(
        "a 500 that breaks off",
        move |_| lying(500, 400),
        unknown(ErrorCode::ConnectionClosed, Some(500)),
    )
    .await;
    expect(
        "a 500 that says that it is huge",
        move |_| lying(500, 1 << 40),
        unknown(ErrorCode::ConnectionClosed, Some(500)),
    )
    .await;
    expect(
        "a 200 that breaks off",
        move |_| lying(200, 400),
        unknown(ErrorCode::ConnectionClosed, None),
    )
    .await;
    expect(
        "a 200 that says that it is huge",
        move |_| lying(200, 1 << 40),
        ending(),
    )
    .await;
}

/// O1, O2: a success without a reply in it.
#[tokio::test]
async fn successes_that_are_none() {
    let protocol = || unknown(ErrorCode::ProtocolError, None);
    let answer = |status, headers: &'static [&'static str], body: &'static str| {
        move |_: &HttpRequest| vec![HttpAct::answer(status, headers, body)]
    };
    expect("HTML", answer(200, HTML, "REMOTE-MARKER"), protocol()).await;
    expect("no type", answer(200, &[], "{}"), protocol()).await;
    expect("empty", answer(200, JSON, ""), protocol()).await;
    expect("accepted", answer(202, &[], ""), protocol()).await;
    expect("no content", answer(204, &[], ""), protocol()).await;
    let noise = Expected {
        // It may name the status of the answer that held nothing.
        status: Some(200),
        ..protocol()
    };
    for body in ["REMOTE-MARKER", "[]", "null", "{}", "\"REMOTE-MARKER\""] {
        let noise = Expected { ..noise };
        expect(body, answer(200, JSON, body), noise).await;
    }
    expect(
        "a reply to somebody else",
        answer(
            200,
            JSON,
            r#"{"jsonrpc":"2.0","id":999,"result":{"content":[]}}"#,
        ),
        noise,
    )
    .await;
    let malformed = r#"{"jsonrpc":"1.0","id":1,"result":"REMOTE-MARKER"}"#;
    expect("malformed", answer(200, JSON, malformed), ending()).await;
}

/// L1, L6: what does not end is cut at its bound, also after decompression.
#[tokio::test]
async fn what_does_not_end() {
    let forever = |kind: &'static str, chunk: &'static [u8]| {
        move |_: &HttpRequest| {
            vec![
                HttpAct::head(200, &[kind, "transfer-encoding: chunked"]),
                HttpAct::chunks_forever(chunk),
            ]
        }
    };
    let json = "content-type: application/json";
    expect("JSON", forever(json, &[b' '; 8192]), ending()).await;
    let events = "content-type: text/event-stream";
    // A field's name that is none of the protocol's is passed over, however long.
    for (name, chunk) in [("a line", [b'x'; 8192]), ("comments", [b':'; 8192])] {
        let chunk: &'static [u8] = Box::leak(Box::new(chunk));
        let expected = unknown(ErrorCode::Timeout, None);
        expect(name, forever(events, chunk), expected).await;
    }
    expect(
        "an event",
        forever(
            events,
            b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
                .repeat(100)
                .leak(),
        ),
        ending(),
    )
    .await;
    expect(
        "a bomb",
        |_| {
            vec![HttpAct::answer(
                200,
                &["content-type: application/json", "content-encoding: gzip"],
                GZIP_BOMB,
            )]
        },
        ending(),
    )
    .await;
    expect(
        "a bomb of what no event is",
        |_| {
            vec![HttpAct::answer(
                200,
                &["content-type: text/event-stream", "content-encoding: gzip"],
                GZIP_BOMB,
            )]
        },
        unknown(ErrorCode::ConnectionClosed, None),
    )
    .await;
}

/// T4: what is configured stays with its origin; a redirect elsewhere is refused, naming the origin alone.
#[tokio::test]
async fn redirects() {
    let elsewhere = HttpPeer::start(|_, _| vec![HttpAct::Close]);
    let origin = elsewhere.url("");
    for status in [301, 302, 303, 307, 308] {
        let location = format!("location: {}", elsewhere.url(TARGET));
        let named = origin.clone();
        let peer = but_for_t(Kind::Modern, move |_| {
            vec![HttpAct::answer(status, &[&location], MARKER)]
        });
        let client = client_of(Kind::Modern, &peer).await;
        let error = client
            .call("t", Arguments::none())
            .await
            .expect_err("elsewhere");
        assert_eq!(
            verdict_of(&error),
            (ErrorCode::ProtocolError, Outcome::NoResponse, None)
        );
        assert!(error.message().contains(&named), "{error}");
        client.call("ok", Arguments::none()).await.expect("goes on");
    }
    assert_eq!(elsewhere.connections(), 0);
    for location in [
        "location: x",
        "x: y",
        "location: http://",
        "location: file:///etc/passwd",
        "location: javascript:alert(1)",
    ] {
        let peer = but_for_t(Kind::Modern, move |_| {
            vec![HttpAct::answer(307, &[location], "")]
        });
        let client = client_of(Kind::Modern, &peer).await;
        let call = client.call("t", Arguments::none()).timeout(DEADLINE);
        let error = call.await.expect_err("nowhere");
        assert_eq!(
            verdict_of(&error),
            (ErrorCode::ProtocolError, Outcome::NoResponse, None),
            "{location}"
        );
        assert!(count(&peer, "tools/call") <= 4);
    }
}

/// T4: a redirect within the origin is followed, with the method and the body kept.
#[tokio::test]
async fn redirect_within_the_origin() {
    let peer = HttpPeer::start(|_, request| {
        if calls(request, "t") && request.target != "/moved" {
            vec![HttpAct::answer(302, &["location: /moved"], "")]
        } else {
            honest(Kind::Modern, request)
        }
    });
    let client = client_of(Kind::Modern, &peer).await;
    client.call("t", Arguments::none()).await.expect("answered");
    assert_eq!(count(&peer, "tools/call"), 2);
}

/// O2: a connection that breaks, at any point of the answer, leaves the call unknown; the next call has another one.
#[tokio::test]
async fn connections_that_break() {
    let lost = || unknown(ErrorCode::ConnectionClosed, None);
    expect("close", |_| vec![HttpAct::Close], lost()).await;
    expect("reset", |_| vec![HttpAct::Reset], lost()).await;
    let send = |bytes: &'static [u8]| {
        move |_: &HttpRequest| vec![HttpAct::Send(bytes.to_vec()), HttpAct::Close]
    };
    expect("no HTTP", send(b"REMOTE-MARKER\r\n\r\n"), lost()).await;
    expect("half a head", send(b"HTTP/1.1 200 OK\r\ncontent-"), lost()).await;
    expect(
        "two lengths",
        send(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}"),
        lost(),
    )
    .await;
    let half = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"jso";
    expect("half a chunk", send(half), lost()).await;
    let no_chunk = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nREMOTE-MARKER\r\n";
    expect("no chunk", send(no_chunk), lost()).await;
    let headers = |bytes: &'static [u8]| {
        move |_: &HttpRequest| {
            vec![
                HttpAct::Send(b"HTTP/1.1 200 OK\r\n".to_vec()),
                HttpAct::SendForever(bytes.to_vec()),
            ]
        }
    };
    expect("endless headers", headers(b"x: y\r\n"), lost()).await;
    expect(
        "an endless header",
        headers(b"xxxxxxxxxxxxxxxxxxxxxx"),
        lost(),
    )
    .await;
    expect(
        "not compressed as it says",
        |_| {
            vec![HttpAct::answer(
                200,
                &["content-type: application/json", "content-encoding: gzip"],
                MARKER,
            )]
        },
        unknown(ErrorCode::ProtocolError, None),
    )
    .await;
}

/// Provisional answers, however many, are none: the deadline holds, and what comes behind them counts.
#[tokio::test]
async fn provisional_answers() {
    let provisional = HttpAct::Send(b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000));
    let hanging = provisional.clone();
    expect(
        "continue",
        move |_| vec![hanging.clone(), HttpAct::Hang],
        unknown(ErrorCode::Timeout, None),
    )
    .await;
    let peer = but_for_t(Kind::Modern, move |request| {
        [vec![provisional.clone()], reply(request, ANSWER)].concat()
    });
    let client = client_of(Kind::Modern, &peer).await;
    client.call("t", Arguments::none()).await.expect("answered");
}

/// A server that closes its connection after each answer is called all the same, and each call is said once.
#[tokio::test]
async fn connection_closed_each_time() {
    for header in ["connection: close", "connection: keep-alive"] {
        let peer = HttpPeer::start(move |_, request| {
            let mut acts = honest(Kind::Modern, request);
            if calls(request, "ok")
                && let Some(HttpAct::Send(bytes)) = acts.first_mut()
            {
                let text = String::from_utf8(bytes.clone()).expect("text");
                *bytes = text
                    .replacen("\r\n", &format!("\r\n{header}\r\n"), 1)
                    .into_bytes();
            }
            if calls(request, "ok") {
                acts.push(HttpAct::Close);
            }
            acts
        });
        let client = client_of(Kind::Modern, &peer).await;
        for _ in 0..20 {
            // Closed without a word, a connection may be gone as a call takes it; that is told, and not said again.
            let called = client.call("ok", Arguments::none()).await;
            if let Err(error) = called {
                assert!(header.contains("keep-alive"), "{error}");
                assert_eq!(error.code(), ErrorCode::ConnectionClosed);
            }
        }
        assert!(count(&peer, "tools/call") <= 20);
    }
}

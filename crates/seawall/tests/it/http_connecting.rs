//! Connecting to a server behind a URL that does not want it, or cannot (S1 to S4, O1, O2, T4).

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use seawall::config::{Protocol, ServerConfigBuilder};
use seawall::{Arguments, EgressPolicy, HttpClient};
use seawall_testkit::{HttpAct, HttpPeer, TEST_ROOT};

use super::http_support::*;
use super::*;

const HANDSHAKE: Duration = Duration::from_millis(1500);

fn impatient(builder: ServerConfigBuilder) -> ServerConfigBuilder {
    let mut limits = Limits::default();
    limits.handshake_timeout = HANDSHAKE;
    builder.limits(limits)
}

/// The error of a connect, made within its bound.
async fn refused(builder: ServerConfigBuilder) -> Error {
    let began = Instant::now();
    let config = impatient(builder).build().expect("a valid entry");
    let error = Client::connect(config).await.expect_err("cannot connect");
    assert!(began.elapsed() < HANDSHAKE * 6, "{error}");
    error
}

const PROTOCOLS: [Protocol; 3] = [Protocol::Modern, Protocol::Legacy, Protocol::Auto];

/// O2: what never had a connection is `not_sent`, and says so.
#[tokio::test]
async fn unreachable_servers() {
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("listens");
    let address = nobody.local_addr().expect("an address");
    drop(nobody);
    for protocol in PROTOCOLS {
        for url in [
            format!("http://{address}{TARGET}"),
            format!("http://no-such-host.invalid{TARGET}"),
        ] {
            let error = refused(ServerConfig::url("test", &url).protocol(protocol)).await;
            assert_eq!(
                verdict_of(&error),
                (ErrorCode::ConnectionClosed, Outcome::NotSent, None),
                "{url} {protocol:?}"
            );
            let said = error.message().matches("nothing was sent").count();
            assert_eq!(said, 1, "{error}");
        }
    }
}

/// O2: whoever accepts and says nothing has the request; one who never accepts has not.
#[tokio::test]
async fn silent_servers() {
    for protocol in PROTOCOLS {
        let peer = HttpPeer::at_once(vec![HttpAct::Hang]);
        let error = refused(entry_of(&peer).protocol(protocol)).await;
        assert_eq!(
            verdict_of(&error),
            (ErrorCode::Timeout, Outcome::NoResponse, None),
            "{protocol:?} {error}"
        );
    }
}

/// A server that answers with endless nonsense at once fails the connect at once.
#[tokio::test]
async fn nonsense_instead_of_http() {
    for protocol in PROTOCOLS {
        for acts in [
            vec![HttpAct::SendForever(b"REMOTE-MARKER\r\n".to_vec())],
            vec![
                HttpAct::Send(b"SSH-2.0-REMOTE-MARKER\r\n".to_vec()),
                HttpAct::Hang,
            ],
            vec![HttpAct::Close],
            vec![HttpAct::Reset],
        ] {
            let peer = HttpPeer::at_once(acts);
            let error = refused(entry_of(&peer).protocol(protocol)).await;
            let (code, outcome, status) = verdict_of(&error);
            assert_eq!(
                (code, status),
                (ErrorCode::ConnectionClosed, None),
                "{error}"
            );
            assert!(matches!(outcome, Outcome::NoResponse | Outcome::NotSent));
        }
    }
}

/// T4: a certificate that nobody vouches for is refused, nothing is sent; with its root it is trusted.
#[tokio::test]
async fn certificates() {
    let peer = HttpPeer::start_tls(|_, request| honest(Kind::Modern, request));
    let error = refused(entry_of(&peer).protocol(Protocol::Modern)).await;
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::ConnectionClosed, Outcome::NotSent, None)
    );
    assert!(error.message().contains("certificate"), "{error}");
    assert!(peer.requests().is_empty());
    let http = HttpClient::builder()
        .root_certificate(TEST_ROOT)
        .build()
        .expect("a client");
    let config = entry_of(&peer).protocol(Protocol::Modern).build();
    let client = Client::builder(config.expect("a valid entry"))
        .http(http)
        .connect()
        .await
        .expect("trusted");
    client
        .call("ok", Arguments::none())
        .await
        .expect("answered");
    // TLS to a server that speaks none.
    let clear = HttpPeer::at_once(vec![
        HttpAct::Send(b"REMOTE-MARKER\r\n\r\n".to_vec()),
        HttpAct::Hang,
    ]);
    let url = clear.url(TARGET).replace("http:", "https:");
    let error = refused(ServerConfig::url("test", url).protocol(Protocol::Modern)).await;
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::ConnectionClosed, Outcome::NotSent, None)
    );
}

/// The egress policy refuses before the first byte, with a code of its own.
#[tokio::test]
async fn egress_policy_refuses_before_the_first_byte() {
    for protocol in PROTOCOLS {
        let peer = HttpPeer::start(|_, request| honest(Kind::Modern, request));
        let http = HttpClient::builder()
            .egress(Arc::new(|_: &str, _: &str| false) as Arc<dyn EgressPolicy>)
            .build()
            .expect("a client");
        let config = entry_of(&peer).protocol(protocol).build();
        let error = Client::builder(config.expect("a valid entry"))
            .http(http)
            .connect()
            .await
            .expect_err("refused");
        assert_eq!(
            verdict_of(&error),
            (ErrorCode::CapabilityRefused, Outcome::NotSent, None)
        );
        assert!(error.message().contains(&peer.url("")), "{error}");
        assert_eq!(peer.connections(), 0);
    }
}

/// A policy that allows POST alone costs the server's own stream and the farewell, and nothing else.
#[tokio::test]
async fn egress_policy_knows_the_method() {
    let peer = HttpPeer::start(|_, request| honest(Kind::Legacy, request));
    let http = HttpClient::builder()
        .egress(Arc::new(|method: &str, _: &str| method == "POST") as Arc<dyn EgressPolicy>)
        .build()
        .expect("a client");
    let config = entry_of(&peer).protocol(Protocol::Legacy).build();
    let client = Client::builder(config.expect("a valid entry"))
        .http(http)
        .connect()
        .await
        .expect("connects");
    client
        .call("ok", Arguments::none())
        .await
        .expect("answered");
    client.close().await.expect("closes");
    assert!(
        peer.requests()
            .iter()
            .all(|request| request.method == "POST")
    );
}

/// O2: a refusal of authority is an `error_response` with its status, and the token stays out of the text.
#[tokio::test]
async fn refused_handshakes() {
    for protocol in PROTOCOLS {
        for status in [401, 403] {
            let peer = HttpPeer::start(move |_, _| {
                vec![HttpAct::answer(
                    status,
                    &["www-authenticate: Bearer realm=\"REMOTE-MARKER\""],
                    MARKER,
                )]
            });
            let entry = entry_of(&peer)
                .protocol(protocol)
                .header("Authorization", "Bearer TOKEN-MARKER");
            let error = refused(entry).await;
            assert_eq!(
                verdict_of(&error),
                (
                    ErrorCode::ConnectionClosed,
                    Outcome::ErrorResponse,
                    Some(status)
                ),
                "{protocol:?}"
            );
        }
    }
}

/// O1: any other status at the handshake, where no fallback helps.
#[tokio::test]
async fn handshakes_that_fail_by_status() {
    for status in [400, 404, 405, 410, 500, 502] {
        for protocol in PROTOCOLS {
            let peer = HttpPeer::start(move |_, _| vec![HttpAct::answer(status, &[], MARKER)]);
            let error = refused(entry_of(&peer).protocol(protocol)).await;
            assert_eq!(
                verdict_of(&error),
                (
                    ErrorCode::ConnectionClosed,
                    Outcome::NoResponse,
                    Some(status)
                ),
                "{protocol:?} {error}"
            );
        }
    }
}

/// O4: a listing waits as long as a busy server asks, within its deadline, and no longer.
#[tokio::test]
async fn listings_are_patient_within_their_deadline() {
    for status in [429, 503] {
        let peer = HttpPeer::start(move |before, request| {
            if method_of(request) == "tools/list" && before < 3 {
                return vec![HttpAct::answer(status, &["retry-after: 0"], "")];
            }
            honest(Kind::Modern, request)
        });
        client_of(Kind::Modern, &peer).await;
        assert_eq!(count(&peer, "tools/list"), 3);
        let busy = HttpPeer::start(move |_, request| {
            if method_of(request) == "tools/list" {
                return vec![HttpAct::answer(status, &["retry-after: 3600"], "")];
            }
            honest(Kind::Modern, request)
        });
        let error = refused(entry_of(&busy).protocol(Protocol::Modern)).await;
        let (code, outcome, _) = verdict_of(&error);
        assert_eq!(outcome, Outcome::NoResponse);
        assert!(matches!(
            code,
            ErrorCode::Timeout | ErrorCode::ConnectionClosed
        ));
        assert_eq!(count(&busy, "tools/list"), 1);
        let forever = HttpPeer::start(move |_, request| {
            if method_of(request) == "tools/list" {
                return vec![HttpAct::answer(status, &["retry-after: 0"], "")];
            }
            honest(Kind::Modern, request)
        });
        refused(entry_of(&forever).protocol(Protocol::Modern)).await;
        assert!(count(&forever, "tools/list") <= 16);
    }
}

/// O4: the lists that are no tools' are as patient, within their deadline and no longer.
#[tokio::test]
async fn other_listings_are_patient_within_their_deadline() {
    const BUSY: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"busy"}}"#;
    const WAIT: [&str; 2] = ["content-type: application/json", "retry-after: 0"];
    let listing = "resources/list";
    for status in [429, 503] {
        for (kind, body) in [
            (Kind::Modern, ""),
            (Kind::Legacy, ""),
            (Kind::Modern, BUSY),
            (Kind::Legacy, BUSY),
        ] {
            let busy = std::sync::atomic::AtomicUsize::new(0);
            let peer = HttpPeer::start(move |_, request| match method_of(request).as_str() {
                "resources/list" if busy.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < 2 => {
                    vec![HttpAct::answer(status, &WAIT, body)]
                }
                "resources/list" => reply(request, r#"{"resources":[{"uri":"x:a","name":"a"}]}"#),
                _ => honest(kind, request),
            });
            let client = client_of(kind, &peer).await;
            let listed = client.resources().await.expect("in the end");
            assert_eq!(listed.entries.len(), 1);
            assert_eq!(count(&peer, listing), 3, "{status} {kind:?} {body}");
        }
        for wait in ["retry-after: 3600", "retry-after: 18446744073709551615"] {
            let peer = HttpPeer::start(move |_, request| match method_of(request).as_str() {
                "resources/list" => vec![HttpAct::answer(status, &[wait], "")],
                _ => honest(Kind::Modern, request),
            });
            let client = client_of(Kind::Modern, &peer).await;
            let error = client.resources().await.expect_err("busy");
            assert_eq!(error.http_status(), Some(status));
            assert_eq!(count(&peer, listing), 1, "{status} {wait}");
        }
    }
}

/// S5: a list that rests because its server is busy ends with the session.
#[tokio::test]
async fn a_list_that_rests_ends_with_its_session() {
    let peer = HttpPeer::start(|_, request| match method_of(request).as_str() {
        "resources/list" => vec![HttpAct::answer(503, &["retry-after: 60"], "")],
        _ => honest(Kind::Modern, request),
    });
    let client = client_of(Kind::Modern, &peer).await;
    let closing = async {
        soon(|| count(&peer, "resources/list") == 1).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        client.close().await.expect("closes");
    };
    let listing = tokio::time::timeout(Duration::from_secs(10), client.resources());
    let (listed, ()) = tokio::join!(listing, closing);
    let error = listed.expect("at once").expect_err("closed");
    assert_eq!(error.outcome(), Outcome::NotSent);
}

/// S3: every kind of answer that is no modern one means legacy; a modern error never falls back.
#[tokio::test]
async fn auto_over_http() {
    let to_discover: [fn(&str) -> Vec<HttpAct>; 7] = [
        |_| vec![HttpAct::answer(400, &["content-type: text/html"], MARKER)],
        |_| vec![HttpAct::answer(404, &[], "")],
        |_| vec![HttpAct::json(400, r#"{"error":"REMOTE-MARKER"}"#)],
        |_| {
            vec![HttpAct::json(
                400,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"REMOTE-MARKER"}}"#,
            )]
        },
        |id| {
            vec![HttpAct::json(
                200,
                &format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"REMOTE-MARKER\"}}}}"
                ),
            )]
        },
        |id| {
            vec![HttpAct::json(
                200,
                &format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32602,\"message\":\"REMOTE-MARKER\"}}}}"
                ),
            )]
        },
        |id| {
            vec![HttpAct::json(
                200,
                &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}"),
            )]
        },
    ];
    for (at, acts) in to_discover.into_iter().enumerate() {
        let peer = HttpPeer::start(move |_, request| {
            if method_of(request) == "server/discover" {
                return acts(&message(request)["id"].to_string());
            }
            honest(Kind::Legacy, request)
        });
        let client = connect_to(&peer, Protocol::Auto).await;
        let client = client.unwrap_or_else(|error| panic!("{at}: {error}"));
        assert_eq!(client.session().revision, seawall::Revision::V2025_11_25);
        client
            .call("ok", Arguments::none())
            .await
            .expect("answered");
    }
    for code in [-32020, -32021, -32022] {
        let peer = HttpPeer::start(move |_, request| {
            if method_of(request) == "server/discover" {
                let id = &message(request)["id"];
                return vec![HttpAct::json(
                    400,
                    &format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"REMOTE-MARKER\",\"data\":{{\"supported\":[\"2099-01-01\"]}}}}}}"
                    ),
                )];
            }
            honest(Kind::Legacy, request)
        });
        let error = connect_to(&peer, Protocol::Auto).await.expect_err("modern");
        let (_, outcome, _) = verdict_of(&error);
        assert_eq!(outcome, Outcome::ErrorResponse);
        assert_eq!(error.json_rpc_code(), Some(code));
        assert_eq!(error.is_permanent(), code == -32022);
        assert_eq!(count(&peer, "initialize"), 0, "{code}");
    }
}

/// S3: a server that is down, or that refuses authority, is not probed further.
#[tokio::test]
async fn auto_does_not_fall_back_from_what_is_no_era() {
    for status in [401, 403, 500, 503] {
        let peer =
            HttpPeer::start(move |_, _| vec![HttpAct::answer(status, &["retry-after: 99"], "")]);
        let error = refused(entry_of(&peer).protocol(Protocol::Auto)).await;
        assert_eq!(error.http_status(), Some(status), "{error}");
        assert_eq!(count(&peer, "GET"), 0, "{status}");
    }
}

/// A server of 2024-11-05 whose stream names this endpoint, and that never says more.
fn event_stream_peer(endpoint: &'static str) -> HttpPeer {
    HttpPeer::start(move |_, request| match method_of(request).as_str() {
        "GET" => vec![
            HttpAct::stream(),
            HttpAct::chunk(format!("event: endpoint\ndata: {endpoint}\n\n")),
            HttpAct::Hang,
        ],
        _ if request.target.starts_with("/post") => vec![HttpAct::answer(202, &[], "")],
        _ => vec![HttpAct::answer(405, &[], "")],
    })
}

/// T3: its failures: no stream, an endpoint elsewhere, no endpoint, replies that never come.
#[tokio::test]
async fn event_stream_failures() {
    let foreign = event_stream_peer("http://127.0.0.1:1/REMOTE-MARKER");
    let error = refused(entry_of(&foreign)).await;
    let (_, outcome, _) = verdict_of(&error);
    assert_eq!(outcome, Outcome::NotSent, "{error}");
    assert!(error.message().contains("endpoint"), "{error}");

    let silent = event_stream_peer("/post");
    let error = refused(entry_of(&silent)).await;
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::Timeout, Outcome::NoResponse, None),
        "{error}"
    );

    let peer = HttpPeer::start(|_, request| match request.method.as_str() {
        "GET" => vec![HttpAct::stream(), HttpAct::Hang],
        _ => vec![HttpAct::answer(405, &[], "")],
    });
    let error = refused(entry_of(&peer)).await;
    let (code, outcome, _) = verdict_of(&error);
    assert_eq!(
        (code, outcome),
        (ErrorCode::Timeout, Outcome::NotSent),
        "{error}"
    );

    let peer = HttpPeer::start(|_, request| match request.method.as_str() {
        "GET" => stream(&[b"event: endpoint\ndata: /post\n\n"]),
        _ if request.target == "/post" => vec![HttpAct::answer(202, &[], "")],
        _ => vec![HttpAct::answer(405, &[], "")],
    });
    let error = refused(entry_of(&peer)).await;
    let (code, _, _) = verdict_of(&error);
    assert_eq!(code, ErrorCode::ConnectionClosed, "{error}");
}

/// T3: a server that speaks HTTP+SSE alone is found whatever its refusal of `initialize` holds.
#[tokio::test]
async fn event_stream_is_tried_whatever_the_refusal_says() {
    const STREAMS: &[&str] = &["content-type: text/event-stream", "connection: close"];
    let error = |id: &str, code| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"x"}}}}"#)
    };
    for (status, body, tried) in [
        (405, error("null", -32000), true),
        (405, error("1", -32000), true),
        (400, error("1", -32600), true),
        (404, error("1", -32000), true),
        (405, r#"{"detail":"Method Not Allowed"}"#.to_owned(), true),
        (400, error("1", -32021), false),
    ] {
        let answer = body.clone();
        let peer = HttpPeer::start(move |_, request| match request.method.as_str() {
            // One that is none: what was said first is the better word.
            "GET" => vec![HttpAct::answer(404, STREAMS, "")],
            _ => vec![HttpAct::json(status, &answer)],
        });
        let error = refused(entry_of(&peer).protocol(Protocol::Legacy)).await;
        assert_eq!(verdict_of(&error).2, Some(status), "{body} {error}");
        let asked = peer.requests().iter().any(|one| one.method == "GET");
        assert_eq!(asked, tried, "{status} {body}");
    }
}

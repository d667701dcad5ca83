//! Servers behind a WebSocket: the way there, what they may say, how it ends (T6, K10, L1, L6, S5, O1, O2, R1).

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use seawall::config::{Protocol, ServerConfigBuilder, Surroundings};
use seawall::{Arguments, EgressPolicy, Host, HttpClient, Transport};
use seawall_testkit::{McplAct, McplServer, TEST_ROOT, WsMessage, WsPeer, WsSocket, ws_frame};
use serde_json::{Value, json};

use super::http_support::{TARGET, soon, verdict_of};
use super::*;

const HANDSHAKE: Duration = Duration::from_millis(1500);
const TOKEN: &str = "TOKEN-MARKER+/=&% s3cr3t";

fn impatient() -> Limits {
    let mut limits = Limits::default();
    limits.handshake_timeout = HANDSHAKE;
    limits
}

/// With small frames: an unoptimised build takes its time with a flood of the smallest frames.
fn small() -> Limits {
    let mut limits = impatient();
    limits.max_frame_bytes = 1 << 16;
    limits
}

/// An entry of a server of the base protocol behind `url`.
fn entry_at(url: &str) -> ServerConfigBuilder {
    ServerConfig::url("test", url)
        .protocol(Protocol::Legacy)
        .limits(impatient())
}

async fn connect_at(builder: ServerConfigBuilder) -> Result<Client, Error> {
    Client::connect(builder.build().expect("a valid entry")).await
}

/// The error of a connect, made within its bound.
async fn refused(builder: ServerConfigBuilder) -> Error {
    let began = Instant::now();
    let error = connect_at(builder).await.expect_err("cannot connect");
    assert!(began.elapsed() < HANDSHAKE * 6, "{error}");
    error
}

/// A server that answers the handshake's request with these bytes, `{accept}` replaced, and hangs.
fn answers(bytes: &'static str) -> WsPeer {
    WsPeer::start(move |mut socket| {
        let bytes = bytes.replace("{accept}", &socket.accept_key());
        if socket.send(bytes.as_bytes()) {
            socket.hang();
        }
    })
}

fn result(message: &Value) -> Option<String> {
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2024-11-05",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": MARKER, "version": "0" },
        }),
        "tools/list" => json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] }),
        _ => return None,
    };
    let id = &message["id"];
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
}

/// An honest server up to the first call, which `act` is left with.
fn until_called(act: impl Fn(&mut WsSocket, &Value) + Send + Sync + 'static) -> WsPeer {
    WsPeer::start(move |mut socket| {
        socket.accept();
        while let Some(text) = socket.receive_text() {
            let message: Value = serde_json::from_str(&text).expect("JSON");
            if message["method"] == "tools/call" {
                act(&mut socket, &message);
                return;
            }
            if let Some(reply) = result(&message) {
                socket.text(&reply);
            }
        }
    })
}

fn answer_to(call: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": call["id"], "result": { "content": [] } }).to_string()
}

/// T6, S5: a session over a WebSocket, in clear and over TLS: calls, many at once, long ones; the server is told of its end.
#[tokio::test]
async fn calls_over_a_websocket() {
    for tls in [false, true] {
        let server = McplServer::plain();
        let peer = if tls {
            server.websocket_tls()
        } else {
            server.websocket()
        };
        let http = HttpClient::builder()
            .root_certificate(TEST_ROOT)
            .build()
            .expect("a client");
        let config = entry_at(&peer.url(TARGET)).build();
        let client = Client::builder(config.expect("a valid entry"))
            .http(http)
            .connect()
            .await
            .expect("connects");
        assert_eq!(client.report().transport, Transport::WebSocket);
        assert_eq!(client.report().transport.to_string(), "WebSocket");
        assert_eq!(client.report().pid, None);
        let long = "é".repeat(200_000);
        let calls = (0..50).map(|n| {
            let text = if n == 7 { long.clone() } else { n.to_string() };
            let arguments = json!({ "n": text }).to_string();
            let client = &client;
            async move {
                let result = client.call("echo", Arguments::text(arguments)).await;
                (text, result.expect("answered").raw().as_str().to_owned())
            }
        });
        for (text, said) in futures_util::future::join_all(calls).await {
            assert!(said.contains(&text));
        }
        client.close().await.expect("closes");
        soon(|| peer.sockets().ended() == 1).await;
        let requests = peer.sockets().requests();
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[0].target, TARGET);
        assert_eq!(requests[0].header("sec-websocket-version"), Some("13"));
        assert_eq!(requests[0].header("sec-websocket-protocol"), None);
    }
}

/// T6: the close is a frame; a server that says nothing to it holds up nobody.
#[tokio::test]
async fn the_end_is_said() {
    let (said, says) = std::sync::mpsc::channel();
    let said = Mutex::new(said);
    let peer = WsPeer::start(move |mut socket| {
        socket.accept();
        while let Some(message) = socket.receive() {
            if let WsMessage::Text(text) = &message
                && let Some(reply) = serde_json::from_str(text).ok().as_ref().and_then(result)
            {
                socket.text(&reply);
            }
            let is_close = matches!(message, WsMessage::Close(_));
            said.lock()
                .expect("not poisoned")
                .send(message)
                .expect("heard");
            if is_close {
                socket.hang();
            }
        }
    });
    let client = connect_at(entry_at(&peer.url("/")))
        .await
        .expect("connects");
    let began = Instant::now();
    client.close().await.expect("closes");
    assert!(began.elapsed() < Duration::from_secs(3));
    soon(|| peer.ended() == 1).await;
    let messages: Vec<WsMessage> = says.try_iter().collect();
    assert_eq!(messages.last(), Some(&WsMessage::Close(Some(1000))));
    assert!(!messages.contains(&WsMessage::Unmasked));
}

/// An environment with the token.
struct Environment;

impl Surroundings for Environment {
    fn variable(&self, name: &str) -> Option<String> {
        (name == "THE_TOKEN").then(|| TOKEN.to_owned())
    }
}

/// T6, R1, R2: the token goes into the query, in place of what stands there and of nothing else; configured headers go along;
/// and in whatever form a server says any of it back, it is shown to nobody.
#[tokio::test]
async fn the_token_goes_into_the_query_and_nowhere_else() {
    let encoded = "TOKEN-MARKER%2B%2F%3D%26%25%20s3cr3t";
    let forms = [
        TOKEN.to_owned(),
        encoded.to_owned(),
        encoded
            .to_ascii_lowercase()
            .replace("token-marker", "TOKEN-MARKER"),
        encoded.replace("%20", "+"),
        TOKEN.replace('/', "\\/"),
        "QUERY-MARKER/1".to_owned(),
        "QUERY-MARKER%2F1".to_owned(),
        "HEADER-MARKER-1".to_owned(),
    ];
    let said = forms.clone();
    let peer = until_called(move |socket, call| {
        for form in &said {
            socket.text(&format!("you said {form}, no?"));
        }
        socket.text(&answer_to(call));
        socket.receive_text();
    });
    let url = peer.url("/p?q=QUERY-MARKER%2F1&token=old&x=%20a+b");
    let builder = entry_at(&url)
        .bearer_token_env("THE_TOKEN")
        .header("X-Api-Key", "HEADER-MARKER-1");
    let recorder = Arc::new(Recorder::default());
    let config = builder.build_in(&Environment).expect("a valid entry");
    let client = Client::builder(config)
        .observer(Arc::clone(&recorder) as Arc<dyn Observer>)
        .connect()
        .await
        .expect("connects");
    client.call("t", Arguments::none()).await.expect("answered");
    assert_eq!(client.report().stats.noise, 8);
    client.close().await.expect("closes");
    let request = &peer.requests()[0];
    assert_eq!(
        request.target,
        format!("/p?q=QUERY-MARKER%2F1&token={encoded}&x=%20a+b")
    );
    assert_eq!(request.header("x-api-key"), Some("HEADER-MARKER-1"));
    assert_eq!(request.header("authorization"), None);
    let shown: Vec<String> = recorder
        .seen()
        .iter()
        .filter_map(|seen| match seen {
            Diagnostic::Noise { text, .. } => Some(text.reveal().to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(shown.len(), forms.len());
    for text in shown {
        assert_eq!(text, "you said [redacted], no?");
    }
}

/// T6, O2: what never had a connection is `not_sent`, and says so.
#[tokio::test]
async fn unreachable_servers() {
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("listens");
    let address = nobody.local_addr().expect("an address");
    drop(nobody);
    for url in [
        format!("ws://{address}{TARGET}"),
        format!("wss://{address}{TARGET}"),
        format!("ws://no-such-host.invalid{TARGET}"),
    ] {
        let error = refused(entry_at(&url)).await;
        assert_eq!(
            verdict_of(&error),
            (ErrorCode::ConnectionClosed, Outcome::NotSent, None),
            "{url}"
        );
        let said = error.message().matches("nothing was sent").count();
        assert_eq!(said, 1, "{error}");
    }
}

/// T6, L1: whoever accepts and says nothing, or never comes to an end of its answer, holds the connect up to its deadline.
#[tokio::test]
async fn servers_that_never_answer() {
    let silent = WsPeer::start(|mut socket| socket.hang());
    let trickles = WsPeer::start(|mut socket| {
        socket.send(b"HTTP/1.1 101 Switching Protocols\r\n");
        while socket.send(b"a: b\r\n") {
            seawall_testkit::pause(Duration::from_millis(100));
        }
    });
    let continues = WsPeer::start(|mut socket| {
        while socket.send(b"HTTP/1.1 103 Early Hints\r\n\r\n") {
            seawall_testkit::pause(Duration::from_millis(1));
        }
    });
    for peer in [silent, trickles, continues] {
        let error = refused(entry_at(&peer.url(TARGET))).await;
        assert_eq!(
            verdict_of(&error),
            (ErrorCode::Timeout, Outcome::NotSent, None),
            "{error}"
        );
        soon(|| peer.ended() == 1).await;
    }
}

/// T6: a connect that is let go of ends its dial at once.
#[tokio::test]
async fn the_end_of_a_connect_ends_its_dial() {
    let peer = WsPeer::start(|mut socket| socket.hang());
    let config = ServerConfig::url("test", peer.url("/"))
        .protocol(Protocol::Legacy)
        .build();
    let connect = Client::connect(config.expect("a valid entry"));
    let connect = tokio::time::timeout(Duration::from_millis(300), connect);
    connect.await.expect_err("nobody answers");
    let began = Instant::now();
    soon(|| peer.ended() == 1).await;
    assert!(began.elapsed() < Duration::from_secs(1));
}

/// T6, H1: a disconnect ends a connect that is dialing at once.
#[tokio::test]
async fn a_disconnect_ends_the_dial() {
    let peer = WsPeer::start(|mut socket| socket.hang());
    let config = ServerConfig::url("test", peer.url("/")).protocol(Protocol::Legacy);
    let config = config.build().expect("a valid entry");
    let host = Host::builder().build();
    let began = Instant::now();
    let (connected, ()) = tokio::join!(host.connect(config), async {
        soon(|| peer.requests().len() == 1).await;
        host.disconnect("test").await.expect("nothing to end");
    });
    connected.expect_err("it was ended");
    assert!(began.elapsed() < Duration::from_secs(3));
    soon(|| peer.ended() == 1).await;
}

/// T6, O1, O2, L6: answers that are no handshake fail the connect at once, and nothing of them is said.
#[tokio::test]
async fn answers_that_are_no_handshake() {
    let closed = ErrorCode::ConnectionClosed;
    let protocol = ErrorCode::ProtocolError;
    let status = |code, status| (code, Outcome::NotSent, Some(status));
    for (answer, expected) in [
        (
            "HTTP/1.1 200 REMOTE-MARKER\r\nContent-Length: 2\r\n\r\n{}",
            status(closed, 200),
        ),
        (
            "HTTP/1.1 404 REMOTE-MARKER\r\nContent-Length: 0\r\n\r\n",
            status(closed, 404),
        ),
        (
            "HTTP/1.1 503 REMOTE-MARKER\r\nTransfer-Encoding: chunked\r\n\r\n",
            status(closed, 503),
        ),
        (
            "HTTP/1.1 401 REMOTE-MARKER\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n",
            (closed, Outcome::ErrorResponse, Some(401)),
        ),
        (
            "HTTP/1.1 403 REMOTE-MARKER\r\nContent-Length: 0\r\n\r\n",
            (closed, Outcome::ErrorResponse, Some(403)),
        ),
        (
            "HTTP/1.1 302 REMOTE-MARKER\r\nLocation: /REMOTE-MARKER\r\nContent-Length: 0\r\n\r\n",
            status(protocol, 302),
        ),
        (
            "HTTP/1.1 307 REMOTE-MARKER\r\nLocation: ws://127.0.0.1:9/REMOTE-MARKER\r\nContent-Length: 0\r\n\r\n",
            status(protocol, 307),
        ),
        (
            "HTTP/1.1 101 REMOTE-MARKER\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
            (protocol, Outcome::NotSent, None),
        ),
        (
            "HTTP/1.1 101 REMOTE-MARKER\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
            (protocol, Outcome::NotSent, None),
        ),
        (
            "HTTP/1.1 101 REMOTE-MARKER\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n",
            (protocol, Outcome::NotSent, None),
        ),
        (
            "HTTP/1.1 101 REMOTE-MARKER\r\nUpgrade: websocket\r\nConnection: close\r\nSec-WebSocket-Accept: {accept}\r\n\r\n",
            (protocol, Outcome::NotSent, None),
        ),
        (
            "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Accept: {accept}\r\n\r\n",
            (protocol, Outcome::NotSent, None),
        ),
        (
            "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: mcp\r\nSec-WebSocket-Accept: {accept}\r\n\r\n",
            (protocol, Outcome::NotSent, None),
        ),
        (
            "SSH-2.0-REMOTE-MARKER\r\n\r\n",
            (closed, Outcome::NotSent, None),
        ),
    ] {
        let peer = answers(answer);
        let error = refused(entry_at(&peer.url(TARGET))).await;
        assert_eq!(verdict_of(&error), expected, "{answer}: {error}");
        assert_eq!(peer.connections(), 1);
    }
    let endless = WsPeer::start(|mut socket| {
        socket.send(b"HTTP/1.1 101 Switching Protocols\r\n");
        while socket.send(b"x-header: REMOTE-MARKER\r\n".repeat(1000).as_slice()) {}
    });
    let error = refused(entry_at(&endless.url(TARGET))).await;
    assert_eq!(verdict_of(&error), (closed, Outcome::NotSent, None));
}

/// T6, T4: a certificate that nobody vouches for is refused, and nothing is said to its server.
#[tokio::test]
async fn certificates() {
    let peer = McplServer::plain().websocket_tls();
    let error = refused(entry_at(&peer.url(TARGET))).await;
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::ConnectionClosed, Outcome::NotSent, None)
    );
    assert!(error.message().contains("certificate"), "{error}");
    assert!(peer.sockets().requests().is_empty());
}

/// T6: the egress policy is asked with the scheme of the entry, and refuses before the first byte with a code of its own.
#[tokio::test]
async fn egress_policy() {
    let peer = McplServer::plain().websocket();
    let url = peer.url(TARGET);
    let origin = peer.url("");
    let allowed = origin.clone();
    for (policy, allows) in [
        (
            Arc::new(|_: &str, _: &str| false) as Arc<dyn EgressPolicy>,
            false,
        ),
        (
            Arc::new(move |method: &str, origin: &str| method == "GET" && origin == allowed),
            true,
        ),
    ] {
        let http = HttpClient::builder()
            .egress(policy)
            .build()
            .expect("a client");
        let config = entry_at(&url).build().expect("a valid entry");
        let connected = Client::builder(config).http(http).connect().await;
        match connected {
            Ok(_) => assert!(allows),
            Err(error) => {
                assert!(!allows);
                assert_eq!(
                    verdict_of(&error),
                    (ErrorCode::CapabilityRefused, Outcome::NotSent, None)
                );
                assert!(error.message().contains(&origin), "{error}");
                assert_eq!(peer.sockets().connections(), 0);
            }
        }
    }
}

/// T6: a server that takes no token says so by an error and a code, in whatever order; the error is told.
#[tokio::test]
async fn a_token_that_is_refused() {
    let peer = McplServer::plain().token("right").websocket();
    let error = refused(entry_at(&peer.url(TARGET))).await;
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::ProtocolError, Outcome::ErrorResponse, None)
    );
    assert_eq!(error.json_rpc_code(), Some(-32001));
    let right = peer.url("/?token=right");
    connect_at(entry_at(&right)).await.expect("connects");
    let closes = McplServer::plain()
        .before("initialize", [McplAct::Close(4001)])
        .websocket();
    let error = refused(entry_at(&closes.url(TARGET))).await;
    assert_eq!(
        verdict_of(&error),
        (ErrorCode::ConnectionClosed, Outcome::NoResponse, None)
    );
    assert!(error.message().contains("code 4001"), "{error}");
}

/// S5, L1, L6, O1, O2: however a server ends the session, a call under way has the one reason, and it is not repeated.
#[tokio::test]
async fn sessions_end_in_every_way() {
    type Act = fn(&mut WsSocket);
    let lost = (ErrorCode::ConnectionClosed, "lost");
    let wrong = (ErrorCode::ProtocolError, "does not have");
    let long = (ErrorCode::ProtocolError, "maxFrameBytes");
    let ways: [(Act, (ErrorCode, &str)); 12] = [
        (
            |socket| {
                socket.close(4001, "REMOTE-MARKER");
            },
            (ErrorCode::ConnectionClosed, "with code 4001"),
        ),
        (
            |socket| {
                socket.frame(0x88, &[]);
            },
            (ErrorCode::ConnectionClosed, "closed the WebSocket"),
        ),
        (|_| {}, lost),
        (
            |socket| {
                let frame = ws_frame(0x81, br#"{"jsonrpc":"2.0","method":"REMOTE-MARKER"}"#);
                socket.send(&frame[..20]);
            },
            lost,
        ),
        (
            |socket| {
                socket.send(&[0x81, 127, 0, 0, 0, 0xff, 0, 0, 0, 0]);
                while socket.send(&[b'x'; 1 << 16]) {}
            },
            long,
        ),
        (
            |socket| {
                socket.frame(0x01, b"{");
                while socket.frame(0x00, &[b'x'; 1 << 12]) {}
            },
            long,
        ),
        (
            |socket| {
                socket.frame(0x01, b"{");
                let some = ws_frame(0x00, b"").repeat(1 << 14);
                while socket.send(&some) {}
            },
            long,
        ),
        (
            |socket| {
                socket.frame(0xb1, b"{}");
                socket.hang();
            },
            wrong,
        ),
        (
            |socket| {
                socket.frame(0x87, b"{}");
                socket.hang();
            },
            wrong,
        ),
        (
            |socket| {
                socket.frame(0x81, b"\xff\xfe");
                socket.hang();
            },
            wrong,
        ),
        (
            |socket| {
                socket.send(&b"REMOTE-MARKER".repeat(100));
                socket.hang();
            },
            wrong,
        ),
        (
            |socket| {
                socket.text(r#"{"jsonrpc":"2.0","id":3.5,"result":"REMOTE-MARKER"}"#);
                socket.hang();
            },
            (ErrorCode::ProtocolError, "malformed"),
        ),
    ];
    for (at, (act, (code, words))) in ways.into_iter().enumerate() {
        let peer = until_called(move |socket, _| act(socket));
        let client = connect_at(entry_at(&peer.url(TARGET)).limits(small()))
            .await
            .expect("connects");
        let began = Instant::now();
        let error = client
            .call("t", Arguments::none())
            .await
            .expect_err("it ends");
        assert!(began.elapsed() < Duration::from_secs(20), "way {at}");
        assert_eq!(
            verdict_of(&error),
            (code, Outcome::NoResponse, None),
            "way {at}: {error}"
        );
        assert!(error.message().contains(words), "way {at}: {error}");
        let again = client
            .call("t", Arguments::none())
            .await
            .expect_err("it ended");
        assert_eq!(
            verdict_of(&again),
            (code, Outcome::NotSent, None),
            "way {at}"
        );
        client.close().await.expect("closes");
        soon(|| peer.ended() == 1).await;
    }
}

/// S6, L6: binary frames are noise, counted and shown as that; pings are answered, however many there are; neither holds up a
/// call.
#[tokio::test]
async fn binary_frames_and_pings_hold_up_nobody() {
    let peer = until_called(|socket, call| {
        socket.frame(0x82, &[0xff; 1000]);
        socket.frame(0x82, b"REMOTE-MARKER");
        // Nothing of this is read before all of it is written.
        socket.send(&ws_frame(0x89, b"are you there?").repeat(50_000));
        socket.text(&answer_to(call));
        let mut pongs = 0;
        while let Some(message) = socket.receive() {
            pongs += usize::from(message == WsMessage::Pong(b"are you there?".to_vec()));
            if matches!(message, WsMessage::Close(_)) {
                break;
            }
        }
        assert!(pongs > 0);
    });
    let (client, recorder) = observed(entry_at(&peer.url(TARGET)).limits(small())).await;
    let client = client.expect("connects");
    client.call("t", Arguments::none()).await.expect("answered");
    assert_eq!(client.report().stats.noise, 2);
    client.close().await.expect("closes");
    let shown = recorder.seen();
    let noise = shown.iter().filter_map(|seen| match seen {
        Diagnostic::Noise { text, .. } => Some(text.reveal().to_owned()),
        _ => None,
    });
    let noise: Vec<String> = noise.collect();
    assert_eq!(
        noise,
        [
            "(a binary frame of 1000 bytes)",
            "(a binary frame of 13 bytes)"
        ]
    );
}

/// L6, L1: a handshake that is drowned in empty fragments, pings or noise fails at its deadline, or before.
#[tokio::test]
async fn floods_end_with_the_handshake() {
    let floods: [(&[u8], bool); 3] = [(&[0x00, 0], true), (&[0x89, 0], false), (&[0x82, 0], false)];
    for (frame, fragments) in floods {
        let peer = WsPeer::start(move |mut socket| {
            socket.accept();
            if fragments {
                socket.frame(0x01, b"{");
            }
            let some = frame.repeat(1 << 12);
            while socket.send(&some) {}
        });
        let error = refused(entry_at(&peer.url(TARGET)).limits(small())).await;
        let (code, outcome, _) = verdict_of(&error);
        // Which comes first, the bound on fragments or the deadline, is the machine's to say.
        let bounded = fragments && code == ErrorCode::ProtocolError;
        assert!(bounded || code == ErrorCode::Timeout, "{error}");
        assert_eq!(outcome, Outcome::NoResponse);
        soon(|| peer.ended() == 1).await;
    }
}

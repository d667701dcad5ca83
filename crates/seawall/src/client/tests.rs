//! The driver and the handle against a peer in memory, on a paused clock.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};

use tokio::time::Instant;

use super::link::{Ends, Link, Sink, Source, Tree};
use super::*;
use crate::{ErrorCode, Limits};

const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"peer","version":"1"}}"#;
const TOOLS: &str = r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#;

/// The server's ends.
pub(crate) struct Peer {
    input: BufReader<DuplexStream>,
    output: DuplexStream,
}

impl Peer {
    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        self.input.read_line(&mut line).await.expect("reads");
        line
    }

    pub(crate) async fn write(&mut self, text: &str) {
        self.output
            .write_all(text.as_bytes())
            .await
            .expect("writes");
    }

    pub(crate) async fn reply(&mut self, id: u64, result: &str) {
        self.write(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"
        ))
        .await;
    }

    pub(crate) async fn shake_hands(&mut self) {
        assert!(self.line().await.contains("\"initialize\""));
        self.reply(1, INITIALIZED).await;
        assert!(self.line().await.contains("notifications/initialized"));
        assert!(self.line().await.contains("tools/list"));
        self.reply(2, TOOLS).await;
    }
}

fn config(limits: Limits) -> ServerConfig {
    ServerConfig::stdio("peer", "in-memory")
        .limits(limits)
        .build()
        .expect("a valid entry")
}

/// A link whose pipe to the server takes `room` bytes before somebody reads.
pub(crate) fn link(room: usize) -> (Link, Peer) {
    let (to_peer, input) = duplex(room);
    let (output, stdout) = duplex(1 << 16);
    let link = Link {
        sink: Sink::Stream(Box::pin(to_peer)),
        ends: Ends {
            stdout: Source::new(stdout),
            stderr: None,
            tree: Tree::None,
        },
    };
    let input = BufReader::new(input);
    (link, Peer { input, output })
}

async fn connect_over(link: Link, limits: Limits) -> Result<Client, Error> {
    Client::builder(config(limits)).connect_link(link).await
}

async fn connected(room: usize, limits: Limits) -> (Client, Peer) {
    let (link, mut peer) = link(room);
    let (client, ()) = tokio::join!(connect_over(link, limits), peer.shake_hands());
    (client.expect("connects"), peer)
}

fn failure(error: &Error) -> (ErrorCode, Outcome) {
    (error.code(), error.outcome())
}

/// L1, S1: a server that says nothing fails the connect at `handshakeTimeoutMs`, not before and not later.
#[tokio::test(start_paused = true)]
async fn a_silent_server_fails_the_connect_in_time() {
    let (link, _peer) = link(1 << 16);
    let before = Instant::now();
    let error = connect_over(link, Limits::default())
        .await
        .expect_err("nothing answers");
    assert_eq!(failure(&error), (ErrorCode::Timeout, Outcome::NoResponse));
    assert_eq!(
        before.elapsed(),
        seawall_proto::limits::DEFAULT_HANDSHAKE_TIMEOUT
    );
}

/// L1, O2: a call ends at its own deadline; the answer that comes later is nobody's.
#[tokio::test(start_paused = true)]
async fn a_call_ends_at_its_deadline() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    let before = Instant::now();
    let error = client
        .call("t", Arguments::none())
        .timeout(Duration::from_millis(40))
        .await
        .expect_err("nothing answers");
    assert_eq!(failure(&error), (ErrorCode::Timeout, Outcome::NoResponse));
    assert!(
        before.elapsed() < Duration::from_millis(45),
        "{:?}",
        before.elapsed()
    );
    assert!(peer.line().await.contains("tools/call"));
    assert!(peer.line().await.contains("notifications/cancelled"));
    peer.reply(3, r#"{"content":[]}"#).await;
    let (call, ()) = tokio::join!(client.call("t", Arguments::none()), async {
        assert!(peer.line().await.contains("\"id\":4"));
        peer.reply(4, r#"{"content":[{"type":"text","text":"late"}]}"#)
            .await;
    });
    assert!(call.expect("answered").raw().as_str().contains("late"));
    assert_eq!(client.report().stats.stray_replies, 1);
}

/// O2, S8: behind a server that does not read, what was begun is `no_response`, what was not is `not_sent`, each in time;
/// the abandoned one is never written.
#[tokio::test(start_paused = true)]
async fn a_blocked_writer_delays_no_deadline() {
    let (client, mut peer) = connected(64, Limits::default()).await;
    let big = Arguments::text(format!("{{\"pad\":\"{}\"}}", "x".repeat(4096)));
    let before = Instant::now();
    let (first, second) = tokio::join!(
        client.call("t", big).timeout(Duration::from_millis(100)),
        client
            .call("t", Arguments::text("{\"second\":1}"))
            .timeout(Duration::from_millis(50)),
    );
    assert_eq!(
        failure(&first.expect_err("blocked")),
        (ErrorCode::Timeout, Outcome::NoResponse)
    );
    assert_eq!(
        failure(&second.expect_err("blocked")),
        (ErrorCode::Timeout, Outcome::NotSent)
    );
    assert!(before.elapsed() < Duration::from_millis(110));
    // The frame that was begun is finished, the other is skipped, the cancellation follows.
    assert!(peer.line().await.contains("xxxx"));
    let next = peer.line().await;
    assert!(
        next.contains("notifications/cancelled") && next.contains("\"requestId\":3"),
        "{next}"
    );
}

/// S8: a dropped call is abandoned.
#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    let call = client.call("t", Arguments::none());
    let dropped = tokio::time::timeout(Duration::from_millis(5), call).await;
    assert!(dropped.is_err());
    assert!(peer.line().await.contains("tools/call"));
    assert!(peer.line().await.contains("notifications/cancelled"));
    assert_eq!(client.report().stats.cancelled, 1);
}

/// S8, O2: letting go before anything was polled sends nothing.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_never_polled_is_not_sent() {
    let (client, _peer) = connected(1 << 16, Limits::default()).await;
    let error = client
        .call("t", Arguments::none())
        .abandon()
        .expect_err("abandoned");
    assert_eq!(
        failure(&error),
        (ErrorCode::ConnectionClosed, Outcome::NotSent)
    );
    assert_eq!(client.report().stats.calls, 0);
}

/// L8: results that nobody takes pause the reader; taking them resumes it, and nothing is lost.
#[tokio::test(start_paused = true)]
async fn results_not_taken_pause_the_reader() {
    let mut limits = Limits::default();
    limits.max_buffered_bytes = 4096;
    let (client, mut peer) = connected(1 << 16, limits).await;
    let mut calls: Vec<_> = (0..8)
        .map(|_| Box::pin(client.call("t", Arguments::none())))
        .collect();
    for call in &mut calls {
        let polled = futures_poll(call.as_mut()).await;
        assert!(polled.is_none());
    }
    let result = format!("{{\"content\":[],\"pad\":\"{}\"}}", "x".repeat(1500));
    for id in 3..11 {
        assert!(peer.line().await.contains("tools/call"));
        peer.reply(id, &result).await;
    }
    tokio::time::sleep(Duration::from_millis(10)).await;
    let held = client.report().buffered_bytes;
    assert!((4096..4096 + 2000).contains(&held), "{held}");
    let error = client
        .call("t", Arguments::none())
        .await
        .expect_err("the budget is used up");
    assert_eq!(
        failure(&error),
        (ErrorCode::ProtocolError, Outcome::NotSent)
    );
    for call in calls {
        assert!(call.await.is_ok());
    }
    assert_eq!(client.report().buffered_bytes, 0);
}

/// L8: a reader that paused because of replies nobody read goes on once they are written, though no caller comes by.
#[tokio::test(start_paused = true)]
async fn written_replies_resume_the_reader() {
    let mut limits = Limits::default();
    limits.max_buffered_bytes = 2000;
    limits.handshake_timeout = Duration::from_secs(3600);
    let (client, mut peer) = connected(1 << 16, limits).await;
    let mut calls = JoinSet::new();
    let caller = client.clone();
    calls.spawn(async move { caller.call("t", Arguments::none()).await });
    assert!(peer.line().await.contains("tools/call"));
    let mut said = String::new();
    for id in 0..30 {
        said += &format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
    }
    said += "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}\n";
    peer.write(&said).await;
    let before = Instant::now();
    let answered = calls
        .join_next()
        .await
        .expect("one call")
        .expect("no panic");
    assert!(answered.is_ok());
    assert!(
        before.elapsed() < Duration::from_secs(1),
        "{:?}",
        before.elapsed()
    );
}

/// L8: the same where the message that filled the buffer is the last one: the driver goes on, and does not go round.
#[tokio::test(start_paused = true)]
async fn a_reader_that_resumes_with_nothing_to_read_rests() {
    let mut limits = Limits::default();
    limits.max_buffered_bytes = 2000;
    let (client, mut peer) = connected(1 << 16, limits).await;
    // Replies are counted with some 165 bytes each, so the thirteenth fills the buffer.
    let said: String = (0..13)
        .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n"))
        .collect();
    peer.write(&said).await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    for _ in 0..13 {
        assert!(peer.line().await.contains("\"result\":{}"));
    }
    let call = client.call("t", Arguments::none());
    let error = call
        .timeout(Duration::from_millis(50))
        .await
        .expect_err("nothing answers");
    assert_eq!(error.code(), ErrorCode::Timeout);
    client.close().await.expect("closes");
}

/// K9: a deadline past what the clock can tell is a far one, not a panic.
#[tokio::test(start_paused = true)]
async fn a_deadline_past_the_clock_is_a_far_one() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    // The first timer of the handshake fires before the call arms its own.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let (answered, ()) = tokio::join!(
        client.call("t", Arguments::none()).timeout(Duration::MAX),
        async {
            assert!(peer.line().await.contains("tools/call"));
            tokio::time::sleep(Duration::from_secs(3600)).await;
            peer.reply(3, r#"{"content":[]}"#).await;
        }
    );
    assert!(answered.is_ok());
}

/// O2: what was answered is never said to be not sent, however often it is asked for.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_answered_stays_answered() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    let mut call = client.call("t", Arguments::none());
    let (answered, ()) = tokio::join!(&mut call, async {
        peer.line().await;
        peer.reply(3, r#"{"content":[]}"#).await;
    });
    assert!(answered.is_ok());
    let again = (&mut call).await.expect_err("told before");
    assert_eq!(again.outcome(), Outcome::Answered);
    assert_eq!(
        call.abandon().expect_err("told before").outcome(),
        Outcome::Answered
    );
}

/// Progress that comes with the result is told; a listener that panics leaves nothing behind.
#[tokio::test(start_paused = true)]
async fn the_last_progress_is_told() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let call = client
        .call("t", Arguments::none())
        .on_progress(move |progress| tell.lock().expect("not poisoned").push(progress.progress));
    let progress = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":3,\"progress\":0.5}}\n";
    let (answered, ()) = tokio::join!(call, async {
        peer.line().await;
        peer.write(&format!(
            "{progress}{{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{{\"content\":[]}}}}\n"
        ))
        .await;
    });
    assert!(answered.is_ok());
    assert_eq!(*told.lock().expect("not poisoned"), [0.5]);

    let mut calls = JoinSet::new();
    let caller = client.clone();
    calls.spawn(async move {
        let call = caller.call("t", Arguments::none());
        call.on_progress(|_| panic!("a listener's own fault")).await
    });
    peer.line().await;
    peer.write(&progress.replace(":3,", ":4,")).await;
    assert!(calls.join_next().await.expect("one call").is_err());
    assert!(peer.line().await.contains("notifications/cancelled"));
    peer.reply(4, r#"{"content":[]}"#).await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(client.report().buffered_bytes, 0);
}

/// S5, L8: what waits in memory because of L8 came before the end: its answers are handed over, and a fault among it is the
/// first sign.
#[tokio::test(start_paused = true)]
async fn what_waits_comes_before_the_end() {
    let mut limits = Limits::default();
    limits.max_buffered_bytes = 2000;
    limits.max_frame_bytes = 4000;
    let (client, mut peer) = connected(1 << 16, limits).await;
    let mut calls: Vec<_> = (0..5)
        .map(|_| Box::pin(client.call("t", Arguments::none())))
        .collect();
    for call in &mut calls {
        assert!(futures_poll(call.as_mut()).await.is_none());
        peer.line().await;
    }
    let result = format!("{{\"content\":[],\"pad\":\"{}\"}}", "x".repeat(1500));
    for id in 3..7 {
        peer.reply(id, &result).await;
    }
    peer.write(&"x".repeat(5000)).await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    drop(peer);
    // Its cancellation finds the pipe broken, which begins the end while the reader is paused.
    drop(calls.pop());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let closed = client.closed().expect("it ended");
    for call in calls {
        assert!(call.await.is_ok());
    }
    assert!(closed.message().contains("maxFrameBytes"), "{closed}");
}

/// F4, F3: the declarations of a connection follow the entry's grant, and so do their digests: a call that was made under
/// another grant is refused, and nothing is sent.
#[tokio::test(start_paused = true)]
async fn declarations_follow_the_grant() {
    let (whole, _peer) = connected(1 << 16, Limits::default()).await;
    let config = ServerConfig::stdio("peer", "in-memory")
        .grant(["proc:spawn:mcp/peer"])
        .on_conflict(crate::flows::OnConflict::Allow);
    let (link, mut peer) = link(1 << 16);
    let connect = Client::builder(config.build().expect("valid")).connect_link(link);
    let (client, ()) = tokio::join!(connect, peer.shake_hands());
    let client = client.expect("connects");
    let flow = client.flow("t").expect("published");
    let declared: Vec<&str> = flow
        .capabilities()
        .iter()
        .map(crate::flows::Capability::as_str)
        .collect();
    assert_eq!(declared, ["proc:spawn:mcp/peer"]);
    assert_eq!(flow.effects().on_conflict, crate::flows::OnConflict::Allow);
    let stale = whole.flow("t").expect("published").digest();
    assert_ne!(flow.digest(), stale);
    let error = client
        .call("t", Arguments::none())
        .digest(stale)
        .await
        .expect_err("another declaration");
    assert_eq!(failure(&error), (ErrorCode::ToolNotFound, Outcome::NotSent));
    let call = client.call("t", Arguments::none()).digest(flow.digest());
    let (called, ()) = tokio::join!(call, async {
        assert!(peer.line().await.contains("\"id\":3"));
        peer.reply(3, r#"{"content":[]}"#).await;
    });
    called.expect("answered");
}

/// K8: a login for a server that is started as a process is refused, not left aside.
#[tokio::test]
async fn a_login_over_stdio_is_refused() {
    let http = crate::HttpClient::new().expect("a client");
    let resource = "https://x.example/mcp".parse().expect("a URL");
    let oauth = crate::oauth::OAuth::builder("peer", resource, http);
    let config = ServerConfig::stdio("peer", "in-memory").build();
    let error = Client::builder(config.expect("valid"))
        .oauth(oauth.build().expect("valid"))
        .connect()
        .await
        .expect_err("refused");
    assert_eq!(
        failure(&error),
        (ErrorCode::Configuration, Outcome::NotSent)
    );
    assert!(error.is_permanent());
}

/// L4: arguments of a prompt that nest too deep are refused, and not left out.
#[tokio::test(start_paused = true)]
async fn a_prompts_arguments_that_nest_too_deep_are_not_sent() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
    let deep = crate::Json::check(deep).expect("as deep as can be");
    let error = client.prompt("p", Some(&deep)).await.expect_err("refused");
    assert_eq!(error.outcome(), Outcome::NotSent);
    let next = client.prompt("q", None);
    let (_, line) = tokio::join!(
        async {
            let _ = tokio::time::timeout(Duration::from_secs(1), next).await;
        },
        peer.line()
    );
    assert!(line.contains("\"q\""), "{line}");
}

/// L5: an empty cursor is none on legacy revisions, in every list.
#[tokio::test(start_paused = true)]
async fn an_empty_cursor_of_a_legacy_list_cannot_be_used() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    let (listed, ()) = tokio::join!(client.resources(), async {
        assert!(peer.line().await.contains("resources/list"));
        peer.reply(3, r#"{"resources":[],"nextCursor":""}"#).await;
    });
    assert_eq!(
        listed.expect_err("refused").code(),
        ErrorCode::InvalidResponse
    );
}

/// S5: the owner's close ends what is pending, and is what every later call gets.
#[tokio::test(start_paused = true)]
async fn close_ends_pending_and_later_calls() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    let (pending, ()) = tokio::join!(client.call("t", Arguments::none()), async {
        assert!(peer.line().await.contains("tools/call"));
        client.close().await.expect("closes");
    });
    assert_eq!(
        failure(&pending.expect_err("closed")),
        (ErrorCode::ConnectionClosed, Outcome::NoResponse)
    );
    let later = client
        .call("t", Arguments::none())
        .await
        .expect_err("closed");
    assert_eq!(
        failure(&later),
        (ErrorCode::ConnectionClosed, Outcome::NotSent)
    );
    assert!(later.message().contains("closed by its owner"), "{later}");
}

/// S5: the end of the server's output ends the session; what came whole before it is delivered.
#[tokio::test(start_paused = true)]
async fn what_came_before_the_end_is_delivered() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    let (first, second, ()) = tokio::join!(
        client.call("t", Arguments::none()),
        client.call("t", Arguments::none()),
        async {
            peer.line().await;
            peer.line().await;
            peer.reply(3, r#"{"content":[]}"#).await;
            peer.write("{\"jsonrpc\":\"2.0\",\"id\":4,\"res").await;
            peer.output.shutdown().await.expect("shuts down");
        }
    );
    assert!(first.is_ok());
    let second = second.expect_err("cut off");
    assert_eq!(
        failure(&second),
        (ErrorCode::ConnectionClosed, Outcome::NoResponse)
    );
    assert!(second.message().contains("stdout"), "{second}");
}

/// S5: a runtime that is dropped ends the connection; nobody waits for a driver that is gone.
#[test]
fn a_dropped_runtime_ends_the_connection() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
    };
    let first = runtime();
    let (client, _peer) = first.block_on(connected(1 << 16, Limits::default()));
    drop(first);
    let error = runtime()
        .block_on(client.call("t", Arguments::none()))
        .expect_err("gone");
    assert_eq!(
        failure(&error),
        (ErrorCode::ConnectionClosed, Outcome::NotSent)
    );
    runtime()
        .block_on(client.close())
        .expect("nothing is left to close");
}

/// Without a runtime, connecting is refused in words.
#[test]
fn connecting_without_a_runtime_is_refused() {
    let connect = pin!(Client::connect(config(Limits::default())));
    let Poll::Ready(Err(error)) = connect.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("refused at once");
    };
    assert_eq!(
        failure(&error),
        (ErrorCode::Configuration, Outcome::NotSent)
    );
}

/// Polls once.
async fn futures_poll<F: Future>(mut future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

const OTHER_TOOLS: &str = r#"{"tools":[{"name":"u","inputSchema":{"type":"object"}}]}"#;

/// H5, S9: a list that is read again is another clone's; whoever has the old one keeps it, and what cannot be read changes
/// nothing.
#[tokio::test(start_paused = true)]
async fn refresh_yields_another_listing() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    let answered = async {
        assert!(peer.line().await.contains("tools/list"));
        peer.reply(3, OTHER_TOOLS).await;
    };
    let (refreshed, ()) = tokio::join!(client.refresh(), answered);
    let refreshed = refreshed.expect("reads the list");
    let names = |client: &Client| {
        client
            .flows()
            .iter()
            .map(|flow| flow.tool().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (names(&client), names(&refreshed)),
        (vec!["t".to_owned()], vec!["u".to_owned()])
    );
    let refused = async {
        assert!(peer.line().await.contains("tools/list"));
        peer.reply(4, r#"{"tools":7}"#).await;
    };
    let (failed, ()) = tokio::join!(refreshed.refresh(), refused);
    let error = failed.expect_err("cannot be read");
    assert_eq!(error.code(), ErrorCode::InvalidResponse);
    assert!(client.closed().is_none());
    assert_eq!(names(&refreshed), ["u"]);
}

/// H5: a refresh does not count a list that was being read before it was asked for.
#[tokio::test(start_paused = true)]
async fn refresh_reads_a_list_of_its_own() {
    let (client, mut peer) = connected(1 << 16, Limits::default()).await;
    let answered = async {
        assert!(peer.line().await.contains("tools/list"));
        peer.reply(3, TOOLS).await;
        assert!(peer.line().await.contains("tools/list"));
        peer.reply(4, OTHER_TOOLS).await;
    };
    let (one, two, ()) = tokio::join!(client.refresh(), client.refresh(), answered);
    assert!(one.expect("reads the list").flow("t").is_some());
    assert!(two.expect("reads the list").flow("u").is_some());
    drop(peer);
    assert!(client.refresh().await.is_err());
}

//! Callers (F2, F4), over servers in memory.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::time::timeout;

use super::super::dialer::{Live, Started};
use super::*;
use crate::client::tests::{Peer, link};
use crate::client::{Arguments, Client, Launches};
use crate::flows::OnConflict;
use crate::policy::Envelope;
use crate::supervisor::{Connector, Dial, Session};
use crate::{Error, ErrorCode, Outcome};

const DONE: &str = r#"{"content":[]}"#;

/// Servers in memory, each with one tool, `t`; their ends, by their ids, the newest last.
#[derive(Default)]
struct Servers(Arc<Mutex<HashMap<String, Vec<Peer>>>>);

impl Connector for Servers {
    fn dial(&self, config: &Arc<ServerConfig>) -> Dial {
        let launches = Launches::default();
        let server: Arc<str> = config.server().into();
        let builder = Client::builder(ServerConfig::clone(config)).launches(launches.clone());
        let servers = Arc::clone(&self.0);
        let id = config.server().to_owned();
        let connecting = async move {
            let (link, mut peer) = link(1 << 16);
            let (client, ()) = tokio::join!(builder.connect_link(link), peer.shake_hands());
            let client = client?;
            servers.lock().unwrap().entry(id).or_default().push(peer);
            Ok(Arc::new(Live(client)) as Arc<dyn Session>)
        };
        Dial {
            connecting: Box::pin(connecting),
            launch: Arc::new(Started { launches, server }),
        }
    }
}

impl Servers {
    /// The newest end of a server.
    fn take(&self, id: &str) -> Peer {
        let mut servers = self.0.lock().unwrap();
        servers.get_mut(id).and_then(Vec::pop).expect("it is up")
    }
}

async fn serving(configs: impl IntoIterator<Item = ServerConfigBuilder>) -> (Arc<Servers>, Host) {
    let servers = Arc::new(Servers::default());
    let host = Host::builder().build_with(Arc::clone(&servers) as _);
    for config in configs {
        host.connect(config.build().unwrap()).await.unwrap();
    }
    (servers, host)
}

fn poll(call: &mut HostCall) -> Poll<Result<crate::ToolResult, Error>> {
    Pin::new(call).poll(&mut Context::from_waker(Waker::noop()))
}

/// A call that has begun, and has not ended.
fn begun(caller: &Caller, flow: &str) -> HostCall {
    let mut call = caller.call(flow, Arguments::none());
    assert!(poll(&mut call).is_pending());
    call
}

/// The next request is a call with this id.
async fn hears(peer: &mut Peer, id: u64) {
    let line = peer.line().await;
    let is_call = line.contains("tools/call") && line.contains(&format!("\"id\":{id},"));
    assert!(is_call, "{line}");
}

/// Nothing was sent.
async fn hears_nothing(peer: &mut Peer) {
    let heard = timeout(ms(10), peer.line()).await;
    assert!(heard.is_err(), "{heard:?}");
}

fn failure(error: &Error) -> (&str, ErrorCode, Outcome) {
    (error.server(), error.code(), error.outcome())
}

/// F4, O1: the first capability that an envelope does not cover refuses the call before dispatch; the error names the server
/// and it.
#[tokio::test(start_paused = true)]
async fn uncovered_capability_refuses_the_call_before_dispatch() {
    let (servers, host) = serving([entry("a")]).await;
    let mut a = servers.take("a");
    let reads = host.caller(Envelope::of(["fs:read:**"]).unwrap());
    let error = reads.call("mcp/a/t", Arguments::none()).await.unwrap_err();
    let refused = (ErrorCode::CapabilityRefused, Outcome::NotSent);
    assert_eq!(failure(&error), ("a", refused.0, refused.1));
    assert_eq!(error.refused_capability().unwrap().as_str(), "fs:write:**");
    let text = error.to_string();
    assert!(
        text.contains("\"a\"") && text.contains("\"fs:write:**\""),
        "{text}"
    );
    let nothing = host.caller(Envelope::nothing());
    let error = nothing
        .call("mcp/a/t", Arguments::none())
        .await
        .unwrap_err();
    assert_eq!(error.refused_capability().unwrap().as_str(), "fs:read:**");
    assert!(reads.tools().is_empty() && nothing.tools().is_empty());
    hears_nothing(&mut a).await;

    let all = host.caller(Envelope::everything());
    assert_eq!(all.tools().len(), 1);
    let (called, ()) = tokio::join!(all.call("mcp/a/t", Arguments::none()), async {
        hears(&mut a, 3).await;
        a.reply(3, DONE).await;
    });
    called.unwrap();
    let unknown = all.call("mcp/a/none", Arguments::none()).await.unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::ToolNotFound);
}

/// F4: what a server's grant leaves is all that an envelope has to cover; the text of the error holds no resource of it.
#[tokio::test(start_paused = true)]
async fn grant_narrows_what_an_envelope_has_to_cover() {
    let granted = entry("b").grant(["fs:read:/srv/data/**", "proc:spawn:mcp/b"]);
    let (servers, host) = serving([entry("a"), granted]).await;
    let mut b = servers.take("b");
    let caller = host.caller(Envelope::of(["fs:read:/srv/**", "proc:*:mcp/*"]).unwrap());
    let tools: Vec<String> = caller
        .tools()
        .iter()
        .map(|flow| flow.name().to_owned())
        .collect();
    assert_eq!(tools, ["mcp/b/t"]);
    let (called, ()) = tokio::join!(caller.call("mcp/b/t", Arguments::none()), async {
        hears(&mut b, 3).await;
        b.reply(3, DONE).await;
    });
    called.unwrap();
    let other = host.caller(Envelope::of(["proc:spawn:**"]).unwrap());
    let error = other.call("mcp/b/t", Arguments::none()).await.unwrap_err();
    assert_eq!(
        error.refused_capability().unwrap().resource(),
        "/srv/data/**"
    );
    let text = error.to_string();
    assert!(text.contains("fs:read") && !text.contains("srv"), "{text}");
}

/// F2: two calls of one run to a server that serializes do not overlap, and their turns come in the order in which they
/// began; the clones of a caller are one run.
#[tokio::test(start_paused = true)]
async fn calls_of_one_run_take_turns() {
    let (servers, host) = serving([entry("a")]).await;
    let mut a = servers.take("a");
    let caller = host.caller(Envelope::everything());
    let calls = [
        begun(&caller, "mcp/a/t"),
        begun(&caller.clone(), "mcp/a/t"),
        begun(&caller, "mcp/a/t"),
    ];
    let mut next = 3;
    for mut call in calls {
        assert!(poll(&mut call).is_pending());
        hears(&mut a, next).await;
        hears_nothing(&mut a).await;
        a.reply(next, DONE).await;
        call.await.unwrap();
        next += 1;
    }
    // An ended call that is kept holds nobody up.
    let mut first = begun(&caller, "mcp/a/t");
    hears(&mut a, next).await;
    a.reply(next, DONE).await;
    settle().await;
    assert!(poll(&mut first).is_ready());
    let _second = begun(&caller, "mcp/a/t");
    hears(&mut a, next + 1).await;
    assert_eq!(
        poll(&mut first).map(|end| end.unwrap_err().outcome()),
        Poll::Ready(Outcome::Answered)
    );
}

/// F2: the one who waits is woken for its turn.
#[tokio::test(start_paused = true)]
async fn waiting_call_is_woken() {
    let (servers, host) = serving([entry("a")]).await;
    let mut a = servers.take("a");
    let caller = host.caller(Envelope::everything());
    let (one, two, ()) = tokio::join!(
        caller.call("mcp/a/t", Arguments::none()),
        caller.call("mcp/a/t", Arguments::none()),
        async {
            for id in [3, 4] {
                hears(&mut a, id).await;
                hears_nothing(&mut a).await;
                a.reply(id, DONE).await;
            }
        }
    );
    one.unwrap();
    two.unwrap();
}

/// F2: calls overlap where the entry says so, where they are of different runs, and where nobody's run makes them.
#[tokio::test(start_paused = true)]
async fn only_calls_of_one_run_to_a_serializing_server_take_turns() {
    let (servers, host) = serving([entry("a").on_conflict(OnConflict::Allow), entry("b")]).await;
    let (mut a, mut b) = (servers.take("a"), servers.take("b"));
    let caller = host.caller(Envelope::everything());
    let _both = [begun(&caller, "mcp/a/t"), begun(&caller, "mcp/a/t")];
    hears(&mut a, 3).await;
    hears(&mut a, 4).await;
    let other = host.caller(Envelope::everything());
    let _both = [begun(&caller, "mcp/b/t"), begun(&other, "mcp/b/t")];
    hears(&mut b, 3).await;
    hears(&mut b, 4).await;
    let mut third = host.call("mcp/b/t", Arguments::none());
    assert!(poll(&mut third).is_pending());
    hears(&mut b, 5).await;
}

/// F2, H8: the line at a stuck server delays no call to another.
#[tokio::test(start_paused = true)]
async fn stuck_server_delays_no_other() {
    let (servers, host) = serving([entry("a"), entry("b")]).await;
    let mut b = servers.take("b");
    let caller = host.caller(Envelope::everything());
    let _stuck = [begun(&caller, "mcp/a/t"), begun(&caller, "mcp/a/t")];
    let (called, ()) = tokio::join!(caller.call("mcp/b/t", Arguments::none()), async {
        hears(&mut b, 3).await;
        b.reply(3, DONE).await;
    });
    called.unwrap();
    assert_eq!(caller.lines(), 2);
}

/// F2: a call that is dropped or abandoned while it waits gives up its place, and nothing of it is sent; one that has the
/// turn gives it up.
#[tokio::test(start_paused = true)]
async fn dropped_call_gives_up_its_place() {
    let (servers, host) = serving([entry("a")]).await;
    let mut a = servers.take("a");
    let caller = host.caller(Envelope::everything());
    let first = begun(&caller, "mcp/a/t");
    let second = begun(&caller, "mcp/a/t");
    let third = begun(&caller, "mcp/a/t");
    let mut fourth = begun(&caller, "mcp/a/t");
    hears(&mut a, 3).await;
    drop(second);
    let left = third.abandon().unwrap_err();
    assert_eq!(
        failure(&left),
        ("a", ErrorCode::ConnectionClosed, Outcome::NotSent)
    );
    hears_nothing(&mut a).await;
    // It has the turn, and was sent: the server is told.
    drop(first);
    assert!(a.line().await.contains("notifications/cancelled"));
    assert!(poll(&mut fourth).is_pending());
    hears(&mut a, 4).await;
    // One that had its turn and was dropped before it was polled with it gives it up too.
    let fifth = begun(&caller, "mcp/a/t");
    let mut sixth = begun(&caller, "mcp/a/t");
    a.reply(4, DONE).await;
    fourth.await.unwrap();
    drop(fifth);
    assert!(poll(&mut sixth).is_pending());
    hears(&mut a, 5).await;
    let unpolled = caller.call("mcp/a/t", Arguments::none()).abandon();
    assert_eq!(unpolled.unwrap_err().outcome(), Outcome::NotSent);
}

/// F2, O2, O4: the wait counts against the call's one deadline. One that passes while it waits is a timeout of which nothing
/// was sent, and its place is given up.
#[tokio::test(start_paused = true)]
async fn deadline_that_passes_in_line_sends_nothing() {
    let (servers, host) = serving([entry("a")]).await;
    let mut a = servers.take("a");
    let caller = host.caller(Envelope::everything());
    let first = begun(&caller, "mcp/a/t");
    hears(&mut a, 3).await;
    let before = Instant::now();
    let short = caller.call("mcp/a/t", Arguments::none()).timeout(ms(50));
    let error = short.await.unwrap_err();
    assert_eq!(failure(&error), ("a", ErrorCode::Timeout, Outcome::NotSent));
    assert!(error.to_string().contains("50 ms"), "{error}");
    assert!(
        (ms(50)..ms(55)).contains(&before.elapsed()),
        "{:?}",
        before.elapsed()
    );
    hears_nothing(&mut a).await;
    a.reply(3, DONE).await;
    first.await.unwrap();
    let _next = begun(&caller, "mcp/a/t");
    hears(&mut a, 4).await;
}

/// F2, O4: what the wait left of the deadline is all that the call has; by default that is `requestTimeoutMs`.
#[tokio::test(start_paused = true)]
async fn wait_counts_against_the_deadline() {
    let mut limits = crate::Limits::default();
    limits.request_timeout = ms(100);
    let (servers, host) = serving([entry("a").limits(limits)]).await;
    let mut a = servers.take("a");
    let caller = host.caller(Envelope::everything());
    for explicit in [false, true] {
        let first = caller.call("mcp/a/t", Arguments::none()).timeout(ms(60));
        let mut second = caller.call("mcp/a/t", Arguments::none());
        if explicit {
            second = second.timeout(ms(100));
        }
        let before = Instant::now();
        let (first, (second, elapsed)) =
            tokio::join!(first, async { (second.await, before.elapsed()) });
        assert_eq!(first.unwrap_err().outcome(), Outcome::NoResponse);
        let error = second.unwrap_err();
        assert_eq!(
            failure(&error),
            ("a", ErrorCode::Timeout, Outcome::NoResponse)
        );
        assert!(error.to_string().contains("100 ms"), "{error}");
        assert!((ms(100)..ms(106)).contains(&elapsed), "{elapsed:?}");
        for _ in 0..2 {
            assert!(a.line().await.contains("tools/call"));
            assert!(a.line().await.contains("notifications/cancelled"));
        }
    }
}

/// F2, H3: a server that is lost or replaced while a call waits: the call is made of whoever is published when its turn
/// comes, and of nobody if nobody is.
#[tokio::test(start_paused = true)]
async fn call_that_waited_meets_the_server_as_it_is_then() {
    let keeping = entry("a").reconnect(Reconnect::On);
    let (servers, host) = serving([keeping]).await;
    let old = servers.take("a");
    let caller = host.caller(Envelope::everything());
    // Its turn comes as the old session is lost: nobody is up.
    let (one, two, ()) = tokio::join!(
        caller.call("mcp/a/t", Arguments::none()),
        caller.call("mcp/a/t", Arguments::none()),
        async {
            settle().await;
            drop(old);
        },
    );
    assert_eq!(one.unwrap_err().outcome(), Outcome::NoResponse);
    let error = two.unwrap_err();
    assert_eq!(
        failure(&error),
        ("a", ErrorCode::ConnectionClosed, Outcome::NotSent)
    );
    assert!(error.to_string().contains("not connected"), "{error}");
    sleep(BUDGET).await;

    // Its turn comes when the new session is up.
    let _old = servers.take("a");
    let first = begun(&caller, "mcp/a/t");
    let second = begun(&caller, "mcp/a/t");
    host.restart("a", config("a")).await.unwrap();
    let mut new = servers.take("a");
    drop(first);
    let (second, ()) = tokio::join!(second, async {
        hears(&mut new, 3).await;
        new.reply(3, DONE).await;
    });
    second.unwrap();
}

/// F3, F4: envelope, digest and effects are those of the declaration at the moment of dispatch.
#[tokio::test(start_paused = true)]
async fn declaration_is_checked_again_after_a_wait() {
    let narrow = || entry("a").grant(["fs:read:/srv/**"]);
    let (servers, host) = serving([narrow()]).await;
    let caller = host.caller(Envelope::of(["fs:read:/srv/**"]).unwrap());
    let digest = caller.tools()[0].digest();
    let first = begun(&caller, "mcp/a/t");
    let second = begun(&caller, "mcp/a/t");
    let mut third = caller.call("mcp/a/t", Arguments::none()).digest(digest);
    assert!(poll(&mut third).is_pending());
    let (mut fourth, mut fifth) = (begun(&caller, "mcp/a/t"), begun(&caller, "mcp/a/t"));
    host.restart("a", entry("a").build().unwrap())
        .await
        .unwrap();
    let mut new = servers.take("a");
    drop(first);
    assert_eq!(
        second.await.unwrap_err().code(),
        ErrorCode::CapabilityRefused
    );
    let allowed = narrow().on_conflict(OnConflict::Allow);
    host.restart("a", allowed.build().unwrap()).await.unwrap();
    hears_end(&mut new).await;
    let mut newest = servers.take("a");
    let stale = third.await.unwrap_err();
    assert_eq!(
        failure(&stale),
        ("a", ErrorCode::ToolNotFound, Outcome::NotSent)
    );
    // From here on nobody waits for anybody.
    assert!(poll(&mut fourth).is_pending() && poll(&mut fifth).is_pending());
    hears(&mut newest, 3).await;
    hears(&mut newest, 4).await;
}

/// The session ended, and nothing was ever sent.
async fn hears_end(peer: &mut Peer) {
    assert_eq!(peer.line().await, "");
}

/// F2: a prefix that moved to another server while a call waited: the call waits for its turn there.
#[tokio::test(start_paused = true)]
async fn turn_is_at_the_server_that_has_the_flow() {
    let (servers, host) = serving([entry("a").name_prefix("p")]).await;
    let caller = host.caller(Envelope::everything());
    let first = begun(&caller, "p/t");
    let mut second = begun(&caller, "p/t");
    let moved = entry("b").name_prefix("p").build().unwrap();
    host.restart("a", moved).await.unwrap();
    let mut b = servers.take("b");
    let third = begun(&caller, "p/t");
    hears(&mut b, 3).await;
    drop(first);
    assert!(poll(&mut second).is_pending());
    hears_nothing(&mut b).await;
    b.reply(3, DONE).await;
    third.await.unwrap();
    assert!(poll(&mut second).is_pending());
    hears(&mut b, 4).await;
    // The line at the server that is gone is forgotten once another one is made.
    host.connect(config("c")).await.unwrap();
    let _other = begun(&caller, "mcp/c/t");
    assert_eq!(caller.lines(), 2);
}

/// F3: the digest is checked against what is published when the call begins, not when it was made.
#[tokio::test(start_paused = true)]
async fn call_that_begins_after_a_refresh_is_checked_against_it() {
    let (servers, host) = serving([entry("a")]).await;
    let mut a = servers.take("a");
    let flow = host.tools().flow("mcp/a/t").unwrap().clone();
    let mut call = host
        .call("mcp/a/t", Arguments::none())
        .digest(flow.digest());
    let (refreshed, ()) = tokio::join!(host.refresh("a"), async {
        let line = a.line().await;
        assert!(line.contains("tools/list"), "{line}");
        let changed = r#"{"name":"t","description":"other","inputSchema":{"type":"object"}}"#;
        a.reply(3, &format!(r#"{{"tools":[{changed}]}}"#)).await;
    });
    refreshed.unwrap();
    assert_ne!(
        host.tools().flow("mcp/a/t").unwrap().digest(),
        flow.digest()
    );
    let Poll::Ready(Err(refused)) = poll(&mut call) else {
        panic!("it was sent");
    };
    assert_eq!(refused.outcome(), Outcome::NotSent);
    hears_nothing(&mut a).await;
}

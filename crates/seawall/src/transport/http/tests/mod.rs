//! Against hostile servers, on loopback.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use seawall_proto::connection::Handover;
use seawall_proto::mcp::Revision;
use seawall_testkit::{HttpAct, HttpPeer, TEST_ROOT};

use super::{
    End, EventStreamHttp, Handed, HttpConfig, HttpEvent, HttpFault, Post, PostKind, StreamableHttp,
};
use crate::web::{Authorize, HttpClient};

mod authorizing;
mod bodies;
mod connecting;
mod event_stream;
mod events;
mod headers;
mod http2;
mod lanes;
mod redirects;
mod sessions;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);
const REPLY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const LIMIT: usize = 100_000;

/// One client for all: it reads the system's certificates, which takes its time.
static CLIENT: LazyLock<HttpClient> = LazyLock::new(|| HttpClient::new().unwrap());
static TRUSTING: LazyLock<HttpClient> = LazyLock::new(|| {
    let builder = HttpClient::builder().root_certificate(TEST_ROOT);
    builder.build().unwrap()
});

fn config(url: &str) -> HttpConfig {
    HttpConfig {
        url: url.parse().unwrap(),
        headers: HeaderMap::new(),
        client: CLIENT.clone(),
        authorizer: None,
        max_frame_bytes: LIMIT,
        revision: None,
    }
}

fn modern(url: &str) -> HttpConfig {
    HttpConfig {
        revision: Some(Revision::V2026_07_28),
        ..config(url)
    }
}

/// A modern configuration that trusts the servers of the test kit.
fn trusting(url: &str) -> HttpConfig {
    HttpConfig {
        client: TRUSTING.clone(),
        ..modern(url)
    }
}

fn post(key: u64, kind: PostKind) -> Post {
    let handover = Handover::default();
    GATES.with_borrow_mut(|gates| gates.insert(key, handover.clone()));
    Post {
        key,
        kind,
        body: Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{key},"method":"x"}}"#)),
        headers: Vec::new(),
        handover,
    }
}

thread_local! {
    /// The gates of this test's posts.
    static GATES: RefCell<HashMap<u64, Handover>> = RefCell::default();
}

/// Whether a connection reads the body of this post, or did.
fn is_dispatched(key: u64) -> bool {
    GATES.with_borrow(|gates| gates.get(&key).is_some_and(Handover::is_begun))
}

/// Polls until a connection reads the body of this post; nothing may come before that.
async fn dispatched(http: &mut impl Transport, key: u64) {
    let begun = std::time::Instant::now();
    while !is_dispatched(key) {
        assert!(begun.elapsed() < LONG, "{key} is not dispatched");
        nothing(http, Duration::from_millis(2)).await;
    }
}

/// Either transport.
trait Transport {
    fn poll(&mut self, cx: &mut std::task::Context<'_>) -> Poll<HttpEvent>;
    fn finish_post(&mut self, key: u64);
}

impl Transport for StreamableHttp {
    fn poll(&mut self, cx: &mut std::task::Context<'_>) -> Poll<HttpEvent> {
        self.poll_event(cx)
    }
    fn finish_post(&mut self, key: u64) {
        self.finish(key);
    }
}

impl Transport for EventStreamHttp {
    fn poll(&mut self, cx: &mut std::task::Context<'_>) -> Poll<HttpEvent> {
        self.poll_event(cx)
    }
    fn finish_post(&mut self, key: u64) {
        self.finish(key);
    }
}

async fn next(http: &mut impl Transport) -> HttpEvent {
    tokio::time::timeout(LONG, poll_fn(|cx| http.poll(cx)))
        .await
        .expect("an event comes")
}

/// Polls for a while, in which nothing may come.
async fn nothing(http: &mut impl Transport, during: Duration) {
    let event = tokio::time::timeout(during, poll_fn(|cx| http.poll(cx))).await;
    assert!(event.is_err(), "{event:?}");
}

/// What came of a post, besides whether it was dispatched.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    dispatched: bool,
    messages: Vec<(u16, String)>,
    end: Option<End>,
}

/// Polls until `key` ended, finishing it as a driver does if `finish` says that a message is its reply.
async fn outcome_with(http: &mut impl Transport, key: u64, finish: fn(&str) -> bool) -> Outcome {
    let mut outcome = Outcome {
        dispatched: false,
        messages: Vec::new(),
        end: None,
    };
    loop {
        let event = next(http).await;
        outcome.dispatched = is_dispatched(key);
        match event {
            HttpEvent::Message {
                key: of,
                status,
                frame,
            } if of == Some(key) => {
                assert!(is_dispatched(key), "dispatched before its answer");
                let text = String::from_utf8(frame.to_vec()).unwrap();
                if finish(&text) {
                    http.finish_post(key);
                }
                outcome.messages.push((status, text));
            }
            HttpEvent::Ended { key: of, end } if of == key => {
                outcome.end = Some(end);
                return outcome;
            }
            HttpEvent::SessionLost { key: of, .. } if of == key => return outcome,
            HttpEvent::Closed { end } => panic!("closed: {end:?}"),
            _ => {}
        }
    }
}

async fn outcome(http: &mut impl Transport, key: u64) -> Outcome {
    outcome_with(http, key, |text| text.contains("result")).await
}

/// What becomes of one modern request to a server that answers with `acts`.
async fn one(acts: Vec<HttpAct>) -> Outcome {
    let peer = HttpPeer::start(move |_, _| acts.clone());
    let mut http = StreamableHttp::new(modern(&peer.url("/mcp")));
    http.post(post(1, PostKind::Request));
    let outcome = outcome(&mut http, 1).await;
    assert_eq!(peer.requests().len(), 1, "it was sent once");
    outcome
}

/// A post that was answered with these messages and ended so.
fn ended(messages: &[(u16, &str)], end: End) -> Outcome {
    Outcome {
        dispatched: true,
        messages: messages
            .iter()
            .map(|(status, text)| (*status, (*text).to_owned()))
            .collect(),
        end: Some(end),
    }
}

fn status(status: u16) -> End {
    End::Status {
        status,
        retry_after: None,
    }
}

const OK: End = End::Complete { status: 200 };

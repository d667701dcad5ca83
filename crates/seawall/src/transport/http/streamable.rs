//! Streamable HTTP: every revision since 2025-03-26.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::Method;
use seawall_proto::mcp::Revision;
use tokio::time::timeout;

use super::answer::{Replies, exchange};
use super::control::{Control, Told};
use super::lanes::Lanes;
use super::link::Link;
use super::listen::listen;
use super::send::Outgoing;
use super::{Handed, HttpConfig, HttpEvent, Post, PostKind};

/// One server over Streamable HTTP. It spawns nothing: it goes on while [`poll_event`](Self::poll_event) is polled.
///
/// Source: basic/transports of 2025-03-26, 2025-06-18, 2025-11-25, and basic/transports/streamable-http of 2026-07-28.
///
/// # Drop behavior
/// Every exchange is hung up on at once; a session is left to the server. See [`end`](Self::end).
pub(crate) struct StreamableHttp {
    link: Arc<Link>,
    lanes: Lanes,
    listening: Listening,
}

/// The server's own stream.
enum Listening {
    /// None: before the handshake, after the session was lost, or on a revision without one.
    No,
    /// Once the next post after the handshake ended, `notifications/initialized`: servers refuse a stream before it.
    Soon,
    Now(Arc<Control>),
}

impl StreamableHttp {
    /// A transport that has not sent anything yet.
    pub(crate) fn new(config: HttpConfig) -> Self {
        Self {
            link: Arc::new(Link::new(config)),
            lanes: Lanes::new(),
            listening: Listening::No,
        }
    }

    /// Sends `post` once there is room. Poll afterwards: nothing happens before.
    pub(crate) fn post(&mut self, post: Post) {
        if post.kind == PostKind::Initialize {
            // Whatever was tried before, from here on the server is one of the legacy revisions.
            self.link.begin_session();
        }
        self.lanes.wait(post, self.link.standing());
    }

    /// Drops the exchange of `key` and its stream; no event of it follows.
    ///
    /// What it returns is final: after [`Handed::No`] no connection reads the post any more.
    pub(crate) fn hang_up(&mut self, key: u64) -> Handed {
        self.lanes.hang_up(key)
    }

    /// The reply to `key` was seen: the end of its stream completes it from now on, and comes soon.
    ///
    /// To be called before the next poll after the [`HttpEvent::Message`] that held the reply.
    pub(crate) fn finish(&mut self, key: u64) {
        self.lanes.finish(key);
    }

    /// A handshake settled on `revision`. On a legacy one the server's own stream is opened once the next post, which is
    /// `notifications/initialized`, ended.
    pub(crate) fn negotiated(&mut self, revision: Revision) {
        self.link.negotiated(revision);
        self.stop_listening();
        if revision.is_legacy() {
            self.listening = Listening::Soon;
        }
    }

    /// What came next.
    ///
    /// # Cancel safety
    /// It may be polled by anybody at any time; the last one is woken.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<HttpEvent> {
        loop {
            let link = &self.link;
            self.lanes.begin(|post, control| {
                let url = link.config.url.clone();
                let link = Arc::clone(link);
                Box::pin(exchange(link, control, url, post, Replies::InAnswer))
            });
            let (Told::Event(event), ended) = ready!(self.lanes.poll_told(cx)) else {
                continue;
            };
            match &event {
                HttpEvent::Ended { .. }
                    if matches!(self.listening, Listening::Soon)
                        && ended != Some(PostKind::Initialize) =>
                {
                    let control = Arc::new(Control::default());
                    let work = listen(Arc::clone(&self.link), Arc::clone(&control));
                    self.lanes
                        .begin_stream(Arc::clone(&control), Box::pin(work));
                    self.listening = Listening::Now(control);
                }
                HttpEvent::SessionLost { current: true, .. } | HttpEvent::SessionGone => {
                    self.stop_listening();
                }
                _ => {}
            }
            return Poll::Ready(event);
        }
    }

    /// Hangs up on every request, lets what tells the server something go out, a cancellation, and tells it that a legacy
    /// session is over, all within `budget`.
    pub(crate) async fn end(mut self, budget: Duration) {
        self.stop_listening();
        self.lanes.hang_up_on_requests();
        let half = budget / 2;
        let telling = poll_fn(|cx| {
            while self.lanes.is_telling() {
                // Whatever comes, nobody waits for it.
                ready!(self.poll_event(cx));
            }
            Poll::Ready(())
        });
        let _ = timeout(half, telling).await;
        let Self { link, lanes, .. } = self;
        drop(lanes);
        let session = link.standing();
        if session.id.is_none() {
            return;
        }
        let outgoing = Outgoing {
            method: Method::DELETE,
            ..Outgoing::get(&link, &session, None).in_background()
        };
        // Whatever the answer, or none: nothing more is said.
        let control = Arc::new(Control::default());
        let _ = timeout(half, link.send(outgoing, &control)).await;
    }

    fn stop_listening(&mut self) {
        if let Listening::Now(control) = std::mem::replace(&mut self.listening, Listening::No) {
            control.hang_up();
        }
    }
}

//! HTTP+SSE: revision 2024-11-05, the last resort.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use seawall_proto::mcp::Revision;
use tokio::time::timeout;
use url::Url;

use super::answer::{Replies, exchange};
use super::control::{Control, Told};
use super::lanes::Lanes;
use super::link::Link;
use super::listen::event_stream;
use super::{End, Handed, HttpConfig, HttpEvent, HttpFault, Post};

/// One server over HTTP+SSE. It spawns nothing: it goes on while [`poll_event`](Self::poll_event) is polled.
///
/// Every message comes with no key; the end of a post says only that the server took it. Posts made before the stream
/// named their address wait for that.
///
/// Source: 2024-11-05, basic/transports, "HTTP with SSE".
///
/// # Drop behavior
/// The stream and every post are hung up on at once.
pub(crate) struct EventStreamHttp {
    link: Arc<Link>,
    lanes: Lanes,
    stage: Stage,
}

enum Stage {
    /// Nothing was polled yet.
    New,
    /// The stream is asked for, or has not named the address yet.
    Opening,
    Open(Url),
    Closed,
}

impl EventStreamHttp {
    /// A transport that has not sent anything yet; the stream is asked for with the first poll.
    pub(crate) fn new(config: HttpConfig) -> Self {
        Self {
            link: Arc::new(Link::new(config)),
            lanes: Lanes::new(),
            stage: Stage::New,
        }
    }

    /// Sends `post` once there is room and an address. Poll afterwards: nothing happens before.
    pub(crate) fn post(&mut self, post: Post) {
        self.lanes.wait(post, self.link.standing());
    }

    /// Drops the exchange of `key`; no event of it follows.
    ///
    /// What it returns is final: after [`Handed::No`] no connection reads the post any more.
    pub(crate) fn hang_up(&mut self, key: u64) -> Handed {
        self.lanes.hang_up(key)
    }

    /// The reply to `key` was seen: its post completes soon, whatever the server says to it.
    pub(crate) fn finish(&mut self, key: u64) {
        self.lanes.finish(key);
    }

    /// A handshake settled on `revision`: `MCP-Protocol-Version` says so, if the revision has that.
    pub(crate) fn negotiated(&mut self, revision: Revision) {
        self.link.negotiated(revision);
    }

    /// What came next. After [`HttpEvent::Closed`], posts that are under way still end by themselves.
    ///
    /// # Cancel safety
    /// It may be polled by anybody at any time; the last one is woken.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<HttpEvent> {
        loop {
            match &self.stage {
                Stage::New => {
                    let control = Arc::new(Control::default());
                    let work = event_stream(Arc::clone(&self.link), Arc::clone(&control));
                    self.lanes.begin_stream(control, Box::pin(work));
                    self.stage = Stage::Opening;
                }
                Stage::Opening => {}
                Stage::Open(url) => {
                    let link = &self.link;
                    self.lanes.begin(|post, control| {
                        let link = Arc::clone(link);
                        Box::pin(exchange(
                            link,
                            control,
                            url.clone(),
                            post,
                            Replies::OnStream,
                        ))
                    });
                }
                Stage::Closed => {
                    if let Some(Post { key, .. }) = self.lanes.take_waiting() {
                        let end = End::NotSent(HttpFault::StreamClosed);
                        return Poll::Ready(HttpEvent::Ended { key, end });
                    }
                }
            }
            match ready!(self.lanes.poll_told(cx)).0 {
                Told::Endpoint(url) => self.stage = Stage::Open(url),
                Told::Event(event) => {
                    if matches!(event, HttpEvent::Closed { .. }) {
                        self.stage = Stage::Closed;
                    }
                    return Poll::Ready(event);
                }
            }
        }
    }

    /// Hangs up on every request, and lets what tells the server something go out, a cancellation, within `budget`. There
    /// is no session to end.
    pub(crate) async fn end(mut self, budget: Duration) {
        if !matches!(self.stage, Stage::Open(_)) {
            return;
        }
        self.lanes.hang_up_on_requests();
        let telling = poll_fn(|cx| {
            while self.lanes.is_telling() {
                // Whatever comes, nobody waits for it.
                ready!(self.poll_event(cx));
            }
            Poll::Ready(())
        });
        let _ = timeout(budget / 2, telling).await;
    }
}

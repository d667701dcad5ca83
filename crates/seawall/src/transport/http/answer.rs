//! A post from its sending to its end.

use std::sync::Arc;

use http::{HeaderValue, Method};
use reqwest::Response;
use tokio::time::{Instant, sleep, timeout};
use url::Url;

use super::body::read_whole;
use super::control::Control;
use super::events::{Events, StreamEnd};
use super::headers::{BodyType, retry_after};
use super::limits::{MAX_RESUMPTIONS, POLITE_POLL, REFUSAL_BODY_TIME};
use super::link::{Link, Standing};
use super::resume::Cursor;
use super::send::Outgoing;
use super::{End, HttpEvent, HttpFault, Post, PostKind};

/// Where the reply to a post comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replies {
    /// In the answer to it.
    InAnswer,
    /// On the server's one stream (HTTP+SSE).
    OnStream,
}

/// Sends `post` to `url` and tells what comes of it.
pub(super) async fn exchange(
    link: Arc<Link>,
    control: Arc<Control>,
    url: Url,
    (post, session): (Post, Standing),
    replies: Replies,
) {
    let key = post.key;
    let posting = Posting {
        link: &link,
        control: &control,
        key,
    };
    let event = posting.run(url, post, session, replies).await;
    control.tell(event).await;
}

struct Posting<'a> {
    link: &'a Link,
    control: &'a Arc<Control>,
    key: u64,
}

impl Posting<'_> {
    async fn run(
        &self,
        url: Url,
        post: Post,
        mut session: Standing,
        replies: Replies,
    ) -> HttpEvent {
        let headers = self.link.post_headers(&post, &session);
        let Post {
            key, kind, body, ..
        } = post;
        let outgoing = Outgoing {
            method: Method::POST,
            url,
            headers,
            body: Some(body),
            waits: kind.waits(),
        };
        let end = match self.link.send(outgoing, self.control).await {
            Ok(response) if response.status().is_success() => {
                if kind == PostKind::Initialize {
                    self.link.adopt_session(response.headers());
                    session = self.link.standing();
                }
                if kind.wants_reply() && replies == Replies::InAnswer {
                    self.reply(response, &session).await
                } else {
                    let status = response.status().as_u16();
                    End::Complete { status }
                }
            }
            Ok(response) if is_session_lost(&response, kind, &session) => {
                let current = session.id.is_some_and(|id| self.link.forget_session(&id));
                return HttpEvent::SessionLost { key, current };
            }
            Ok(response) => self.refusal(response).await,
            Err(end) => end,
        };
        HttpEvent::Ended { key, end }
    }

    async fn reply(&self, mut response: Response, session: &Standing) -> End {
        let status = response.status().as_u16();
        match BodyType::of(response.headers()) {
            BodyType::Json => match read_whole(&mut response, self.limit()).await {
                Ok(frame) if frame.is_empty() => End::Broken(HttpFault::NoReply),
                Ok(frame) => {
                    self.tell_message(status, frame).await;
                    End::Complete { status }
                }
                Err(end) => end,
            },
            BodyType::Events => self.replies(response, session).await,
            BodyType::Other if matches!(status, 202 | 204 | 205) => End::Broken(HttpFault::NoReply),
            BodyType::Other => End::Broken(HttpFault::ContentType),
        }
    }

    /// The body of a refusal is told if it is JSON, short enough, whole, and does not keep anybody waiting.
    async fn refusal(&self, mut response: Response) -> End {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        if BodyType::of(response.headers()) == BodyType::Json {
            let body = read_whole(&mut response, self.limit());
            if let Ok(Ok(frame)) = timeout(REFUSAL_BODY_TIME, body).await
                && !frame.is_empty()
            {
                self.tell_message(status, frame).await;
            }
        }
        End::Status {
            status,
            retry_after,
        }
    }

    /// The messages of a stream, resumed as long as something comes of that (T3).
    async fn replies(&self, response: Response, session: &Standing) -> End {
        let status = response.status().as_u16();
        let mut events = Events::new(response, self.limit());
        let mut cursor = Cursor::default();
        let mut resumptions = 0;
        let mut asked = Instant::now();
        loop {
            let fault = loop {
                match events.next().await {
                    Ok(event) if event.is_message() && !event.data.is_empty() => {
                        resumptions = 0;
                        self.tell_message(status, event.data).await;
                    }
                    Ok(_) => {}
                    Err(StreamEnd::TooLong { limit }) => return End::TooLong { limit },
                    Err(StreamEnd::FieldTooLong) => return End::Broken(HttpFault::EventField),
                    Err(StreamEnd::Gone(fault)) => break fault,
                }
            };
            if self.control.is_finished() {
                return End::Complete { status };
            }
            // A server may end its streams as often as it likes and have them polled (2025-11-25, "Sending Messages to the
            // Server"): the deadline bounds that. What is not put up with is haste that leads nowhere.
            if cursor.follow(&events) || asked.elapsed() >= POLITE_POLL {
                resumptions = 0;
            }
            asked = Instant::now();
            drop(events);
            events = match self.resume(session, &cursor, &mut resumptions).await {
                Some(events) => events,
                None => return End::Broken(fault),
            };
        }
    }

    /// The rest of a stream; `None` if there is no getting it.
    async fn resume(
        &self,
        session: &Standing,
        cursor: &Cursor,
        resumptions: &mut u32,
    ) -> Option<Events> {
        // Without the header it would be another stream that is asked for.
        let id = cursor.last_event_id()?;
        if !self.link.is_legacy() || HeaderValue::from_bytes(id).is_err() {
            return None;
        }
        while *resumptions < MAX_RESUMPTIONS {
            *resumptions += 1;
            sleep(cursor.pause()).await;
            let outgoing = Outgoing::get(self.link, session, Some(id));
            match self.link.send(outgoing, self.control).await {
                Ok(response) if response.status().is_success() => {
                    if BodyType::of(response.headers()) != BodyType::Events {
                        return None;
                    }
                    return Some(Events::new(response, self.limit()));
                }
                Ok(response) if response.status().is_server_error() => {}
                Ok(_) | Err(End::Redirect { .. } | End::Auth(_)) => return None,
                Err(_) => {}
            }
        }
        None
    }

    async fn tell_message(&self, status: u16, frame: bytes::Bytes) {
        let key = Some(self.key);
        self.control
            .tell(HttpEvent::Message { key, status, frame })
            .await;
    }

    fn limit(&self) -> usize {
        self.link.config.max_frame_bytes
    }
}

/// 404 to a request of a session: the server has forgotten it, and did nothing (2025 revisions, "Session Management").
fn is_session_lost(response: &Response, kind: PostKind, session: &Standing) -> bool {
    response.status().as_u16() == 404 && kind == PostKind::Request && session.id.is_some()
}

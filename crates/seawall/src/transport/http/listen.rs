//! Streams that are no post's: the server's own (2025 revisions), and the one of HTTP+SSE.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;
use tokio::time::{Instant, sleep};
use url::Url;

use super::control::{Control, Told};
use super::events::{Events, StreamEnd};
use super::headers::{BodyType, retry_after};
use super::limits::{DEFAULT_RETRY, GOOD_STREAM, MAX_ASKED_REST, MAX_LISTEN_BACKOFF};
use super::link::Link;
use super::resume::Cursor;
use super::send::Outgoing;
use super::{End, HttpEvent, HttpFault};

/// Keeps the server's own stream open until it says that it has none.
pub(super) async fn listen(link: Arc<Link>, control: Arc<Control>) {
    let mut cursor = Cursor::default();
    let mut failures: u32 = 0;
    let session = link.standing();
    // A server without a stream may say 404 where it should say 405; one that had it means the session.
    let mut had_one = false;
    loop {
        let began = Instant::now();
        let outgoing = Outgoing::get(&link, &session, cursor.last_event_id()).in_background();
        let mut asked = Duration::ZERO;
        let progress = match link.send(outgoing, &control).await {
            Ok(response) if matches!(response.status().as_u16(), 405 | 501) => return,
            Ok(response) if response.status().as_u16() == 404 && had_one => {
                if session.id.is_some_and(|id| link.forget_session(&id)) {
                    control.tell(HttpEvent::SessionGone).await;
                }
                return;
            }
            Ok(response) if is_stream(&response) => {
                had_one = true;
                follow(&link, &control, response, &mut cursor).await
            }
            Ok(response) => {
                asked = rest_asked_for(&response);
                cursor.forget();
                Progress::None
            }
            Err(_) => {
                // Whatever it was refused for, the next stream begins from now.
                cursor.forget();
                Progress::None
            }
        };
        if progress == Progress::Some || began.elapsed() >= GOOD_STREAM {
            failures = 0;
        }
        sleep(cursor.pause().max(backoff(failures)).max(asked)).await;
        failures += 1;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    None,
    Some,
}

async fn follow(
    link: &Link,
    control: &Control,
    response: Response,
    cursor: &mut Cursor,
) -> Progress {
    let status = response.status().as_u16();
    let mut events = Events::new(response, link.config.max_frame_bytes);
    let mut progress = Progress::None;
    loop {
        match events.next().await {
            Ok(event) if event.is_message() && !event.data.is_empty() => {
                progress = Progress::Some;
                tell_message(control, status, event.data).await;
            }
            Ok(_) => {}
            Err(StreamEnd::TooLong { .. } | StreamEnd::FieldTooLong) => {
                // Resumed, it would come again.
                cursor.forget();
                return Progress::None;
            }
            Err(StreamEnd::Gone(_)) => {
                let _ = cursor.follow(&events);
                return progress;
            }
        }
    }
}

/// How long a server wants to be left alone that has enough to do, within reason.
fn rest_asked_for(response: &Response) -> Duration {
    let busy = matches!(response.status().as_u16(), 429 | 503);
    let asked = retry_after(response.headers()).filter(|_| busy);
    asked.unwrap_or_default().min(MAX_ASKED_REST)
}

/// Nothing after a stream that was a good one, then doubling from a second.
fn backoff(failures: u32) -> Duration {
    match failures.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => DEFAULT_RETRY
            .saturating_mul(1 << doublings.min(16))
            .min(MAX_LISTEN_BACKOFF),
    }
}

/// The one stream of HTTP+SSE: where to post to, then messages, until it is closed for good.
pub(super) async fn event_stream(link: Arc<Link>, control: Arc<Control>) {
    let end = read_event_stream(&link, &control).await;
    control.tell(HttpEvent::Closed { end }).await;
}

async fn read_event_stream(link: &Link, control: &Arc<Control>) -> End {
    let response = match link
        .send(Outgoing::get(link, &link.standing(), None), control)
        .await
    {
        Ok(response) if is_stream(&response) => response,
        Ok(response) if response.status().is_success() => {
            return End::Broken(HttpFault::ContentType);
        }
        Ok(response) => {
            return End::Status {
                status: response.status().as_u16(),
                retry_after: retry_after(response.headers()),
            };
        }
        Err(end) => return end,
    };
    let status = response.status().as_u16();
    // Where redirects led, if any did: of the same origin.
    let base = response.url().clone();
    let mut events = Events::new(response, link.config.max_frame_bytes);
    let mut endpoint_known = false;
    loop {
        match events.next().await {
            Ok(event) if event.name == "endpoint" && !endpoint_known => {
                let Some(endpoint) = endpoint(&base, &event.data) else {
                    return End::Broken(HttpFault::Endpoint);
                };
                endpoint_known = true;
                control.tell_owner(Told::Endpoint(endpoint)).await;
            }
            Ok(event) if event.is_message() && !event.data.is_empty() => {
                tell_message(control, status, event.data).await;
            }
            Ok(_) => {}
            Err(StreamEnd::TooLong { limit }) => return End::TooLong { limit },
            Err(StreamEnd::FieldTooLong) => return End::Broken(HttpFault::EventField),
            Err(StreamEnd::Gone(_)) if !endpoint_known => {
                return End::Broken(HttpFault::Endpoint);
            }
            Err(StreamEnd::Gone(fault)) => return End::Broken(fault),
        }
    }
}

/// The address that posts go to: of the same origin, and without credentials of the server's choice (T3).
fn endpoint(base: &Url, text: &[u8]) -> Option<Url> {
    let text = std::str::from_utf8(text).ok()?;
    let mut endpoint = base.join(text.trim()).ok()?;
    if endpoint.origin() != base.origin() {
        return None;
    }
    endpoint.set_username("").ok()?;
    endpoint.set_password(None).ok()?;
    Some(endpoint)
}

async fn tell_message(control: &Control, status: u16, frame: bytes::Bytes) {
    let key = None;
    control
        .tell(HttpEvent::Message { key, status, frame })
        .await;
}

fn is_stream(response: &Response) -> bool {
    response.status().is_success() && BodyType::of(response.headers()) == BodyType::Events
}

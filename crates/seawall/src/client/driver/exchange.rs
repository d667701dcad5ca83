//! The driver of a server behind a URL: every message goes to an exchange of its own, and what comes back is told to the
//! connection with the exchange that it came on.

use std::collections::HashSet;
use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use seawall_proto::connection::{CloseReason, Order, Route, Transmit, TransmitKind};
use seawall_proto::jsonrpc::classify;

use super::{Core, Turn, drain};
use crate::client::link::Http;
use crate::transport::http::{End, HttpEvent, HttpFault, Post, PostKind, encode_header_value};

/// Events taken in one turn before the driver yields to others.
const EVENTS_PER_TURN: usize = 16;
/// Requests that the transport has at once. Those behind them wait in the connection, where they count against its
/// budget and are skipped if nobody waits for them any longer.
const MAX_REQUESTS: usize = 256;
/// How long the end of a session may take: the server is told that it is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// The driver of one connection. See the [module](self).
pub(in crate::client) struct ExchangeDriver {
    core: Core,
    http: Http,
    /// Requests that the transport has.
    requests: HashSet<u64>,
    /// Whether the transport knows the revision.
    negotiated: bool,
}

impl ExchangeDriver {
    pub(in crate::client) fn new(core: Core, http: Http) -> Self {
        Self {
            core,
            http,
            requests: HashSet::new(),
            negotiated: false,
        }
    }

    /// Drives the connection to its end, and tells the server that it is over.
    pub(in crate::client) async fn run(mut self) {
        poll_fn(|context| self.poll_drive(context)).await;
        let Self { core, http, .. } = self;
        http.end(FAREWELL).await;
        drop(core);
    }

    fn poll_drive(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let told = self.poll_transport(context);
            if self.core.shared.lock().state().closing {
                // What the server was to be told, that a call is cancelled, goes before the end clears it away.
                self.transmit();
            }
            match self.core.serve(context) {
                Turn::Ended => return Poll::Ready(()),
                Turn::Again => continue,
                Turn::Idle => {}
            }
            if !self.transmit() && !told {
                return Poll::Pending;
            }
        }
    }

    /// Takes what came; true if there was anything.
    fn poll_transport(&mut self, context: &mut Context<'_>) -> bool {
        for taken in 0..EVENTS_PER_TURN {
            if self.core.shared.lock().state().pause_reading() {
                return taken > 0;
            }
            match self.http.poll_event(context) {
                Poll::Ready(event) => {
                    self.handle(event);
                    // Before the next event: the transport takes the end of a stream that is not finished for a break.
                    self.obey();
                }
                Poll::Pending => return taken > 0,
            }
        }
        // Others are waiting too.
        context.waker().wake_by_ref();
        false
    }

    fn handle(&mut self, event: HttpEvent) {
        // Outside the lock, as far as it goes.
        let message = match &event {
            HttpEvent::Message { frame, .. } => Some(classify(frame)),
            _ => None,
        };
        let mut guard = self.core.shared.lock();
        let now = guard.now();
        let state = guard.state();
        let connection = &mut state.connection;
        match event {
            HttpEvent::Message { key, status, frame } => {
                if let Some(message) = message {
                    connection.handle_response(now, key, status, &frame, message);
                }
            }
            HttpEvent::Ended { key, end } => {
                self.requests.remove(&key);
                match end {
                    End::TooLong { limit } => state.close(CloseReason::FrameTooLong { limit }),
                    End::Complete { .. } if matches!(self.http, Http::EventStream(_)) => {
                        connection.handle_accepted(key);
                    }
                    end => connection.handle_exchange_end(now, key, end.fault()),
                }
            }
            HttpEvent::SessionLost { key, current } => {
                self.requests.remove(&key);
                connection.handle_session_lost(now, key);
                if current {
                    // Whatever became of the request: without a session nothing else can be said.
                    connection.handle_session_gone(now);
                }
            }
            HttpEvent::SessionGone => connection.handle_session_gone(now),
            HttpEvent::Closed { end } => {
                // One whose stream there is has said what is wrong with it; there is no other way to try.
                let has_stream = matches!(end, End::Broken(HttpFault::Endpoint));
                let fault = end.fault();
                let reason = if has_stream || connection.session().is_some() {
                    CloseReason::StreamLost(fault)
                } else {
                    CloseReason::Exchange {
                        step: connection.handshake_step(),
                        fault,
                    }
                };
                state.close(reason);
            }
        }
        let events = drain(state);
        let woken = guard.release_by_driver();
        self.core.tell(events);
        drop(woken);
    }

    /// Does what the connection wants done with exchanges under way.
    fn obey(&mut self) {
        loop {
            let order = self.core.shared.lock().state().connection.poll_order();
            match order {
                Some(Order::HangUp(key)) => {
                    self.requests.remove(&key);
                    self.http.hang_up(key);
                }
                Some(Order::Finish(key)) => self.http.finish(key),
                None => return,
            }
        }
    }

    /// Hands over what waits; true if there was anything.
    fn transmit(&mut self) -> bool {
        let mut any = false;
        loop {
            self.obey();
            let room = self.requests.len() < MAX_REQUESTS;
            let mut guard = self.core.shared.lock();
            let state = guard.state();
            let room = room && !state.closing;
            let connection = &mut state.connection;
            let revision = connection.negotiated().filter(|_| !self.negotiated);
            let transmit = connection.poll_transmit(room);
            drop(guard.release_by_driver());
            if let Some(revision) = revision {
                self.negotiated = true;
                self.http.negotiated(revision);
            }
            let Some(transmit) = transmit else {
                return any;
            };
            any = true;
            self.post(transmit);
        }
    }

    fn post(&mut self, transmit: Transmit) {
        let Transmit {
            key,
            kind,
            body,
            route,
            handover,
            ..
        } = transmit;
        let kind = match kind {
            TransmitKind::Initialize => PostKind::Initialize,
            TransmitKind::Request => PostKind::Request,
            TransmitKind::Listen => PostKind::Listen,
            TransmitKind::Reply => PostKind::Reply,
            _ => PostKind::Notification,
        };
        if kind.wants_reply() {
            self.requests.insert(key);
        }
        if kind == PostKind::Initialize {
            // Another session, whose revision the transport is told anew.
            self.negotiated = false;
        }
        self.http.post(Post {
            key,
            kind,
            body: Bytes::from(body),
            headers: headers(&route),
            handover,
        });
    }
}

/// `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*` (T2); none on legacy revisions.
fn headers(route: &Route) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    if route.method.is_empty() {
        return headers;
    }
    headers.push((
        HeaderName::from_static("mcp-method"),
        encode_header_value(&route.method),
    ));
    if let Some(name) = &route.name {
        headers.push((
            HeaderName::from_static("mcp-name"),
            encode_header_value(name),
        ));
    }
    for (name, value) in &route.params {
        // The name was checked to be a token when the tool was listed.
        if let Ok(name) = HeaderName::try_from(format!("mcp-param-{}", name.to_ascii_lowercase())) {
            headers.push((name, encode_header_value(value)));
        }
    }
    headers
}

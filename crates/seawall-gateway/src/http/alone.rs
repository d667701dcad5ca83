//! Requests of 2026-07-28: each by itself. Dropping the response drops the request.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::BodyExt as _;
use seawall_proto::jsonrpc::{ErrorObject, INVALID_REQUEST, Inbound, Malformed, RequestId};
use seawall_proto::server::{Claims, refusal, response};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::{Body, Endpoint, events, headers, reply};
use crate::clients::Client;
use crate::service::{Answer, Exchange, Request, Service, Way};

/// What may wait for a client that does not read; then whoever tells it more waits.
const WAITING: usize = 16;

type Serving = Pin<Box<dyn Future<Output = Answer> + Send>>;

impl<S: Service> Endpoint<S> {
    pub(super) async fn alone(
        &self,
        client: Arc<Client>,
        headers: &HeaderMap,
        message: Result<Inbound, Malformed>,
    ) -> Response<Body> {
        let error = match message {
            Ok(Inbound::Request { id, method, params }) => {
                let refused = |error: ErrorObject| {
                    let status = match reply::status_of(&error) {
                        StatusCode::OK => StatusCode::BAD_REQUEST,
                        status => status,
                    };
                    reply::error(status, &response(&id, Err(&error)))
                };
                return match self.accept(client, headers, &id, method, params) {
                    Ok(request) => self.answer(request).await,
                    Err(error) => refused(error),
                };
            }
            // There is no notification that a server has to act on: hanging up is what cancels.
            Ok(Inbound::Notification { .. }) => return reply::status(StatusCode::ACCEPTED),
            Ok(Inbound::Response { .. } | Inbound::UncorrelatedError(_)) => {
                "the revision has no answers of clients".to_owned()
            }
            Ok(Inbound::Array) => "the revision has no batches".to_owned(),
            Err(malformed) => malformed.to_string(),
            Ok(_) => "not a JSON-RPC message".to_owned(),
        };
        let message = format!("Invalid request: {error}");
        let error = ErrorObject::new(INVALID_REQUEST, message, None);
        reply::error(StatusCode::BAD_REQUEST, &refusal(&error))
    }

    fn accept(
        &self,
        client: Arc<Client>,
        headers: &HeaderMap,
        id: &RequestId,
        method: String,
        params: Option<seawall_proto::Json>,
    ) -> Result<Request, ErrorObject> {
        let claims = Claims::of(params.as_ref())?;
        headers::check(headers, claims.version(), &method, params.as_ref())?;
        let meta = claims.accept(&method)?;
        if method == "tools/call" {
            let member = |key| params.as_ref().and_then(|params| params.member(key));
            let name = member("name");
            let tool = name.as_ref().and_then(|name| name.string());
            let mirrored = tool.and_then(|tool| self.0.service.header_params(&client, &tool));
            if let Some(mirrored) = mirrored {
                headers::check_params(headers, &mirrored, member("arguments").as_ref())?;
            }
        }
        Ok(Request {
            id: id.clone(),
            method,
            params,
            meta,
            client,
        })
    }

    async fn answer(&self, request: Request) -> Response<Body> {
        let id = request.id.clone();
        if request.method == "server/discover" {
            let offer = self.0.service.offer(&request.client, &request.meta);
            let result = offer.discover_result();
            return reply::json(StatusCode::OK, response(&id, Ok(&result)));
        }
        let (sender, mut receiver) = mpsc::channel(WAITING);
        let service = Arc::clone(&self.0.service);
        let exchange = Exchange(Way::Alone(sender));
        let mut serving: Serving = Box::pin(service.serve(request, exchange));
        let first = tokio::select! {
            biased;
            Some(frame) = receiver.recv() => Some(frame),
            answer = &mut serving => {
                // What was told right before goes first, so the answer is a stream's last event then.
                match receiver.try_recv() {
                    Err(_) => return whole(&id, &answer),
                    Ok(frame) => {
                        serving = Box::pin(std::future::ready(answer));
                        Some(frame)
                    }
                }
            }
            () = sleep(self.0.limits.patience) => None,
        };
        let body = Answering {
            id,
            first,
            receiver,
            serving: Some(serving),
        };
        let body = events::KeptAlive::new(body, self.0.limits.keep_alive);
        reply::stream(body.boxed_unsync())
    }
}

fn whole(id: &RequestId, answer: &Answer) -> Response<Body> {
    let status = answer
        .as_ref()
        .err()
        .map_or(StatusCode::OK, reply::status_of);
    reply::json(status, response(id, answer.as_ref()))
}

/// A stream of what is told, and then the answer.
struct Answering {
    id: RequestId,
    first: Option<Bytes>,
    receiver: mpsc::Receiver<Bytes>,
    /// None once it answered.
    serving: Option<Serving>,
}

impl events::Events for Answering {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(frame) = self.first.take() {
            return Poll::Ready(Some(events::message(None, &frame)));
        }
        if let Poll::Ready(Some(frame)) = self.receiver.poll_recv(cx) {
            return Poll::Ready(Some(events::message(None, &frame)));
        }
        let Some(serving) = &mut self.serving else {
            return Poll::Ready(None);
        };
        let Poll::Ready(answer) = serving.as_mut().poll(cx) else {
            // It may have told something just now; one that will tell nothing more has not answered yet all the same.
            return match self.receiver.poll_recv(cx) {
                Poll::Ready(Some(frame)) => Poll::Ready(Some(events::message(None, &frame))),
                _ => Poll::Pending,
            };
        };
        let last = response(&self.id, answer.as_ref());
        // What it told right before goes first.
        if let Ok(frame) = self.receiver.try_recv() {
            self.serving = Some(Box::pin(std::future::ready(answer)));
            return Poll::Ready(Some(events::message(None, &frame)));
        }
        self.serving = None;
        Poll::Ready(Some(events::message(None, &last)))
    }
}

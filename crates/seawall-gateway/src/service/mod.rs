//! What answers requests, and what it is given to do so.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, RequestId};
use seawall_proto::mcp::catalog::HeaderParams;
use seawall_proto::server::{NotSent, Offer, RequestKey, RequestMeta, notification};
use tokio::sync::mpsc;

use crate::clients::Client;

pub(crate) mod session;

pub use session::{Session, SessionId};

/// A result, which goes out byte for byte, or an error.
pub type Answer = Result<Json, ErrorObject>;

/// One request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// Its id, as the client wrote it: what a subscription is named by.
    pub id: RequestId,
    /// Its method: the client's text.
    pub method: String,
    /// Its parameters, unchanged.
    pub params: Option<Json>,
    /// What is known of it and of its client.
    pub meta: RequestMeta,
    /// Who asks.
    pub client: Arc<Client>,
}

/// A server behind the fronts.
pub trait Service: Send + Sync + 'static {
    /// What it says of itself to this client, to `initialize` and `server/discover`.
    fn offer(&self, client: &Client, meta: &RequestMeta) -> Offer;

    /// Answers any other request; a method that it does not have with -32601.
    ///
    /// # Drop behavior
    /// The future is dropped when the client cancels the request, or leaves.
    fn serve(
        self: Arc<Self>,
        request: Request,
        exchange: Exchange,
    ) -> impl Future<Output = Answer> + Send + 'static;

    /// Which arguments of a tool are mirrored in headers, if the client sees such a tool (2026-07-28, HTTP).
    fn header_params(&self, _client: &Client, _tool: &str) -> Option<HeaderParams> {
        None
    }

    /// The client of a session is done with its handshake.
    fn opened(&self, _session: &Session) {}

    /// The client of a session said something that wants no answer.
    fn told(&self, _session: &Session, _method: &str, _params: Option<&Json>) {}
}

/// The way back to the client while one request of it is under way.
#[derive(Debug, Clone)]
pub struct Exchange(pub(crate) Way);

#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// One of a session, or of a stream that all requests share.
    Shared(Session, RequestKey),
    /// A request by itself: what is said goes before its answer.
    Alone(mpsc::Sender<Bytes>),
}

/// Why a client did not give what it was asked for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AskError {
    /// It was not asked.
    NotSent(NotSent),
    /// It refused.
    Refused(ErrorObject),
    /// It left.
    Gone,
}

impl Exchange {
    /// Tells the client something that belongs to this request.
    ///
    /// # Errors
    /// [`NotSent`] says why not.
    ///
    /// # Cancel safety
    /// If it is dropped, nothing was told.
    pub async fn notify(&self, method: &str, params: Option<&Json>) -> Result<(), NotSent> {
        match &self.0 {
            Way::Shared(session, key) => session.notify_during(*key, method, params),
            Way::Alone(sender) => {
                let sent = sender.send(notification(method, params)).await;
                sent.map_err(|_| NotSent::Closed)
            }
        }
    }

    /// Asks the client for something, while this request is under way. Legacy revisions only; on others a result asks.
    ///
    /// # Errors
    /// [`AskError`].
    ///
    /// # Drop behavior
    /// The client is told that its answer is not wanted any longer.
    pub async fn ask(&self, method: &str, params: Option<&Json>) -> Result<Json, AskError> {
        match &self.0 {
            Way::Shared(session, key) => session.ask(Some(*key), method, params).await,
            Way::Alone(_) => Err(AskError::NotSent(NotSent::NoRequests)),
        }
    }

    /// The session that the request is of; over HTTP none on 2026-07-28.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        match &self.0 {
            Way::Shared(session, _) => Some(session),
            Way::Alone(_) => None,
        }
    }

    /// Ends the connection that the answer would come on, and not the stream: the client is to come back for it. Of use on
    /// 2025-11-25 over HTTP only, and without effect elsewhere.
    pub fn hang_up(&self) {
        if let Way::Shared(session, key) = &self.0 {
            session.hang_up(*key);
        }
    }
}

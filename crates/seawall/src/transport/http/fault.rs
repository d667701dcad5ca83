//! Why an exchange failed, in words of our own.

use std::error::Error;
use std::io;

use seawall_proto::ErrorCode;
use seawall_proto::connection::Obstacle;
use seawall_proto::framing::MAX_EVENT_FIELD_BYTES;

use crate::web::EgressRefused;

/// Why an exchange failed. The texts hold nothing that a server wrote, and no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum HttpFault {
    /// The policy refused before anything was sent.
    #[error(transparent)]
    Egress(#[from] EgressRefused),
    /// The host's name has no address.
    #[error("its name cannot be resolved")]
    Dns,
    /// Nobody listens.
    #[error("the connection was refused")]
    Refused,
    /// Whoever listens took too long.
    #[error("no connection stood in time")]
    ConnectTimeout,
    /// The server's certificate is not one that is trusted here.
    #[error("its certificate is not trusted")]
    Certificate,
    /// TLS failed otherwise.
    #[error("no TLS connection could be made")]
    Tls,
    /// A connection failed otherwise, on the way to a proxy perhaps.
    #[error("no connection could be made")]
    Connect,
    /// The request is not one that HTTP can carry.
    #[error("the request cannot be made")]
    Request,
    /// The connection was lost, or what came over it is not HTTP.
    #[error("the exchange broke off")]
    Lost,
    /// The answer is not compressed as it says.
    #[error("the answer cannot be decompressed")]
    Encoding,
    /// The stream ended, and there is no resuming it.
    #[error("the stream ended before the reply")]
    EndedEarly,
    /// A successful answer of another type.
    #[error("the answer is neither JSON nor an event stream")]
    ContentType,
    /// A successful answer without anything in it.
    #[error("the answer holds no reply")]
    NoReply,
    /// An event of a stream is none that is taken, besides its data.
    #[error(
        "an event of its stream has a name, an id or a retry of more than {MAX_EVENT_FIELD_BYTES} bytes"
    )]
    EventField,
    /// HTTP+SSE: the stream names no address to post to, or one of another origin.
    #[error("its event stream names no endpoint of its own origin")]
    Endpoint,
    /// HTTP+SSE: there is no stream that a reply could come on.
    #[error("its event stream is closed")]
    StreamClosed,
}

impl HttpFault {
    /// The same for whoever advises.
    pub(crate) fn obstacle(&self) -> Obstacle {
        match self {
            Self::Egress(_) => Obstacle::Policy,
            Self::Dns => Obstacle::Name,
            Self::Refused => Obstacle::Refused,
            Self::ConnectTimeout => Obstacle::Timeout,
            Self::Certificate => Obstacle::Certificate,
            Self::Tls => Obstacle::Tls,
            Self::Connect | Self::Request => Obstacle::Connect,
            Self::Lost | Self::EndedEarly | Self::StreamClosed => Obstacle::Lost,
            Self::Encoding
            | Self::ContentType
            | Self::NoReply
            | Self::EventField
            | Self::Endpoint => Obstacle::NotMcp,
        }
    }

    /// What went wrong before there was an answer, or in the middle of one.
    pub(crate) fn of(error: &reqwest::Error) -> Self {
        if error.is_builder() {
            return Self::Request;
        }
        if !error.is_connect() {
            return match error.source().and_then(<dyn Error>::downcast_ref) {
                // What decompresses says so itself; what reads from the connection is no I/O error.
                Some(found) if io::Error::kind(found) == io::ErrorKind::InvalidData => {
                    Self::Encoding
                }
                _ => Self::Lost,
            };
        }
        if error.is_dns() {
            return Self::Dns;
        }
        if error.is_timeout() {
            return Self::ConnectTimeout;
        }
        let mut source = error.source();
        while let Some(cause) = source {
            if let Some(fault) = Self::of_connecting(cause) {
                return fault;
            }
            source = cause.source();
        }
        Self::Connect
    }

    /// The class of the failure, of an exchange that went out: whether what came is wrong, or nothing came (O1).
    pub(super) fn code(&self) -> ErrorCode {
        match self {
            Self::Encoding
            | Self::ContentType
            | Self::NoReply
            | Self::EventField
            | Self::Endpoint => ErrorCode::ProtocolError,
            _ => ErrorCode::ConnectionClosed,
        }
    }

    fn of_connecting(cause: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
            return Some(match tls {
                rustls::Error::InvalidCertificate(_) => Self::Certificate,
                _ => Self::Tls,
            });
        }
        let error = cause.downcast_ref::<io::Error>()?;
        match error.get_ref() {
            // An error in an error is not among its sources.
            Some(inner) => Self::of_connecting(inner),
            None if error.kind() == io::ErrorKind::ConnectionRefused => Some(Self::Refused),
            None => None,
        }
    }
}

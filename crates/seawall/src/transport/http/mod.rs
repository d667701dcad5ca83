//! HTTP: one POST a message, replies as JSON or as events, sessions, resumption, redirects (T2-T4).
//!
//! [`StreamableHttp`] is the transport of every revision since 2025-03-26, [`EventStreamHttp`] that of 2024-11-05. Both
//! belong to one driver, which polls them: nothing here is spawned. They carry bytes and headers, and never look into a
//! JSON-RPC body.
//!
//! **Invariant:** a post's body is handed to a connection once per attempt, and a next attempt is made only where the
//! answer proves that this one was not executed: a refusal (401, 403) or a redirect.
//! **Invariant:** what is configured (headers, tokens, the session id) goes to the configured origin alone.
//! **Invariant:** [`End::NotSent`] is never said of a post whose body was read by a connection.

mod answer;
mod bearer;
mod body;
mod control;
mod event;
mod event_stream;
mod events;
mod exchange;
mod fault;
mod headers;
mod lanes;
mod limits;
mod link;
mod listen;
mod resume;
mod send;
mod streamable;
#[cfg(test)]
mod tests;

pub(crate) use bearer::StaticBearer;
pub(crate) use control::Handed;
pub(crate) use event::{End, HttpConfig, HttpEvent, Post, PostKind};
pub(crate) use event_stream::EventStreamHttp;
pub(crate) use fault::HttpFault;
pub(crate) use headers::encode_header_value;
pub(crate) use streamable::StreamableHttp;

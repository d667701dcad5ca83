//! How bytes reach a server and come back. Nothing here parses a JSON-RPC body.

pub(crate) mod http;
pub(crate) mod stdio;
pub(crate) mod websocket;

//! How bytes reach a server and come back. Nothing here parses a JSON-RPC body.

#[cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "the driver is the next change")
)]
pub(crate) mod http;
pub(crate) mod stdio;

//! What a server does, and the bytes of well-made answers.

use std::time::Duration;

/// What to do next on a connection. After the last one, the next request is read.
#[derive(Debug, Clone)]
pub enum HttpAct {
    /// Writes these bytes.
    Send(Vec<u8>),
    /// Writes these bytes again and again until the client is gone.
    SendForever(Vec<u8>),
    /// Waits.
    Wait(Duration),
    /// Waits until the client is gone.
    Hang,
    /// Closes the connection in order.
    Close,
    /// Resets the connection (on Unix; elsewhere it is closed).
    Reset,
}

impl HttpAct {
    /// A whole answer with a length.
    #[must_use]
    pub fn answer(status: u16, headers: &[&str], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let length = format!("content-length: {}", body.len());
        let mut bytes = head(status, &[headers, &[&length]].concat());
        bytes.extend_from_slice(body);
        Self::Send(bytes)
    }

    /// A whole answer of JSON.
    #[must_use]
    pub fn json(status: u16, body: &str) -> Self {
        Self::answer(status, &["content-type: application/json"], body)
    }

    /// The head of an answer, exactly with these headers.
    #[must_use]
    pub fn head(status: u16, headers: &[&str]) -> Self {
        Self::Send(head(status, headers))
    }

    /// The head of a stream of events, chunked.
    #[must_use]
    pub fn stream() -> Self {
        Self::head(
            200,
            &[
                "content-type: text/event-stream",
                "transfer-encoding: chunked",
            ],
        )
    }

    /// One chunk of a chunked body.
    #[must_use]
    pub fn chunk(bytes: impl AsRef<[u8]>) -> Self {
        Self::Send(chunk(bytes.as_ref()))
    }

    /// The end of a chunked body.
    #[must_use]
    pub fn last_chunk() -> Self {
        Self::Send(b"0\r\n\r\n".to_vec())
    }

    /// One chunk of a chunked body, again and again until the client is gone.
    #[must_use]
    pub fn chunks_forever(bytes: impl AsRef<[u8]>) -> Self {
        Self::SendForever(chunk(bytes.as_ref()))
    }
}

fn head(status: u16, headers: &[&str]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Whatever\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

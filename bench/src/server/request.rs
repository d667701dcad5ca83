//! One HTTP/1.1 request in a buffer.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// More headers than any client sends.
const MAX_HEADERS: usize = 32;

/// A whole request.
pub(super) struct Request<'a> {
    is_post: bool,
    body: &'a [u8],
    /// Of head and body.
    pub(super) bytes: usize,
}

/// What the server looks at of a message; the rest is skipped.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) method: Cow<'a, str>,
}

impl<'a> Request<'a> {
    /// The request that `input` begins with, once all of it is there.
    pub(super) fn parse(input: &'a [u8]) -> Option<Self> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let Ok(httparse::Status::Complete(start)) = head.parse(input) else {
            return None;
        };
        let length = head
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case("content-length"))
            .and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok())
            .unwrap_or(0);
        let is_post = head.method == Some("POST");
        let bytes = start + length;
        let body = input.get(start..bytes)?;
        Some(Self {
            is_post,
            body,
            bytes,
        })
    }

    /// The message that was posted; `None` of anything else.
    pub(super) fn message(&self) -> Option<Message<'a>> {
        if !self.is_post {
            return None;
        }
        serde_json::from_slice(self.body).ok()
    }
}

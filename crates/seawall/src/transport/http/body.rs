//! A whole body, bounded after decompression (L1, L6).

use bytes::{Bytes, BytesMut};
use reqwest::Response;
use tokio::task::coop::consume_budget;

use super::{End, HttpFault};

/// How much of what a body says of its length is believed once something of it came.
const MAX_EXPECTED: usize = 64 * 1024;

/// Reads the body of `response`, at most `limit` bytes of it.
///
/// # Errors
/// [`End::TooLong`] as soon as it is known, [`End::Broken`] if it breaks off.
pub(super) async fn read_whole(response: &mut Response, limit: usize) -> Result<Bytes, End> {
    let said = response.content_length().unwrap_or(0);
    let said = usize::try_from(said).unwrap_or(usize::MAX);
    if said > limit {
        return Err(End::TooLong { limit });
    }
    let mut body = BytesMut::new();
    loop {
        consume_budget().await;
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            Err(error) => return Err(End::Broken(HttpFault::of(&error))),
        };
        if chunk.len() > limit - body.len() {
            return Err(End::TooLong { limit });
        }
        if body.is_empty() {
            // Not before: most bodies come whole, and then this is the one allocation.
            body.reserve(chunk.len().max(said.min(MAX_EXPECTED)));
        } else if body.len() + chunk.len() > body.capacity() && said > body.capacity() {
            // It goes on: the rest of what was said is believed too.
            body.reserve(said - body.len());
        }
        body.extend_from_slice(&chunk);
    }
    // What a frame keeps alive is what it counts, give or take a quarter (L8).
    Ok(if body.capacity() - body.len() > body.len() / 4 {
        Bytes::copy_from_slice(&body)
    } else {
        body.freeze()
    })
}

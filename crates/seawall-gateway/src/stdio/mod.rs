//! The front of one client at the other end of two pipes.
//!
//! Source: 2026-07-28, `basic/transports/stdio`; the same framing on every revision.
//!
//! **Invariant:** nothing but protocol is written; while the client does not read, nothing more is read of it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use seawall_proto::framing::LineDecoder;
use seawall_proto::jsonrpc::classify;
use seawall_proto::limits::ServerLimits;
pub use seawall_proto::server::CloseReason;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::clients::Client;
use crate::service::Service;
use crate::service::session::{Outlet, Session};

#[cfg(test)]
mod tests;

/// How long requests that are under way may still be answered after the client's output ended. Fixed: servers are to end
/// promptly (2026-07-28, `basic/transports/stdio`, "Shutdown").
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Frames are written so many bytes at a time, so that many short ones cost one write.
const GATHERED: usize = 64 * 1024;

/// The longest line of the client by default. Far longer than what goes to a server by default (`maxOutboundFrameBytes`), so
/// that a call which is too long for its server is refused, and costs nobody else the connection.
const MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;

/// What the front is bounded by.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StdioLimits {
    /// Bytes of one inbound line, newline and one CR excluded, inclusive.
    pub max_frame_bytes: usize,
    /// Of the client.
    pub session: ServerLimits,
}

impl Default for StdioLimits {
    fn default() -> Self {
        Self {
            max_frame_bytes: MAX_FRAME_BYTES,
            session: ServerLimits::default(),
        }
    }
}

/// Serves `client` until its output ends, or the pipes break; says why.
///
/// # Cancel safety
/// Dropping it ends the session and whatever runs for it.
pub async fn serve<S: Service>(
    service: Arc<S>,
    client: Arc<Client>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    limits: StdioLimits,
) -> CloseReason {
    let session = Session::new(client, limits.session, Outlet::Pulled);
    let _end = End(&session);
    let writing = write(&session, output);
    tokio::pin!(writing);
    let reason = tokio::select! {
        reason = read(&session, &service, input, limits.max_frame_bytes) => reason,
        _ = &mut writing => CloseReason::Transport,
    };
    if reason == CloseReason::ClientGone {
        session.end_input();
        // A client that does not read is not waited for either.
        let _ = tokio::time::timeout(LAST_ANSWERS, writing).await;
    }
    reason
}

async fn read<S: Service>(
    session: &Session,
    service: &Arc<S>,
    mut input: impl AsyncRead + Unpin,
    max_frame_bytes: usize,
) -> CloseReason {
    let mut lines = LineDecoder::new(max_frame_bytes);
    loop {
        session.readable().await;
        match lines.next_frame() {
            Ok(Some(frame)) => {
                session.take(service, &frame, classify(&frame), |_| {});
            }
            Ok(None) => match input.read_buf(lines.read_buffer()).await {
                Ok(0) => return CloseReason::ClientGone,
                Ok(_) => {}
                Err(_) => return CloseReason::Transport,
            },
            Err(long) => return CloseReason::FrameTooLong { limit: long.limit },
        }
    }
}

async fn write(session: &Session, mut output: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut gathered = Vec::new();
    while let Some(frames) = session.to_write().await {
        for frame in frames {
            gathered.extend_from_slice(&frame);
            gathered.push(b'\n');
            if gathered.len() >= GATHERED {
                output.write_all(&gathered).await?;
                gathered.clear();
            }
        }
        output.write_all(&gathered).await?;
        output.flush().await?;
        gathered.clear();
        gathered.shrink_to(GATHERED);
    }
    Ok(())
}

/// Ends the session, however serving it ends.
struct End<'a>(&'a Session);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.close(CloseReason::Shutdown);
    }
}

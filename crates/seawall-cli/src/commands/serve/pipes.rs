//! The client's two pipes, without a thread for each where they can be read and written without waiting.
//!
//! On Linux a pipe is opened once more, so that no flag is set that others with the same end would see. Anything else (a
//! terminal, a file, a socket, which is what Node.js gives its children) is left to the threads of tokio.

use tokio::io::{AsyncRead, AsyncWrite};
#[cfg(target_os = "linux")]
use tokio::net::unix::pipe::OpenOptions;

/// What the client writes.
pub(super) fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    #[cfg(target_os = "linux")]
    if let Ok(pipe) = OpenOptions::new().open_receiver("/proc/self/fd/0") {
        return Box::new(pipe);
    }
    Box::new(tokio::io::stdin())
}

/// What the client reads.
pub(super) fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    #[cfg(target_os = "linux")]
    if let Ok(pipe) = OpenOptions::new().open_sender("/proc/self/fd/1") {
        return Box::new(pipe);
    }
    Box::new(tokio::io::stdout())
}

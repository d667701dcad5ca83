//! The client's two pipes, without a thread for each where they can be read and written without waiting.
//!
//! A pipe is opened once more (Linux), so that no flag is set that others with the same end would see. A socket, which is
//! what Node.js gives its children, is read and written with a flag of each call. Anything else, such as a terminal or a
//! file, is left to the threads of tokio.

use tokio::io::{AsyncRead, AsyncWrite};

/// What the client writes.
pub(super) fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    #[cfg(unix)]
    if let Some(input) = unix::input() {
        return input;
    }
    Box::new(tokio::io::stdin())
}

/// What the client reads.
pub(super) fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    #[cfg(unix)]
    if let Some(output) = unix::output() {
        return output;
    }
    Box::new(tokio::io::stdout())
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use rustix::fs::{FileType, fstat};
    use rustix::net::{RecvFlags, SendFlags, recv, send};
    use tokio::io::unix::AsyncFd;
    use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

    pub(super) fn input() -> Option<Box<dyn AsyncRead + Send + Unpin>> {
        let stdin = io::stdin();
        match kind(stdin.as_fd()) {
            #[cfg(target_os = "linux")]
            Some(FileType::Fifo) => {
                let opened = tokio::net::unix::pipe::OpenOptions::new();
                Some(Box::new(opened.open_receiver("/proc/self/fd/0").ok()?))
            }
            Some(FileType::Socket) => Some(Box::new(Socket::new(stdin.as_fd(), true)?)),
            _ => None,
        }
    }

    pub(super) fn output() -> Option<Box<dyn AsyncWrite + Send + Unpin>> {
        let stdout = io::stdout();
        match kind(stdout.as_fd()) {
            #[cfg(target_os = "linux")]
            Some(FileType::Fifo) => {
                let opened = tokio::net::unix::pipe::OpenOptions::new();
                Some(Box::new(opened.open_sender("/proc/self/fd/1").ok()?))
            }
            Some(FileType::Socket) => Some(Box::new(Socket::new(stdout.as_fd(), false)?)),
            _ => None,
        }
    }

    fn kind(end: BorrowedFd<'_>) -> Option<FileType> {
        let stat = fstat(end).ok()?;
        Some(FileType::from_raw_mode(stat.st_mode))
    }

    /// One direction of a socket that others may hold too: it is never made non-blocking itself.
    struct Socket(AsyncFd<OwnedFd>);

    impl Socket {
        fn new(end: BorrowedFd<'_>, reads: bool) -> Option<Self> {
            let interest = match reads {
                true => Interest::READABLE,
                false => Interest::WRITABLE,
            };
            let end = end.try_clone_to_owned().ok()?;
            AsyncFd::with_interest(end, interest).ok().map(Self)
        }
    }

    impl AsyncRead for Socket {
        fn poll_read(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            loop {
                let mut ready = ready!(self.0.poll_read_ready(context))?;
                let room = buffer.initialize_unfilled();
                let read = ready.try_io(|end| Ok(recv(end, room, RecvFlags::DONTWAIT)?.0));
                if let Ok(read) = read {
                    buffer.advance(read?);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }

    impl AsyncWrite for Socket {
        fn poll_write(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            loop {
                let mut ready = ready!(self.0.poll_write_ready(context))?;
                if let Ok(sent) = ready.try_io(|end| Ok(send(end, bytes, SendFlags::DONTWAIT)?)) {
                    return Poll::Ready(sent);
                }
            }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
}

//! A small, honest MCP server over stdio: what `seawall demo-server` runs and `--demo` connects to.
//!
//! It speaks every revision with a handshake (2024-11-05 to 2025-11-25), one JSON message per line. It is written
//! with blocking I/O and without Seawall's own engine, so that the two can be tested against each other.
//!
//! **Invariant:** stdout carries protocol and nothing else; one line of input is bounded by [`MAX_LINE_BYTES`];
//! the server ends when its input does, whatever is still asleep.

mod session;
mod tools;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

use session::Session;

/// The longest line that the server reads, newline excluded: 4 MiB.
const MAX_LINE_BYTES: usize = 4 << 20;

/// What the reading thread saw.
enum Input {
    /// One line, without its newline.
    Line(Vec<u8>),
    /// A line longer than [`MAX_LINE_BYTES`]; what follows it cannot be told apart from it.
    TooLong,
    /// The client closed stdin, or it broke.
    End,
}

/// Serves `input` until it ends, writing replies to `output`.
///
/// # Errors
/// What writing to `output` failed with; a reader that went away is the quiet end of the server, not an error.
pub(crate) fn run(input: impl Read + Send + 'static, output: impl Write) -> io::Result<()> {
    // One line in hand and one waiting: a client that writes faster than the server answers waits in its pipe.
    let (lines, inbox) = sync_channel(1);
    std::thread::spawn(move || read_lines(BufReader::new(input), &lines));
    match serve(&inbox, output) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn serve(inbox: &Receiver<Input>, mut output: impl Write) -> io::Result<()> {
    let mut session = Session::default();
    loop {
        let input = match session.next_deadline() {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        let end = match input {
            Ok(Input::Line(line)) => {
                session.handle_line(Instant::now(), &line);
                false
            }
            Ok(Input::TooLong) => {
                session.refuse_long_line();
                true
            }
            Err(RecvTimeoutError::Timeout) => {
                session.handle_timeout(Instant::now());
                false
            }
            Ok(Input::End) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        for message in session.take_outgoing() {
            output.write_all(message.as_bytes())?;
            output.write_all(b"\n")?;
        }
        output.flush()?;
        if end {
            return Ok(());
        }
    }
}

fn read_lines(mut input: impl BufRead, lines: &SyncSender<Input>) {
    loop {
        let mut line = Vec::new();
        let room = MAX_LINE_BYTES as u64 + 1;
        let read = input.by_ref().take(room).read_until(b'\n', &mut line);
        let found = match read {
            Ok(0) | Err(_) => Input::End,
            Ok(_) if line.last() == Some(&b'\n') => {
                line.pop();
                Input::Line(line)
            }
            Ok(_) if line.len() > MAX_LINE_BYTES => Input::TooLong,
            // The last line may lack its newline.
            Ok(_) => Input::Line(line),
        };
        let last = !matches!(found, Input::Line(_));
        if lines.send(found).is_err() || last {
            return;
        }
    }
}

#[cfg(test)]
mod tests;

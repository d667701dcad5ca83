//! The floor: write the line, read the line, match nothing. The plainest program that one would write with the standard
//! library: `write_all`, then `BufReader::read_until` into one line that is used again.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use memchr::memchr_iter;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::{Server, TOOL};
use crate::measure::{Alone, Memory, Window, flooded};
use crate::plan::{Flooded, Job, Load, Sample};

/// Read at most so much at once.
const READ_BYTES: usize = 256 * 1024;
/// Requests are collected up to this size, then written.
const WRITE_BYTES: usize = 64 * 1024;

pub(super) fn measure(job: &Job, server: &Server) -> Result<Sample> {
    let mut pipes = Pipes::open(server)?;
    match job.cell.load {
        Load::Alone => alone(job, &mut pipes),
        Load::InFlight(calls) => in_flight(job, &mut pipes, calls as u64),
        Load::Flood => flood(&mut pipes),
    }
}

fn alone(job: &Job, pipes: &mut Pipes) -> Result<Sample> {
    pipes.call()?;
    let mut alone = Alone::begin(job)?;
    loop {
        pipes.call()?;
        if !alone.called() {
            return alone.finish();
        }
    }
}

/// One thread, which waits for the server only when nothing can be written: a server that waits for its output to be
/// read, while this waits for its input to be, would be a deadlock.
fn in_flight(job: &Job, pipes: &mut Pipes, calls: u64) -> Result<Sample> {
    pipes.call()?;
    let mut window = Window::begin(job)?;
    set_nonblocking(&pipes.stdin)?;
    let mut chunk = vec![0; READ_BYTES];
    let mut batch = Vec::with_capacity(WRITE_BYTES + 256);
    let mut written = 0;
    let mut outstanding = 0;
    loop {
        while outstanding < calls && batch.len() < WRITE_BYTES {
            pipes.next_id += 1;
            put_call(&mut batch, pipes.next_id);
            outstanding += 1;
        }
        if written < batch.len() {
            let rest = batch.get(written..).unwrap_or_default();
            match pipes.stdin.write(rest) {
                Ok(bytes) => written += bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut ends = [
                        PollFd::new(pipes.stdout.get_ref(), PollFlags::IN),
                        PollFd::new(&pipes.stdin, PollFlags::OUT),
                    ];
                    poll(&mut ends, None)?;
                    if ends.first().is_none_or(|end| end.revents().is_empty()) {
                        continue;
                    }
                }
                Err(error) => return Err(error.into()),
            }
            if written == batch.len() {
                batch.clear();
                written = 0;
            }
        }
        // Something is outstanding, or readable: this read ends.
        let read = pipes.stdout.get_mut().read(&mut chunk)?;
        if read == 0 {
            bail!("the server is gone");
        }
        let lines = memchr_iter(b'\n', chunk.get(..read).unwrap_or_default());
        let replies = lines.count() as u64;
        outstanding -= replies;
        if !window.called(replies) {
            return window.finish();
        }
    }
}

fn flood(pipes: &mut Pipes) -> Result<Sample> {
    let memory = Memory::begin()?;
    let begun = Instant::now();
    pipes.next_id += 1;
    let mut line = Vec::new();
    put_call(&mut line, pipes.next_id);
    pipes.stdin.write_all(&line)?;
    // The line is not kept: the floor shows what is there without any client.
    pipes.stdout.skip_until(b'\n')?;
    flooded(&memory, begun, Flooded::Answered)
}

struct Pipes {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
    /// The latest line.
    line: Vec<u8>,
}

impl Pipes {
    fn open(server: &Server) -> Result<Self> {
        let mut child = server
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut pipes = Self {
            stdin: child.stdin.take().context("no stdin")?,
            stdout: BufReader::new(child.stdout.take().context("no stdout")?),
            next_id: 0,
            line: Vec::new(),
        };
        pipes.exchange(br#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor","version":"0"}}}
"#)?;
        pipes.stdin.write_all(
            br#"{"jsonrpc":"2.0","method":"notifications/initialized"}
"#,
        )?;
        pipes.exchange(
            br#"{"jsonrpc":"2.0","id":"b","method":"tools/list"}
"#,
        )?;
        Ok(pipes)
    }

    fn call(&mut self) -> io::Result<()> {
        self.next_id += 1;
        let mut line = Vec::with_capacity(128);
        put_call(&mut line, self.next_id);
        self.exchange(&line)
    }

    /// Writes a line and reads a line.
    fn exchange(&mut self, line: &[u8]) -> io::Result<()> {
        self.stdin.write_all(line)?;
        self.line.clear();
        match self.stdout.read_until(b'\n', &mut self.line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Appends the line that any client would write.
fn put_call(line: &mut Vec<u8>, id: u64) {
    // Writing to a Vec does not fail.
    let _ = writeln!(
        line,
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{TOOL}","arguments":{{}}}}}}"#
    );
}

fn set_nonblocking(end: impl std::os::fd::AsFd) -> Result<()> {
    let flags = fcntl_getfl(&end)?;
    fcntl_setfl(&end, flags | OFlags::NONBLOCK)?;
    Ok(())
}

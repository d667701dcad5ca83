//! The floor: write the line, read the line, match nothing.

use std::io::{self, Read, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use memchr::{memchr, memchr_iter};
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

/// One thread reads what is there, writes what may be outstanding, and waits only when neither was possible.
fn in_flight(job: &Job, pipes: &mut Pipes, calls: u64) -> Result<Sample> {
    pipes.call()?;
    let mut window = Window::begin(job)?;
    set_nonblocking(&pipes.stdin)?;
    set_nonblocking(&pipes.stdout)?;
    let mut batch = Vec::with_capacity(WRITE_BYTES + 256);
    let mut written = 0;
    let mut outstanding = 0;
    loop {
        while outstanding < calls && batch.len() < WRITE_BYTES {
            pipes.next_id += 1;
            put_call(&mut batch, pipes.next_id);
            outstanding += 1;
        }
        let wrote = would_block(pipes.stdin.write(batch.get(written..).unwrap_or_default()))?;
        written += wrote.unwrap_or(0);
        if written == batch.len() {
            batch.clear();
            written = 0;
        }
        match would_block(pipes.stdout.read(&mut pipes.buffer))? {
            Some(0) => bail!("the server is gone"),
            Some(read) => {
                let lines = memchr_iter(b'\n', pipes.buffer.get(..read).unwrap_or_default());
                let replies = lines.count() as u64;
                outstanding -= replies;
                if !window.called(replies) {
                    return window.finish();
                }
            }
            None => {
                let mut ends = vec![PollFd::new(&pipes.stdout, PollFlags::IN)];
                if !batch.is_empty() {
                    ends.push(PollFd::new(&pipes.stdin, PollFlags::OUT));
                }
                poll(&mut ends, None)?;
            }
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
    loop {
        let read = pipes.stdout.read(&mut pipes.buffer)?;
        let bytes = pipes.buffer.get(..read).unwrap_or_default();
        if read == 0 || memchr(b'\n', bytes).is_some() {
            return flooded(&memory, begun, Flooded::Answered);
        }
    }
}

struct Pipes {
    stdin: ChildStdin,
    stdout: ChildStdout,
    next_id: u64,
    /// The latest line, or the latest bytes; it is as long as the longest line so far.
    buffer: Vec<u8>,
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
            stdout: child.stdout.take().context("no stdout")?,
            next_id: 0,
            buffer: vec![0; READ_BYTES],
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
        let mut filled = 0;
        loop {
            if self.buffer.len() - filled < READ_BYTES / 2 {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
            let rest = self.buffer.get_mut(filled..).unwrap_or_default();
            let read = self.stdout.read(rest)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if memchr(b'\n', rest.get(..read).unwrap_or_default()).is_some() {
                return Ok(());
            }
            filled += read;
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

fn would_block(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

//! The bare client over stdio: writes lines, reads lines, and counts those that are answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use anyhow::{Context, Result, bail};
use memchr::memmem;

use crate::client::TOOL;
use crate::measure::{Alone, Window};
use crate::plan::{Job, Load, Sample};

/// A message that is no answer names its method here, if anywhere.
const HEAD_BYTES: usize = 64;

pub(super) fn measure(job: &Job, child: &mut Child) -> Result<Sample> {
    let mut pipes = Pipes {
        stdin: child.stdin.take().context("no stdin")?,
        stdout: BufReader::with_capacity(256 * 1024, child.stdout.take().context("no stdout")?),
        next_id: 2,
        line: Vec::new(),
    };
    pipes.stdin.write_all(
        br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bare","version":"0"}}}
"#,
    )?;
    pipes.answer()?;
    pipes.stdin.write_all(
        br#"{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
"#,
    )?;
    pipes.answer()?;
    pipes.ask(1)?;
    pipes.answer()?;
    match job.cell.load {
        Load::InFlight(calls) => in_flight(job, &mut pipes, calls as u64),
        _ => alone(job, &mut pipes),
    }
}

fn alone(job: &Job, pipes: &mut Pipes<ChildStdout>) -> Result<Sample> {
    let mut alone = Alone::begin(job)?;
    loop {
        pipes.ask(1)?;
        pipes.answer()?;
        if !alone.called() {
            return alone.finish();
        }
    }
}

/// So many short requests fit into a pipe, so that no write waits for a reader that waits for this.
fn in_flight(job: &Job, pipes: &mut Pipes<ChildStdout>, calls: u64) -> Result<Sample> {
    let mut window = Window::begin(job)?;
    pipes.ask(calls)?;
    loop {
        pipes.answer()?;
        let mut answered = 1;
        while pipes.stdout.buffer().contains(&b'\n') {
            pipes.answer()?;
            answered += 1;
        }
        if !window.called(answered) {
            return window.finish();
        }
        pipes.ask(answered)?;
    }
}

struct Pipes<O> {
    stdin: ChildStdin,
    stdout: BufReader<O>,
    next_id: u64,
    line: Vec<u8>,
}

impl<O: Read> Pipes<O> {
    /// Writes so many calls at once.
    fn ask(&mut self, calls: u64) -> Result<()> {
        let mut batch = Vec::new();
        for _ in 0..calls {
            let id = self.next_id;
            self.next_id += 1;
            writeln!(
                batch,
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{TOOL}","arguments":{{}}}}}}"#
            )?;
        }
        Ok(self.stdin.write_all(&batch)?)
    }

    /// Reads up to the next answer, whose it is.
    fn answer(&mut self) -> Result<()> {
        loop {
            self.line.clear();
            if self.stdout.read_until(b'\n', &mut self.line)? == 0 {
                bail!("the gateway is gone");
            }
            let head = self.line.get(..HEAD_BYTES.min(self.line.len()));
            let head = head.unwrap_or_default();
            if memmem::find(head, b"\"method\"").is_some() {
                continue;
            }
            if memmem::find(&self.line, b"\"result\"").is_none() {
                let text = String::from_utf8_lossy(head);
                bail!("no result: {text}");
            }
            return Ok(());
        }
    }
}

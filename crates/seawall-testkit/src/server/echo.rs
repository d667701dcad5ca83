//! The fastest honest server that one loop can be: it reads what is there, answers every line of it, writes once.

use std::io::{self, Read, Write};

use memchr::memchr;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::Fd;

/// Replies are collected up to this size, then written.
const BATCH_BYTES: usize = 256 * 1024;
/// Read at most so much at once.
const READ_BYTES: usize = 256 * 1024;

/// Only what the loop looks at; `params` is skipped.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a str>,
}

/// Answers until the end of input.
pub(crate) fn echo(text_bytes: usize) -> io::Result<()> {
    let mut input = Fd(rustix::stdio::stdin());
    let mut output = Output::new(Fd(rustix::stdio::stdout()), text_bytes);
    let mut buffer = vec![0; READ_BYTES];
    let mut filled = 0;
    // Bytes before this were searched for a newline already.
    let mut searched = 0;
    loop {
        if filled == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = input.read(buffer.get_mut(filled..).unwrap_or_default())?;
        if read == 0 {
            return output.flush();
        }
        filled += read;
        let mut start = 0;
        while let Some(at) = memchr(b'\n', buffer.get(searched..filled).unwrap_or_default()) {
            let end = searched + at;
            output.answer(buffer.get(start..end).unwrap_or_default())?;
            start = end + 1;
            searched = start;
        }
        output.flush()?;
        buffer.copy_within(start..filled, 0);
        filled -= start;
        searched = filled;
    }
}

struct Output<W> {
    writer: W,
    batch: Vec<u8>,
    /// Everything of a reply after its id.
    tail: Vec<u8>,
}

impl<W: Write> Output<W> {
    fn new(writer: W, text_bytes: usize) -> Self {
        let text = "x".repeat(text_bytes);
        let tail =
            format!(",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n")
                .into_bytes();
        Self {
            writer,
            batch: Vec::with_capacity(BATCH_BYTES + 4096),
            tail,
        }
    }

    fn answer(&mut self, line: &[u8]) -> io::Result<()> {
        let Ok(Head {
            id: Some(id),
            method: Some(method),
        }) = serde_json::from_slice(line)
        else {
            return Ok(());
        };
        self.batch
            .extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        self.batch.extend_from_slice(id.get().as_bytes());
        match method {
            "tools/call" => return self.finish_call(),
            "initialize" => self.batch.extend_from_slice(
                br#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"0"}}}"#,
            ),
            "tools/list" => self
                .batch
                .extend_from_slice(br#","result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}"#),
            "ping" => self.batch.extend_from_slice(br#","result":{}}"#),
            _ => self.batch.extend_from_slice(br#","error":{"code":-32601,"message":"Method not found"}}"#),
        }
        self.batch.push(b'\n');
        Ok(())
    }

    /// A short text joins the batch; a long one is written from where it lies.
    fn finish_call(&mut self) -> io::Result<()> {
        if self.tail.len() >= BATCH_BYTES {
            self.flush()?;
            return self.writer.write_all(&self.tail);
        }
        self.batch.extend_from_slice(&self.tail);
        if self.batch.len() >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.batch)?;
        self.batch.clear();
        Ok(())
    }
}

//! The HTTP server of a cell: a process of its own on loopback that does as little as it can. One thread, one task a
//! connection, no HTTP library but its parser; each answer is plain JSON, written at once.
//!
//! It speaks both eras, so that each client speaks what it does.

mod request;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::measure::{pin, two_cores};
use crate::plan::{Cell, Load};
use request::Request;

/// A server process. It ends with this value, or with the process that holds it.
pub(crate) struct HttpServer {
    pub(crate) address: SocketAddr,
    child: Child,
    /// It ends with its input.
    _stdin: ChildStdin,
}

impl HttpServer {
    /// Starts the server of a cell: on the client's core if the calls come one at a time.
    pub(crate) fn start(cell: Cell) -> Result<Self> {
        let (own, other) = two_cores()?;
        let core = if cell.load == Load::Alone { own } else { other };
        let mut child = Command::new(std::env::current_exe()?)
            .args(["http-server", &core.to_string()])
            .arg(cell.result_bytes.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().context("no stdin")?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("no stdout")?;
        let said = BufReader::new(stdout).read_line(&mut line);
        let mut server = Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            child,
            _stdin: stdin,
        };
        said?;
        server.address = line.trim().parse().context("the server did not start")?;
        Ok(server)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server's process: tells its address on stdout, serves until its stdin ends.
pub(crate) fn run(core: usize, result_bytes: usize) -> Result<()> {
    pin(core)?;
    std::thread::spawn(|| {
        // However it ends, nobody is there any more.
        let _ = io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(result_bytes))
}

async fn serve(result_bytes: usize) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let mut stdout = io::stdout();
    writeln!(stdout, "{}", listener.local_addr()?)?;
    stdout.flush()?;
    let result = result(result_bytes);
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let result = result.clone();
        connections.spawn(connection(stream, result));
        // Those that ended.
        while connections.try_join_next().is_some() {}
    }
}

/// Answers what comes until the client leaves.
async fn connection(mut stream: TcpStream, result: String) -> io::Result<()> {
    let mut input = Vec::with_capacity(16 * 1024);
    let mut output = Vec::with_capacity(result.len() + 512);
    loop {
        let taken = match Request::parse(&input) {
            Some(request) => {
                output.clear();
                answer(&request, &result, &mut output);
                request.bytes
            }
            None => {
                if stream.read_buf(&mut input).await? == 0 {
                    return Ok(());
                }
                continue;
            }
        };
        stream.write_all(&output).await?;
        input.drain(..taken);
    }
}

/// A tool's result of so many bytes of text.
fn result(bytes: usize) -> String {
    let text = "x".repeat(bytes);
    format!(r#"{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}]}}"#)
}

/// Appends the response to one request.
fn answer(request: &Request<'_>, result: &str, output: &mut Vec<u8>) {
    let Some(message) = request.message() else {
        output.extend_from_slice(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n");
        return;
    };
    let Some(id) = message.id else {
        output.extend_from_slice(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n");
        return;
    };
    let id = id.get();
    let result = match &*message.method {
        "tools/call" => result,
        "server/discover" => {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"ttlMs":60000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"0"}}}"#
        }
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"0"}}"#
        }
        "tools/list" => {
            r#"{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}],"ttlMs":60000,"cacheScope":"private"}"#
        }
        _ => r#"{"resultType":"complete"}"#,
    };
    let (before, between) = (r#"{"jsonrpc":"2.0","id":"#, r#","result":"#);
    let length = before.len() + id.len() + between.len() + result.len() + 1;
    // Writing to a Vec does not fail.
    let _ = write!(
        output,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n\
         {before}{id}{between}{result}}}"
    );
}

#[cfg(test)]
mod tests;

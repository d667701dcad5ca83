//! `everything-server [--http ADDR]`: an MCP server with everything that the official conformance suite asks a server for,
//! on every revision, behind the fronts that the gateway has. Without an address it speaks over stdio; with one it prints
//! its URL. It ends with its stdin, and in any case after a while.

mod asking;
mod call;
mod changes;
mod offers;
mod service;
mod tools;

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use seawall_gateway::clients::Client;
use seawall_gateway::http::{Access, Endpoint, HttpLimits, listen};
use seawall_gateway::stdio::{self, StdioLimits};
use service::Everything;
use tokio::io::{AsyncReadExt as _, stdin, stdout};
use tokio::net::TcpListener;

/// How long the server lives at most.
const LIFETIME: Duration = Duration::from_secs(3_600);

const USAGE: u8 = 64;
const FAILED: u8 = 70;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let address = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => None,
        ["--http", address] => match address.parse::<SocketAddr>() {
            Ok(address) => Some(address),
            Err(_) => return ExitCode::from(USAGE),
        },
        _ => return ExitCode::from(USAGE),
    };
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let (Ok(runtime), Some(service)) = (builder.enable_all().build(), Everything::new()) else {
        return ExitCode::from(FAILED);
    };
    let service = Arc::new(service);
    let code = runtime.block_on(async {
        let serving = async {
            match address {
                None => {
                    let limits = StdioLimits::default();
                    let client = Client::local();
                    stdio::serve(service, client, stdin(), stdout(), limits).await;
                    ExitCode::SUCCESS
                }
                Some(address) => serve_http(service, address).await,
            }
        };
        let late = tokio::time::timeout(LIFETIME, serving).await;
        late.unwrap_or(ExitCode::from(FAILED))
    });
    // A read of stdin cannot be taken back, and must not be waited for.
    runtime.shutdown_background();
    code
}

async fn serve_http(service: Arc<Everything>, address: SocketAddr) -> ExitCode {
    let Ok(listener) = TcpListener::bind(address).await else {
        return ExitCode::from(FAILED);
    };
    let Ok(address) = listener.local_addr() else {
        return ExitCode::from(FAILED);
    };
    let mut out = std::io::stdout();
    if writeln!(out, "http://{address}/mcp")
        .and_then(|()| out.flush())
        .is_err()
    {
        return ExitCode::from(FAILED);
    }
    let limits = HttpLimits::default();
    let endpoint = Endpoint::new(service, Access::loopback(), limits.clone());
    let handler = {
        let endpoint = endpoint.clone();
        move |request| {
            let endpoint = endpoint.clone();
            async move { endpoint.handle(request).await }
        }
    };
    let input_ended = async {
        let mut ignored = [0; 64];
        while stdin().read(&mut ignored).await.is_ok_and(|read| read > 0) {}
        endpoint.close();
    };
    listen(listener, &limits, handler, input_ended).await;
    ExitCode::SUCCESS
}

//! Who may come over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;

use seawall_testkit::{Script, Serve};

use super::Served;
use crate::support::Config;

/// G3: a page of another site, also under a name of its own that leads here, is refused.
#[test]
fn other_hosts_and_origins_are_refused() {
    let server = Script::new().serve(Serve::new().tools(["t"]));
    let served = Served::start(&Config::scripted(&server));
    let address = served.address().to_owned();
    let status = |host: &str, origin: &str| {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(&address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(status(&address, ""), "200");
    assert_eq!(
        status("localhost", "Origin: http://localhost:3000\r\n"),
        "200"
    );
    assert_eq!(status("evil.example", ""), "403");
    assert_eq!(status(&address, "Origin: https://evil.example\r\n"), "403");
    assert_eq!(status(&address, "Origin: null\r\n"), "403");
}

//! Spans of calls, in their clients' traces, to a collector.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use seawall_testkit::{Script, Serve};
use serde_json::{Value, json};

use super::{LONG, Raw};
use crate::support::Config;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// A collector: each request's head and body.
fn collector() -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("it listens");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            if let Some(request) = request(stream) {
                // Nobody may listen any more.
                let _ = tell.send(request);
            }
        }
    });
    (url, told)
}

fn request(mut stream: TcpStream) -> Option<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut chunk = [0; 4_096];
    let (head, begin) = loop {
        let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
        all.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&all);
        if let Some(end) = text.find("\r\n\r\n") {
            break (text[..end].to_ascii_lowercase(), end + 4);
        }
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length?.trim().parse().ok()?;
    while all.len() < begin + length {
        let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
        all.extend_from_slice(&chunk[..read]);
    }
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(answer).ok()?;
    Some((head, all.split_off(begin)))
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let pair = |pair| u8::from_str_radix(std::str::from_utf8(pair).expect("hex"), 16);
    digits.map(|digits| pair(digits).expect("hex")).collect()
}

fn has(body: &[u8], part: &[u8]) -> bool {
    body.windows(part.len()).any(|window| window == part)
}

/// The `_meta` of the one call that a server was sent.
fn sent(record: &Path) -> Value {
    let text = std::fs::read_to_string(record).expect("a record");
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let calls: Vec<Value> = lines
        .filter(|line: &Value| line["method"] == "tools/call")
        .collect();
    assert_eq!(calls.len(), 1, "{text}");
    calls[0]["params"]["_meta"].clone()
}

/// G2: with a collector each call is a span of its client's trace, and the server's parent; without one the client's context
/// goes on as it came.
#[test]
fn a_call_is_a_span_of_its_clients_trace() {
    for is_traced in [true, false] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let record = folder.path().join("record");
        let server = Script::new().record(&record);
        let config = Config::scripted(&server.serve(Serve::new().tools(["t"])));
        let (url, told) = collector();
        let mut command = config.command(&["serve"]);
        if is_traced {
            command
                .env("OTEL_EXPORTER_OTLP_ENDPOINT", &url)
                .env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=k")
                .env("OTEL_BSP_SCHEDULE_DELAY", "50");
        }
        let mut raw = Raw::spawn(command);
        let traceparent = format!("00-{TRACE}-{PARENT}-01");
        let answer = raw.ask(
            "tools/call",
            &json!({"name": "s__t", "_meta": {"traceparent": traceparent, "tracestate": "a=b", "x/y": 1}}),
        );
        assert!(answer["result"].is_object(), "{answer}");
        let meta = sent(&record);
        assert_eq!(
            (&meta["tracestate"], &meta["x/y"]),
            (&json!("a=b"), &json!(1))
        );
        if !is_traced {
            assert_eq!(meta["traceparent"], traceparent);
            continue;
        }
        let ours = meta["traceparent"].as_str().expect("a context").to_owned();
        let parts: Vec<&str> = ours.split('-').collect();
        assert_eq!((parts[0], parts[1], parts[3]), ("00", TRACE, "01"));
        assert_ne!(parts[2], PARENT);
        let (head, body) = told.recv_timeout(LONG).expect("a batch");
        assert!(head.starts_with("post /v1/traces "), "{head}");
        assert!(head.contains("x-key: k") && head.contains("application/x-protobuf"));
        for id in [TRACE, PARENT, parts[2]] {
            assert!(has(&body, &bytes(id)), "{id}");
        }
        for text in [
            "tools/call t",
            "outcome",
            "ok",
            "client",
            "local",
            "seawall",
        ] {
            assert!(has(&body, text.as_bytes()), "{text}");
        }
    }
}

/// A collector that cannot be spoken to is a mistake of whoever started it, told before anything is.
#[test]
fn another_protocol_is_refused() {
    let config = Config::of(&[]);
    let mut command = config.command(&["serve"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let ran = command.output().expect("the binary runs");
    assert_eq!(ran.status.code(), Some(2));
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(told.contains("OTEL_EXPORTER_OTLP_PROTOCOL"), "{told}");
}

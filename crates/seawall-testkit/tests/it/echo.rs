use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::time::Instant;

use seawall_testkit::Server;

use super::Peer;

#[test]
fn echo_answers_every_call_in_order() {
    for bytes in [0, 100, 300_000] {
        let mut peer = Peer::launch(&Server::fast_echo(bytes));
        assert!(
            peer.ask(r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}"#)
                .contains("protocolVersion")
        );
        peer.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert!(
            peer.ask(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#)
                .contains("inputSchema")
        );
        for id in 3..10 {
            peer.send(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{}}}}"#
            ));
        }
        for id in 3..10 {
            let text = "x".repeat(bytes);
            let expected = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
            );
            assert_eq!(peer.line().trim_end(), expected);
        }
        assert!(peer.close_and_wait().success());
    }
}

#[test]
fn echo_takes_lines_longer_than_its_buffer() {
    let mut peer = Peer::launch(&Server::fast_echo(3));
    let padding = "y".repeat(3_000_000);
    let reply = peer.ask(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"a":"{padding}"}}}}"#
    ));
    assert!(reply.contains("xxx"));
}

/// Not a measurement of anything else than that the loop is good for benchmarks: run it with `--release`.
#[test]
#[ignore = "a measurement"]
fn echo_speed() {
    const CALLS: u32 = 1_000_000;
    let mut peer = Peer::launch(&Server::fast_echo(100));
    let mut stdin = peer.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let mut batch = String::new();
        for id in 0..CALLS {
            let _ = writeln!(
                batch,
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"a":1}}}}}}"#
            );
            if batch.len() > 8192 {
                stdin.write_all(batch.as_bytes()).unwrap();
                batch.clear();
            }
        }
        stdin.write_all(batch.as_bytes()).unwrap();
    });
    let began = Instant::now();
    let mut line = Vec::new();
    for _ in 0..CALLS {
        line.clear();
        peer.stdout.read_until(b'\n', &mut line).unwrap();
    }
    writer.join().unwrap();
    eprintln!(
        "{:.0} calls/s",
        f64::from(CALLS) / began.elapsed().as_secs_f64()
    );
}

use std::io::Read;
use std::time::{Duration, Instant};

use seawall_testkit::{EXIT_UNEXPECTED, Script, Server};

use super::{Peer, in_folder, read};

#[test]
fn reply_carries_the_id_exactly_as_received() {
    let server = Script::new()
        .expect("a")
        .reply("{}")
        .expect("b")
        .reply_error("[]")
        .expect("c")
        .reply_with_id("1.0", "1");
    let mut peer = Peer::launch(&server.server());
    assert_eq!(
        peer.ask(r#"{"id":"\u0041", "method":"a"}"#),
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0041\",\"result\":{}}\n"
    );
    assert_eq!(
        peer.ask(r#"{"id":12345678901234567890123,"method":"b"}"#),
        "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890123,\"error\":[]}\n"
    );
    assert_eq!(
        peer.ask(r#"{"id":7,"method":"c"}"#),
        "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":1}\n"
    );
    assert!(peer.close_and_wait().success());
}

#[test]
fn named_requests_are_answered_in_any_order() {
    let script = Script::new()
        .expect_as("a", "first")
        .expect_as("a", "second")
        .reply_to("second", "2")
        .reply_to("first", "1");
    let mut peer = Peer::launch(&script.server());
    peer.send(r#"{"id":1,"method":"a"}"#);
    assert_eq!(
        peer.ask(r#"{"id":2,"method":"a"}"#),
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":2}\n"
    );
    assert_eq!(peer.line(), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n");
}

#[test]
fn unexpected_line_ends_the_script_with_its_own_status() {
    let mut peer = Peer::launch(&Script::new().expect("a").hang().server());
    peer.send(r#"{"id":1,"method":"b"}"#);
    assert_eq!(peer.wait().code(), Some(EXIT_UNEXPECTED.into()));
    assert!(peer.stderr().contains("expected a, got {"));
    let mut peer = Peer::launch(&Script::new().expect("a").hang().server());
    assert_eq!(peer.close_and_wait().code(), Some(EXIT_UNEXPECTED.into()));
}

#[test]
fn bytes_are_written_exactly_whole_or_in_pieces() {
    let script = Script::new()
        .write(b"\xff\x00\r\n")
        .write_pieces("añb", 1, Duration::from_millis(1))
        .stderr(b"\xfe!")
        .exit(0);
    let mut peer = Peer::launch(&script.server());
    assert_eq!(peer.rest(), b"\xff\x00\r\na\xc3\xb1b");
    let mut stderr = Vec::new();
    peer.child
        .stderr
        .take()
        .unwrap()
        .read_to_end(&mut stderr)
        .unwrap();
    assert_eq!(stderr, b"\xfe!");
}

#[test]
fn long_script_travels_in_a_file() {
    let text = "x".repeat(300_000);
    let server = Script::new().line(&text).exit(0).server();
    let mut peer = Peer::launch(&server);
    assert_eq!(peer.line().trim_end(), text);
    let path = server.args.last().unwrap().clone();
    assert!(std::path::Path::new(&path).exists());
    drop(server);
    assert!(!std::path::Path::new(&path).exists());
}

#[test]
fn flood_is_written_whole_and_fast() {
    let unit = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n";
    let began = Instant::now();
    let mut peer = Peer::launch(&Script::new().flood(unit, 1_000_001).exit(0).server());
    assert_eq!(
        std::io::copy(&mut peer.stdout, &mut std::io::sink()).unwrap(),
        1_000_001 * unit.len() as u64
    );
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn lines_and_cancellations_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (all, cancelled) = (in_folder(&folder, "all"), in_folder(&folder, "cancelled"));
    let script = Script::new()
        .record(&all)
        .expect("a")
        .expect_any()
        .expect_cancel(&cancelled)
        .exit(3);
    let mut peer = Peer::launch(&script.server());
    let lines = [
        r#"{"id":1,"method":"a"}"#,
        "noise",
        r#"{"method":"b"}"#,
        r#"{"method":"notifications/cancelled"}"#,
    ];
    for line in lines {
        peer.send(line);
    }
    assert_eq!(peer.wait().code(), Some(3));
    assert_eq!(read(&all), format!("{}\n", lines.join("\n")));
    assert_eq!(read(&cancelled), format!("{}\n", lines[3]));
}

#[test]
fn wrong_command_line_is_refused() {
    let mut server: Server = Script::new().server();
    server.args = vec!["script".to_owned(), "{}".to_owned()];
    assert_eq!(
        Peer::launch(&server).wait().code(),
        Some(seawall_testkit::EXIT_USAGE.into())
    );
}

//! The journal of a host (J1).

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seawall::config::Protocol;
use seawall::flows::Digest;
use seawall::journal::{Entry, Filter, Journal, JournalOptions, JournalReader, Texts};
use seawall::{Arguments, Envelope, Host};
use seawall_testkit::{CallRule, HttpPeer, Script, Serve, Server};
use tempfile::TempDir;
use tokio::time::timeout;

use super::http_support::{Kind, calls, honest, reply};
use super::*;

fn entries(path: &Path) -> Vec<Entry> {
    let reader = JournalReader::open(path).expect("a journal");
    reader.newest(&Filter::default(), 100).expect("readable")
}

/// A folder, the journal in it, and a host that writes it.
fn recording(texts: Texts) -> (TempDir, PathBuf, Journal, Host) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let mut options = JournalOptions::at(&path);
    options.texts = texts;
    let journal = Journal::open(options).expect("opens");
    let host = Host::builder().journal(journal.clone()).build();
    (folder, path, journal, host)
}

async fn serving(host: &Host, server: &Server) {
    let config = ServerConfig::stdio("s", server.program_str())
        .args(server.args.iter().cloned())
        .env("API_TOKEN", "s3cret-0123456789");
    host.connect(config.build().expect("valid"))
        .await
        .expect("connects");
}

/// J1: at the moment at which a server hears of a call, its record is in the file, for another process to read.
#[tokio::test]
async fn a_call_is_recorded_before_it_is_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let journal = Journal::open(JournalOptions::at(&path)).expect("opens");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let peer = {
        let (seen, path) = (Arc::clone(&seen), path.clone());
        HttpPeer::start(move |_, request| {
            if calls(request, "t") {
                seen.lock().expect("no panic").push(entries(&path));
                return reply(request, r#"{"content":[]}"#);
            }
            honest(Kind::Legacy, request)
        })
    };
    let host = Host::builder().journal(journal.clone()).build();
    let config = ServerConfig::url("web", peer.url("/mcp")).protocol(Protocol::Legacy);
    host.connect(config.build().expect("valid"))
        .await
        .expect("connects");
    for _ in 0..20 {
        let call = host.call("mcp/web/t", Arguments::none());
        call.caller_name("agent").await.expect("answered");
    }
    let seen = seen.lock().expect("no panic").clone();
    for (count, seen) in seen.iter().enumerate() {
        assert_eq!(seen.len(), count + 1);
        let newest = seen.last().expect("its own");
        assert_eq!((newest.outcome, newest.flow.as_str()), (None, "mcp/web/t"));
        assert_eq!(newest.caller.as_deref(), Some("agent"));
    }
    assert_eq!(seen.len(), 20);
    journal.written().await;
    let all = entries(&path);
    assert!(all.iter().all(|entry| entry.outcome == Some("answered")
        && entry.result_bytes == Some(14)
        && entry.is_error == Some(false)
        && entry.took_us.is_some()));
}

/// J1, O2: each end is recorded as what it was: answered, refused, dropped before it was sent or after, not allowed, nobody's.
#[tokio::test]
async fn every_end_is_recorded_as_what_it_was() {
    let (_folder, path, journal, host) = recording(Texts::Digests);
    let script = Script::new().serve(
        Serve::new()
            .tools(["ok", "bad", "no", "never"])
            .calls_of("ok", CallRule::Result(r#"{"content":[]}"#.into()))
            .calls_of(
                "bad",
                CallRule::Result(r#"{"content":[],"isError":true}"#.into()),
            )
            .calls_of(
                "no",
                CallRule::Error(r#"{"code":7,"message":"theirs"}"#.into()),
            )
            .calls_of("never", CallRule::Never),
    );
    serving(&host, &script.server()).await;
    let call = |tool: &str| host.call(&format!("mcp/s/{tool}"), Arguments::none());
    call("ok").await.expect("answered");
    assert!(call("bad").await.expect("answered").is_error());
    call("no").await.expect_err("refused");
    let sent = Duration::from_millis(300);
    assert!(timeout(sent, call("never")).await.is_err(), "dropped");
    let late = call("never").timeout(sent).await;
    late.expect_err("too late");
    let other: Digest = format!("sha256:{}", "0".repeat(64)).parse().expect("one");
    call("ok").digest(other).await.expect_err("stale");
    let nothing = host.caller(Envelope::nothing());
    nothing
        .call("mcp/s/ok", Arguments::none())
        .caller_name("nobody")
        .await
        .expect_err("not allowed");
    call("none").await.expect_err("no such tool");
    host.call("else/where", Arguments::text("7"))
        .await
        .expect_err("nobody's");
    call("ok").abandon().expect_err("never begun");

    journal.written().await;
    let ends: Vec<_> = entries(&path)
        .into_iter()
        .map(|entry| {
            let (flow, code) = (entry.flow, entry.code.unwrap_or_default());
            let outcome = entry.outcome.unwrap_or("under way");
            format!("{flow} {outcome} {code} {:?}", entry.is_error)
        })
        .collect();
    assert_eq!(
        ends,
        [
            "mcp/s/ok answered  Some(false)",
            "mcp/s/bad answered  Some(true)",
            "mcp/s/no error_response tool_failed None",
            "mcp/s/never no_response connection_closed None",
            "mcp/s/never no_response timeout None",
            "mcp/s/ok not_sent tool_not_found None",
            "mcp/s/ok not_sent capability_refused None",
            "mcp/s/none not_sent tool_not_found None",
            "else/where not_sent tool_not_found None",
        ]
    );
}

/// J1, R1: arguments and results are kept if that is asked for, without the server's secrets.
#[tokio::test]
async fn texts_are_kept_if_that_is_asked_for() {
    let (_folder, path, journal, host) = recording(Texts::Stored);
    let server = Script::new().serve(Serve::new().tools(["t"]).calls(CallRule::Echo));
    serving(&host, &server.server()).await;
    let arguments = Arguments::text(r#"{"token":"s3cret-0123456789","n":1}"#);
    host.call("mcp/s/t", arguments).await.expect("answered");
    journal.written().await;
    let all = entries(&path);
    assert_eq!(
        all[0].arguments.as_deref(),
        Some(r#"{"token":"[redacted]","n":1}"#)
    );
    let result = all[0].result.as_deref().expect("kept");
    assert!(
        result.contains("[redacted]") && !result.contains("s3cret"),
        "{result}"
    );
    // What was sent is what was asked for.
    assert_eq!(all[0].arguments_bytes, Some(35));
}

/// J1: while the journal cannot be written a call is refused before anything of it is sent; one of a tool that is marked
/// read-only is made.
#[tokio::test]
async fn a_call_that_cannot_be_recorded_is_not_sent() {
    let (_folder, path, journal, host) = recording(Texts::Digests);
    let marked =
        r#"{"name":"r","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;
    let script = Script::new().serve(
        Serve::new()
            .page([seawall_testkit::tool("w"), marked.to_owned()])
            .calls(CallRule::Echo),
    );
    serving(&host, &script.server()).await;
    for end in ["", "-wal", "-shm"] {
        let mut name = path.clone().into_os_string();
        name.push(end);
        let _ = std::fs::remove_file(name);
    }
    std::fs::create_dir(&path).expect("a folder in its place");
    let refused = host.call("mcp/s/w", Arguments::none()).await;
    let error = refused.expect_err("refused");
    let found = (error.code(), error.outcome());
    assert_eq!(found, (ErrorCode::Configuration, Outcome::NotSent));
    let text = error.to_string();
    assert!(
        text.contains("journal") && !text.contains("journal.db"),
        "{text}"
    );
    host.call("mcp/s/r", Arguments::none())
        .await
        .expect("it reads only");
    std::fs::remove_dir(&path).expect("it is a folder");
    host.call("mcp/s/w", Arguments::none())
        .await
        .expect("recorded again");
    journal.written().await;
    let flows: Vec<String> = entries(&path).into_iter().map(|entry| entry.flow).collect();
    assert_eq!(flows, ["mcp/s/r", "mcp/s/w"]);
}

/// J1, O4: the wait for the record counts against the call's deadline; what was not recorded by then is not sent.
#[tokio::test]
async fn the_wait_for_the_record_is_bounded() {
    let (_folder, path, journal, host) = recording(Texts::Digests);
    let server = Script::new().serve(Serve::new().tools(["t"]).calls(CallRule::Echo));
    serving(&host, &server.server()).await;
    host.call("mcp/s/t", Arguments::none())
        .await
        .expect("answered");
    journal.written().await;
    let stuck = Arc::new(AtomicBool::new(true));
    let blocker = {
        let (path, stuck) = (path.clone(), Arc::clone(&stuck));
        let (tell, told) = std::sync::mpsc::channel();
        let blocker = std::thread::spawn(move || {
            let connection = rusqlite::Connection::open(path).expect("opens");
            connection
                .execute_batch("BEGIN IMMEDIATE")
                .expect("it is free");
            tell.send(()).expect("awaited");
            while stuck.load(Ordering::SeqCst) {
                seawall_testkit::pause(Duration::from_millis(10));
            }
            connection.execute_batch("ROLLBACK").expect("ends");
        });
        told.recv().expect("it is blocked");
        blocker
    };
    let call = host.call("mcp/s/t", Arguments::none());
    let error = call.timeout(Duration::from_millis(200)).await;
    let error = error.expect_err("too late");
    let found = (error.code(), error.outcome());
    assert_eq!(found, (ErrorCode::Timeout, Outcome::NotSent));
    stuck.store(false, Ordering::SeqCst);
    blocker.join().expect("ends");
    journal.written().await;
    let ends: Vec<_> = entries(&path)
        .into_iter()
        .map(|entry| entry.outcome)
        .collect();
    assert_eq!(ends, [Some("answered"), Some("not_sent")]);
}

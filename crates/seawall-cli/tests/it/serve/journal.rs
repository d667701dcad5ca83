//! The journal of the gateway (J1).

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use seawall_testkit::{CallRule, HttpAct, HttpPeer, HttpRequest, Script, Serve, wait_until};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{LONG, Raw};
use crate::support::{Config, run, seawall};

/// How many calls are made in all.
const MANY: u64 = 1_000;
/// How many of them are under way at once.
const AT_ONCE: usize = 64;

fn kill(pid: u32) {
    let sent = Command::new("kill")
        .args(["-s", "KILL", &pid.to_string()])
        .status();
    assert!(sent.expect("kill runs").success());
}

fn shown(path: &Path, more: &[&str]) -> Vec<Value> {
    let path = path.to_str().expect("UTF-8");
    let mut args = vec!["journal", "--json", "--limit", "10000", "--journal", path];
    args.extend(more);
    let ran = run(&args).exits(0);
    let lines = ran.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON lines"))
        .collect()
}

fn outcomes(path: &Path) -> Vec<Value> {
    let calls = shown(path, &[]);
    calls.iter().map(|call| call["outcome"].clone()).collect()
}

/// A server behind a URL with the tool `t`; each of its calls is told.
fn told_of_calls(tell: impl Fn(u64) + Send + Sync + 'static) -> HttpPeer {
    HttpPeer::start(move |_, request: &HttpRequest| {
        if request.method != "POST" {
            return vec![HttpAct::answer(405, &[], "")];
        }
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let Some(id) = message.get("id") else {
            return vec![HttpAct::answer(202, &[], "")];
        };
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            }),
            "tools/list" => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
            _ => {
                tell(message["params"]["arguments"]["n"].as_u64().expect("n"));
                json!({"content": []})
            }
        };
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        vec![HttpAct::json(200, &answer.to_string())]
    })
}

fn sha256(n: u64) -> String {
    let digest = Sha256::digest(format!("{{\"n\":{n}}}"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// J1: the gateway is killed in the middle of a thousand calls: each that the server heard of is in the journal, as answered
/// or `no_response`, once.
#[test]
fn a_kill_loses_no_call() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let peer = {
        let heard = Arc::clone(&heard);
        told_of_calls(move |n| heard.lock().expect("no panic").push(n))
    };
    let entry = json!({"url": peer.url("/mcp"), "protocol": "legacy"});
    let config = Config::of(&[("s", entry)]);
    let path = config.folder().join("journal.db");
    let mut raw = Raw::start(&config, &["--journal", path.to_str().expect("UTF-8")]);
    assert_eq!(raw.names(), ["s__t"]);
    let pid = raw.child.id();
    let answered = Arc::new(AtomicUsize::new(0));
    let reading = {
        let answered = Arc::clone(&answered);
        let lines = raw.lines.take().expect("nobody reads yet");
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                assert!(line.contains("\"result\""), "{line}");
                if answered.fetch_add(1, Ordering::SeqCst) + 1 == 400 {
                    kill(pid);
                }
            }
        })
    };
    for n in 0..MANY {
        let sent = usize::try_from(n).expect("few");
        let room = wait_until(LONG, || {
            answered.load(Ordering::SeqCst) + AT_ONCE > sent
                || raw.child.try_wait().expect("a child").is_some()
        });
        assert!(room);
        let call = json!({"name": "s__t", "arguments": {"n": n}});
        let message =
            json!({"jsonrpc": "2.0", "id": 1_000 + n, "method": "tools/call", "params": call});
        let stdin = raw.stdin.as_mut().expect("open");
        if writeln!(stdin, "{message}").is_err() {
            break;
        }
    }
    assert!(wait_until(LONG, || raw
        .child
        .try_wait()
        .expect("a child")
        .is_some()));
    reading.join().expect("nothing but results");

    let heard = heard.lock().expect("no panic").clone();
    assert!((400..1_000).contains(&heard.len()), "{}", heard.len());
    let mut found: HashMap<String, Vec<Value>> = HashMap::new();
    for call in shown(&path, &[]) {
        let digest = call["argumentsSha256"].as_str().expect("a digest");
        found
            .entry(digest.to_owned())
            .or_default()
            .push(call["outcome"].clone());
    }
    for n in &heard {
        let outcomes = found.get(&sha256(*n)).cloned().unwrap_or_default();
        assert!(
            outcomes == ["answered"] || outcomes == ["no_response"],
            "call {n}: {outcomes:?}"
        );
    }
    let all: Vec<Value> = found.into_values().flatten().collect();
    let known = ["answered", "no_response", "not_sent"];
    assert!(
        all.iter()
            .all(|outcome| known.iter().any(|known| outcome == known))
    );

    // The next one goes on in the same file.
    let mut next = Raw::start(&config, &["--journal", path.to_str().expect("UTF-8")]);
    let before = all.len();
    assert!(next.call("s__t", &json!({"n": 7_000}))["result"].is_object());
    assert!(wait_until(LONG, || shown(&path, &[]).len() == before + 1));
}

fn never() -> Script {
    Script::new().serve(
        Serve::new()
            .tools(["t", "never"])
            .calls_of("never", CallRule::Never),
    )
}

fn journal_of(config: &Config) -> PathBuf {
    config
        .folder()
        .join("state")
        .join("seawall")
        .join("journal.db")
}

/// J1: two gateways share the journal that is there by default; a call under way in one that was killed is `no_response`,
/// one in the other is still under way.
#[test]
fn two_gateways_share_a_journal() {
    let config = Config::scripted(&never());
    let path = journal_of(&config);
    let mut both = [Raw::start(&config, &[]), Raw::start(&config, &[])];
    for raw in &mut both {
        assert!(raw.call("s__t", &json!({}))["result"].is_object());
        raw.send("tools/call", &json!({"name": "s__never"}));
    }
    assert!(wait_until(LONG, || {
        let all = outcomes(&path);
        all.len() == 4 && all.iter().filter(|outcome| **outcome == "answered").count() == 2
    }));
    kill(both[0].child.id());
    both[0].child.wait().expect("a child");
    let mut all: Vec<String> = outcomes(&path).iter().map(Value::to_string).collect();
    all.sort();
    assert_eq!(
        all,
        ["\"answered\"", "\"answered\"", "\"no_response\"", "null"]
    );
    let unknown = shown(&path, &["--outcome", "no_response"]);
    assert_eq!(unknown.len(), 1);
    assert_eq!(unknown[0]["flow"], "mcp/s/never");
    assert!(shown(&path, &["--server", "other"]).is_empty());
    assert!(shown(&path, &["--since", "2100-01-01"]).is_empty());
    assert_eq!(shown(&path, &["--since", "10m"]).len(), 4);

    // People see the same.
    let table = config.run(&["journal"]).exits(0).stdout;
    let mut rows = table.lines();
    let heading: Vec<&str> = rows.next().expect("a heading").split_whitespace().collect();
    assert_eq!(
        heading,
        [
            "ID", "WHEN", "FLOW", "CALLER", "OUTCOME", "TOOK", "SENT", "GOT"
        ]
    );
    assert!(
        table.contains("mcp/s/never") && table.contains("under way"),
        "{table}"
    );
}

/// J1: an end of the gateway in order leaves every call with its end.
#[test]
fn an_end_in_order_leaves_nothing_open() {
    let config = Config::scripted(&never());
    let mut raw = Raw::start(&config, &[]);
    assert!(raw.call("s__t", &json!({}))["result"].is_object());
    raw.send("tools/call", &json!({"name": "s__never"}));
    let path = journal_of(&config);
    assert!(wait_until(LONG, || path.exists() && outcomes(&path).len() == 2));
    raw.stdin = None;
    assert!(wait_until(LONG, || raw
        .child
        .try_wait()
        .expect("a child")
        .is_some()));
    assert_eq!(outcomes(&path), ["answered", "no_response"]);
}

/// J1: without one asked for there is none, and whoever looks is told so.
#[test]
fn off_is_off_and_nothing_is_said_kindly() {
    let config = Config::scripted(&never());
    let mut raw = Raw::start(&config, &["--journal", "off"]);
    assert!(raw.call("s__t", &json!({}))["result"].is_object());
    drop(raw);
    assert!(!journal_of(&config).exists());
    let ran = config.run(&["journal"]).exits(0);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.contains("there is no journal yet"),
        "{}",
        ran.stderr
    );
    let ran = config.run(&["journal", "--json"]).exits(0);
    assert_eq!(ran.stdout, "");
    let named = ["journal", "--journal", "/nonexistent/journal.db"];
    assert!(run(&named).exits(2).stderr.contains("cannot be read"));
    let since = run(&["journal", "--since", "soon"]).exits(2);
    assert!(
        since.stderr.contains("--since soon: write an age"),
        "{}",
        since.stderr
    );
}

/// J1: a journal that cannot be written is no reason to go without: nothing is started, and the remedy is named.
#[test]
fn a_journal_that_cannot_be_opened_is_refused() {
    let ran = run(&["serve", "--demo", "--journal", "/dev/null/journal.db"]).exits(2);
    for part in ["/dev/null/journal.db", "--journal PATH", "--journal off"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    assert!(!ran.stderr.contains("connecting"), "{}", ran.stderr);
}

/// J1: a damaged journal is set aside whole, with a warning.
#[test]
fn a_damaged_journal_is_set_aside_with_a_warning() {
    let config = Config::scripted(&never());
    let path = config.folder().join("journal.db");
    let garbage = "garbage ".repeat(2_000);
    std::fs::write(&path, &garbage).expect("written");
    let mut child = config
        .command(&["serve", "--journal", path.to_str().expect("UTF-8")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let stderr = child.stderr.take().expect("piped");
    let told: Vec<String> = BufReader::new(stderr)
        .lines()
        .map_while(Result::ok)
        .collect();
    child.wait().expect("it ends with its input");
    let warning = told
        .iter()
        .find(|line| line.contains("the journal was damaged"));
    let warning = warning.unwrap_or_else(|| panic!("{told:?}"));
    assert!(warning.contains("journal.db.damaged-"), "{warning}");
    let aside = std::fs::read_dir(config.folder())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.to_string_lossy().contains(".damaged-"));
    let aside = std::fs::read_to_string(aside.expect("set aside")).expect("readable");
    assert_eq!(aside, garbage);
    assert!(shown(&path, &[]).is_empty());
}

/// J1: whoever follows the journal sees each call when it has ended, also if the journal is not there yet.
#[test]
fn it_is_followed() {
    let config = Config::scripted(&never());
    let path = journal_of(&config);
    let mut follower = config
        .command(&["journal", "--follow", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let lines = BufReader::new(follower.stdout.take().expect("piped")).lines();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    let mut raw = Raw::start(&config, &[]);
    raw.send("tools/call", &json!({"name": "s__never"}));
    for n in 0..3 {
        assert!(raw.call("s__t", &json!({"n": n}))["result"].is_object());
    }
    let next = || -> Value {
        let line = told.recv_timeout(LONG).expect("a line");
        serde_json::from_str(&line).expect("JSON")
    };
    for _ in 0..3 {
        let call = next();
        assert_eq!(
            (&call["flow"], &call["outcome"]),
            (&json!("mcp/s/t"), &json!("answered"))
        );
    }
    kill(raw.child.id());
    assert_eq!(next()["outcome"], "no_response");
    kill(follower.id());
    follower.wait().expect("a child");
    assert!(path.exists());
    let help = seawall(&["journal", "--help"]).output().expect("it runs");
    insta::assert_snapshot!(String::from_utf8(help.stdout).expect("UTF-8"));
}

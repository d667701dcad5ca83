//! Ctrl-C and SIGTERM: the call is cancelled, the server is told and ended, and the outcome is the exit status.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use seawall_testkit::{Grandchild, Script, Serve, Until, is_alive, wait_for_pid, wait_until};

use crate::support::{Config, Ran};

/// What ends the program in order. Elsewhere than on Linux the end of the terminal is left to itself.
const INTERRUPTS: &[&str] = if cfg!(target_os = "linux") {
    &["INT", "TERM", "HUP"]
} else {
    &["INT", "TERM"]
};

/// Far longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

fn start(config: &Config, args: &[&str]) -> Child {
    config
        .command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs")
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args(["-s", signal, &child.id().to_string()])
        .status();
    assert!(sent.expect("kill runs").success());
}

fn finish(child: Child) -> Ran {
    child.wait_with_output().expect("it ends").into()
}

/// Waits until the server has received a line with these words.
fn wait_for_line(record: &Path, words: &str) {
    let seen = || std::fs::read_to_string(record).is_ok_and(|text| text.contains(words));
    assert!(wait_until(LONG, seen), "no {words}");
}

/// BEHAVIOUR S8, T1: a call that was sent is cancelled once, its outcome is unknown, and no process is left.
#[test]
fn interrupted_call_is_cancelled_and_leaves_no_child() {
    for signal in INTERRUPTS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (pid, record) = (folder.path().join("pid"), folder.path().join("record"));
        let grandchild = folder.path().join("grandchild");
        let script = Script::new()
            .write_pid(&pid)
            .fork(Grandchild::new(&grandchild))
            .record(&record)
            .serve(
                Serve::new()
                    .tools(["t"])
                    .calls(seawall_testkit::CallRule::Never),
            );
        let config = Config::scripted(&script);
        let child = start(&config, &["call", "mcp/s/t", "--json"]);
        wait_for_line(&record, "tools/call");
        send(signal, &child);
        let ran = finish(child).exits(6);
        assert_eq!(ran.json()["error"]["outcome"], "no_response");
        let received = std::fs::read_to_string(&record).expect("recorded");
        assert_eq!(
            received.matches("notifications/cancelled").count(),
            1,
            "{received}"
        );
        for file in [&pid, &grandchild] {
            let pid = wait_for_pid(file, LONG).expect("a pid");
            assert!(wait_until(LONG, || !is_alive(pid)), "{pid} is left");
        }
    }
}

/// BEHAVIOUR O2: a signal before the handshake is over: nothing of the call was sent.
#[test]
fn interrupted_connect_is_not_sent_and_leaves_no_child() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pid = folder.path().join("pid");
    let config = Config::scripted(&Script::new().ignore_sigterm().write_pid(&pid).hang());
    let child = start(&config, &["call", "mcp/s/t", "--json"]);
    let server = wait_for_pid(&pid, LONG).expect("a pid");
    send("INT", &child);
    let ran = finish(child).exits(3);
    assert_eq!(ran.json()["error"]["outcome"], "not_sent");
    assert!(wait_until(LONG, || !is_alive(server)), "{server} is left");
}

/// BEHAVIOUR T1: a second signal does not wait for a server that takes its time to end.
#[test]
fn second_signal_ends_everything_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (pid, record) = (folder.path().join("pid"), folder.path().join("record"));
    let script = Script::new()
        .ignore_sigterm()
        .write_pid(&pid)
        .record(&record)
        .serve(Serve::new().tools(["t"]).until(Until::Listed))
        .expect("tools/call")
        .hang();
    let config = Config::scripted(&script);
    let mut child = start(&config, &["call", "mcp/s/t"]);
    wait_for_line(&record, "tools/call");
    send("INT", &child);
    // It says what became of the call before it ends the server; two signals at once would count as one.
    let mut said = String::new();
    let mut stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
    stderr.read_line(&mut said).expect("it says something");
    assert!(said.contains("the call was cancelled"), "{said}");
    let begun = Instant::now();
    send("INT", &child);
    finish(child).exits(6);
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
    let server = wait_for_pid(&pid, LONG).expect("a pid");
    assert!(wait_until(LONG, || !is_alive(server)), "{server} is left");
}

/// A stdout that nobody reads blocks the program; another signal ends it all the same, and no process is left.
#[test]
fn second_signal_ends_what_is_stuck_on_stdout() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pid = folder.path().join("pid");
    // More than a pipe holds.
    let serve = Serve::new()
        .tools(["t"])
        .calls(seawall_testkit::CallRule::Text(500_000));
    let config = Config::scripted(&Script::new().write_pid(&pid).serve(serve));
    let mut child = start(&config, &["call", "mcp/s/t"]);
    let server = wait_for_pid(&pid, LONG).expect("it started");
    // It is stuck once it has written what fits; there is no sign of that, so it is given a moment.
    seawall_testkit::pause(Duration::from_secs(1));
    send("INT", &child);
    let mut ended = false;
    let mut told = Instant::now();
    assert!(wait_until(LONG, || {
        ended = child.try_wait().expect("waited for").is_some();
        // Again where it had not seen the first one yet: two at once count as one.
        if !ended && told.elapsed() > Duration::from_secs(2) {
            send("INT", &child);
            told = Instant::now();
        }
        ended
    }));
    assert!(wait_until(LONG, || !is_alive(server)), "the server is left");
}

/// BEHAVIOUR T1: however the program ends, nobody is left within five seconds: no server, deaf or not, and no orphan in a
/// session of its own, begun before the handshake or during the call.
#[test]
fn nobody_outlives_the_program() {
    let bound = Duration::from_secs(5);
    for ending in ["close", "INT", "TERM", "KILL"] {
        for (deaf, early) in [(false, false), (false, true), (true, false), (true, true)] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let (own, orphan) = (folder.path().join("own"), folder.path().join("orphan"));
            let mut leaves = vec![Grandchild::new(&orphan)];
            if cfg!(target_os = "linux") {
                leaves.push(
                    Grandchild::new(folder.path().join("stray"))
                        .in_own_session()
                        .orphaned()
                        .ignoring_sigterm(),
                );
            }
            let fork = |script: Script| leaves.iter().cloned().fold(script, Script::fork);
            let mut script = Script::new();
            if deaf {
                script = script.ignore_sigterm();
            }
            if early {
                script = fork(script);
            }
            script = script
                .serve(Serve::new().tools(["t"]).until(Until::Listed))
                .expect("tools/call");
            if !early {
                script = fork(script);
            }
            script = script.write_pid(&own);
            if ending == "close" {
                script = script.reply(r#"{"content":[]}"#);
            }
            let config = Config::scripted(&script.hang());
            let child = start(&config, &["call", "mcp/s/t", "--json"]);
            let mut pids = vec![wait_for_pid(&own, LONG).expect("a pid")];
            let files = ["orphan", "stray"].map(|name| folder.path().join(name));
            let forked = files.iter().take(leaves.len());
            pids.extend(forked.map(|file| wait_for_pid(file, LONG).expect("a pid")));
            let begun = Instant::now();
            if ending != "close" {
                send(ending, &child);
            }
            finish(child);
            for pid in pids {
                let left = bound.saturating_sub(begun.elapsed());
                assert!(
                    wait_until(left, || !is_alive(pid)),
                    "{pid} is left after {ending}, deaf: {deaf}, early: {early}"
                );
            }
        }
    }
}

/// Whoever starts it with `nohup` wants it to outlive the terminal.
#[test]
fn hangup_that_is_ignored_stays_ignored() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let record = folder.path().join("record");
    let script = Script::new().record(&record).serve(
        Serve::new()
            .tools(["t"])
            .calls(seawall_testkit::CallRule::Never),
    );
    let config = Config::scripted(&script);
    let plain = config.command(&["call", "mcp/s/t", "--json", "--timeout", "1500"]);
    let mut child = Command::new("sh");
    child
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(plain.get_program())
        .args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => child.env(name, value),
            None => child.env_remove(name),
        };
    }
    let child = child
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    wait_for_line(&record, "tools/call");
    send("HUP", &child);
    assert_eq!(finish(child).exits(6).json()["error"]["code"], "timeout");
}

/// L6, S8: a flood of noise keeps neither the command from its deadline nor the server from its end.
#[test]
fn deadline_is_noticed_in_the_middle_of_a_flood() {
    let flood = Script::new()
        .serve(Serve::new().tools(["slow"]).until(Until::Listed))
        .expect("tools/call")
        .flood("noise\n".repeat(1024), u64::MAX);
    let config = Config::scripted(&flood);
    let begun = Instant::now();
    let ran = config.run(&["call", "mcp/s/slow", "--timeout", "500"]);
    let took = begun.elapsed();
    assert_eq!(ran.status, Some(6), "{}", ran.stderr);
    assert!(took < LONG / 2, "{took:?}");
}

/// BEHAVIOUR O2: what is true of a call is true of every request: one that the server has is not known not to be carried
/// out, and one that never went out was not sent, whatever went before it.
#[test]
fn interrupted_request_says_whether_the_server_has_it() {
    let offers = Serve::new()
        .tools(["t"])
        .capabilities(r#"{"tools":{},"resources":{},"prompts":{}}"#)
        .until(Until::Listed);
    let prompts = r#"{"prompts":[{"name":"p"}]}"#;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let record = folder.path().join("record");
    let listed = Script::new().record(&record).serve(offers);
    let read = listed.clone().expect("resources/read").hang();
    let prompt = listed
        .clone()
        .expect("prompts/list")
        .reply(prompts)
        .expect("prompts/get")
        .hang();
    let unlisted = listed.expect("prompts/list").hang();
    for (script, args, seen, status, outcome) in [
        (
            read,
            ["read", "x://y", "--server=s", "--json"],
            "resources/read",
            6,
            "no_response",
        ),
        (
            prompt,
            ["prompt", "p", "--server=s", "--json"],
            "prompts/get",
            6,
            "no_response",
        ),
        (
            unlisted,
            ["prompt", "p", "--server=s", "--json"],
            "prompts/list",
            3,
            "not_sent",
        ),
    ] {
        // Its server is not started yet.
        let _ = std::fs::remove_file(&record);
        let config = Config::scripted(&script);
        let child = start(&config, &args);
        wait_for_line(&record, seen);
        send("INT", &child);
        let ran = finish(child).exits(status);
        assert_eq!(ran.json()["error"]["outcome"], outcome, "{args:?}");
    }
}

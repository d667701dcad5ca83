//! What people see.

use seawall_testkit::{Script, Serve};
use serde_json::json;

use super::*;
use crate::terminal::{Terminal, finish};

/// BEHAVIOUR H7: on a terminal the servers stand in a table that is drawn again in its place, without colour where none is
/// wanted; a stdout that is no terminal gets its lines all the same.
#[test]
fn terminal_shows_a_table() {
    let server = Script::new().serve(Serve::new().tools(["t", "u"])).server();
    let ill = json!({"command": "/nonexistent/server"});
    let config = Config::of(&[("well", server.entry()), ("ill", ill)]);
    let terminal = Terminal::open();
    let child = terminal.run(&config, &["run"], None);
    terminal.wait_for("1 of 2 up");
    terminal.wait_for("next in ");
    let shown = terminal.screen();
    let last = shown.rfind("SERVER").map(|at| &shown[at..]);
    let last = last.expect("a heading");
    for words in [
        "STATE",
        "REVISION",
        "waiting",
        "the command was not found",
        "2025-11-25",
    ] {
        assert!(last.contains(words), "no {words}: {last:?}");
    }
    assert!(!shown.contains("\u{1b}[1m"), "colour: {shown:?}");
    send("TERM", &child);
    let ran = finish(child).exits(0);
    assert!(ran.stdout.contains("well: 2 tools\n"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("stopped; every server is gone\n"));
    terminal.wait_for("stopped; every server is gone");
}

/// BEHAVIOUR T1: SIGHUP is the end where the terminal went, and a reading of the configuration where it did not.
#[cfg(target_os = "linux")]
#[test]
fn lost_terminal_ends_the_run() {
    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use seawall_testkit::{is_alive, wait_for_pid};

    let folder = tempfile::tempdir().expect("a temporary folder");
    let pid = folder.path().join("pid");
    let config = Config::scripted(&plain(&pid));
    // Were it inherited, the terminal would not go.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).expect("a terminal");
    grantpt(&master).expect("granted");
    unlockpt(&master).expect("unlocked");
    let name = ptsname(&master, Vec::new()).expect("a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let device = rustix::fs::open(name, flags, Mode::empty()).expect("the device");
    let mut command = config.command(&["run", "--json"]);
    command.stdin(Stdio::from(device));
    let running = Running::spawn(command);
    running.wait_for("started", "", 1);
    running.signal("HUP");
    running.wait_for("reloaded", "", 1);
    let server = wait_for_pid(&pid, LONG).expect("a pid");
    drop(master);
    running.signal("HUP");
    running.finish().0.exits(0);
    assert!(!is_alive(server));
}

/// BEHAVIOUR H7: without a terminal there is one line per event.
#[test]
fn events_are_lines_for_people() {
    let config = Config::of(&[]);
    let mut command = config.command(&["run", "--demo"]);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let expected = [
        "demo: connecting",
        "demo: connected",
        "demo: 6 tools",
        "started: 1 up",
    ];
    for words in expected {
        assert_eq!(lines.next().expect("a line").expect("text"), words);
    }
    send("TERM", &child);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

//! However a run ends, nobody is left.

use std::path::Path;
use std::time::Instant;

use seawall_testkit::{Grandchild, Script, Serve, Until, is_alive, wait_for_pid, wait_until};
use serde_json::json;

use super::*;

/// Every kind of server, and the files in which their processes tell their numbers.
fn servers(folder: &Path) -> (Vec<(&'static str, Value)>, Vec<std::path::PathBuf>) {
    let file = |name: &str| folder.join(name);
    let serve = || Serve::new().tools(["t"]);
    let plain = plain(&file("plain")).server();
    let wrapped = Script::new()
        .fork(Grandchild::new(file("beside")))
        .write_pid(file("wrapped"))
        .serve(serve())
        .server();
    let deaf = Script::new()
        .ignore_sigterm()
        .fork(Grandchild::new(file("deaf child")).ignoring_sigterm())
        .write_pid(file("deaf"))
        .serve(serve().until(Until::Listed))
        .hang()
        .server();
    let mut names = vec!["plain", "wrapped", "beside", "deaf", "deaf child"];
    let mut forking = Script::new();
    // Elsewhere who left the group is not found.
    if cfg!(target_os = "linux") {
        let stray = Grandchild::new(file("stray"))
            .in_own_session()
            .orphaned()
            .ignoring_sigterm();
        forking = forking.fork(stray);
        names.push("stray");
    }
    let forking = forking.write_pid(file("forking")).serve(serve()).server();
    names.push("forking");
    // The shell stays, for it has something to do after.
    let mut wrapper = vec![
        json!("-c"),
        json!("\"$0\" \"$@\"; true"),
        json!(wrapped.program),
    ];
    wrapper.extend(wrapped.args.iter().map(|arg| json!(arg)));
    let entries = vec![
        ("plain", plain.entry()),
        ("wrapper", json!({"command": "sh", "args": wrapper})),
        ("deaf", deaf.entry()),
        ("forking", forking.entry()),
    ];
    (entries, names.into_iter().map(file).collect())
}

/// BEHAVIOUR T1, H4: plain, behind a wrapper, deaf to SIGTERM, forked twice into another session: within five seconds of
/// SIGTERM, of a second one, or of SIGKILL, every process of every server is gone.
#[test]
fn nobody_outlives_a_run() {
    for ending in ["TERM", "TERM TERM", "KILL"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (entries, files) = servers(folder.path());
        let config = Config::of(&entries);
        let running = Running::start(&config, &[]);
        running.wait_for("started", "", 1);
        assert_eq!(running.count("connected", ""), 4);
        let pids: Vec<u32> = files
            .iter()
            .map(|file| wait_for_pid(file, LONG).expect("a pid"))
            .collect();
        let begun = Instant::now();
        match ending {
            "TERM TERM" => {
                running.signal("TERM");
                running.wait_for("stopping", "", 1);
                running.signal("TERM");
            }
            signal => running.signal(signal),
        }
        let (ran, _) = running.finish();
        match ending {
            "TERM" => assert_eq!(ran.status, Some(0), "{ran:?}"),
            "TERM TERM" => assert_eq!(ran.status, Some(6), "{ran:?}"),
            _ => assert_eq!(ran.status, None),
        }
        for (pid, file) in pids.into_iter().zip(&files) {
            let left = Duration::from_secs(5).saturating_sub(begun.elapsed());
            assert!(
                wait_until(left, || !is_alive(pid)),
                "{} is left after {ending}",
                file.display()
            );
        }
    }
}

//! `seawall run`: servers kept up, events told, configurations read again, nobody left.

mod keeping;
mod nobody;
mod reading;
mod showing;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seawall_testkit::{Script, wait_until};
use serde_json::Value;

use crate::support::{Config, Ran};

/// Far longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// A run under way, and what it has told so far.
pub(crate) struct Running {
    child: Option<Child>,
    told: Arc<Mutex<Vec<Value>>>,
}

impl Running {
    /// Starts `run --json`.
    pub(crate) fn start(config: &Config, args: &[&str]) -> Self {
        let mut all = vec!["run", "--json"];
        all.extend(args);
        Self::spawn(config.command(&all))
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let told: Arc<Mutex<Vec<Value>>> = Arc::default();
        let hears = Arc::clone(&told);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let value = serde_json::from_str(&line).expect("a line of JSON");
                hears.lock().expect("the lines").push(value);
            }
        });
        Self {
            child: Some(child),
            told,
        }
    }

    pub(crate) fn told(&self) -> Vec<Value> {
        self.told.lock().expect("the lines").clone()
    }

    fn count(&self, event: &str, server: &str) -> usize {
        let told = self.told();
        let fits = |line: &&Value| {
            line["event"] == event && (server.is_empty() || line["server"] == server)
        };
        told.iter().filter(fits).count()
    }

    /// Waits for so many events of this kind, of this server if it is named; the last of them.
    #[track_caller]
    pub(crate) fn wait_for(&self, event: &str, server: &str, count: usize) -> Value {
        let seen = wait_until(LONG, || self.count(event, server) >= count);
        assert!(seen, "no {count} {event} of `{server}`: {:#?}", self.told());
        let told = self.told();
        let found = told
            .iter()
            .rev()
            .find(|line| line["event"] == event && (server.is_empty() || line["server"] == server));
        found.expect("it was seen").clone()
    }

    pub(crate) fn signal(&self, signal: &str) {
        send(signal, self.child.as_ref().expect("it runs"));
    }

    /// Waits for the end. Its stdout is in `told`.
    #[track_caller]
    pub(crate) fn finish(mut self) -> (Ran, Vec<Value>) {
        let child = self.child.take().expect("it runs");
        let ran = child.wait_with_output().expect("it ends").into();
        // The reader ends with the pipe.
        wait_until(LONG, || Arc::strong_count(&self.told) == 1);
        let told = self.told.lock().expect("the lines").clone();
        (ran, told)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Of a test that failed.
        if let Some(mut child) = self.child.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// A server with one tool that tells its number.
fn plain(pid: &std::path::Path) -> Script {
    Script::new()
        .write_pid(pid)
        .serve(seawall_testkit::Serve::new().tools(["t"]))
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args(["-s", signal, &child.id().to_string()])
        .status();
    assert!(sent.expect("kill runs").success());
}

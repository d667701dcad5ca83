//! A server over HTTP that somebody else wrote, or that stands on their SDK, for as long as a test needs it.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a server may take to say its URL: many start at once, on machines with few cores.
const START: Duration = Duration::from_secs(60);

/// A running server that printed its URL, `http://127.0.0.1:…`, as a line of its own.
///
/// # Drop behavior
/// The process is killed, by its own id, and reaped.
#[derive(Debug)]
pub struct RealPeer {
    /// Its stdin stays open in here: a peer of ours ends with it, also if the test is killed.
    child: Child,
    url: String,
}

impl RealPeer {
    /// Starts a server and waits for its URL.
    ///
    /// # Panics
    /// If it cannot be started, or says no URL within a minute: a test cannot go on without its server.
    #[must_use]
    #[expect(clippy::panic, reason = "a test cannot go on without its server")]
    pub fn start<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        command: &str,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
        env: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let started = Command::new(command)
            .args(args)
            .envs(env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let child = started.unwrap_or_else(|error| panic!("{command} did not start: {error}"));
        let mut peer = Self {
            child,
            url: String::new(),
        };
        let Some(stdout) = peer.child.stdout.take() else {
            panic!("{command} has no stdout");
        };
        let (tell, told) = mpsc::channel();
        // It ends with the server's stdout, which is read to its end so that the server never waits for a reader.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if line.starts_with("http://127.0.0.1:") {
                    drop(tell.send(line));
                }
            }
        });
        match told.recv_timeout(START) {
            Ok(url) => peer.url = url,
            Err(_) => panic!("{command} said no URL within {START:?}"),
        }
        peer
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for RealPeer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

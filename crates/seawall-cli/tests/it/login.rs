//! `seawall login`, `seawall logout`, and what the other commands do with a login.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use seawall_testkit::HttpPeer;
use serde_json::{Value, json};

use crate::support::{Config, Ran, run};
use crate::web::wanting_login;

/// A configuration with the server `s`, and a place to keep its login.
pub(crate) struct World {
    /// Where its authorization server is.
    pub(crate) issuer: String,
    pub(crate) config: Config,
    /// What serves it, until this value goes.
    _peer: Box<dyn std::any::Any>,
}

impl World {
    fn new() -> Self {
        Self::of(wanting_login(), &json!({}))
    }

    /// With `peer`, and more in its entry than its URL.
    pub(crate) fn of(peer: HttpPeer, more: &Value) -> Self {
        let mut entry = more.clone();
        entry["url"] = json!(peer.url("/mcp"));
        Self {
            issuer: peer.url(""),
            config: Config::of(&[("s", entry)]),
            _peer: Box::new(peer),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.config.command(args);
        command
            .env("XDG_DATA_HOME", self.config.folder().join("data"))
            .env("CLIENT_SECRET", "the-secret-of-a-client");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().expect("the binary runs").into()
    }

    /// Logs in as somebody who opens the address that is printed, and is let in.
    pub(crate) fn log_in(&self, args: &[&str]) -> Ran {
        self.log_in_by(args, |address| answer(address, &self.issuer))
    }

    /// Logs in, with `open` in place of a browser.
    fn log_in_by(&self, args: &[&str], open: impl FnOnce(&str)) -> Ran {
        let mut child = self
            .command(&[&["login", "s", "--no-browser"], args].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            let read = stderr.read_line(&mut line).expect("stderr is read");
            assert!(read > 0, "no address: {said}");
            said.push_str(&line);
            if line.trim().starts_with("http://") {
                break line.trim().to_owned();
            }
        };
        open(&address);
        stderr.read_to_string(&mut said).expect("stderr is read");
        let mut ran: Ran = child.wait_with_output().expect("it ends").into();
        ran.stderr = said;
        ran
    }
}

/// Comes back from the authorization server with a code.
pub(crate) fn answer(address: &str, issuer: &str) {
    let parameter = |name: &str| {
        let query = address.split_once('?').expect("a query").1;
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(key, _)| *key == name);
        found.expect(name).1.replace("%3A", ":").replace("%2F", "/")
    };
    let redirect = parameter("redirect_uri");
    let (host, path) = redirect
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .expect("a local address");
    let mut stream = TcpStream::connect(host).expect("somebody listens");
    let state = parameter("state");
    write!(
        stream,
        "GET /{path}?code=c&state={state}&iss={issuer} HTTP/1.1\r\nHost: {host}\r\n\r\n"
    )
    .expect("is sent");
    let mut page = String::new();
    stream.read_to_string(&mut page).expect("is answered");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
}

/// BEHAVIOUR T5: without a login, and without a terminal, the refusal says what to do; with one, calls go through, in
/// this and later runs, until it is forgotten.
#[test]
fn login_is_kept_until_logout() {
    let world = World::new();
    let call = ["call", "mcp/s/greet", "who=you"];
    let refused = world.run(&[&call[..], &["--json"]].concat()).exits(3);
    let error = &refused.json()["error"];
    assert_eq!(error["httpStatus"], 401);
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("seawall login s"), "{message}");
    let tools = world.run(&["tools", "--json"]).exits(4);
    assert_eq!(tools.json()["error"]["outcome"], "error_response");

    let ran = world.log_in(&[]).exits(0);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr
            .contains("logging in to \"s\" at http://127.0.0.1:"),
        "{ran:?}"
    );
    assert!(
        ran.stderr.contains("s: logged in at http://127.0.0.1:"),
        "{ran:?}"
    );

    let called = world.run(&call).exits(0);
    assert_eq!(called.stdout, "hello, you\n");
    for tools in [&["tools"][..], &["tools", "-v"], &["tools", "--json"]] {
        let tools = world.run(tools).exits(0);
        let said = tools.stderr.matches("logged in at http://127.0.0.1:");
        assert_eq!(said.count(), 1, "{tools:?}");
    }
    let doctor = world.run(&["doctor", "--json"]).exits(0).json();
    assert_eq!(doctor[0]["login"]["state"], "logged_in");
    assert_eq!(doctor[0]["login"]["scopes"], json!(["greet"]));

    let out = world.run(&["logout", "s", "--json"]).exits(0);
    assert_eq!(out.json(), json!({"server": "s", "state": "logged_out"}));
    world.run(&call).exits(3);
    let doctor = world.run(&["doctor"]).exits(4);
    assert!(
        doctor.stdout.contains("log in: `seawall login s`"),
        "{doctor:?}"
    );
    assert!(doctor.stdout.contains("logged out"), "{doctor:?}");
}

#[test]
fn login_says_json_and_asks_for_scopes() {
    let world = World::new();
    let ran = world.log_in(&["--json", "--scope", "more"]).exits(0);
    let json = ran.json();
    assert_eq!(json["server"], "s");
    assert_eq!(json["state"], "logged_in");
    assert!(
        json["expiresInS"].as_u64().is_some_and(|left| left > 3500),
        "{json}"
    );
    let asked = ran.stderr.lines().any(|line| line.contains("scope=more"));
    assert!(asked, "{ran:?}");
    // No token is ever shown.
    assert!(!format!("{ran:?}").contains("access-token"), "{ran:?}");
}

/// BEHAVIOUR K8: what cannot be logged in to says why.
#[test]
fn what_has_no_login_is_status_2() {
    let config = Config::of(&[
        (
            "off",
            json!({"url": "https://127.0.0.1:9/", "oauth": false}),
        ),
        (
            "token",
            json!({"url": "https://127.0.0.1:9/", "bearerTokenEnv": "PATH"}),
        ),
    ]);
    for (id, words) in [
        ("off", "\"oauth\": false"),
        ("token", "bearerTokenEnv"),
        ("of", "did you mean `off`?"),
    ] {
        for verb in ["login", "logout"] {
            let ran = config.run(&[verb, id]).exits(2);
            assert!(ran.stderr.contains(words), "{ran:?}");
        }
    }
    let ran = run(&["login", "demo", "--demo"]).exits(2);
    assert!(
        ran.stderr.contains("not behind an http or https URL"),
        "{ran:?}"
    );
}

/// BEHAVIOUR T5: a permission that cannot be asked for is not left out in silence: nothing is requested.
#[test]
fn scope_that_is_none_is_status_2() {
    let config = Config::of(&[("s", json!({"url": "http://127.0.0.1:9/mcp"}))]);
    let ran = config
        .run(&["login", "s", "--no-browser", "--scope", "read write"])
        .exits(2);
    assert!(ran.stderr.contains("a scope is one word"), "{ran:?}");
}

/// An authorization server that does not answer is told as what it is.
#[test]
fn login_that_fails_says_why() {
    let config = Config::of(&[("s", json!({"url": "http://127.0.0.1:9/mcp"}))]);
    let folder = config.folder().join("data");
    let ran: Ran = config
        .command(&["login", "s", "--no-browser", "--json"])
        .env("XDG_DATA_HOME", folder)
        .output()
        .expect("the binary runs")
        .into();
    assert_ne!(ran.status, Some(0), "{ran:?}");
    assert_eq!(ran.json()["error"]["server"], "s");
}

/// A browser in `folder`, and where it writes the address that it is to open.
#[cfg(target_os = "linux")]
pub(crate) fn browser_in(folder: &std::path::Path) -> (std::path::PathBuf, std::path::PathBuf) {
    use std::os::unix::fs::PermissionsExt;

    let (browser, opened) = (folder.join("browser"), folder.join("opened"));
    let script = format!(
        "#!/bin/sh\nprintf '%s' \"$1\" > '{0}.new' && mv '{0}.new' '{0}'\n",
        opened.display()
    );
    std::fs::write(&browser, script).expect("a browser");
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).expect("it runs");
    (browser, opened)
}

/// At a terminal the origin that asks is named, and nothing happens without a yes; after it the call goes through.
#[cfg(target_os = "linux")]
#[test]
fn login_is_offered_at_a_terminal() {
    use std::time::Duration;

    use seawall_testkit::wait_until;

    use crate::terminal::{Terminal, finish};

    let world = World::new();
    let (browser, opened) = browser_in(world.config.folder());
    let call = ["call", "mcp/s/greet", "who=you"];

    let mut terminal = Terminal::open();
    let child = terminal.run(&world.config, &call, Some(&browser));
    let origin = &world.issuer;
    terminal.wait_for(&format!("MCP server \"s\" at {origin} wants a login."));
    terminal.answer("yes or no: ", "no");
    let ran = finish(child).exits(3);
    assert_eq!(ran.stdout, "");
    assert!(!opened.exists(), "nothing is opened without a yes");

    let mut terminal = Terminal::open();
    let child = terminal.run(&world.config, &call, Some(&browser));
    terminal.answer("yes or no: ", "yes");
    assert!(wait_until(Duration::from_secs(20), || opened.exists()));
    let address = std::fs::read_to_string(&opened).expect("an address");
    answer(&address, origin);
    let ran = finish(child).exits(0);
    assert_eq!(ran.stdout, "hello, you\n");
    assert!(world.run(&call).exits(0).stdout.contains("hello"));
}

/// BEHAVIOUR T5: a login at a server of others, with its own registration, authorization and refresh tokens.
#[test]
#[ignore = "needs the peers: `cargo xtask test` installs them and runs this"]
fn a_real_server_is_logged_in_to_and_the_login_renewed() {
    let mut peer = crate::six::peer("guarded-fastmcp");
    for seconds in ["3600", "3"] {
        peer["env"] = json!({"TOKEN_SECONDS": seconds});
        let server = crate::six::start(&peer);
        let world = World {
            issuer: String::new(),
            config: Config::of(&[(
                "s",
                json!({"url": server.url(), "oauth": {"scopes": ["issues:read"]}, "handshakeTimeoutMs": 60_000}),
            )]),
            _peer: Box::new(server),
        };
        let call = || world.run(&["call", "mcp/s/search", "query=wall"]);
        assert_eq!(call().status, Some(3));
        let ran = world.log_in_by(&[], |address| {
            let (head, _) = get(address);
            let location = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("location").then_some(value)
            });
            let (head, _) = get(location.expect("it lets everybody in"));
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        });
        assert_eq!(ran.status, Some(0), "{ran:?}");
        // The refresh token is used once, so the second renewal shows that the first one's was kept.
        for _ in 0..3 {
            let ran = call();
            assert_eq!(ran.status, Some(0), "{ran:?}");
            assert_eq!(ran.stdout, "3 issues speak of wall\n");
            if seconds == "3" {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "another process's token gets old by the wall clock"
                )]
                std::thread::sleep(std::time::Duration::from_millis(3_100));
            }
        }
        assert_eq!(world.run(&["logout", "s"]).status, Some(0));
        assert_eq!(call().status, Some(3));
    }
}

/// The head and the body of the answer to a GET, as a browser would ask.
fn get(address: &str) -> (String, String) {
    let rest = address.strip_prefix("http://").expect("a local address");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("somebody listens");
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .expect("is sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("is answered");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

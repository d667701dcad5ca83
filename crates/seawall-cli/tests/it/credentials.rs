//! What becomes of a login while a command uses it, and what is said of it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use seawall_testkit::{HttpAct, HttpRequest, pause};
use serde_json::json;

use crate::login::World;
use crate::support::Config;
use crate::web::{modern, said, token, wanting_login_but};

/// Whether a request asks for a newer token.
fn renews(path: &str, request: &HttpRequest) -> bool {
    path == "/token" && String::from_utf8_lossy(&request.body).contains("refresh_token=")
}

/// BEHAVIOUR T5, O1: a command that ends, here for want of time, waits for the renewal that it began, so that the login
/// survives; and it does not tell the server's silence of what was never sent.
#[test]
fn a_renewal_under_way_outlives_the_failure_of_its_command() {
    let spent = AtomicU32::new(0);
    let peer = wanting_login_but(move |path, request| {
        if renews(path, request) {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            if !body.contains("refresh_token=first") || spent.fetch_add(1, Ordering::Relaxed) > 0 {
                let refusal = json!({"error": "invalid_grant"});
                return Some(vec![HttpAct::json(400, &refusal.to_string())]);
            }
            let mut acts = vec![HttpAct::Wait(Duration::from_millis(2_500))];
            acts.extend(said(&token(3_600, Some("second"))));
            return Some(acts);
        }
        (path == "/token").then(|| said(&token(1, Some("first"))))
    });
    let world = World::of(peer, &json!({"handshakeTimeoutMs": 1_000}));
    world.log_in(&[]).exits(0);
    let failed = world.run(&["tools"]);
    assert_ne!(failed.status, Some(0), "{failed:?}");
    let late = "the credentials for it were not ready within 1000 ms";
    assert!(failed.stderr.contains(late), "{failed:?}");
    assert!(!failed.stderr.contains("did not answer"), "{failed:?}");
    assert!(
        failed.stderr.contains("waiting for the renewal"),
        "{failed:?}"
    );
    let tools = world.run(&["tools"]).exits(0);
    assert!(tools.stderr.contains("logged in at"), "{tools:?}");
}

/// BEHAVIOUR S6, T5: what is wrong with a login decides what to do about it.
#[test]
fn a_login_that_cannot_be_used_has_the_remedy_that_helps() {
    let failing = wanting_login_but(|path, request| {
        if renews(path, request) {
            return Some(vec![HttpAct::answer(503, &[], "")]);
        }
        (path == "/token").then(|| said(&token(1, Some("first"))))
    });
    let world = World::of(failing, &json!({}));
    world.log_in(&[]).exits(0);
    pause(Duration::from_millis(1_100));
    let doctor = world.run(&["doctor"]);
    assert!(doctor.stdout.contains("try again later"), "{doctor:?}");
    assert!(!doctor.stdout.contains("seawall logout"), "{doctor:?}");

    let refusing = wanting_login_but(|path, request| {
        if renews(path, request) {
            let refusal = json!({"error": "invalid_client"});
            return Some(vec![HttpAct::json(401, &refusal.to_string())]);
        }
        (path == "/token").then(|| said(&token(1, Some("first"))))
    });
    let client = json!({"oauth": {"clientId": "ours", "clientSecretEnv": "CLIENT_SECRET"}});
    let world = World::of(refusing, &client);
    world.log_in(&[]).exits(0);
    pause(Duration::from_millis(1_100));
    for _ in 0..2 {
        // The login is kept, so that a right secret is all that it takes.
        let doctor = world.run(&["doctor"]);
        assert!(doctor.stdout.contains("check `clientId`"), "{doctor:?}");
        assert!(!doctor.stdout.contains("seawall logout"), "{doctor:?}");
        assert!(doctor.stdout.contains("logged in at"), "{doctor:?}");
    }

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let world = World::of(wanting_login_but(|_, _| None), &json!({}));
        world.log_in(&[]).exits(0);
        let folder = world.config.folder().join("data/seawall/oauth");
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).expect("it is ours");
        let doctor = world.run(&["doctor"]);
        assert!(doctor.stdout.contains("folder"), "{doctor:?}");
        assert!(!doctor.stdout.contains("seawall logout"), "{doctor:?}");
    }
}

/// BEHAVIOUR T5: a call that wants more than the login has says so; at a terminal it is offered to be granted, and the
/// call, which was refused unread, is made then.
#[cfg(target_os = "linux")]
#[test]
fn more_permissions_are_offered_for_a_call() {
    use seawall_testkit::wait_until;

    use crate::login::{answer, browser_in};
    use crate::terminal::{Terminal, finish};

    let granted = AtomicU32::new(0);
    let peer = wanting_login_but(move |path, request| {
        if path == "/token" {
            granted.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let calls = String::from_utf8_lossy(&request.body).contains("tools/call");
        (path == "/mcp" && calls && granted.load(Ordering::Relaxed) < 2).then(|| {
            let challenge =
                "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"greet more\"";
            vec![HttpAct::answer(403, &[challenge], "")]
        })
    });
    let world = World::of(peer, &json!({}));
    world.log_in(&[]).exits(0);
    let call = ["call", "mcp/s/greet", "who=you"];
    let refused = world.run(&call).exits(4);
    assert!(
        refused
            .stderr
            .contains("more permissions than its login has"),
        "{refused:?}"
    );

    let (browser, opened) = browser_in(world.config.folder());
    let mut terminal = Terminal::open();
    let child = terminal.run(&world.config, &call, Some(&browser));
    terminal.wait_for("wants more permissions than its login has.");
    terminal.answer("yes or no: ", "yes");
    assert!(wait_until(Duration::from_secs(20), || opened.exists()));
    let address = std::fs::read_to_string(&opened).expect("an address");
    assert!(address.contains("more"), "{address}");
    answer(&address, &world.issuer);
    let ran = finish(child).exits(0);
    assert_eq!(ran.stdout, "hello, you\n");
}

/// BEHAVIOUR T2: a tool with an invalid `x-mcp-header` is told of by name, and why it is none.
#[test]
fn a_tool_that_is_left_out_is_told_of_by_name() {
    let peer = modern(json!([
        {"name": "fine", "inputSchema": {"type": "object"}},
        {"name": "bad", "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "string", "x-mcp-header": "not a token"}},
        }},
    ]));
    let config = Config::of(&[("s", json!({"url": peer.url("/mcp")}))]);
    let tools = config.run(&["tools"]).exits(0);
    let words = "warning: s: tool \"bad\" is left out: it has an invalid x-mcp-header";
    assert!(tools.stderr.contains(words), "{tools:?}");
    assert!(!tools.stdout.contains("bad"), "{tools:?}");
    let doctor = config.run(&["doctor"]);
    assert!(
        doctor.stdout.contains("tool \"bad\" is left out"),
        "{doctor:?}"
    );
    for json in [&[][..], &["--json"]] {
        let called = config
            .run(&[&["call", "mcp/s/bad"], json].concat())
            .exits(3);
        let said = format!("{}{}", called.stdout, called.stderr);
        assert!(said.contains("invalid x-mcp-header"), "{called:?}");
        assert!(!said.contains("no such tool"), "{called:?}");
    }
    let missing = config.run(&["call", "mcp/s/none"]).exits(3);
    assert!(missing.stderr.contains("no such tool"), "{missing:?}");
}

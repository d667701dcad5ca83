use std::sync::Arc;

use serde_json::json;

use super::world::{Reply, Running};
use crate::oauth::{MemoryStore, OAuth, TokenStore};
use crate::web::{AuthError, SettingsFault};

fn asked(running: &Running, nth: usize) -> String {
    running.seen("/authorize")[nth].scopes().join(" ")
}

/// T5
#[tokio::test]
async fn the_challenge_says_what_to_ask_for_then_the_metadata_then_nothing() {
    let running = Running::start().await;
    running.change(|state| {
        state.challenge = "scope=\"from:challenge\"".into();
        state.resource["scopes_supported"] = json!(["from:metadata"]);
    });
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(asked(&running, 0), "from:challenge");

    let running = Running::start().await;
    running.change(|state| state.resource["scopes_supported"] = json!(["b", "a"]));
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(asked(&running, 0), "a b");

    let running = Running::start().await;
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert!(!running.seen("/authorize")[0].fields.contains_key("scope"));
}

/// T5: a client may ask for the scopes that it registered for (RFC 7591, section 2), so it registers for those that it asks
/// for; once it needs more, anew.
#[tokio::test]
async fn a_client_registers_for_the_scopes_that_it_asks_for() {
    let running = Running::with(|seen, world| {
        if seen.path != "/authorize" {
            return None;
        }
        let state = world.state.lock().unwrap();
        let registered = state.seen.iter().rfind(|seen| seen.path == "/register")?;
        let registered = registered.json()["scope"].as_str().unwrap_or("").to_owned();
        let own: Vec<&str> = registered.split(' ').collect();
        let fine = seen.scopes().iter().all(|scope| own.contains(scope));
        let target = format!(
            "{}?error=invalid_scope&state={}",
            seen.field("redirect_uri"),
            seen.field("state")
        );
        (!fine).then(|| Reply::status(302).header("Location", target))
    })
    .await;
    running.change(|state| state.challenge = "scope=\"files:read\"".into());
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    assert_eq!(running.call(&running.oauth_in(&store)).await, Ok(200));
    assert_eq!(
        running.seen("/register")[0].json()["scope"],
        json!("files:read")
    );
    running.oauth_in(&store).login().await.unwrap();
    assert_eq!(running.seen("/register").len(), 1);

    running.change(|state| state.challenge = "scope=\"files:write\"".into());
    running.oauth_in(&store).login().await.unwrap();
    let registered: Vec<_> = running.seen("/register");
    assert_eq!(registered.len(), 2);
    assert_eq!(
        registered[1].json()["scope"],
        json!("files:read files:write")
    );
}

/// T5: configured scopes take the place of the metadata's, and stand beside the challenge's.
#[tokio::test]
async fn configured_scopes_are_always_asked_for() {
    let running = Running::start().await;
    running.change(|state| state.resource["scopes_supported"] = json!(["everything"]));
    let oauth = running.oauth().scopes(["mine"]).build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(asked(&running, 0), "mine");
}

/// T5: a scope that cannot be asked for is not left out in silence.
#[tokio::test]
async fn a_scope_that_is_none_fails_the_build() {
    let running = Running::start().await;
    for scope in ["read write", "", "a\"b", "\u{e9}"] {
        let built = running.oauth().scopes(["fine", scope]).build();
        assert_eq!(
            built.map(drop).unwrap_err(),
            AuthError::Settings(SettingsFault::Scope),
            "{scope}"
        );
    }
    assert!(
        running
            .oauth()
            .scopes(["read", "write", "read"])
            .build()
            .is_ok()
    );
}

/// T5
#[tokio::test]
async fn offline_access_is_asked_for_where_it_is_listed() {
    for (listed, expected) in [
        (json!(["read", "offline_access"]), "offline_access read"),
        (json!(["read"]), "read"),
        (json!(null), "read"),
    ] {
        let running = Running::start().await;
        running.change(|state| {
            state.challenge = "scope=\"read\"".into();
            state.metadata["scopes_supported"] = listed;
        });
        let oauth = running.oauth().build().unwrap();
        assert_eq!(running.call(&oauth).await, Ok(200));
        assert_eq!(asked(&running, 0), expected);
    }
}

fn insufficient(scope: &str) -> Reply {
    let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
    Reply::status(403).header("WWW-Authenticate", challenge)
}

/// T5: the union of what was asked for and what is asked for now.
#[tokio::test]
async fn a_step_up_keeps_what_was_granted() {
    let running = Running::with(|seen, _| {
        (seen.header("authorization") == "Bearer token-1").then(|| insufficient("write"))
    })
    .await;
    running.change(|state| {
        state.challenge = "scope=\"read\"".into();
        state.resource["scopes_supported"] = json!(["other"]);
    });
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(asked(&running, 0), "read");
    assert_eq!(asked(&running, 1), "read write");
}

/// T5
#[tokio::test]
async fn permissions_that_were_asked_for_in_vain_are_not_asked_for_again() {
    let running = Running::with(|seen, _| {
        let denied = seen.path == "/mcp" && !seen.header("authorization").is_empty();
        denied.then(|| insufficient("admin"))
    })
    .await;
    let oauth = running.oauth().build().unwrap();
    for _ in 0..3 {
        let error = running.call(&oauth).await.unwrap_err();
        assert!(matches!(error, AuthError::ScopesRefused { .. }), "{error}");
    }
    // Without the scope, then with it.
    assert_eq!(running.seen("/authorize").len(), 2);
}

/// T5: what nobody waits for asks no person, and takes nothing from who waits.
#[tokio::test]
async fn a_request_in_the_background_asks_nobody() {
    let running = Running::with(|seen, _| {
        (seen.header("authorization") == "Bearer token-1").then(|| insufficient("write"))
    })
    .await;
    let oauth = running.oauth().build().unwrap();
    for logins in 0..2 {
        for _ in 0..2 {
            let error = running.call_in_background(&oauth).await.unwrap_err();
            match logins {
                0 => assert!(matches!(error, AuthError::LoginNeeded { .. }), "{error}"),
                _ => assert!(matches!(error, AuthError::ScopesNeeded { .. }), "{error}"),
            }
            assert_eq!(running.seen("/authorize").len(), logins);
        }
        if logins == 0 {
            oauth.login().await.unwrap();
        }
    }
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(running.call_in_background(&oauth).await, Ok(200));
}

/// T5
#[tokio::test]
async fn a_server_that_always_wants_more_is_told_no() {
    let running = Running::with(|seen, world| {
        let denied = seen.path == "/mcp" && !seen.header("authorization").is_empty();
        denied.then(|| {
            let count = world.state.lock().unwrap().seen.len();
            insufficient(&format!("more-{count}"))
        })
    })
    .await;
    let oauth = running.oauth().build().unwrap();
    let error = running.call(&oauth).await.unwrap_err();
    assert!(matches!(error, AuthError::ScopesRefused { .. }), "{error}");
    assert!(running.seen("/authorize").len() <= 3);
    for _ in 0..20 {
        assert!(running.call(&oauth).await.is_err());
    }
    assert!(running.seen("/authorize").len() <= 10);
}

/// T5: a 403 that says nothing of scopes stands.
#[tokio::test]
async fn a_plain_403_is_no_reason_to_log_in() {
    let running = Running::with(|seen, _| (seen.path == "/mcp").then(|| Reply::status(403))).await;
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(403));
    assert_eq!(running.paths(), [""; 0]);
}

/// T5: where nobody can be asked, the next login asks for what was wanted, and what it gives is used.
#[tokio::test]
async fn a_step_up_where_nobody_can_be_asked_is_made_up_for_by_the_next_login() {
    let running = Running::with(|seen, _| {
        (seen.header("authorization") == "Bearer token-1").then(|| insufficient("write"))
    })
    .await;
    running.change(|state| state.challenge = "scope=\"read\"".into());
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    running.oauth_in(&store).login().await.unwrap();
    let quiet = OAuth::builder("demo", running.url(), running.http.clone())
        .store(Arc::clone(&store))
        .build()
        .unwrap();
    let error = running.call(&quiet).await.unwrap_err();
    assert!(matches!(error, AuthError::ScopesNeeded { .. }), "{error}");
    let error = running.call(&quiet).await.unwrap_err();
    assert!(matches!(error, AuthError::ScopesRefused { .. }), "{error}");
    running.oauth_in(&store).login().await.unwrap();
    assert_eq!(asked(&running, 1), "read write");
    assert_eq!(running.call(&quiet).await, Ok(200));
}

/// T5: a call that is refused without anybody being asked is not held against the next step-up.
#[tokio::test]
async fn only_those_step_ups_count_that_asked_somebody() {
    let running = Running::with(|seen, world| {
        if seen.path != "/mcp" || seen.header("authorization").is_empty() {
            return None;
        }
        let write = world.state.lock().unwrap().challenge.is_empty();
        let first = seen.header("authorization") == "Bearer token-1";
        match (write, first) {
            (false, _) => Some(insufficient("read")),
            (true, true) => Some(insufficient("write")),
            (true, false) => None,
        }
    })
    .await;
    running.change(|state| state.challenge = "scope=\"read\"".into());
    let oauth = running.oauth().build().unwrap();
    for _ in 0..10 {
        assert!(running.call(&oauth).await.is_err());
    }
    running.change(|state| state.challenge.clear());
    assert_eq!(running.call(&oauth).await, Ok(200));
}

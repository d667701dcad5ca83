use serde_json::json;

use super::world::{Reply, Running};
use crate::oauth::discovery::canonical;
use crate::web::{AuthError, Unsound};

const OWN: &str = "/.well-known/oauth-protected-resource";

fn fault(outcome: Result<u16, AuthError>) -> Unsound {
    match outcome {
        Err(AuthError::Unsound { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

/// T5
#[tokio::test]
async fn the_announced_metadata_is_used_and_no_other_asked_for() {
    let running = Running::start().await;
    let announced = format!("{}/custom/place.json", running.world.origin);
    running.change(|state| {
        state.resource_metadata = Some("/custom/place.json".into());
        state.challenge = format!("resource_metadata=\"{announced}\"");
    });
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(
        running.paths(),
        [
            "/custom/place.json",
            "/.well-known/oauth-authorization-server",
            "/register",
            "/authorize",
            "/token"
        ]
    );
}

/// T5
#[tokio::test]
async fn metadata_is_looked_for_at_the_path_then_at_the_root() {
    let running = Running::start().await;
    let tenant = format!("{}/tenant", running.world.origin);
    running.change(|state| {
        state.resource_metadata = Some(OWN.into());
        state.resource["resource"] = json!(running.world.origin);
        state.resource["authorization_servers"] = json!([tenant]);
        state.metadata_path = Some("/tenant/.well-known/openid-configuration".into());
        state.metadata["issuer"] = json!(tenant);
    });
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(
        running.paths(),
        [
            "/.well-known/oauth-protected-resource/mcp",
            OWN,
            "/.well-known/oauth-authorization-server/tenant",
            "/.well-known/openid-configuration/tenant",
            "/tenant/.well-known/openid-configuration",
            "/register",
            "/authorize",
            "/token"
        ]
    );
    // What the metadata calls the resource is what is asked for.
    assert_eq!(
        running.seen("/token")[0].field("resource"),
        running.world.origin
    );
}

/// T5
#[tokio::test]
async fn an_issuer_without_a_path_has_two_places() {
    let running = Running::start().await;
    running.change(|state| state.metadata_path = None);
    let oauth = running.oauth().build().unwrap();
    assert_eq!(fault(running.call(&oauth).await), Unsound::NoMetadata);
    assert_eq!(
        running.paths()[1..],
        [
            "/.well-known/oauth-authorization-server",
            "/.well-known/openid-configuration"
        ]
    );
}

/// T5
#[tokio::test]
async fn a_server_of_2025_03_26_has_its_authorization_server_at_its_origin() {
    let running = Running::start().await;
    running.change(|state| state.resource_metadata = None);
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));

    let without_any = Running::start().await;
    without_any.change(|state| {
        state.resource_metadata = None;
        state.metadata_path = None;
    });
    let oauth = without_any.oauth().build().unwrap();
    assert_eq!(without_any.call(&oauth).await, Ok(200));
    assert_eq!(
        without_any.paths(),
        [
            "/.well-known/oauth-protected-resource/mcp",
            OWN,
            "/.well-known/oauth-authorization-server",
            "/.well-known/openid-configuration",
            "/register",
            "/authorize",
            "/token"
        ]
    );
}

/// T5: nobody named the issuer of such a server, so a slash at its end is its own affair.
#[tokio::test]
async fn a_server_of_2025_03_26_may_end_its_issuer_with_a_slash() {
    let running = Running::start().await;
    let issuer = format!("{}/", running.world.origin);
    running.change(|state| {
        state.resource_metadata = None;
        state.metadata["issuer"] = json!(issuer);
        state.redirect = vec![("iss".into(), issuer)];
    });
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));

    let other = Running::start().await;
    other.change(|state| {
        state.resource_metadata = None;
        state.metadata["issuer"] = json!("https://attacker.example.com/");
    });
    let oauth = other.oauth().build().unwrap();
    assert_eq!(fault(other.call(&oauth).await), Unsound::IssuerMismatch);
}

/// T5: a site that has a page at every address has its documents behind the first ones all the same.
#[tokio::test]
async fn a_page_in_place_of_metadata_does_not_end_the_search() {
    let page = |paths: &'static [&'static str]| {
        Running::with(move |seen, _| {
            let page = Reply {
                status: 200,
                body: "<!doctype html>".into(),
                ..Reply::default()
            };
            paths.contains(&seen.path.as_str()).then_some(page)
        })
    };
    let running = page(&[
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
    ])
    .await;
    running.change(|state| {
        state.resource_metadata = Some(OWN.into());
        state.metadata_path = Some("/.well-known/openid-configuration".into());
    });
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));

    // Where there is nothing else, it is neither a server without metadata nor one of before them.
    let running = page(&["/.well-known/oauth-protected-resource/mcp", OWN]).await;
    let oauth = running.oauth().build().unwrap();
    assert_eq!(fault(running.call(&oauth).await), Unsound::Malformed);
    assert_eq!(running.seen("/authorize").len(), 0);
}

/// T5
#[tokio::test]
async fn metadata_of_another_resource_ends_the_login() {
    for other in [
        "https://evil.example.com/mcp",
        "http://127.0.0.1:1/mcp",
        "nonsense",
    ] {
        let running = Running::start().await;
        running.change(|state| state.resource["resource"] = json!(other));
        let oauth = running.oauth().build().unwrap();
        assert_eq!(fault(running.call(&oauth).await), Unsound::ResourceMismatch);
        assert_eq!(running.seen("/authorize").len(), 0);
    }
    let running = Running::start().await;
    let beside = format!("{}/mc", running.world.origin);
    running.change(|state| state.resource["resource"] = json!(beside));
    let oauth = running.oauth().build().unwrap();
    assert_eq!(fault(running.call(&oauth).await), Unsound::ResourceMismatch);
}

/// T5
#[tokio::test]
async fn metadata_of_another_issuer_is_not_used() {
    for other in ["https://attacker.example.com".to_owned(), String::new()] {
        let running = Running::start().await;
        let slash = format!("{}/", running.world.origin);
        let issuer = if other.is_empty() { slash } else { other };
        running.change(|state| state.metadata["issuer"] = json!(issuer));
        let oauth = running.oauth().build().unwrap();
        assert_eq!(fault(running.call(&oauth).await), Unsound::IssuerMismatch);
        assert_eq!(running.seen("/register").len(), 0);
    }
}

/// T5
#[tokio::test]
async fn without_pkce_there_is_no_login() {
    for methods in [json!(null), json!([]), json!(["plain"])] {
        let running = Running::start().await;
        running.change(|state| state.metadata["code_challenge_methods_supported"] = methods);
        let oauth = running.oauth().build().unwrap();
        assert_eq!(fault(running.call(&oauth).await), Unsound::NoPkce);
        assert_eq!(running.seen("/authorize").len(), 0);
        assert_eq!(running.seen("/register").len(), 0);
    }
}

/// T5
#[tokio::test]
async fn addresses_that_are_neither_https_nor_local_are_not_requested() {
    let running = Running::start().await;
    running.change(|state| state.metadata["token_endpoint"] = json!("http://as.example.com/token"));
    let oauth = running.oauth().build().unwrap();
    assert_eq!(fault(running.call(&oauth).await), Unsound::Address);

    let running = Running::start().await;
    running.change(|state| state.challenge = "resource_metadata=\"file:///etc/passwd\"".into());
    let oauth = running.oauth().build().unwrap();
    assert_eq!(fault(running.call(&oauth).await), Unsound::Address);
}

/// T5, O1: an issuer is compared, kept and shown as a text, so it is exactly the address that it stands for.
#[tokio::test]
async fn an_issuer_that_hides_characters_is_refused() {
    for hidden in ["\n", "\r", "\t", " ", "\u{ad}", "\u{200b}"] {
        let running = Running::start().await;
        let issuer = running
            .world
            .origin
            .replacen("http://", &format!("http://{hidden}"), 1);
        for issuer in [issuer, format!("{}{hidden}", running.world.origin)] {
            running.change(|state| {
                state.resource["authorization_servers"] = json!([issuer]);
                state.metadata["issuer"] = json!(issuer);
            });
            let oauth = running.oauth().build().unwrap();
            assert_eq!(
                fault(running.call(&oauth).await),
                Unsound::Address,
                "{issuer:?}"
            );
        }
    }
}

/// T5
#[tokio::test]
async fn a_document_is_read_to_its_bound() {
    let running = Running::with(|seen, _| {
        let long = Reply::json(200, &json!({ "resource": "x".repeat(1024 * 1024) }));
        seen.path.starts_with(OWN).then_some(long)
    })
    .await;
    let oauth = running.oauth().build().unwrap();
    assert_eq!(fault(running.call(&oauth).await), Unsound::TooLong);
}

/// T5: a server in trouble is not one without metadata.
#[tokio::test]
async fn a_failing_metadata_server_is_not_taken_for_an_old_one() {
    let running =
        Running::with(|seen, _| seen.path.starts_with(OWN).then(|| Reply::status(503))).await;
    let oauth = running.oauth().build().unwrap();
    let error = running.call(&oauth).await.unwrap_err();
    assert!(matches!(error, AuthError::Unreachable { .. }), "{error}");
    assert_eq!(running.seen("/authorize").len(), 0);
}

#[test]
fn a_canonical_address_has_no_fragment_and_no_idle_slash() {
    let canonical = |text: &str| canonical(&url::Url::parse(text).unwrap());
    assert_eq!(
        canonical("https://X.example.com/#a"),
        "https://x.example.com"
    );
    assert_eq!(
        canonical("https://x.example.com/mcp/"),
        "https://x.example.com/mcp/"
    );
    assert_eq!(
        canonical("https://x.example.com/?a=b"),
        "https://x.example.com/?a=b"
    );
}

use std::sync::Arc;

use serde_json::json;
use url::Url;

use super::world::{REDIRECT, Reply, Running};
use crate::config::Secret;
use crate::oauth::{
    ClientRegistration, CredentialState, Dpop, MemoryStore, OAuth, StaticClient, TokenStore,
};
use crate::web::{AuthError, Exchange, LoginFault, OAuthErrorCode, Unsound};

/// T5
#[tokio::test]
async fn a_login_registers_and_brings_code_verifier_and_resource() {
    let running = Running::start().await;
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));

    let registration = running.seen("/register")[0].json();
    assert_eq!(registration["application_type"], "native");
    assert_eq!(registration["redirect_uris"], json!([REDIRECT]));
    assert_eq!(
        registration["grant_types"],
        json!(["authorization_code", "refresh_token"])
    );
    let authorization = &running.seen("/authorize")[0];
    assert_eq!(authorization.field("code_challenge_method"), "S256");
    assert_eq!(authorization.field("client_id"), "registered");
    assert_eq!(authorization.field("resource"), running.url().as_str());
    assert!(!authorization.fields.contains_key("scope"));
    let token = &running.seen("/token")[0];
    assert_eq!(token.field("code"), "the-code");
    assert_eq!(token.field("resource"), running.url().as_str());
    assert_eq!(token.field("redirect_uri"), REDIRECT);
    assert_eq!(token.field("client_id"), "registered");

    // The token stays in memory: no second login.
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(running.seen("/token").len(), 1);
}

/// T5, RFC 9207: exact, in every row of the table, and before anything else in the answer counts.
#[tokio::test]
async fn the_answer_has_to_come_from_the_issuer_that_was_asked() {
    let outcome = |announced: bool, issuer: Option<&'static str>| async move {
        let running = Running::start().await;
        let issuer = issuer.map(|issuer| issuer.replace("SELF", &running.world.origin));
        running.change(|state| {
            state.metadata["authorization_response_iss_parameter_supported"] = json!(announced);
            state
                .redirect
                .extend(issuer.map(|issuer| ("iss".to_owned(), issuer)));
            state
                .redirect
                .push(("error".into(), "access_denied".into()));
        });
        let oauth = running.oauth().build().unwrap();
        let error = running.call(&oauth).await.unwrap_err();
        assert_eq!(running.seen("/token").len(), 0);
        error
    };
    let wrong = AuthError::Login(LoginFault::Issuer);
    let accepted = AuthError::Login(LoginFault::Denied);
    assert_eq!(outcome(true, Some("SELF")).await, accepted);
    assert_eq!(outcome(true, None).await, wrong);
    assert_eq!(outcome(true, Some("https://evil.example.com")).await, wrong);
    assert_eq!(outcome(true, Some("SELF/")).await, wrong);
    assert_eq!(outcome(false, None).await, accepted);
    assert_eq!(outcome(false, Some("SELF")).await, accepted);
    assert_eq!(
        outcome(false, Some("https://evil.example.com")).await,
        wrong
    );
}

/// T5
#[tokio::test]
async fn the_right_issuer_gives_a_token() {
    let running = Running::start().await;
    running.change(|state| {
        state.metadata["authorization_response_iss_parameter_supported"] = json!(true);
        state.redirect = vec![("iss".into(), running.world.origin.clone())];
    });
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
}

/// T5
#[tokio::test]
async fn an_answer_with_another_state_is_thrown_away() {
    let running = Running::with(|seen, _| {
        (seen.path == "/authorize").then(|| {
            Reply::status(302).header("Location", format!("{REDIRECT}?code=x&state=other"))
        })
    })
    .await;
    let oauth = running.oauth().build().unwrap();
    let error = running.call(&oauth).await.unwrap_err();
    assert_eq!(error, AuthError::Login(LoginFault::State));
}

/// T5: pre-registered, then by document, then by registration.
#[tokio::test]
async fn a_client_comes_to_be_in_the_order_of_the_specification() {
    let document = Url::parse("https://client.example.com/metadata.json").unwrap();
    let used = |running: &Running| running.seen("/authorize")[0].field("client_id").to_owned();

    let running = Running::start().await;
    running.change(|state| state.metadata["client_id_metadata_document_supported"] = json!(true));
    let by_hand = ClientRegistration::Static(StaticClient::new("by-hand"));
    let by_document = ClientRegistration::MetadataDocument(document.clone());
    let oauth = running.oauth().client(by_document.clone()).client(by_hand);
    assert_eq!(running.call(&oauth.build().unwrap()).await, Ok(200));
    assert_eq!(used(&running), "by-hand");

    let running = Running::start().await;
    running.change(|state| state.metadata["client_id_metadata_document_supported"] = json!(true));
    let oauth = running.oauth().client(by_document.clone());
    assert_eq!(running.call(&oauth.build().unwrap()).await, Ok(200));
    assert_eq!(used(&running), document.as_str());
    assert_eq!(running.seen("/register").len(), 0);

    let running = Running::start().await;
    let oauth = running.oauth().client(by_document);
    assert_eq!(running.call(&oauth.build().unwrap()).await, Ok(200));
    assert_eq!(used(&running), "registered");

    let running = Running::start().await;
    running.change(|state| state.metadata["registration_endpoint"] = json!(null));
    let error = running.call(&running.oauth().build().unwrap()).await;
    assert!(
        matches!(error, Err(AuthError::NoRegistration { .. })),
        "{error:?}"
    );
}

/// T5
#[tokio::test]
async fn a_client_authenticates_as_the_token_endpoint_wants() {
    let sent = |methods: serde_json::Value, registered: serde_json::Value| async move {
        let running = Running::start().await;
        running.change(|state| {
            state.metadata["token_endpoint_auth_methods_supported"] = methods;
            state.registered = registered;
        });
        let oauth = running.oauth().build().unwrap();
        assert_eq!(running.call(&oauth).await, Ok(200));
        running.seen("/token").remove(0)
    };
    let secret = json!({ "client_id": "a b", "client_secret": "s:1" });

    let basic = sent(json!(["client_secret_basic"]), secret.clone()).await;
    // "a+b:s%3A1" in Base64
    assert_eq!(basic.header("authorization"), "Basic YStiOnMlM0Ex");
    assert_eq!(basic.field("client_secret"), "");
    let post = sent(json!(["client_secret_post"]), secret.clone()).await;
    assert_eq!(post.field("client_secret"), "s:1");
    assert_eq!(post.header("authorization"), "");
    let both = json!(["client_secret_basic", "client_secret_post"]);
    let both = sent(both, secret.clone()).await;
    assert_eq!(both.field("client_secret"), "s:1");
    assert_eq!(both.header("authorization"), "");
    let told = json!({ "client_id": "a", "client_secret": "s", "token_endpoint_auth_method": "client_secret_post" });
    assert_eq!(sent(json!(null), told).await.field("client_secret"), "s");
    let unsaid = sent(json!(null), secret).await;
    assert!(unsaid.header("authorization").starts_with("Basic "));
    let none = sent(json!(["none"]), json!({ "client_id": "public" })).await;
    assert_eq!(none.field("client_id"), "public");
    assert_eq!(none.header("authorization"), "");
}

/// T5: what one issuer gave is not shown to another one.
#[tokio::test]
async fn another_authorization_server_means_another_registration() {
    let running = Running::with(|seen, world| {
        let issuer = format!("{}/second", world.origin);
        match seen.path.as_str() {
            "/.well-known/oauth-authorization-server/second" => Some(Reply::json(
                200,
                &json!({
                    "issuer": issuer,
                    "authorization_endpoint": format!("{issuer}/authorize"),
                    "token_endpoint": format!("{}/token", world.origin),
                    "registration_endpoint": format!("{issuer}/register"),
                    "code_challenge_methods_supported": ["S256"],
                }),
            )),
            "/second/register" => Some(Reply::json(201, &json!({ "client_id": "second" }))),
            "/second/authorize" => {
                let mut moved = seen.clone();
                moved.path = "/authorize".into();
                Some(world.default(&moved))
            }
            _ => None,
        }
    })
    .await;
    running.change(|state| state.token["refresh_token"] = json!("of-the-first"));
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));

    let second = format!("{}/second", running.world.origin);
    running.change(|state| {
        state.accepted.clear();
        state.resource["authorization_servers"] = json!([second]);
    });
    assert_eq!(running.call(&oauth).await, Ok(200));
    let authorization = &running.seen("/second/authorize")[0];
    assert_eq!(authorization.field("client_id"), "second");
    let tokens = running.seen("/token");
    assert_eq!(tokens.len(), 2);
    assert!(
        tokens
            .iter()
            .all(|seen| seen.field("refresh_token").is_empty())
    );
    assert_eq!(tokens[1].field("client_id"), "second");
}

/// T5: a configured client is not tried elsewhere.
#[tokio::test]
async fn a_configured_client_stays_with_its_issuer() {
    let running = Running::start().await;
    let elsewhere = StaticClient::new("by-hand")
        .secret(Secret::new("hush"))
        .issuer("https://as.example.com");
    let oauth = running
        .oauth()
        .client(ClientRegistration::Static(elsewhere));
    let error = running.call(&oauth.build().unwrap()).await.unwrap_err();
    assert!(matches!(error, AuthError::IssuerChanged { .. }), "{error}");
    assert_eq!(running.seen("/authorize").len(), 0);
    assert_eq!(running.seen("/token").len(), 0);
}

/// T5
#[tokio::test]
async fn a_registration_is_used_again_for_the_same_redirect() {
    let running = Running::start().await;
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    assert_eq!(running.call(&running.oauth_in(&store)).await, Ok(200));
    running.oauth_in(&store).login().await.unwrap();
    assert_eq!(running.seen("/register").len(), 1);
    assert_eq!(running.seen("/authorize").len(), 2);
}

/// T5: somebody has to be asked, and nobody is there.
#[tokio::test]
async fn without_a_browser_the_error_says_how_to_log_in() {
    let running = Running::start().await;
    let oauth = OAuth::builder("demo", running.url(), running.http.clone());
    let oauth = oauth.build().unwrap();
    let error = running.call(&oauth).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "it wants a login; run `seawall login demo`"
    );
    assert_eq!(running.paths(), [""; 0]);
}

/// T5
#[tokio::test]
async fn a_token_that_was_just_issued_and_is_refused_ends_it() {
    let running = Running::with(|seen, _| (seen.path == "/mcp").then(|| Reply::status(401))).await;
    let oauth = running.oauth().build().unwrap();
    let error = running.call(&oauth).await.unwrap_err();
    assert!(matches!(error, AuthError::TokenRefused { .. }), "{error}");
    assert_eq!(running.seen("/authorize").len(), 1);
}

/// T5: the texts of errors are ours.
#[tokio::test]
async fn a_refusal_is_told_without_what_the_server_wrote() {
    let running = Running::with(|seen, _| {
        let refusal = json!({ "error": "invalid_client", "error_description": "REMOTE TEXT" });
        (seen.path == "/token").then(|| Reply::json(401, &refusal))
    })
    .await;
    let oauth = running.oauth().build().unwrap();
    let error = running.call(&oauth).await.unwrap_err();
    assert_eq!(
        error,
        AuthError::Refused {
            origin: running.world.origin.clone(),
            what: Exchange::Token,
            code: OAuthErrorCode::InvalidClient,
        }
    );
    assert!(!format!("{error} {error:?}").contains("REMOTE"));
}

/// T5, R1: tokens are shown nowhere, and the redactor knows them.
#[tokio::test]
async fn tokens_are_hidden_and_told_to_the_redactor() {
    let running = Running::start().await;
    running.change(|state| state.token["refresh_token"] = json!("a-refresh-token"));
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    let secrets: Vec<_> = oauth.secrets();
    let secrets: Vec<_> = secrets.iter().map(Secret::reveal).collect();
    assert!(secrets.contains(&"token-1") && secrets.contains(&"a-refresh-token"));
    let shown = format!("{oauth:?} {:?}", oauth.shared_for_tests().active());
    assert!(!shown.contains("token-1") && !shown.contains("a-refresh-token"));
    for _ in 0..20 {
        oauth.login().await.unwrap();
    }
    assert_eq!(oauth.secrets().len(), 16);
}

/// T5: a token goes to the server that it is of, and nowhere else.
#[tokio::test]
async fn no_other_origin_gets_the_token() {
    let running = Running::start().await;
    let other = Running::start().await;
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(other.call_at(&oauth, &other.url()).await, Ok(401));
    assert_eq!(other.seen("/mcp")[0].header("authorization"), "");
}

/// T5
#[tokio::test]
async fn a_token_that_no_header_can_hold_is_refused() {
    let running = Running::with(|seen, _| {
        let answer = json!({ "access_token": "a\r\nX: y", "token_type": "Bearer" });
        (seen.path == "/token").then(|| Reply::json(200, &answer))
    })
    .await;
    let oauth = running.oauth().build().unwrap();
    let error = running.call(&oauth).await.unwrap_err();
    let malformed = AuthError::Unsound {
        origin: running.world.origin.clone(),
        fault: Unsound::Malformed,
    };
    assert_eq!(error, malformed);
}

/// T5
#[tokio::test]
async fn logging_out_forgets_and_revokes() {
    let running = Running::start().await;
    running.change(|state| state.token["refresh_token"] = json!("a-refresh-token"));
    let oauth = running.oauth().build().unwrap();
    assert_eq!(oauth.state().await, Ok(CredentialState::LoggedOut));
    oauth.login().await.unwrap();
    let state = oauth.state().await.unwrap();
    assert!(
        matches!(state, CredentialState::LoggedIn { .. }),
        "{state:?}"
    );
    oauth.logout().await.unwrap();
    assert_eq!(oauth.state().await, Ok(CredentialState::LoggedOut));
    assert_eq!(running.seen("/revoke")[0].field("token"), "a-refresh-token");
}

/// T5: many requests that are refused together open one browser, and see one failure.
#[tokio::test]
async fn refused_together_means_one_login() {
    let running = Running::start().await;
    let oauth = running.oauth().build().unwrap();
    let calls = (0..10).map(|_| running.call(&oauth));
    let statuses = futures_util::future::join_all(calls).await;
    assert!(statuses.iter().all(|status| *status == Ok(200)));
    assert_eq!(running.seen("/authorize").len(), 1);

    let denying = Running::start().await;
    denying.change(|state| state.redirect = vec![("error".into(), "access_denied".into())]);
    let oauth = denying.oauth().build().unwrap();
    let calls = (0..10).map(|_| denying.call(&oauth));
    let outcomes = futures_util::future::join_all(calls).await;
    let denied = Err(AuthError::Login(LoginFault::Denied));
    assert!(outcomes.iter().all(|outcome| *outcome == denied));
    assert_eq!(denying.seen("/authorize").len(), 1);
}

/// T5: an address with parameters of its own cannot say in our place what is asked for.
#[tokio::test]
async fn the_authorization_address_says_nothing_in_our_place() {
    let running = Running::start().await;
    running.change(|state| {
        let origin = running.world.origin.clone();
        let own = "tenant=a&state=theirs&redirect_uri=https://evil.example&scope=all&client_id=x";
        state.metadata["authorization_endpoint"] = json!(format!("{origin}/authorize?{own}"));
    });
    let oauth = running.oauth().build().unwrap();
    assert_eq!(running.call(&oauth).await, Ok(200));
    let seen = running.seen("/authorize");
    let query: Vec<(String, String)> = seen[0].query();
    let of = |name: &str| query.iter().filter(|(key, _)| key == name).count();
    for name in ["tenant", "state", "redirect_uri", "client_id", "resource"] {
        assert_eq!(of(name), 1, "{name}");
    }
    assert_ne!(seen[0].field("state"), "theirs");
    assert_eq!(seen[0].field("client_id"), "registered");
}

/// T5: a token is tried whatever its lifetime is said to be, and nobody is asked again and again.
#[tokio::test]
async fn a_lifetime_that_lies_costs_one_login() {
    let running = Running::start().await;
    running.change(|state| state.token["expires_in"] = json!(0));
    let oauth = running.oauth().build().unwrap();
    for _ in 0..3 {
        assert_eq!(running.call(&oauth).await, Ok(200));
    }
    assert_eq!(running.seen("/authorize").len(), 1);
}

/// T5: a configuration never sends a secret where another one was logged in.
#[tokio::test]
async fn a_login_of_another_issuer_or_without_a_key_is_not_taken_over() {
    let running = Running::start().await;
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    let client = |issuer: &str| {
        let client = StaticClient::new("id").secret(Secret::new("hush"));
        ClientRegistration::Static(client.issuer(issuer))
    };
    let origin = running.world.origin.clone();
    let configured = |issuer: &str| {
        running
            .oauth()
            .store(Arc::clone(&store))
            .client(client(issuer))
    };
    configured(&origin).build().unwrap().login().await.unwrap();
    let other = configured("https://other.example").build().unwrap();
    assert_eq!(other.state().await, Ok(CredentialState::LoggedOut));
    let bound = configured(&origin).dpop(Dpop::Required).build().unwrap();
    assert_eq!(bound.state().await, Ok(CredentialState::LoggedOut));
    let same = configured(&origin).build().unwrap();
    assert_ne!(same.state().await, Ok(CredentialState::LoggedOut));
}

/// T5: whoever waited while another request found out that it cannot be done is told the same.
#[tokio::test]
async fn what_fails_for_one_is_not_tried_again_for_those_who_wait() {
    let running = Running::with(|seen, _| {
        let metadata = seen
            .path
            .starts_with("/.well-known/oauth-protected-resource");
        metadata.then(|| Reply::status(503))
    })
    .await;
    let oauth = running.oauth().build().unwrap();
    let calls = (0..10).map(|_| running.call(&oauth));
    for called in futures_util::future::join_all(calls).await {
        assert!(matches!(called, Err(AuthError::Unreachable { .. })));
    }
    assert!(running.paths().len() < 10, "{}", running.paths().len());
}

/// T4, T5: a login looks at the server as the transport does: with the configured headers, and wherever it leads within its
/// origin, so that it sees the same challenge.
#[tokio::test]
async fn a_login_looks_as_the_transport_does() {
    let running = Running::with(|seen, _| match seen.path.as_str() {
        "/mcp" if seen.header("x-key") != "k" => Some(Reply::status(403)),
        "/mcp" => Some(Reply::status(307).header("Location", "/mcp/")),
        "/mcp/" if seen.header("x-key") == "k" => Some(
            Reply::status(401).header("WWW-Authenticate", r#"Bearer scope="from-the-challenge""#),
        ),
        _ => None,
    })
    .await;
    let mut headers = http::HeaderMap::new();
    headers.insert("x-key", http::HeaderValue::from_static("k"));
    let oauth = running.oauth().headers(headers).build().unwrap();
    oauth.login().await.unwrap();
    let authorization = &running.seen("/authorize")[0];
    assert_eq!(authorization.scopes(), ["from-the-challenge"]);
    // The authorization server is another's business: nothing that is configured for the server goes there.
    for path in ["/register", "/token"] {
        assert_eq!(running.seen(path)[0].header("x-key"), "", "{path}");
    }
}

/// T4: a redirect to another origin is not followed, and nothing configured reaches it.
#[tokio::test]
async fn a_login_looks_at_its_own_origin_only() {
    let other = Running::start().await;
    let to = other.url();
    let running = Running::with(move |seen, _| {
        (seen.path == "/mcp").then(|| Reply::status(307).header("Location", to.as_str()))
    })
    .await;
    running.oauth().build().unwrap().login().await.unwrap();
    assert!(other.seen("/mcp").is_empty());
}

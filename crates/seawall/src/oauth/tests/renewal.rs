use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::world::{Reply, Running, Seen};
use crate::config::Secret;
use crate::oauth::credentials::Kept;
use crate::oauth::{
    ClientRegistration, CredentialState, MemoryStore, OAuth, OAuthBuilder, Renewals, StaticClient,
    TokenStore,
};
use crate::web::{AuthError, OAuthErrorCode, StoreFault};

/// A world whose tokens are due at once, and a store with a login in it.
async fn logged_in(
    special: impl Fn(&Seen) -> Option<Reply> + Send + Sync + 'static,
) -> (Running, Arc<dyn TokenStore>) {
    let running = Running::with(move |seen, _| special(seen)).await;
    running.change(|state| {
        state.token["refresh_token"] = json!("refresh-1");
        state.token["expires_in"] = json!("1");
    });
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    running.oauth_in(&store).login().await.unwrap();
    running.change(|state| {
        state.token["refresh_token"] = json!("refresh-2");
        state.token["expires_in"] = json!(3600);
        state.seen.clear();
    });
    (running, store)
}

/// An authoriser that cannot ask anybody.
fn quiet(running: &Running, store: &Arc<dyn TokenStore>) -> OAuth {
    OAuth::builder("demo", running.url(), running.http.clone())
        .store(Arc::clone(store))
        .build()
        .unwrap()
}

fn refreshes(running: &Running) -> Vec<Seen> {
    let mut tokens = running.seen("/token");
    tokens.retain(|seen| seen.field("grant_type") == "refresh_token");
    tokens
}

async fn kept(oauth: &OAuth) -> Kept {
    oauth.shared_for_tests().read().await.unwrap()
}

fn refresh_of(kept: &Kept) -> Option<String> {
    let (_, login) = kept.newest()?;
    let refresh = login.tokens.as_ref()?.refresh.as_ref()?;
    Some(refresh.reveal().to_owned())
}

/// T5
#[tokio::test]
async fn a_token_that_is_due_is_renewed_before_it_is_used() {
    let (running, store) = logged_in(|_| None).await;
    let oauth = quiet(&running, &store);
    assert_eq!(running.call(&oauth).await, Ok(200));
    let refreshes = refreshes(&running);
    assert_eq!(refreshes.len(), 1);
    assert_eq!(refreshes[0].field("refresh_token"), "refresh-1");
    assert_eq!(refreshes[0].field("resource"), running.url().as_str());
    assert_eq!(refreshes[0].field("client_id"), "registered");
    assert_eq!(running.seen("/mcp").len(), 1);
    assert_eq!(
        refresh_of(&kept(&oauth).await).as_deref(),
        Some("refresh-2")
    );
}

/// T5: of many tasks, one renews.
#[tokio::test]
async fn many_tasks_renew_once() {
    let (running, store) = logged_in(|_| None).await;
    let oauths = [quiet(&running, &store), quiet(&running, &store)];
    let calls = (0..20).map(|nth| running.call(&oauths[nth % 2]));
    let statuses = futures_util::future::join_all(calls).await;
    assert!(statuses.iter().all(|status| *status == Ok(200)));
    assert_eq!(refreshes(&running).len(), 1);
}

/// T5
#[tokio::test]
async fn a_refused_token_is_renewed_and_the_request_sent_again() {
    let running = Running::start().await;
    running.change(|state| state.token["refresh_token"] = json!("refresh"));
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    running.oauth_in(&store).login().await.unwrap();
    running.change(|state| state.accepted.clear());
    let oauth = quiet(&running, &store);
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(refreshes(&running).len(), 1);
}

/// T5: the refusal of an old token is not held against a newer one.
#[tokio::test]
async fn a_newer_token_of_another_process_is_used() {
    let running = Running::start().await;
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    let ours = running.oauth_in(&store);
    assert_eq!(running.call(&ours).await, Ok(200));
    running.oauth_in(&store).login().await.unwrap();
    assert_eq!(running.call(&ours).await, Ok(200));
    assert_eq!(running.seen("/authorize").len(), 2);
}

/// T5: `invalid_grant` for an old token never erases a newer one.
#[tokio::test]
async fn the_refusal_of_an_old_refresh_token_leaves_a_newer_one() {
    let refused = Reply::json(400, &json!({ "error": "invalid_grant" }));
    let answer = refused.clone();
    let (running, store) =
        logged_in(move |seen| (seen.field("refresh_token") == "refresh-1").then(|| answer.clone()))
            .await;
    let oauth = quiet(&running, &store);
    let shared = oauth.shared_for_tests();

    // Between the question and its answer somebody who does not keep to the lock writes a newer login.
    let mut newer = kept(&oauth).await;
    let issuer = newer.current.clone().unwrap();
    let login = newer.logins.get_mut(&issuer).unwrap();
    let tokens = login.tokens.as_mut().unwrap();
    tokens.refresh = Some(Secret::new("newer-refresh"));
    tokens.access = Secret::new("newer-access");
    tokens.expires = None;
    let lock = store.try_lock(&shared.slot).unwrap().unwrap();
    lock.save(&newer.write().unwrap()).unwrap();
    drop(lock);
    let lock = store.try_lock(&shared.slot).unwrap().unwrap();
    let old = Secret::new("refresh-1");
    shared.drop_tokens(lock, &old).await.unwrap();
    assert_eq!(
        refresh_of(&kept(&oauth).await).as_deref(),
        Some("newer-refresh")
    );

    // The same with nothing newer: the tokens go, the client stays.
    let (running, store) = logged_in(move |seen| {
        (seen.field("refresh_token") == "refresh-1").then(|| refused.clone())
    })
    .await;
    let oauth = quiet(&running, &store);
    let error = running.call(&oauth).await.unwrap_err();
    assert!(matches!(error, AuthError::LoginNeeded { .. }), "{error}");
    assert_eq!(oauth.state().await, Ok(CredentialState::Expired));
    assert_eq!(kept(&oauth).await.logins.len(), 1);
}

/// T5: trouble at the token endpoint costs no login.
#[tokio::test]
async fn a_renewal_that_fails_for_now_keeps_the_tokens() {
    let (running, store) =
        logged_in(|seen| (seen.field("grant_type") == "refresh_token").then(|| Reply::status(503)))
            .await;
    let oauth = quiet(&running, &store);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let error = running.call(&oauth).await.unwrap_err();
    assert!(matches!(error, AuthError::Unreachable { .. }), "{error}");
    assert_eq!(
        refresh_of(&kept(&oauth).await).as_deref(),
        Some("refresh-1")
    );
}

/// T5: a refresh token that is not replaced stays.
#[tokio::test]
async fn a_renewal_without_a_new_refresh_token_keeps_the_old_one() {
    let (running, store) = logged_in(|_| None).await;
    running.change(|state| state.token["refresh_token"] = json!(null));
    let oauth = quiet(&running, &store);
    assert_eq!(running.call(&oauth).await, Ok(200));
    assert_eq!(
        refresh_of(&kept(&oauth).await).as_deref(),
        Some("refresh-1")
    );
}

/// T5: a request that is dropped while a token is renewed does not lose the renewal.
#[tokio::test]
async fn a_renewal_goes_on_without_its_request() {
    let (running, store) = logged_in(|_| None).await;
    let oauth = quiet(&running, &store);
    let shared = oauth.shared_for_tests();
    let held = store.try_lock(&shared.slot).unwrap();
    let begun = async {
        while shared.renewals.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        called = running.call(&oauth) => panic!("{called:?}"),
        () = begun => {}
    }
    drop(held);
    let renewed = async {
        while refresh_of(&kept(&oauth).await).as_deref() != Some("refresh-2") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), renewed)
        .await
        .unwrap();
    assert_eq!(refreshes(&running).len(), 1);
}

/// T5: a lock that nobody gives back is told of.
#[tokio::test(start_paused = true)]
async fn a_lock_that_is_never_free_ends_the_wait() {
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    let slot = crate::oauth::Slot::new("r".into(), "c".into());
    let _held = store.try_lock(&slot).unwrap().unwrap();
    let error = crate::oauth::store::lock(&store, &slot).await.err();
    assert_eq!(error, Some(AuthError::Store(StoreFault::Busy)));
}

/// T5: whoever ends waits for the renewals that began, and none begins after that.
#[tokio::test]
async fn the_end_waits_for_renewals_that_began() {
    let (running, store) = logged_in(|_| None).await;
    let renewals = Renewals::default();
    let oauth = OAuth::builder("demo", running.url(), running.http.clone())
        .store(Arc::clone(&store))
        .renewals(renewals.clone())
        .build()
        .unwrap();
    let begun = async {
        while !renewals.are_under_way() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = begun => {}
        called = running.call(&oauth) => panic!("{called:?}"),
    }
    oauth.settle().await;
    assert!(!renewals.are_under_way());
    assert_eq!(
        refresh_of(&kept(&oauth).await).as_deref(),
        Some("refresh-2")
    );

    let (running, store) = logged_in(|_| None).await;
    let oauth = quiet(&running, &store);
    oauth.settle().await;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(running.call(&oauth).await, Err(AuthError::Ending));
    assert_eq!(refreshes(&running).len(), 0);
    assert_eq!(
        refresh_of(&kept(&oauth).await).as_deref(),
        Some("refresh-1")
    );
}

/// T5: a configured client that is refused is mended where it is configured, and costs no login; one that registered
/// itself is registered anew.
#[tokio::test]
async fn a_refused_client_costs_a_login_only_if_it_registered_itself() {
    for configured in [true, false] {
        let refused = Reply::json(401, &json!({ "error": "invalid_client" }));
        let running = Running::with(move |seen, _| {
            (seen.field("grant_type") == "refresh_token").then(|| refused.clone())
        })
        .await;
        running.change(|state| {
            state.token["refresh_token"] = json!("refresh-1");
            state.token["expires_in"] = json!("0");
        });
        let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
        let of = |builder: OAuthBuilder| {
            let builder = builder.store(Arc::clone(&store));
            let client = StaticClient::new("ours").secret(Secret::new("a-wrong-secret"));
            let builder = match configured {
                true => builder.client(ClientRegistration::Static(client)),
                false => builder,
            };
            builder.build().unwrap()
        };
        of(running.oauth()).login().await.unwrap();
        let oauth = of(OAuth::builder("demo", running.url(), running.http.clone()));
        let error = running.call(&oauth).await.unwrap_err();
        let refresh = refresh_of(&kept(&oauth).await);
        if configured {
            let code = OAuthErrorCode::InvalidClient;
            assert!(
                matches!(error, AuthError::Refused { code: found, .. } if found == code),
                "{error}"
            );
            let text = error.to_string();
            assert!(
                text.contains("check the client id and its secret"),
                "{text}"
            );
            assert_eq!(refresh.as_deref(), Some("refresh-1"));
        } else {
            assert!(matches!(error, AuthError::LoginNeeded { .. }), "{error}");
            assert_eq!(refresh, None);
        }
    }
}

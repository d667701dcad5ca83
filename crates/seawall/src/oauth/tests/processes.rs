//! Several processes, one login: this test binary starts itself.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use url::Url;

use super::world::{Reply, Running};
use crate::oauth::{FileStore, MemoryStore, OAuth, TokenStore};
use crate::web::{AuthError, Authorize as _, HttpClient};

const FOLDER: &str = "SEAWALL_TEST_OAUTH_FOLDER";
const RESOURCE: &str = "SEAWALL_TEST_OAUTH_RESOURCE";
const CHILD: &str = "oauth::tests::processes::child";

/// Not a test of its own: what each process does.
#[tokio::test]
async fn child() {
    let (Ok(folder), Ok(resource)) = (std::env::var(FOLDER), std::env::var(RESOURCE)) else {
        return;
    };
    let url = Url::parse(&resource).unwrap();
    let oauth = OAuth::builder("demo", url.clone(), HttpClient::new().unwrap())
        .store(Arc::new(FileStore::new(folder)))
        .build()
        .unwrap();
    let found = oauth.credentials(&http::Method::POST, &url).await.unwrap();
    let token = found.unwrap().headers.pop().unwrap().1;
    assert_eq!(token.to_str().unwrap(), "Bearer token-2");
}

fn start(folder: &std::path::Path, resource: &Url) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([CHILD, "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(RESOURCE, resource.as_str())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// T5: a refresh runs once across processes, and survives one that is killed inside it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_processes_renew_once_though_one_is_killed_inside() {
    let asked = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&asked);
    let running = Running::with(move |seen, _| {
        let first = seen.field("grant_type") == "refresh_token"
            && counter.fetch_add(1, Ordering::SeqCst) == 0;
        // The first one that asks is never answered.
        first.then(Reply::default)
    })
    .await;
    running.change(|state| {
        state.token["refresh_token"] = json!("refresh-1");
        state.token["expires_in"] = json!(0);
    });
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn TokenStore> = Arc::new(FileStore::new(folder.path()));
    running.oauth_in(&store).login().await.unwrap();
    running.change(|state| {
        state.token["refresh_token"] = json!("refresh-2");
        state.token["expires_in"] = json!(3600);
    });

    let mut killed = start(folder.path(), &running.url());
    let inside = async {
        while asked.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), inside)
        .await
        .unwrap();
    let others: Vec<Child> = (0..4)
        .map(|_| start(folder.path(), &running.url()))
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    // They wait for the one that holds the lock.
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    for mut other in others {
        let status = tokio::task::spawn_blocking(move || other.wait()).await;
        assert!(status.unwrap().unwrap().success());
    }
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

/// T5: the same where somebody else logged in just now and nobody can be asked: another login would change nothing.
#[tokio::test]
async fn a_new_login_whose_token_is_refused_is_not_wanted_again() {
    let running = Running::start().await;
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::new());
    running.oauth_in(&store).login().await.unwrap();
    running.change(|state| state.accepted.clear());
    let quiet = || {
        OAuth::builder("demo", running.url(), running.http.clone())
            .store(Arc::clone(&store))
            .build()
            .unwrap()
    };
    let oauth = quiet();
    let error = running.call(&oauth).await.unwrap_err();
    assert!(matches!(error, AuthError::TokenRefused { .. }), "{error}");

    // One that is old may be over.
    let shared = oauth.shared_for_tests();
    let mut kept = shared.read().await.unwrap();
    let login = kept.newest_mut().unwrap();
    login.tokens.as_mut().unwrap().issued = Some(1);
    let lock = store.try_lock(&shared.slot).unwrap().unwrap();
    lock.save(&kept.write().unwrap()).unwrap();
    drop(lock);
    let error = running.call(&quiet()).await.unwrap_err();
    assert!(matches!(error, AuthError::LoginNeeded { .. }), "{error}");
}

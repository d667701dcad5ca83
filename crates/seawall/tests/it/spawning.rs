//! Servers that cannot be started (O1, O2, T1).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

async fn refused(builder: ServerConfigBuilder) -> Error {
    let error = Client::connect(builder.build().expect("a valid entry"))
        .await
        .expect_err("cannot start");
    assert_eq!(verdict(&error), (ErrorCode::SpawnFailed, Outcome::NotSent));
    error
}

/// O1: each way of not starting is told apart, and no path of the machine is in the text.
#[tokio::test]
async fn what_cannot_be_started_is_refused_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let plain = path("plain");
    fs::write(&plain, "#!/bin/sh\n").expect("written");
    let orphaned = path("orphaned");
    fs::write(&orphaned, "#!/no/such/interpreter\n").expect("written");
    fs::set_permissions(&orphaned, fs::Permissions::from_mode(0o755)).expect("set");

    let mut texts = Vec::new();
    for command in [
        path("missing"),
        folder.path().to_str().expect("UTF-8").to_owned(),
        plain,
        orphaned,
    ] {
        let error = refused(ServerConfig::stdio("test", command)).await;
        texts.push(error.message());
    }
    texts.push(
        refused(ServerConfig::stdio("test", "sh").cwd(path("gone")))
            .await
            .message(),
    );
    texts.push(
        refused(ServerConfig::stdio("test", "no-such-command-anywhere"))
            .await
            .message(),
    );
    for text in &texts {
        assert!(
            !text.contains(folder.path().to_str().expect("UTF-8")),
            "{text}"
        );
    }
    let mut apart = texts[..5].to_vec();
    apart.sort();
    apart.dedup();
    assert_eq!(apart.len(), 5, "{texts:#?}");
}

/// O2: a server behind a URL that nobody listens at was sent nothing.
#[tokio::test]
async fn a_url_that_nobody_listens_at_is_not_sent() {
    let config = ServerConfig::url("test", "http://127.0.0.1:1/mcp")
        .build()
        .expect("a valid entry");
    let error = Client::connect(config).await.expect_err("nobody is there");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ConnectionClosed, Outcome::NotSent)
    );
    assert!(!error.to_string().contains("127.0.0.1"), "{error}");
}

/// O2, T6: the same of a WebSocket.
#[tokio::test]
async fn a_websocket_that_nobody_listens_at_is_not_sent() {
    let config = ServerConfig::url("test", "ws://127.0.0.1:1/mcp")
        .build()
        .expect("a valid entry");
    let error = Client::connect(config).await.expect_err("nobody is there");
    assert_eq!(
        verdict(&error),
        (ErrorCode::ConnectionClosed, Outcome::NotSent)
    );
    assert!(!error.to_string().contains("127.0.0.1"), "{error}");
}

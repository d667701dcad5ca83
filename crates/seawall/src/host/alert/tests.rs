use std::sync::Arc;
use std::time::Duration;

use seawall_proto::Outcome;
use seawall_proto::connection::CloseReason;
use seawall_testkit::{HttpAct, HttpPeer};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::*;
use crate::error::{Error, ErrorKind};
use crate::host::AlertSink;
use crate::web::HttpClient;

fn down() -> Down {
    let kind = ErrorKind::Connect {
        reason: CloseReason::StdoutClosed,
        outcome: Outcome::NoResponse,
        unreaped: None,
    };
    Down {
        error: Error::new(&Arc::from("demo"), kind),
        outlook: Outlook::Halted,
    }
}

/// H7: an alert is one line of a log file that is its owner's alone.
#[test]
fn alert_is_a_line_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alerts");
    let log = AlertLog::open(&path).unwrap();
    log.server_down("demo", &down());
    AlertLog::open(&path).unwrap().recovered("demo");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["event"], "server_down");
    assert_eq!(lines[0]["server"], "demo");
    assert_eq!(lines[0]["code"], "connection_closed");
    assert_eq!(lines[0]["outlook"], "halted");
    assert_eq!(lines[1]["event"], "server_recovered");
    assert_eq!(log.lost(), 0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(AlertLog::open(folder.path()).is_err());
}

/// H8: a log that is a pipe holds up nobody: one without a reader cannot be opened, and what one does not take is lost.
#[cfg(unix)]
#[test]
fn alert_log_never_waits_for_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alerts");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    assert!(AlertLog::open(&path).is_err());
    let mut both = std::fs::OpenOptions::new();
    let reader = both.read(true).write(true).open(&path).unwrap();
    let log = AlertLog::open(&path).unwrap();
    for _ in 0..2_000 {
        log.server_down("demo", &down());
    }
    assert!(log.lost() > 0);
    drop(reader);
}

async fn requests(peer: &HttpPeer, count: usize) -> Vec<Value> {
    let begun = Instant::now();
    while peer.requests().len() < count && begun.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(10)).await;
    }
    let bodies = peer.requests().into_iter();
    bodies
        .map(|request| serde_json::from_slice(&request.body).unwrap())
        .collect()
}

/// H7: an alert is one POST, at most one a second; one that is refused is not sent again, and the next one tells of it.
#[tokio::test]
async fn alert_is_one_post_at_a_pace() {
    let peer =
        HttpPeer::start(|count, _| vec![HttpAct::json(if count == 0 { 500 } else { 200 }, "{}")]);
    let url = peer.url("/hook").parse().unwrap();
    let webhook = Webhook::new(url, HttpClient::new().unwrap()).unwrap();
    let begun = Instant::now();
    webhook.sent().await;
    webhook.server_down("demo", &down());
    webhook.recovered("demo");
    webhook.sent().await;
    assert_eq!(peer.requests().len(), 2);
    let sent = requests(&peer, 2).await;
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(sent.len(), 2);
    assert_eq!(
        (&sent[0]["event"], &sent[0]["missed"]),
        (&"server_down".into(), &0.into())
    );
    assert_eq!(
        (&sent[1]["event"], &sent[1]["missed"]),
        (&"server_recovered".into(), &1.into())
    );
    assert_eq!(
        peer.requests()[0].header("content-type"),
        Some("application/json")
    );
}

/// H7: alerts that come faster than they are sent are bounded, and counted; raising one never waits.
#[tokio::test]
async fn alerts_that_wait_are_bounded() {
    let peer = HttpPeer::start(|_, _| vec![HttpAct::json(200, "{}")]);
    let url = peer.url("/hook").parse().unwrap();
    let webhook = Webhook::new(url, HttpClient::new().unwrap()).unwrap();
    for _ in 0..200 {
        webhook.server_down("demo", &down());
    }
    assert_eq!(webhook.missed(), 200 - MAX_WAITING_ALERTS as u64);
    let unusable = Webhook::new(
        "ftp://example.org/".parse().unwrap(),
        HttpClient::new().unwrap(),
    );
    assert_eq!(unusable.unwrap_err(), WebhookError::Scheme);
}

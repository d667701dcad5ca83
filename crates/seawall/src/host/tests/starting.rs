//! Starts and their verdicts (H9).

use super::faulty::Ending;
use super::*;

fn started(servers: Vec<ServerConfig>, failing: &[&str]) -> (Arc<Faulty>, Host, Arc<Alerts>) {
    let faulty = Arc::new(Faulty::default());
    let alerts = Arc::new(Alerts::default());
    for id in failing {
        let script = Script {
            ending: Ending::Fails,
            ..Script::default()
        };
        faulty.script(id, [script]);
    }
    let host = Host::builder()
        .servers(servers)
        .alert(Arc::clone(&alerts) as _)
        .build_with(Arc::clone(&faulty) as _);
    (faulty, host, alerts)
}

/// H9: the failure of a server without reconnect stops the host, naming it.
#[tokio::test(start_paused = true)]
async fn failure_without_reconnect_stops_the_host() {
    let (faulty, host, _) = started(vec![config("a"), config("b")], &["b"]);
    let error = host.start(BUDGET).await.unwrap_err();
    assert!(
        error.to_string().contains("\"b\"") && !error.to_string().contains("\"a\""),
        "{error}"
    );
    assert!(error.stop.is_none());
    assert!(faulty.alive().is_empty());
    assert!(matches!(
        host.connect(config("c")).await,
        Err(HostError::Stopping { .. })
    ));
}

/// H9: with reconnect the failure raises the alert and the host goes on.
#[tokio::test(start_paused = true)]
async fn failure_with_reconnect_alerts_and_goes_on() {
    let (_, host, alerts) = started(vec![config("a"), keeping("b")], &["b"]);
    let started = host.start(BUDGET).await.unwrap();
    assert_eq!(started.up, ["a"]);
    assert_eq!(started.retrying.len(), 1);
    assert_eq!(alerts.told(), [("b".to_owned(), Outlook::Retrying)]);
    assert_eq!(names(&host).len(), 2);
    sleep(ms(1_000_000)).await;
    assert_eq!(alerts.told().len(), 1);
}

/// H9: `required` makes any failure fatal.
#[tokio::test(start_paused = true)]
async fn required_server_makes_any_failure_fatal() {
    let required = entry("b")
        .reconnect(Reconnect::On)
        .required()
        .build()
        .unwrap();
    let (faulty, host, _) = started(vec![config("a"), required], &["b"]);
    let error = host.start(BUDGET).await.unwrap_err();
    assert_eq!(error.failures.len(), 1);
    assert!(faulty.alive().is_empty());
}

/// H7, S4: a protocol verdict at startup raises the alert, and with reconnect does not stop the host.
#[tokio::test(start_paused = true)]
async fn verdict_at_startup_raises_the_alert() {
    let (faulty, host, alerts) = started(vec![keeping("b")], &[]);
    let refusing = Script {
        ending: Ending::Refuses,
        ..Script::default()
    };
    faulty.script("b", [refusing]);
    let started = host.start(BUDGET).await.unwrap();
    assert_eq!(started.failed.len(), 1);
    assert_eq!(alerts.told(), [("b".to_owned(), Outlook::Halted)]);
}

/// H8, H9: a server that is taken away while the start waits for it is no failure of the start, and holds it up no longer.
#[tokio::test(start_paused = true)]
async fn server_that_is_taken_away_during_the_start_fails_nothing() {
    let (faulty, host, alerts) = started(vec![config("a"), config("slow")], &[]);
    let slow = Script {
        handshake: ms(300_000),
        ..Script::default()
    };
    faulty.script("slow", [slow]);
    let begun = Instant::now();
    let later = async {
        settle().await;
        host.apply(vec![config("a")]).await.unwrap()
    };
    let (started, applied) = tokio::join!(host.start(BUDGET), later);
    let started = started.unwrap();
    assert!(begun.elapsed() < ms(3_000), "{:?}", begun.elapsed());
    assert_eq!(started.up, ["a"]);
    assert!(started.retrying.is_empty() && started.failed.is_empty());
    assert_eq!(applied.disconnected, ["slow"]);
    assert!(alerts.told().is_empty());
    faulty.check();
}

//! The embedding program's own code may panic; that costs no child and no id.

use super::*;

struct Panics;

impl AlertSink for Panics {
    fn server_down(&self, _: &str, _: &Down) {
        panic!("an alert sink, on purpose");
    }
}

/// H1, H7: an alert sink that panics costs neither the other sinks nor the hold of an id whose child is still there.
#[tokio::test(start_paused = true)]
async fn alert_sink_that_panics_lets_no_child_go() {
    let faulty = Arc::new(Faulty::default());
    let alerts = Arc::new(Alerts::default());
    let host = Host::builder()
        .alert(Arc::new(Panics))
        .alert(Arc::clone(&alerts) as _)
        .build_with(Arc::clone(&faulty) as _);
    let deaf = Script {
        unreapable: 1,
        ..Script::default()
    };
    faulty.script("a", [deaf]);
    up(&host, "a").await;
    let error = host.disconnect("a").await.unwrap_err();
    assert!(matches!(error, HostError::Unreaped { .. }), "{error:?}");
    assert_eq!(state(&host, "a"), Some(ServerState::Unreaped));
    assert_eq!(alerts.told(), [("a".to_owned(), Outlook::Held)]);
}

/// H1, H7: what prepares a connect and panics fails that connect, with the alert, and nothing else.
#[tokio::test]
async fn preparation_that_panics_fails_the_connect() {
    let alerts = Arc::new(Alerts::default());
    let host = Host::builder()
        .prepare(|_| panic!("a preparation, on purpose"))
        .alert(Arc::clone(&alerts) as _)
        .build();
    let error = host.connect(config("a")).await.unwrap_err();
    assert!(matches!(error, HostError::Connect { .. }), "{error:?}");
    assert_eq!(state(&host, "a"), Some(ServerState::Down));
    assert_eq!(alerts.told(), [("a".to_owned(), Outlook::Halted)]);
}

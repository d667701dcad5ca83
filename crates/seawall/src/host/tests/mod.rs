//! The host over connections that fail on purpose, on a clock that does not wait.

mod applying;
mod calling;
mod faulty;
mod keeping;
mod listing;
mod model;
mod moving;
mod owning;
mod panicking;
mod restarting;
mod starting;
mod stopping;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::*;
use crate::config::{Reconnect, ServerConfigBuilder};
use faulty::{Faulty, Script};

const BUDGET: Duration = Duration::from_secs(30);

fn entry(id: &str) -> ServerConfigBuilder {
    ServerConfig::stdio(id, "true")
}

fn config(id: &str) -> ServerConfig {
    entry(id).build().unwrap()
}

fn keeping(id: &str) -> ServerConfig {
    entry(id).reconnect(Reconnect::On).build().unwrap()
}

fn world() -> (Arc<Faulty>, Host) {
    let faulty = Arc::new(Faulty::default());
    let host = Host::builder().build_with(Arc::clone(&faulty) as _);
    (faulty, host)
}

fn state(host: &Host, id: &str) -> Option<ServerState> {
    let all = host.status();
    all.iter()
        .find(|status| status.server == id)
        .map(|status| status.state)
}

fn names(host: &Host) -> Vec<String> {
    host.tools()
        .flows()
        .map(|flow| flow.name().to_owned())
        .collect()
}

async fn up(host: &Host, id: &str) {
    let connected = host.connect(config(id)).await;
    assert!(matches!(connected, Ok(Connected::Up)), "{connected:?}");
}

/// Lets everything happen that needs no time.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Counts alerts.
#[derive(Default)]
struct Alerts(Mutex<Vec<(String, Outlook)>>);

impl AlertSink for Alerts {
    fn server_down(&self, server: &str, down: &Down) {
        let alert = (server.to_owned(), down.outlook);
        self.0.lock().unwrap().push(alert);
    }
}

impl Alerts {
    fn told(&self) -> Vec<(String, Outlook)> {
        self.0.lock().unwrap().clone()
    }
}

fn alerted() -> (Arc<Faulty>, Host, Arc<Alerts>) {
    let faulty = Arc::new(Faulty::default());
    let alerts = Arc::new(Alerts::default());
    let host = Host::builder()
        .alert(Arc::clone(&alerts) as _)
        .build_with(Arc::clone(&faulty) as _);
    (faulty, host, alerts)
}

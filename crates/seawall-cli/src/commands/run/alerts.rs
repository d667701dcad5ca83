//! Who is alerted when a server is down (H7): what `--alert-log` names, and the URL in a variable.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use seawall::HttpClient;
use seawall::host::{AlertLog, AlertSink, Webhook};
use tokio::time::timeout;

use crate::failure::{Failure, UsageError};

/// The variable that holds the URL to POST alerts to. Whoever has such a URL can post there, so it is no flag.
const WEBHOOK_VARIABLE: &str = "SEAWALL_ALERT_WEBHOOK";

/// How long the end of a run waits for alerts that are not sent yet: as long as one POST may take. A signal ends the wait.
const LAST_ALERTS: Duration = Duration::from_secs(10);

/// Who is alerted in a run.
pub(super) struct Alerts {
    pub(super) sinks: Vec<Arc<dyn AlertSink>>,
    webhook: Option<Arc<Webhook>>,
}

impl Alerts {
    /// Waits for what is not sent yet, for a moment.
    pub(super) async fn finish(&self) {
        if let Some(webhook) = &self.webhook {
            // What is not taken by then is lost.
            timeout(LAST_ALERTS, webhook.sent()).await.ok();
        }
    }
}

/// Those of the flag and the variable. Needs a runtime.
pub(super) fn resolve(log: Option<&Path>) -> Result<Alerts, Failure> {
    let mut sinks: Vec<Arc<dyn AlertSink>> = Vec::new();
    let mut posts = None;
    if let Some(path) = log {
        let log = AlertLog::open(path).map_err(|source| UsageError::AlertLog {
            path: path.to_owned(),
            source,
        })?;
        sinks.push(Arc::new(log));
    }
    if let Some(url) = std::env::var_os(WEBHOOK_VARIABLE).filter(|url| !url.is_empty()) {
        let refused = || Failure::from(UsageError::AlertWebhook);
        let url = url.to_str().and_then(|url| url.parse().ok());
        let url = url.ok_or_else(refused)?;
        let http = HttpClient::new().map_err(|error| Failure::Runtime(io(error)))?;
        let webhook = Arc::new(Webhook::new(url, http).map_err(|_| refused())?);
        sinks.push(Arc::clone(&webhook) as _);
        posts = Some(webhook);
    }
    Ok(Alerts {
        sinks,
        webhook: posts,
    })
}

fn io(error: impl std::error::Error + Send + Sync + 'static) -> std::io::Error {
    std::io::Error::other(error)
}

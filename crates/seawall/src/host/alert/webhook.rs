//! Alerts as POSTs to a URL.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use http::header::CONTENT_TYPE;
use tokio::runtime::Handle as Runtime;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use url::Url;

use super::super::{AlertSink, Down};
use super::Record;
use crate::web::HttpClient;

/// So many alerts wait to be sent; what comes while they wait is counted and not sent.
pub const MAX_WAITING_ALERTS: usize = 64;
/// How long one POST may take, answer included.
const POST_TIMEOUT: Duration = Duration::from_secs(10);
/// No POST follows the one before it sooner.
const PACE: Duration = Duration::from_secs(1);
/// So much of an answer is read, and thrown away.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// Sends each alert as one POST of a JSON object with the members of [`AlertLog`](super::AlertLog)'s lines, and `missed`:
/// how many could not be sent before it. At most one a second, never again after a failure; redirects are not followed.
///
/// # Drop behavior
/// What waits is not sent.
#[derive(Debug)]
pub struct Webhook {
    waiting: mpsc::Sender<Record>,
    missed: Arc<AtomicU64>,
    /// How many are neither sent nor missed yet.
    due: Arc<watch::Sender<usize>>,
    /// The task that sends.
    _sending: Mutex<JoinSet<()>>,
}

/// A webhook cannot be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// The URL is neither `http` nor `https`.
    #[error("the URL of a webhook is neither http nor https")]
    Scheme,
    /// No tokio runtime is running here.
    #[error("a webhook needs a tokio runtime with I/O and time enabled")]
    NoRuntime,
}

impl Webhook {
    /// Sends to `url`, by `http`, whose egress policy is asked before each POST.
    ///
    /// # Errors
    /// The URL is none of the web's, or no runtime is there.
    pub fn new(url: Url, http: HttpClient) -> Result<Self, WebhookError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(WebhookError::Scheme);
        }
        let runtime = Runtime::try_current().map_err(|_| WebhookError::NoRuntime)?;
        let (waiting, records) = mpsc::channel(MAX_WAITING_ALERTS);
        let missed = Arc::new(AtomicU64::new(0));
        let due = Arc::new(watch::Sender::new(0));
        let sender = send(url, http, records, Arc::clone(&missed), Arc::clone(&due));
        let mut sending = JoinSet::new();
        sending.spawn_on(sender, &runtime);
        Ok(Self {
            waiting,
            missed,
            due,
            _sending: Mutex::new(sending),
        })
    }

    /// Alerts that were not sent, since the last that was.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed.load(Relaxed)
    }

    /// Waits until every alert that was raised so far is sent, or missed: each takes 10 s at most, and a second after it.
    ///
    /// # Cancel safety
    /// What waits is sent all the same.
    pub async fn sent(&self) {
        // It fails only where the sender is gone, which is held here.
        self.due.subscribe().wait_for(|due| *due == 0).await.ok();
    }

    fn offer(&self, record: Record) {
        self.due.send_modify(|due| *due += 1);
        if self.waiting.try_send(record).is_err() {
            self.due.send_modify(|due| *due -= 1);
            self.missed.fetch_add(1, Relaxed);
        }
    }
}

impl AlertSink for Webhook {
    fn server_down(&self, server: &str, down: &Down) {
        self.offer(Record::down(server, down));
    }

    fn recovered(&self, server: &str) {
        self.offer(Record::recovered(server));
    }
}

async fn send(
    url: Url,
    http: HttpClient,
    mut records: mpsc::Receiver<Record>,
    missed: Arc<AtomicU64>,
    due: Arc<watch::Sender<usize>>,
) {
    while let Some(record) = records.recv().await {
        let before = missed.swap(0, Relaxed);
        let posted = post(&url, &http, &record, before);
        if !matches!(timeout(POST_TIMEOUT, posted).await, Ok(Some(()))) {
            missed.fetch_add(before + 1, Relaxed);
        }
        due.send_modify(|due| *due -= 1);
        sleep(PACE).await;
    }
}

/// Posts one; `None` if it was not taken.
async fn post(url: &Url, http: &HttpClient, record: &Record, missed: u64) -> Option<()> {
    let mut body = serde_json::to_value(record).ok()?;
    body.as_object_mut()?
        .insert("missed".to_owned(), missed.into());
    let request = http.request(Method::POST, url).ok()?;
    let request = request
        .header(CONTENT_TYPE, "application/json")
        .body(body.to_string());
    let fetched = HttpClient::fetch(request, MAX_ANSWER_BYTES).await.ok()?;
    fetched.status.is_success().then_some(())
}

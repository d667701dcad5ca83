//! What the embedding program is asked: bounded, and a no where it does not answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use seawall_proto::Json;
use seawall_proto::jsonrpc::RequestId;
use tokio::time::{Instant, timeout};

use super::{Key, Live, notify};
use crate::client::shared::Shared;
use crate::inputs::BoxFuture;
use crate::mcpl::callbacks::{
    BATCH_TIMEOUT, Callbacks, Chunks, Delivered, Delivery, INBOX_TIMEOUT, INFERENCE_TIMEOUT,
    MODEL_TIMEOUT, Reception, WAKE_TIMEOUT,
};
use crate::mcpl::session::{Decision, Question};
use crate::mcpl::tags::Source;

/// The answer to a question, in time.
pub(super) fn consult(
    live: &Arc<Live>,
    shared: &Arc<Shared>,
    key: &Key,
    question: Question,
) -> BoxFuture<Decision> {
    let callbacks = live.callbacks.clone();
    let server: Arc<str> = live.config.server().into();
    match question {
        Question::Push(event) => {
            let tags = event.tags().clone();
            let source = Source::new(&server, None);
            let treatment = callbacks.treatments.treat(&source, &tags).cloned();
            let delivery = Delivery::new(Delivered::Push(event), tags, treatment);
            Box::pin(async move {
                let reception = deliver(&callbacks, &server, delivery).await;
                Decision::Receptions(vec![reception])
            })
        }
        Question::Messages(messages) => Box::pin(async move {
            let since = Instant::now();
            let mut receptions = Vec::with_capacity(messages.len());
            for message in messages {
                if since.elapsed() > BATCH_TIMEOUT {
                    // What nobody decided of is not taken.
                    break;
                }
                let tags = message.tags().clone();
                let source = Source::new(&server, Some(message.channel_id()));
                let treatment = callbacks.treatments.treat(&source, &tags).cloned();
                let delivery = Delivery::new(Delivered::Message(message), tags, treatment);
                receptions.push(deliver(&callbacks, &server, delivery).await);
            }
            Decision::Receptions(receptions)
        }),
        Question::Inference(request) => {
            let chunks = match request.stream {
                true => chunks_of(live, shared, &key.request),
                false => Chunks::none(),
            };
            Box::pin(async move {
                let Some(inference) = &callbacks.inference else {
                    return Decision::Inferred(None);
                };
                let inferred = bounded(INFERENCE_TIMEOUT, || {
                    inference.infer(&server, request, chunks)
                });
                Decision::Inferred(inferred.await.flatten())
            })
        }
        Question::Model => Box::pin(async move {
            let Some(models) = &callbacks.models else {
                return Decision::Model(None);
            };
            let model = bounded(MODEL_TIMEOUT, || models.model(&server));
            Decision::Model(model.await.flatten())
        }),
    }
}

/// Asks what it may wake, and then whether it is taken.
async fn deliver(callbacks: &Callbacks, server: &str, mut delivery: Delivery) -> Reception {
    let Some(inbox) = &callbacks.inbox else {
        return Reception::refused("no-receiver");
    };
    if let Some(wake) = &callbacks.wake {
        let wakes = bounded(WAKE_TIMEOUT, || wake.should_wake(server, &delivery)).await;
        delivery.wakes = wakes.unwrap_or(false);
    }
    let taken = bounded(INBOX_TIMEOUT, || inbox.take(server, delivery)).await;
    taken.unwrap_or_else(|| Reception::refused("no-answer"))
}

/// What the embedding program says, in time and without a panic.
async fn bounded<T>(limit: Duration, ask: impl FnOnce() -> BoxFuture<T>) -> Option<T> {
    let asked = catch_unwind(AssertUnwindSafe(ask)).ok()?;
    let answered = timeout(limit, AssertUnwindSafe(asked).catch_unwind());
    answered.await.ok()?.ok()
}

/// Where the pieces of an answer go. They hold the connection only while one is told.
fn chunks_of(live: &Arc<Live>, shared: &Arc<Shared>, request: &RequestId) -> Chunks {
    let (live, shared): (Weak<Live>, Weak<Shared>) = (Arc::downgrade(live), Arc::downgrade(shared));
    let request = request.as_json().to_owned();
    let told = AtomicU64::new(0);
    Chunks::to(move |delta| {
        let (Some(live), Some(shared)) = (live.upgrade(), shared.upgrade()) else {
            return false;
        };
        let Some(session) = live.session.get() else {
            return false;
        };
        let delta = serde_json::Value::from(delta);
        let mut locked = live.lock(session);
        if locked.get().sends("inference/chunk").is_err() {
            return false;
        }
        let index = told.load(Relaxed);
        let params = format!("{{\"requestId\":{request},\"index\":{index},\"delta\":{delta}}}");
        let Ok(params) = Json::check(params) else {
            return false;
        };
        let sent = notify(&shared, "inference/chunk", &params).is_ok();
        if sent {
            told.store(index + 1, Relaxed);
        }
        sent
    })
}

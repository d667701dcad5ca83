//! Who is told that the list changed: sessions by themselves, clients of 2026-07-28 by subscription (H5).
//!
//! Source: 2026-07-28, `basic/patterns/subscriptions`; 2025-11-25, `server/tools`, "List Changed Notification".

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use seawall_proto::Json;
use serde_json::json;

use super::{Gateway, Stage};
use crate::service::{Answer, Exchange, Request, Session, SessionId};
use crate::tools;

const CHANGED: &str = "notifications/tools/list_changed";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const FILTER: &str = "toolsListChanged";

/// The sessions that are told.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<HashMap<SessionId, Session>>);

impl Told {
    pub(super) fn add(&self, session: &Session) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| !session.is_closed());
        sessions.insert(session.id(), session.clone());
    }

    fn all(&self) -> Vec<Session> {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| !session.is_closed());
        sessions.values().cloned().collect()
    }
}

/// Tells sessions of each change, for as long as there is a host.
pub(super) async fn announce(gateway: &Gateway) {
    let mut changes = gateway.host.watch_tools();
    changes.borrow_and_update();
    while changes.changed().await.is_ok() {
        changes.borrow_and_update();
        for session in gateway.told.all() {
            // One that does not read is not told, and lists anew when it does.
            let _ = session.notify(CHANGED, None);
        }
    }
}

/// `subscriptions/listen`: tells the client of each change until it cancels, or the gateway ends.
pub(super) async fn listen(gateway: &Gateway, request: &Request, exchange: &Exchange) -> Answer {
    let full = |_| tools::not_taken("too many subscriptions are open");
    let _permit = gateway.listeners.try_acquire().map_err(full)?;
    let wanted = request.params.as_ref();
    let wanted = wanted.and_then(|params| params.member("notifications"));
    let wanted = wanted.and_then(|filter| filter.member(FILTER));
    let is_wanted = wanted.is_some_and(|wanted| wanted.as_str() == "true");
    let id = Json::check(request.id.as_json().to_owned()).map_err(|_| tools::internal())?;
    let part = |value| Json::of(&value).map_err(|_| tools::internal());
    let meta = Json::empty_object().with_first("io.modelcontextprotocol/subscriptionId", &id);
    let mut changes = gateway.host.watch_tools();
    changes.borrow_and_update();

    let filter = match is_wanted {
        true => json!({FILTER: true}),
        false => json!({}),
    };
    let acknowledged = part(json!({"notifications": filter}))?.with_first("_meta", &meta);
    // A client that left is not told.
    let _ = exchange.notify(ACKNOWLEDGED, Some(&acknowledged)).await;
    let params = Json::empty_object().with_first("_meta", &meta);
    let mut stage = gateway.stage.subscribe();
    loop {
        let changed = tokio::select! {
            biased;
            _ = stage.wait_for(|stage| *stage == Stage::Ending) => false,
            changed = changes.changed(), if is_wanted => changed.is_ok(),
        };
        if !changed {
            break;
        }
        let _ = exchange.notify(CHANGED, Some(&params)).await;
    }
    let complete = part(json!({"resultType": "complete"}))?;
    Ok(complete.with_first("_meta", &meta))
}

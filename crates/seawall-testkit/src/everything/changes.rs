//! What changes, and who is told.

use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use seawall_proto::Json;

use crate::call::{Call, Done, text};
use crate::service::Everything;

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    Resource(String),
}

impl Change {
    fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource(_) => "notifications/resources/updated",
        }
    }

    /// Whether a filter of `subscriptions/listen` wants it.
    fn is_in(&self, filter: &Value) -> bool {
        match self {
            Self::Tools => filter["toolsListChanged"] == true,
            Self::Prompts => filter["promptsListChanged"] == true,
            Self::Resources => filter["resourcesListChanged"] == true,
            Self::Resource(uri) => filter["resourceSubscriptions"]
                .as_array()
                .is_some_and(|uris| uris.iter().any(|one| one == uri)),
        }
    }

    fn params(&self) -> Value {
        match self {
            Self::Resource(uri) => json!({"uri": uri}),
            _ => json!({}),
        }
    }
}

impl Everything {
    /// Tells everybody who wants to know; the result of the tool that did it.
    pub(crate) fn change(&self, change: &Change) -> Value {
        // Nobody may listen.
        let _ = self.changes.send(change.clone());
        let sessions: Vec<_> = self
            .clients()
            .values()
            .filter(|client| match change {
                Change::Resource(uri) => client.followed.contains(uri),
                _ => true,
            })
            .filter_map(|client| client.session.clone())
            .collect();
        let params = Json::of(&change.params()).ok();
        // On modern revisions only who listens is told.
        for session in sessions
            .iter()
            .filter(|one| one.revision().is_some_and(|revision| revision.is_legacy()))
        {
            let _ = session.notify(change.method(), params.as_ref());
        }
        text("Mutation triggered")
    }

    /// `subscriptions/listen`: tells what is asked for until the client cancels it (2026-07-28, `basic/patterns/subscriptions`).
    pub(crate) async fn listen(&self, id: &Value, call: &Call) -> Done {
        let mut changes = self.changes.subscribe();
        let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
        let mut filter = json!({});
        for key in [
            "toolsListChanged",
            "promptsListChanged",
            "resourcesListChanged",
        ] {
            if call.params["notifications"][key] == true {
                filter[key] = json!(true);
            }
        }
        if let Some(uris) = call.params["notifications"]["resourceSubscriptions"].as_array() {
            let uris: Vec<&Value> = uris.iter().filter(|uri| uri.is_string()).collect();
            filter["resourceSubscriptions"] = json!(uris);
        }
        let acknowledged = json!({"_meta": meta, "notifications": filter});
        let method = "notifications/subscriptions/acknowledged";
        call.tell(method, &acknowledged).await;
        loop {
            match changes.recv().await {
                Ok(change) if change.is_in(&filter) => {
                    let mut params = change.params();
                    params["_meta"] = meta.clone();
                    call.tell(change.method(), &params).await;
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Ok(json!({"_meta": meta})),
            }
        }
    }
}

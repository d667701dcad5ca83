//! Tools that cannot be called, since no result of theirs could be checked (S11).

use std::time::{Duration, Instant};

use seawall::flows::Flow;
use seawall::results::OutputValidator;
use serde::Serialize;

/// How long is looked for them on one server. Each schema is bounded; how many a server has is its own affair.
const PATIENCE: Duration = Duration::from_secs(2);

/// A tool with an `outputSchema` that cannot be used.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Unusable {
    pub(super) tool: String,
    pub(super) reason: String,
}

/// These of one server's tools. It works aside, so that nobody else waits for it.
pub(super) async fn unusable(flows: &[Flow]) -> Vec<Unusable> {
    let declared = |flow: &Flow| Some((flow.tool().to_owned(), flow.output_document()?.clone()));
    let declared: Vec<_> = flows.iter().filter_map(declared).collect();
    let look = move || {
        let begun = Instant::now();
        let mut found = Vec::new();
        for (tool, schema) in declared {
            if let Err(fault) = OutputValidator::compile(&schema) {
                let reason = fault.to_string();
                found.push(Unusable { tool, reason });
            }
            if begun.elapsed() > PATIENCE {
                break;
            }
        }
        found
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

impl Unusable {
    /// What to know and to do.
    pub(super) fn remedy(&self) -> String {
        format!(
            "tool `{}` cannot be called: {}, so no result of it could be checked; tell the server's author, or leave the \
             tool out with `exclude`",
            self.tool, self.reason
        )
    }
}

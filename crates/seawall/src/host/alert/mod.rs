//! Where alerts go: a line in a log file, a POST to a URL (H7).
//!
//! What is told is Seawall's own text: a server's id, an error's code and message, what the host does about it.

mod log_file;
mod webhook;

#[cfg(test)]
mod tests;

pub use log_file::{AlertLog, AlertLogError};
pub use webhook::{MAX_WAITING_ALERTS, Webhook, WebhookError};

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::{Down, Outlook};

/// At most so many characters of an error's message are told.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// One alert, as it is written and sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Record {
    /// Milliseconds since 1970.
    time_ms: u64,
    event: &'static str,
    server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outlook: Option<&'static str>,
}

impl Record {
    fn down(server: &str, down: &Down) -> Self {
        let message = down.error.message();
        let message = message.chars().take(MAX_MESSAGE_CHARS);
        Self {
            time_ms: now_ms(),
            event: "server_down",
            server: server.to_owned(),
            code: Some(down.error.code().as_str()),
            message: Some(message.collect()),
            outlook: Some(match down.outlook {
                Outlook::Retrying => "retrying",
                Outlook::Halted => "halted",
                Outlook::Held => "held",
            }),
        }
    }

    fn recovered(server: &str) -> Self {
        Self {
            time_ms: now_ms(),
            event: "server_recovered",
            server: server.to_owned(),
            code: None,
            message: None,
            outlook: None,
        }
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

//! The server's log: from which level on it is told, and for whom.
//!
//! Source: 2026-07-28 and 2025-11-25, `server/utilities/logging`.

use super::{Connection, Event, Time};
use crate::json::Json;
use crate::mcp::{ClientCapabilities, LOG_LEVELS};

impl Connection {
    /// Has a modern server log from this level on while it works on requests made from now on; `None` has it log nothing.
    /// On legacy revisions `logging/setLevel` is a request of its own; here it is only kept, for a session made anew.
    pub fn set_log_level(&mut self, level: Option<&str>) {
        self.log_level = level.map(str::to_owned);
        if self.meta.is_modern() {
            self.meta = self.modern_meta(level);
        }
    }

    /// Has a legacy server that logs do so from this level on, unless it was told to log more before. Its session has one
    /// level for all.
    pub(super) fn log_at_least(&mut self, now: Time, level: &'static str) {
        let rank = |level: &str| LOG_LEVELS.iter().position(|known| *known == level);
        let tells_it = self.log_level.as_deref().and_then(rank) <= rank(level);
        if self.is_modern() || (self.log_level.is_some() && tells_it) {
            return;
        }
        let session = self.known_session();
        if session.is_some_and(|session| session.capabilities.member("logging").is_some()) {
            self.log_level = Some(level.to_owned());
            let value = serde_json::Value::from(level).to_string();
            self.ask_aside(now, "logging/setLevel", ("level", &value));
        }
    }

    /// A line of the log came, on the stream of request `on`, if that has one.
    pub(super) fn logged(&mut self, params: Json, on: Option<u64>) {
        let call = on.and_then(|on| self.call_on(on));
        let event = || Event::Log { params, call };
        if self.config.relayed == ClientCapabilities::default() {
            self.diagnose(event);
        } else {
            self.diagnose_always(event);
        }
    }
}

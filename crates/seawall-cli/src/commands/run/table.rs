//! The table of servers: how each stands, and since when.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use seawall::Host;
use seawall::host::{EventKind, HostEvent, ServerState, ServerStatus};
use seawall::mcpl::session::Policy;

use crate::printer::{Board, Place, Table, visible};

/// Since when servers are up, and when their next attempts are due, as the events tell it.
#[derive(Debug, Default)]
pub(super) struct Times(HashMap<String, Time>);

#[derive(Debug, Clone, Copy)]
enum Time {
    Since(Instant),
    Due(Instant),
}

impl Times {
    pub(super) fn heard(&mut self, event: &HostEvent) {
        let now = Instant::now();
        let time = match event.kind {
            EventKind::Connecting { .. } | EventKind::Connected { .. } => Time::Since(now),
            EventKind::Waiting { delay } => match now.checked_add(delay) {
                Some(due) => Time::Due(due),
                None => return,
            },
            EventKind::Lost { .. }
            | EventKind::ConnectFailed { .. }
            | EventKind::Unreaped { .. }
            | EventKind::Gone => {
                self.0.remove(&*event.server);
                return;
            }
            _ => return,
        };
        self.0.insert(event.server.to_string(), time);
    }

    fn words(&self, server: &str) -> String {
        let now = Instant::now();
        match self.0.get(server) {
            None => String::new(),
            Some(Time::Since(since)) => short(now.saturating_duration_since(*since)),
            Some(Time::Due(due)) => {
                format!("next in {}", short(due.saturating_duration_since(now)))
            }
        }
    }
}

/// Draws the table as things stand now.
pub(super) fn draw(board: &Board, host: &Host, times: &Times) {
    let all = host.status();
    let mut table = Table::new([
        "SERVER",
        "STATE",
        "REVISION",
        "TOOLS",
        "SINCE",
        "LAST ERROR",
    ])
    .right(3)
    .short();
    let room = board.rows();
    let (mut shown, up) = (0, all.iter().filter(|status| is_up(status.state)).count());
    // Where not all fit, those that are not up come first.
    let (well, ill): (Vec<_>, Vec<_>) = all.iter().partition(|status| is_up(status.state));
    let order: Vec<&ServerStatus> = match all.len() > room {
        true => ill.into_iter().chain(well).collect(),
        false => all.iter().collect(),
    };
    for status in order.into_iter().take(room) {
        table.row(row(status, host, times));
        shown += 1;
    }
    let mut below = format!("{up} of {} up", all.len());
    if shown < all.len() {
        below.push_str(&format!("; {} more are not shown", all.len() - shown));
    }
    below.push_str("; Ctrl-C stops");
    board.show(&table, &below);
}

fn is_up(state: ServerState) -> bool {
    matches!(state, ServerState::Up | ServerState::Degraded)
}

/// The state in one word.
fn state(state: ServerState) -> &'static str {
    match state {
        ServerState::Waiting => "waiting",
        ServerState::Closing => "closing",
        ServerState::Unreaped => "held",
        short => short.as_str(),
    }
}

/// The revision, and what beside it a server of MCP Live has: all that it is granted, or nothing (yet).
fn revision(status: &ServerStatus, host: &Host) -> String {
    let Some(revision) = status.revision else {
        return String::new();
    };
    let live = match host.mcpl(&status.server).map(|mcpl| mcpl.policy()) {
        None => "",
        Some(Policy::InForce) => " live",
        Some(Policy::Pending) => " live?",
        Some(_) => " mcp-only",
    };
    format!("{revision}{live}")
}

fn row(status: &ServerStatus, host: &Host, times: &Times) -> [String; 6] {
    let error = status
        .last_error
        .as_ref()
        .map(|error| error.server_message());
    [
        visible(&status.server, Place::Line).into_owned(),
        state(status.state).to_owned(),
        revision(status, host),
        match is_up(status.state) {
            true => status.flows.to_string(),
            false => String::new(),
        },
        times.words(&status.server),
        visible(&error.unwrap_or_default(), Place::Line).into_owned(),
    ]
}

fn short(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7_200 => format!("{} min", seconds / 60),
        seconds @ ..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

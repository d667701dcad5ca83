//! What to do about what was found.

use seawall::{Error, ErrorCode};

use super::checkup::Found;

/// What to do about a connect that failed, or a server that does not end.
pub(super) fn of_error(error: &Error) -> String {
    let text = match error.code() {
        ErrorCode::SpawnFailed => {
            "is the program of `command` installed, executable, and on the PATH that the server gets? does `cwd` exist?"
        }
        ErrorCode::Timeout => {
            "a first start under npx or uvx downloads the server: try again, or raise `handshakeTimeoutMs`; else run the \
             command by hand and see what it waits for"
        }
        ErrorCode::ConnectionClosed => {
            "the server ended or hung up: run its command by hand; it may need an argument or a variable (`env`, `passEnv`)"
        }
        ErrorCode::ProtocolError => {
            "what runs there does not speak MCP as it should: is `command` the server itself, and does it log to stderr?"
        }
        ErrorCode::InvalidResponse => {
            "its tool list breaks a rule: raise the limit that the message names, or leave bad tools out with \
             `invalidTools: \"quarantine\"`"
        }
        ErrorCode::ToolNotFound => {
            "correct `include`: `seawall tools` without it shows what there is"
        }
        ErrorCode::Configuration => {
            "change the entry; `seawall check` shows what can be said of it without connecting"
        }
        _ => "run again with -vv and see what the server says",
    };
    text.to_owned()
}

/// What to know about a connection that works.
pub(super) fn of_found(found: &Found) -> Vec<String> {
    let mut remedies = Vec::new();
    for left_out in &found.quarantined {
        remedies.push(format!(
            "tool {} of its list is left out: it {}; tell the server's author",
            left_out.index, left_out.reason
        ));
    }
    for invisible in &found.invisible_characters {
        remedies.push(format!(
            "what it says of tool `{}` holds {} that nobody sees; a model does: read it with `seawall tools -v`, or \
             leave the tool out with `exclude`",
            invisible.tool,
            characters(invisible.count)
        ));
    }
    for near in found.near() {
        remedies.push(format!(
            "{} is {} % used ({} of {}): raise `{}` before it fails",
            near.option,
            near.percent(),
            near.used,
            near.limit,
            near.option
        ));
    }
    if found.noise_lines > 0 {
        remedies.push(format!(
            "{} not protocol and dropped; the server should log to stderr",
            match found.noise_lines {
                1 => "1 line on its stdout was".to_owned(),
                many => format!("{many} lines on its stdout were"),
            }
        ));
    }
    remedies
}

fn characters(count: usize) -> String {
    match count {
        1 => "1 character".to_owned(),
        _ => format!("{count} characters"),
    }
}

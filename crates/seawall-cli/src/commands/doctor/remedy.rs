//! What to do about what was found.

use seawall::{Error, ErrorCode, Obstacle};

use super::checkup::{Found, Place};
use crate::commands::outputs::Unusable;

/// What to do about a connect that failed, or a server that does not end.
pub(super) fn of_error(error: &Error, place: &Place) -> String {
    if error.revision_refusal().is_some() {
        // Both sides were understood; only a revision is missing that both speak (S4).
        return "it speaks MCP, but not in a revision that its entry allows: the message says which it speaks, and where \
                there is one, what to write as `protocol`"
            .to_owned();
    }
    if place.url.is_some()
        && let Some(remedy) = of_network(error, place)
    {
        return remedy;
    }
    if let Some(limit @ ("maxFrameBytes" | "maxOutboundFrameBytes")) = error.limit() {
        return format!("if a message that long is what you want of it, raise `{limit}`");
    }
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
        ErrorCode::InvalidResponse => match error.limit() {
            Some(limit @ ("maxTools" | "maxCatalogPages")) => {
                return format!("its tool list is longer than its entry allows: raise `{limit}`");
            }
            Some(limit) => {
                return format!(
                    "raise `{limit}`, or leave tools that pass it out with `invalidTools: \"quarantine\"`"
                );
            }
            None => {
                "its tool list breaks a rule: tell the server's author; where it is one tool that does, \
                 `invalidTools: \"quarantine\"` leaves that one out"
            }
        },
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

/// What to know about a server over stdio that did not come up and wrote to its stdout what is no protocol.
pub(super) const NOISY: &str = "some of what it wrote on its stdout was not protocol and dropped: it should log to stderr, and \
                                write each message on one line; -vv shows it";

/// What to do about a server behind a URL; `None` if that it is behind one makes no difference.
fn of_network(error: &Error, place: &Place) -> Option<String> {
    let not_mcp = "what answers there does not speak MCP: is `url` the server's MCP endpoint, not its web page?";
    let text = match (error.http_status(), error.obstacle()) {
        (_, Some(Obstacle::Login)) => {
            return Some(format!("log in: `seawall login {}`", place.server));
        }
        (_, Some(Obstacle::Authorization)) => {
            "the login cannot be used: `seawall logout` it and log in again; the message says what was wrong"
        }
        (_, Some(Obstacle::AuthorizationServer)) => {
            "its authorization server cannot be used for now: try again later, or tell its owner; the login is kept"
        }
        (_, Some(Obstacle::LoginClient)) => {
            "its authorization server does not take Seawall as the client that it is: check `clientId` of `oauth` and the secret \
             that `clientSecretEnv` names, or configure those that it gave you; the login is kept"
        }
        (_, Some(Obstacle::LoginStore)) => {
            "what is kept of logins cannot be used on this machine: see that their folder is yours, that nobody else can \
             write in it, and that there is room; the login is not lost by that"
        }
        (_, Some(Obstacle::CredentialsLate)) => {
            "its credentials take too long, not the server: is its authorization server slow, or is another program in the \
             middle of a login? try again, or raise `handshakeTimeoutMs`"
        }
        (Some(401), _) if place.has_token => {
            "the token of `bearerTokenEnv` is refused: has it expired, and is it one for this server?"
        }
        (Some(401), _) => {
            "it wants credentials: name the variable that holds a token with `bearerTokenEnv`, or let `oauth` log in"
        }
        (Some(403), _) => {
            "it knows who asks and does not allow it: ask its owner for the permission, or use other credentials"
        }
        (Some(404 | 405 | 410), _) => {
            "nothing speaks MCP at that path: is `url` whole? it often ends in /mcp or /sse"
        }
        (Some(407), _) => "the proxy wants credentials: see the proxy variables of the environment",
        (Some(429), _) => "it has had enough of requests for now: try again later",
        (Some(500..), _) => {
            "the server, or what stands before it, has a problem of its own: try again later, or tell its owner"
        }
        (Some(_), _) => not_mcp,
        (None, Some(Obstacle::Name)) => {
            "its name cannot be looked up: is the host in `url` spelled right, and is this machine on its network?"
        }
        (None, Some(Obstacle::Refused)) => {
            "nobody listens there: is the server running, and is the port in `url` the right one?"
        }
        (None, Some(Obstacle::Timeout)) => {
            "nobody answers there: is the host reachable from here, past firewalls and proxies?"
        }
        (None, Some(Obstacle::Certificate)) => {
            "its certificate is not trusted here: has it expired, and is the host in `url` the one it is for? a \
             certificate authority of your own is added to the system's, or named with SSL_CERT_FILE"
        }
        (None, Some(Obstacle::Tls)) => {
            "no TLS there: is it `http` that listens on that port, or a very old `https`?"
        }
        (None, Some(Obstacle::Redirect)) => {
            "write the address that it points to as `url`, if that is where the server is now"
        }
        (None, Some(Obstacle::Policy)) => {
            "the host's own policy forbids it: allow its origin there"
        }
        (None, Some(Obstacle::NotMcp)) => not_mcp,
        (None, Some(Obstacle::Lost | Obstacle::Connect)) => {
            "the connection does not hold: is a proxy in between, and does the server's own log say why?"
        }
        _ => match error.code() {
            ErrorCode::Timeout => {
                "something is there and does not answer: try again, or raise `handshakeTimeoutMs`"
            }
            ErrorCode::ConnectionClosed => "the server hung up: does its own log say why?",
            ErrorCode::ProtocolError => not_mcp,
            _ => return None,
        },
    };
    Some(text.to_owned())
}

/// What to know about a connection that works.
pub(super) fn of_found(found: &Found, place: &Place) -> Vec<String> {
    let mut remedies = Vec::new();
    for left_out in &found.quarantined {
        let name = match &left_out.name {
            Some(name) => format!("tool \"{name}\""),
            None => format!("tool {} of its list", left_out.index),
        };
        remedies.push(format!(
            "{name} is left out: it {}; tell the server's author",
            left_out.reason
        ));
    }
    remedies.extend(found.unusable.iter().map(Unusable::remedy));
    for invisible in &found.invisible_characters {
        remedies.push(format!(
            "what it says of tool `{}` holds {} that nobody sees; a model does: read it with `seawall tools -v`, or \
             leave the tool out with `exclude`",
            invisible.tool,
            characters(invisible.count)
        ));
    }
    if let Some(ms) = found.unanswered_probe_ms() {
        remedies.push(format!(
            "it did not answer `server/discover`, and each first connect waits {ms} ms for that: write \
             `protocol: \"legacy\"` in its entry"
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
    if found.noise_lines > 0 && place.url.is_some() {
        remedies.push(match found.noise_lines {
            1 => "1 message in its streams was not protocol and dropped".to_owned(),
            many => format!("{many} messages in its streams were not protocol and dropped"),
        });
    } else if found.noise_lines > 0 {
        remedies.push(format!(
            "{} not protocol and dropped; the server should log to stderr",
            match found.noise_lines {
                1 => "1 line on its stdout was".to_owned(),
                many => format!("{many} lines on its stdout were"),
            }
        ));
    }
    if !found.offers.contains(&"tools") && found.mcpl.is_none() {
        remedies.push(match found.offers.as_slice() {
            [] => "it offers nothing that can be asked for".to_owned(),
            offers => format!("it offers no tools, but {}", offers.join(", ")),
        });
    }
    remedies
}

fn characters(count: usize) -> String {
    match count {
        1 => "1 character".to_owned(),
        _ => format!("{count} characters"),
    }
}

//! An honest server: handshake, tools in pages, calls by a rule.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{End, Incoming, Wire, emit};
use crate::{CallRule, Serve, Until, pause};

/// Raw id texts of the calls that were cancelled.
type Cancelled = Arc<Mutex<BTreeSet<String>>>;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    protocol_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cursor: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    request_id: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct SleepArguments {
    ms: u64,
}

/// Serves until the rules say that the next step begins, or to the end of input.
pub(crate) fn serve(wire: &mut Wire, rules: &Serve) -> Result<(), End> {
    let cancelled = Cancelled::default();
    let mut calls = 0;
    if rules.until == Until::Calls(0) {
        return Ok(());
    }
    while let Some(line) = wire.line()? {
        let Ok(incoming) = serde_json::from_slice::<Incoming<'_>>(&line) else {
            return Err(End::Unexpected(format!(
                "not JSON-RPC: {}",
                String::from_utf8_lossy(&line).trim_end()
            )));
        };
        let params: Params<'_> = incoming
            .params
            .and_then(|params| serde_json::from_str(params.get()).ok())
            .unwrap_or_default();
        let method = incoming.method.as_deref().unwrap_or_default();
        let Some(id) = incoming.id.map(RawValue::get) else {
            if let ("notifications/cancelled", Some(id)) = (method, params.request_id) {
                cancelled
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(id.get().to_owned());
            }
            continue;
        };
        match method {
            "initialize" => {
                reply(id, &initialize(rules, &params))?;
                if rules.until == Until::Initialized {
                    return Ok(());
                }
            }
            "ping" => reply(id, "{}")?,
            "tools/list" => {
                if list(id, rules, params.cursor.as_deref())? && rules.until == Until::Listed {
                    return Ok(());
                }
            }
            "tools/call" => {
                let name = params.name.as_deref().unwrap_or_default();
                let rule = rules.tool_rules.get(name).unwrap_or(&rules.rule);
                call(id, rule, params.arguments, &cancelled)?;
                calls += 1;
                if rules.until == Until::Calls(calls) {
                    return Ok(());
                }
            }
            // A reply to a request of the script's own.
            "" => {}
            _ if rules.answers.contains_key(method) => reply(id, &rules.answers[method])?,
            _ => reply_error(id, r#"{"code":-32601,"message":"Method not found"}"#)?,
        }
    }
    Ok(())
}

fn initialize(rules: &Serve, params: &Params<'_>) -> String {
    let revision = rules
        .revision
        .as_deref()
        .or(params.protocol_version.as_deref())
        .unwrap_or("2025-11-25");
    let capabilities = &rules.capabilities;
    format!(
        r#"{{"protocolVersion":{},"capabilities":{capabilities},"serverInfo":{{"name":"scripted-server","version":"0"}}}}"#,
        quoted(revision)
    )
}

/// Answers with one page and says whether it was the last.
fn list(id: &str, rules: &Serve, cursor: Option<&str>) -> io::Result<bool> {
    let page = match cursor {
        None => 0,
        Some(cursor) => cursor
            .strip_prefix("page-")
            .and_then(|page| page.parse().ok())
            .unwrap_or(usize::MAX),
    };
    let tools = match rules.pages.get(page) {
        Some(tools) => tools.join(","),
        None if page == 0 => String::new(),
        None => {
            reply_error(id, r#"{"code":-32602,"message":"Invalid cursor"}"#)?;
            return Ok(false);
        }
    };
    let next = page + 1;
    if next < rules.pages.len() {
        reply(
            id,
            &format!(r#"{{"tools":[{tools}],"nextCursor":"page-{next}"}}"#),
        )?;
        return Ok(false);
    }
    reply(id, &format!(r#"{{"tools":[{tools}]}}"#))?;
    Ok(true)
}

fn call(
    id: &str,
    rule: &CallRule,
    arguments: Option<&RawValue>,
    cancelled: &Cancelled,
) -> io::Result<()> {
    let arguments = arguments.map_or("{}", RawValue::get);
    match rule {
        CallRule::Echo => reply(id, &text(arguments)),
        CallRule::Result(result) => reply(id, result),
        CallRule::Error(error) => reply_error(id, error),
        CallRule::Text(bytes) => reply(id, &text(&"x".repeat(*bytes))),
        CallRule::After(ms, result) => reply_later(id, *ms, result.clone(), cancelled),
        CallRule::Sleep => match serde_json::from_str::<SleepArguments>(arguments) {
            Ok(SleepArguments { ms }) => {
                reply_later(id, ms, text(&format!("slept {ms} ms")), cancelled)
            }
            Err(_) => reply_error(
                id,
                r#"{"code":-32602,"message":"ms is missing or no count"}"#,
            ),
        },
        CallRule::Never => Ok(()),
    }
}

/// Replies from a thread of its own, so that the server goes on reading meanwhile.
fn reply_later(id: &str, ms: u64, result: String, cancelled: &Cancelled) -> io::Result<()> {
    let (id, cancelled) = (id.to_owned(), Arc::clone(cancelled));
    std::thread::Builder::new()
        .stack_size(128 * 1024)
        .spawn(move || {
            pause(Duration::from_millis(ms));
            if !cancelled
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .contains(&id)
            {
                // The host may be gone by now.
                let _ = reply(&id, &result);
            }
        })?;
    Ok(())
}

fn reply(id: &str, result: &str) -> io::Result<()> {
    emit(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").as_bytes())
}

fn reply_error(id: &str, error: &str) -> io::Result<()> {
    emit(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n").as_bytes())
}

fn text(text: &str) -> String {
    format!(
        r#"{{"content":[{{"type":"text","text":{}}}]}}"#,
        quoted(text)
    )
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

//! One call, from a client to the server that has the tool.
//!
//! **Invariant:** dropping it abandons the call, which tells the server so (S8).

use std::pin::pin;

use seawall::host::HostCall;
use seawall::{Arguments, Host, Progress};
use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::server::RequestMeta;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::failure::{Failed, invalid, unknown_tool};
use super::offered::Offered;
use crate::observe::{Ended, Observed};
use crate::service::{Exchange, Request};

/// Answers `tools/call`, by what is offered at this moment.
pub(crate) async fn call(
    host: &Host,
    offered: &Offered,
    request: &Request,
    exchange: &Exchange,
    observed: &mut Observed,
) -> Result<Json, Failed> {
    let (params, meta) = (request.params.as_ref(), &request.meta);
    let name = params.and_then(|params| params.member("name"));
    let name = name.as_ref().and_then(Json::string);
    let name = name.ok_or_else(|| invalid("tools/call has no name"))?;
    let arguments = match params.and_then(|params| params.member("arguments")) {
        None => Arguments::none(),
        Some(arguments) if arguments.kind() == Kind::Object => Arguments::from(arguments),
        Some(_) => return Err(invalid("the arguments are not an object").into()),
    };
    let flow = offered.flow(&name).ok_or_else(unknown_tool)?;
    observed.of(flow);
    let call = request.client.call(host, flow, arguments);
    let result = match &meta.progress_token {
        None => call.await,
        Some(token) => telling(call, token, exchange).await,
    };
    let result = result.map_err(Failed::Host)?;
    if result.is_error() {
        observed.says(Ended::ToolError);
    }
    Ok(for_era(result.raw(), meta))
}

/// A call whose progress the client is told, under its own token.
async fn telling(
    call: HostCall,
    token: &Json,
    exchange: &Exchange,
) -> Result<seawall::ToolResult, seawall::Error> {
    // The newest only: a client that reads slowly misses what is outdated.
    let (teller, mut told) = watch::channel(None);
    let call = call.on_progress(move |progress| {
        teller.send_replace(Some(progress));
    });
    let mut call = pin!(call);
    loop {
        let ended = tokio::select! {
            biased;
            ended = &mut call => Some(ended),
            Ok(()) = told.changed() => None,
        };
        // What was told right before the end goes before the answer.
        let news = match ended {
            Some(_) if !told.has_changed().unwrap_or(false) => None,
            _ => told.borrow_and_update().clone(),
        };
        if let Some(params) = news.and_then(|progress| progress_params(token, &progress)) {
            // A client that left is not told.
            let _ = exchange
                .notify("notifications/progress", Some(&params))
                .await;
        }
        if let Some(ended) = ended {
            return ended;
        }
    }
}

fn progress_params(token: &Json, progress: &Progress) -> Option<Json> {
    let mut params = json!({"progress": number(progress.progress)});
    if let Some(total) = progress.total {
        params["total"] = number(total);
    }
    if let Some(message) = &progress.message {
        params["message"] = json!(message);
    }
    let params = Json::of(&params).ok()?;
    Some(params.with_first("progressToken", token))
}

/// A whole number as most servers write it.
fn number(value: f64) -> Value {
    /// Up to here every whole number is a double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
        let whole = value as i64;
        return json!(whole);
    }
    json!(value)
}

/// The result as the client's revision wants it: 2026-07-28 has every result say its type, which servers of earlier revisions
/// do not.
fn for_era(result: &Json, meta: &RequestMeta) -> Json {
    if meta.revision.is_legacy() || result.member("resultType").is_some() {
        return result.clone();
    }
    match Json::of(&"complete") {
        Ok(complete) => result.with_first("resultType", &complete),
        Err(_) => result.clone(),
    }
}

//! One call, from a client to the server that has the tool.
//!
//! **Invariant:** dropping it abandons the call, which tells the server so (S8).

use seawall::host::{HostCall, ServerState};
use seawall::{Arguments, ErrorCode, Flow, Host};
use seawall_proto::Json;
use seawall_proto::framing::Kind;
use seawall_proto::jsonrpc::ErrorObject;
use seawall_proto::server::RequestMeta;

use super::failure::{RemoteErrors, acted_on, counted, down, invalid, refused, unknown_tool};
use super::offered::Offered;
use crate::names::BETWEEN;
use crate::observe::{Ended, Observed};
use crate::relay::{Wiring, Work};
use crate::service::Request;

/// Begins the call that a `tools/call` asks for, by what is offered at this moment.
///
/// # Errors
/// What the client is told if there is nothing to call.
pub(crate) fn call(
    host: &Host,
    offered: &Offered,
    request: &Request,
    wiring: Wiring,
    remote: RemoteErrors,
    mut observed: Observed,
) -> Result<Work, ErrorObject> {
    let (flow, arguments) = match called(host, offered, request) {
        Ok(called) => called,
        Err(error) => {
            observed.ended(Some(Ended::Refused));
            return Err(error);
        }
    };
    observed.of(flow);
    let mut carried = wiring.carried();
    if let Some(context) = observed.trace() {
        let params = request.params.as_ref();
        let theirs = params.and_then(|params| params.member("_meta"));
        let theirs = theirs.filter(|meta| meta.kind() == Kind::Object);
        carried = carried.meta(context.put_into(&theirs.unwrap_or_else(Json::empty_object)));
    }
    let call = request.client.call(host, flow, arguments);
    let (call, meta) = (call.carrying(carried), request.meta.clone());
    Ok(Box::pin(end(call, meta, remote, observed)))
}

/// What is called, and with what.
fn called<'o>(
    host: &Host,
    offered: &'o Offered,
    request: &Request,
) -> Result<(&'o Flow, Arguments), ErrorObject> {
    let params = request.params.as_ref();
    let name = params.and_then(|params| params.member("name"));
    let name = name.as_ref().and_then(Json::string);
    let name = name.ok_or_else(|| invalid("tools/call has no name"))?;
    let arguments = match params.and_then(|params| params.member("arguments")) {
        None => Arguments::none(),
        Some(arguments) if arguments.kind() == Kind::Object => Arguments::from(arguments),
        Some(_) => return Err(invalid("the arguments are not an object")),
    };
    let flow = offered
        .flow(&name)
        .ok_or_else(|| not_up(host, request, &name).unwrap_or_else(unknown_tool))?;
    Ok((flow, arguments))
}

/// What is told of a tool whose name says that it is of a server which is not up: it may be there again in a moment, and a
/// client that reads "unknown" would think that it never was.
fn not_up(host: &Host, request: &Request, name: &str) -> Option<ErrorObject> {
    let (server, tool) = name.split_once(BETWEEN)?;
    if !request.client.may_ask_after(server, tool) {
        return None;
    }
    let status = host.status().into_iter().find(|one| one.server == server)?;
    let is_up = matches!(status.state, ServerState::Up | ServerState::Degraded);
    (!is_up).then(|| down(&status))
}

/// Its end, however many requests of the client's it takes.
async fn end(
    call: HostCall,
    meta: RequestMeta,
    remote: RemoteErrors,
    mut observed: Observed,
) -> Result<Json, ErrorObject> {
    let result = match call.await {
        Ok(result) => result,
        Err(error) => {
            observed.ended(Some(counted(&error)));
            return Err(match error.code() {
                // The grant narrowed since the client saw the tool: it sees it no longer.
                ErrorCode::CapabilityRefused => unknown_tool(),
                _ => acted_on(refused(&error, remote), &error, &meta),
            });
        }
    };
    if result.asks() {
        observed.says(Ended::InputRequired);
        observed.ended(None);
        return Ok(result.raw().clone());
    }
    if result.is_error() {
        observed.says(Ended::ToolError);
    }
    observed.ended(None);
    Ok(for_era(result.raw(), &meta))
}

/// The result as the client's revision wants it: 2026-07-28 has every result say its type, which servers of earlier revisions
/// do not.
pub(crate) fn for_era(result: &Json, meta: &RequestMeta) -> Json {
    if meta.revision.is_legacy() {
        return result.clone();
    }
    let Ok(complete) = Json::of(&"complete") else {
        return result.clone();
    };
    if result.member("resultType").is_none() {
        return result.with_first("resultType", &complete);
    }
    // To a server of an earlier revision the member means nothing, and to the client it must not.
    result.with_values(|key, kind| {
        let lies = key == "resultType" && kind.string().as_deref() != Some("complete");
        lies.then(|| complete.clone())
    })
}

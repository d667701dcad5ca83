//! One server that may be told of calls: its filter, and the calls that it was told of.

use std::collections::HashSet;
use std::time::Duration;

use seawall_proto::Json;
use seawall_proto::framing::Kind;
use serde::Serialize;

use super::call::{CallEnd, ToolCall, ToolCallId};
use super::filter::{Filter, Wants};
use super::narrowing::Narrowings;
use super::select::{Bounded, bounded};
use crate::mcpl::wire::Invalid;

/// So many calls that have not ended may one server have been told of; of more it is not told.
pub const MAX_OPEN_CALLS: usize = 4_096;

/// One connection's view of the calls of others. To be dropped with the connection.
///
/// Each method that tells gives the parameters of one `tools/lifecycle`, or nothing if the server is not to know.
#[derive(Debug)]
pub struct Observer {
    server_id: String,
    narrowings: Narrowings,
    filter: Option<Filter>,
    told: HashSet<ToolCallId>,
}

/// What of `toolLifecycle` is granted at that moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Granted {
    /// Not `observe`; `inputs` alone is nothing.
    Nothing,
    /// `observe`.
    Observe,
    /// `observe` and `inputs`.
    ObserveAndInputs,
}

impl Observer {
    /// The view of the server with this id. It has no filter, so it is told of calls and of no arguments.
    #[must_use]
    pub fn new(server_id: impl Into<String>, narrowings: Narrowings) -> Self {
        Self {
            server_id: server_id.into(),
            narrowings,
            filter: None,
            told: HashSet::new(),
        }
    }

    /// Takes the parameters of `tools/observe`, once the grant allowed it; the answer is `{}`. The filter is replaced whole,
    /// for calls that begin from now on.
    ///
    /// # Errors
    /// As [`Filter::parse`]; the filter before stays.
    pub fn observe(&mut self, params: Option<&Json>) -> Result<Json, Invalid> {
        self.filter = Filter::parse(params)?;
        Ok(Json::empty_object())
    }

    /// `toolLifecycle.observe` was taken away: the filter is forgotten, and no end is told of what it was told of.
    pub fn revoke(&mut self) {
        self.filter = None;
        self.told.clear();
    }

    /// The filter in force.
    #[must_use]
    pub fn filter(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }

    /// The call waits for somebody's consent.
    pub fn pending(&mut self, call: &ToolCall, granted: Granted) -> Option<Json> {
        self.wanted(call, granted)?;
        self.open(call)?;
        told(&Params::new(call, "pending"))
    }

    /// The call begins.
    pub fn started(&mut self, call: &ToolCall, granted: Granted) -> Option<Json> {
        let input = match self.wanted(call, granted)? {
            Wants::Nothing => return None,
            Wants::Metadata => None,
            Wants::All if call.arguments.kind() != Kind::Object => Some(Json::empty_object()),
            Wants::All => Some(call.arguments.clone()),
            Wants::Fields(fields) => Some(fields.of(&call.arguments)),
        };
        self.open(call)?;
        let mut params = Params::new(call, "started");
        if let Some(input) = input.filter(|_| granted == Granted::ObserveAndInputs) {
            let fits = self
                .narrowings
                .admits_input(call)
                .then(|| bounded(&input, self.narrowings.max_input_bytes))
                .flatten();
            match fits {
                Some(Bounded { input, altered }) => {
                    params.input = Some(input);
                    params.input_altered = altered;
                }
                None => params.input_withheld = true,
            }
        }
        told(&params)
    }

    /// The call ended; `ran` is how long it ran, if it had begun. The server is told if it was told of the beginning, and
    /// may still know of it; whatever its filter says by now.
    pub fn ended(
        &mut self,
        call: &ToolCall,
        end: CallEnd,
        ran: Option<Duration>,
        granted: Granted,
    ) -> Option<Json> {
        let may_know = self.told.remove(&call.id) && self.may_know(call, granted);
        let (phase, is_error) = match end {
            CallEnd::Completed => ("completed", Some(false)),
            CallEnd::CompletedWithError => ("completed", Some(true)),
            CallEnd::Failed => ("failed", None),
            CallEnd::Aborted => ("aborted", None),
        };
        let mut params = Params::new(call, phase);
        params.is_error = is_error;
        params.duration_ms = ran.map(|ran| u64::try_from(ran.as_millis()).unwrap_or(u64::MAX));
        may_know.then(|| told(&params)).flatten()
    }

    fn may_know(&self, call: &ToolCall, granted: Granted) -> bool {
        let is_own = call
            .provider
            .as_ref()
            .is_some_and(|provider| provider.server_id == self.server_id);
        granted != Granted::Nothing && !is_own && self.narrowings.observes(call)
    }

    /// What the server wants of a call that it may know of; `None` if it is not to know.
    fn wanted(&self, call: &ToolCall, granted: Granted) -> Option<&Wants> {
        let wants = match &self.filter {
            Some(filter) => filter.wants(call),
            None => &Wants::Metadata,
        };
        (self.may_know(call, granted) && *wants != Wants::Nothing).then_some(wants)
    }

    /// Notes that the server is told of the call; `None` if there are too many already.
    fn open(&mut self, call: &ToolCall) -> Option<()> {
        if !self.told.contains(&call.id) {
            if self.told.len() >= MAX_OPEN_CALLS {
                return None;
            }
            self.told.insert(call.id.clone());
        }
        Some(())
    }
}

fn told(params: &Params<'_>) -> Option<Json> {
    Json::of(params).ok()
}

/// The parameters of `tools/lifecycle` (RFC-007, section 13).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    tool_call_id: &'a str,
    inference_id: &'a str,
    conversation_id: &'a str,
    tool: &'a str,
    class: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_tool: Option<&'a str>,
    phase: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Json>,
    #[serde(skip_serializing_if = "is_false")]
    input_altered: bool,
    #[serde(skip_serializing_if = "is_false")]
    input_withheld: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
}

impl<'a> Params<'a> {
    fn new(call: &'a ToolCall, phase: &'static str) -> Self {
        let provider = call.provider.as_ref();
        Self {
            tool_call_id: call.id.as_str(),
            inference_id: &call.inference_id,
            conversation_id: &call.conversation_id,
            tool: &call.tool,
            class: call.classes.iter().map(super::ToolClass::as_str).collect(),
            server_id: provider.map(|provider| provider.server_id.as_str()),
            server_tool: provider.map(|provider| provider.server_tool.as_str()),
            phase,
            input: None,
            input_altered: false,
            input_withheld: false,
            is_error: None,
            duration_ms: None,
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

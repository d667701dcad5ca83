//! What a host tells servers of its turns, and what they add to them.

use seawall_proto::connection::CallId;

use super::{Live, Mcpl, McplError};
use crate::mcpl::hooks::{BeforeInference, HOOK_TIMEOUT, Injection};
use crate::mcpl::inference::{Phase, Turn};
use crate::mcpl::lifecycle::ToolCall;
use crate::mcpl::session::{CallPhase, Defect, Unsent};

impl Mcpl {
    /// Asks the server, before an inference, what it has to add. What it may not add, by its position, is left out, and told
    /// as a [`Defect`]; a server that is granted nothing of the hook is not asked.
    ///
    /// It fails open: a server that does not answer within 5 s, or answers with an error, adds nothing (§10.6, §13.3).
    ///
    /// # Cancel safety
    /// Dropping the future abandons the hook.
    pub async fn before_inference(&self, before: &BeforeInference) -> Vec<Injection> {
        let method = "context/beforeInference";
        let begun = self.begin(method, Some(HOOK_TIMEOUT), |session| {
            let params = session.hook(before).ok_or(Unsent::Method)?;
            Ok((params, ()))
        });
        let request = match begun {
            Ok((request, ())) => request,
            Err(McplError::Unsent(_)) => return Vec::new(),
            Err(_) => {
                self.defect(Defect::Hook);
                return Vec::new();
            }
        };
        let _hook = Hook::new(&self.live, request.id());
        match request.await {
            Ok(result) => self.with(|session| session.contribution(&result)),
            Err(_) => {
                self.defect(Defect::Hook);
                Vec::new()
            }
        }
    }

    /// Tells the server where a turn stands: never what is said in it. One end per beginning that was told (§10.5).
    ///
    /// # Errors
    /// Nothing was sent.
    pub fn inference_lifecycle(&self, turn: &Turn, phase: Phase) -> Result<(), McplError> {
        self.notify("inference/lifecycle", |session| session.turn(turn, phase))
    }
}

impl Mcpl {
    /// Tells the server of a call to a tool of another server, as far as it is granted that, asked for it and the operator
    /// narrowed it to (RFC-007). Whether it was told.
    pub fn tool_lifecycle(&self, call: &ToolCall, phase: CallPhase) -> bool {
        let told = self.notify("tools/lifecycle", |session| {
            session.tool(call, phase).ok_or(Unsent::Unwanted)
        });
        told.is_ok()
    }
}

/// A hook that a caller waits for.
struct Hook<'a>(&'a Live, Option<CallId>);

impl<'a> Hook<'a> {
    fn new(live: &'a Live, call: Option<CallId>) -> Self {
        live.hooks().extend(call);
        Self(live, call)
    }
}

impl Drop for Hook<'_> {
    fn drop(&mut self) {
        self.0.hooks().retain(|hook| Some(*hook) != self.1);
    }
}

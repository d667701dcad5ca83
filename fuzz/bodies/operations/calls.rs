//! The caller's and the transport's side: calls, what is taken of their frames, and how each ended.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Poll, Waker};
use std::time::Duration;

use seawall_proto::connection::{Abandoned, CallError, CallId};
use seawall_proto::mcp::ToolResult;
use seawall_proto::{Json, Outcome};

use super::{Call, Flag, World, json, number};

impl World<'_> {
    pub(super) fn call(&mut self) {
        let tool = self.input.pick(&["echo", "echo", "echo", "other", ""]);
        let size = usize::from(self.input.byte());
        let arguments = match self.input.byte() % 8 {
            0 => String::from("[]"),
            1 => format!("{{\"a\":\n\"{}\"}}", "x".repeat(4 * size)),
            2 => format!("{}{{}}{}", "{\"a\":".repeat(size / 2), "}".repeat(size / 2)),
            _ => String::from("{}"),
        };
        let arguments = Json::check(arguments).expect("it is JSON");
        let timeout = match self.input.byte() {
            byte @ 0..100 => Some(Duration::from_millis(byte.into())),
            255 => Some(Duration::MAX),
            _ => None,
        };
        let before = self.outbound();
        match self.connection.call(self.now, tool, &arguments, timeout) {
            Ok(handle) => {
                assert!(self.reason.is_none());
                let after = self.outbound();
                assert_eq!(after[..before.len()], before);
                let frame = after.last().expect("a frame was queued");
                assert_eq!(after.len(), before.len() + 1);
                assert!(frame.len() - 1 <= self.limits.max_outbound_frame_bytes);
                let id = number(&json(frame), "id").expect("a request has an id");
                assert!(id > self.last_id, "ids are never used again");
                self.handshake_ids = self.handshake_ids.min(id);
                self.last_id = id;
                let deadline = self
                    .now
                    .after(timeout.unwrap_or(self.limits.request_timeout));
                self.calls.insert(
                    id,
                    Call {
                        handle,
                        deadline,
                        flag: None,
                    },
                );
            }
            Err(error) => {
                assert_eq!(error.outcome(), Outcome::NotSent);
                assert_eq!(self.outbound(), before, "a refused call sends nothing");
                match (&self.reason, error) {
                    (Some(first), CallError::Closed { reason, .. }) => assert_eq!(&reason, first),
                    (Some(_), error) => panic!("not the terminal reason: {error}"),
                    (None, CallError::Closed { reason, .. }) => panic!("still open: {reason}"),
                    (None, _) => {}
                }
            }
        }
    }

    /// The transport takes some bytes.
    pub(super) fn write(&mut self, bytes: usize) {
        let frames = self.outbound();
        let total: usize = frames.iter().map(Vec::len).sum();
        let bytes = bytes.min(total);
        let mut left = bytes;
        for frame in frames {
            if left == 0 {
                break;
            }
            if self.rest.is_empty() {
                self.begin(&frame);
            }
            let taken = left.min(frame.len());
            self.rest = frame[taken..].to_vec();
            left -= taken;
        }
        self.connection.handle_written(bytes);
    }

    /// The transport takes the first byte of a frame.
    pub(super) fn begin(&mut self, frame: &[u8]) {
        let message = json(frame);
        let method = message.member("method");
        match method.as_ref().map(Json::as_str) {
            Some("\"notifications/cancelled\"") => {
                let params = message.member("params").expect("it names its request");
                let id = number(&params, "requestId").expect("it names its request");
                assert!(self.begun.contains(&id), "only what was sent is cancelled");
                assert!(id >= self.handshake_ids, "the handshake is never cancelled");
                assert!(!self.answered.contains(&id), "never after a reply");
                assert!(self.given_up.contains(&id), "only what was given up");
                assert!(self.cancelled.insert(id), "cancelled once");
            }
            Some("\"notifications/initialized\"") => {}
            Some(_) => {
                let id = number(&message, "id").expect("a request has an id");
                assert!(
                    !self.given_up.contains(&id),
                    "an abandoned call is not begun"
                );
                assert!(self.begun.insert(id), "sent once");
            }
            None => assert!(message.member("id").is_some(), "it is a reply"),
        }
    }

    pub(super) fn pick_call(&mut self) -> Option<u64> {
        let mut ids: Vec<u64> = self.calls.keys().copied().collect();
        ids.sort_unstable();
        let choice = usize::from(self.input.byte());
        (!ids.is_empty()).then(|| ids[choice % ids.len()])
    }

    pub(super) fn abandon(&mut self) {
        let Some((id, call)) = self
            .pick_call()
            .and_then(|id| Some((id, self.calls.remove(&id)?)))
        else {
            return;
        };
        match self.connection.abandon(call.handle) {
            Abandoned::NotSent => assert!(!self.begun.contains(&id)),
            Abandoned::NoResponse => assert!(self.begun.contains(&id)),
            Abandoned::Refused => assert!(self.begun.contains(&id)),
            Abandoned::BetweenLegs => panic!("no revision with a handshake has rounds"),
            Abandoned::Ended(result) => {
                let result = result
                    .and_then(|reply| ToolResult::from_reply(reply).map_err(CallError::Unusable));
                self.judge(id, &call, &result);
            }
            Abandoned::Unknown => panic!("the connection lost a call"),
        }
        self.given_up.insert(id);
        self.forget(call.handle);
    }

    pub(super) fn take(&mut self) {
        let Some((id, handle)) = self
            .pick_call()
            .and_then(|id| Some((id, self.calls.get(&id)?.handle)))
        else {
            return;
        };
        if let Some(result) = self.connection.take(handle) {
            self.ended(id, &result);
        } else {
            assert!(self.reason.is_none(), "an end ends every call");
        }
    }

    pub(super) fn poll(&mut self) {
        let Some((id, handle)) = self
            .pick_call()
            .and_then(|id| Some((id, self.calls.get(&id)?.handle)))
        else {
            return;
        };
        let flag = Arc::new(Flag::default());
        match self
            .connection
            .poll_call(handle, &Waker::from(Arc::clone(&flag)))
        {
            Poll::Ready(Some(result)) => self.ended(id, &result),
            Poll::Ready(None) => panic!("the connection lost a call"),
            Poll::Pending => {
                if let Some(call) = self.calls.get_mut(&id) {
                    call.flag = Some(flag);
                }
                let _ = self.connection.take_progress(handle);
            }
        }
    }

    pub(super) fn ended(&mut self, id: u64, result: &Result<ToolResult, CallError>) {
        let call = self.calls.remove(&id).expect("it is one of ours");
        self.judge(id, &call, result);
        self.forget(call.handle);
    }

    /// Whether an end says what became of the call.
    pub(super) fn judge(&mut self, id: u64, call: &Call, result: &Result<ToolResult, CallError>) {
        self.wake();
        if let Some(flag) = &call.flag {
            assert!(flag.0.load(Ordering::Relaxed), "whoever waits is woken");
        }
        let begun = self.begun.contains(&id);
        let outcome = result.as_ref().map_err(CallError::outcome);
        match outcome {
            Err(Outcome::NotSent) => assert!(!begun, "not_sent is never said of what was begun"),
            Err(Outcome::NoResponse) => assert!(begun, "no_response is never said of what was not"),
            _ => assert!(self.answered.contains(&id), "an answer came"),
        }
        match result {
            Err(CallError::Closed { reason, .. }) => assert_eq!(Some(reason), self.reason.as_ref()),
            Err(CallError::Timeout { .. }) => assert!(call.deadline <= self.now),
            Err(CallError::Refused { .. } | CallError::Unusable(_)) | Ok(_) => {}
            Err(error) => panic!("an accepted call does not end so: {error}"),
        }
    }

    pub(super) fn forget(&mut self, handle: CallId) {
        assert!(self.connection.take(handle).is_none(), "it ends once");
        assert!(matches!(
            self.connection.poll_call(handle, Waker::noop()),
            Poll::Ready(None)
        ));
        self.gone.push(handle);
    }
}

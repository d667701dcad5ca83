//! The members of an envelope, gathered while the frame is scanned.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use bytes::Bytes;

use super::{ErrorObject, Inbound, Malformed, Reply, RequestId, string_of};
use crate::framing::{Child, Kind};
use crate::json::{Json, decode_string};

/// Where a member's value stands, and its kind.
#[derive(Debug, Clone)]
struct Member {
    value: Range<usize>,
    kind: Kind,
}

/// What was gathered; `None` where the member is absent.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    jsonrpc: Option<Member>,
    id: Option<Member>,
    method: Option<Member>,
    params: Option<Member>,
    result: Option<Member>,
    error: Option<Member>,
    /// Keys that the protocol does not know, kept only to find duplicates.
    others: HashSet<String>,
    duplicate: bool,
    /// Of the member under way.
    inner: Inner,
    /// Of `result`, once it ended; members may stand after it.
    inner_of_result: Inner,
}

/// The well-known members one level down, of whichever member is under way.
#[derive(Debug, Default)]
struct Inner {
    content: Option<Range<usize>>,
    structured_content: Option<Range<usize>>,
    is_error: Option<Range<usize>>,
    result_type: Option<Range<usize>>,
    ambiguous: bool,
}

impl Envelope {
    /// Takes one child of the frame. Grandchildren arrive before the member that holds them.
    pub(super) fn take(&mut self, text: &str, child: &Child) {
        let Some(key) = child.key.clone().and_then(|key| text.get(key)) else {
            return;
        };
        let key = if key.contains('\\') {
            decode_string(key).text
        } else {
            Cow::Borrowed(key)
        };
        if child.level == 2 {
            let slot = match &*key {
                "content" => &mut self.inner.content,
                "structuredContent" => &mut self.inner.structured_content,
                "isError" => &mut self.inner.is_error,
                "resultType" => &mut self.inner.result_type,
                _ => return,
            };
            self.inner.ambiguous |= slot.replace(child.value.clone()).is_some();
            return;
        }
        let inner = std::mem::take(&mut self.inner);
        let slot = match &*key {
            "jsonrpc" => &mut self.jsonrpc,
            "id" => &mut self.id,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "result" => &mut self.result,
            "error" => &mut self.error,
            _ => {
                self.duplicate |= !self.others.insert(key.into_owned());
                return;
            }
        };
        if &*key == "result" {
            self.inner_of_result = inner;
        }
        let member = Member {
            value: child.value.clone(),
            kind: child.kind,
        };
        self.duplicate |= slot.replace(member).is_some();
    }

    /// Whether the object says that it is JSON-RPC.
    pub(super) fn tagged(&self) -> bool {
        self.jsonrpc.is_some()
    }

    /// The message that the members make.
    pub(super) fn into_message(self, text: &str, frame: &Bytes) -> Result<Inbound, Malformed> {
        let raw = |member: &Member| text.get(member.value.clone()).unwrap_or_default();
        let part = |range: &Range<usize>| Json::part_of_checked(frame.slice(range.clone()));
        if self.duplicate {
            return Err(Malformed::DuplicateKey);
        }
        let version = self.jsonrpc.as_ref().map(raw).unwrap_or_default();
        if version != "\"2.0\"" && string_of(version).as_deref() != Some("2.0") {
            return Err(Malformed::Version);
        }
        let id = match &self.id {
            None => None,
            Some(member) if member.kind == Kind::Null => None,
            Some(member) => {
                let text = frame.slice(member.value.clone());
                Some(RequestId::from_checked(text, member.kind).ok_or(Malformed::Id)?)
            }
        };
        if let Some(method) = &self.method {
            let method = string_of(raw(method)).ok_or(Malformed::Method)?;
            if self.result.is_some() || self.error.is_some() {
                return Err(Malformed::RequestAndReply);
            }
            let params = match &self.params {
                Some(member) if matches!(member.kind, Kind::Object | Kind::Array) => {
                    Some(part(&member.value))
                }
                // JSON-RPC has no null parameters; servers that serialise an absent value write one all the same.
                None
                | Some(Member {
                    kind: Kind::Null, ..
                }) => None,
                Some(_) => return Err(Malformed::Params),
            };
            return match (id, self.id) {
                (Some(id), _) => Ok(Inbound::Request { id, method, params }),
                (None, None) => Ok(Inbound::Notification { method, params }),
                (None, Some(_)) => Err(Malformed::Id),
            };
        }
        match (&self.result, &self.error) {
            (Some(_), Some(_)) => Err(Malformed::ResultAndError),
            (None, None) => Err(Malformed::Empty),
            (Some(result), None) => {
                let id = id.ok_or(Malformed::ResultWithoutId)?;
                let inner = &self.inner_of_result;
                let reply = Reply {
                    content: inner.content.as_ref().map(part),
                    structured_content: inner.structured_content.as_ref().map(part),
                    is_error: inner.is_error.as_ref().map(part),
                    result_type: inner.result_type.as_ref().map(part),
                    ambiguous: inner.ambiguous,
                    asks: false,
                    result: part(&result.value),
                };
                Ok(Inbound::Response {
                    id,
                    answer: Ok(reply),
                })
            }
            (None, Some(error)) => {
                let error = ErrorObject::from_checked(frame.slice(error.value.clone()))
                    .ok_or(Malformed::ErrorObject)?;
                Ok(match id {
                    Some(id) => Inbound::Response {
                        id,
                        answer: Err(error),
                    },
                    None => Inbound::UncorrelatedError(error),
                })
            }
        }
    }
}

//! The newest calls: a ring in memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::Ended;

/// So many calls are remembered.
pub(crate) const KEPT_CALLS: usize = 200;
/// A name is remembered so far, in characters.
const MAX_NAME_CHARS: usize = 128;

/// One call that ended.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// When it ended.
    pub(crate) at: SystemTime,
    /// The server that it came to, if it came to one.
    pub(crate) server: Option<Arc<str>>,
    /// The tool's own name: the server's text.
    pub(crate) tool: Option<String>,
    /// Who called.
    pub(crate) client: String,
    pub(crate) ended: Ended,
    pub(crate) elapsed: Duration,
}

/// The newest calls.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<VecDeque<Call>>);

impl Recent {
    pub(super) fn push(&self, mut call: Call) {
        for name in [Some(&mut call.client), call.tool.as_mut()]
            .into_iter()
            .flatten()
        {
            if let Some((end, _)) = name.char_indices().nth(MAX_NAME_CHARS) {
                name.truncate(end);
            }
        }
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() >= KEPT_CALLS {
            calls.pop_front();
        }
        calls.push_back(call);
    }

    /// The newest first.
    pub(crate) fn all(&self) -> Vec<Call> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().rev().cloned().collect()
    }
}

//! What the server asked for and the host is finding out.
//!
//! **Invariant:** a question that nobody waits for any longer is dropped, and with it whatever asked a person.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use seawall_proto::Json;
use seawall_proto::connection::InputId;
use seawall_proto::mcp::InputMethod;

use crate::inputs::Suppliers;

type Answer = Pin<Box<dyn Future<Output = Option<Json>> + Send>>;

/// The questions under way; the connection bounds how many there can be.
pub(super) struct Questions {
    server: Arc<str>,
    suppliers: Suppliers,
    open: Vec<(InputId, Answer)>,
}

impl Questions {
    pub(super) fn new(server: Arc<str>, suppliers: Suppliers) -> Self {
        Self {
            server,
            suppliers,
            open: Vec::new(),
        }
    }

    pub(super) fn ask(&mut self, id: InputId, method: InputMethod, params: Option<Json>) {
        let answer = self.suppliers.supply(&self.server, method, params);
        self.open.push((id, answer));
    }

    pub(super) fn withdraw(&mut self, gone: InputId) {
        self.open.retain(|(id, _)| *id != gone);
    }

    /// The answers that are there.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Vec<(InputId, Option<Json>)> {
        let mut answers = Vec::new();
        self.open
            .retain_mut(|(id, answer)| match answer.as_mut().poll(context) {
                Poll::Pending => true,
                Poll::Ready(answer) => {
                    answers.push((*id, answer));
                    false
                }
            });
        answers
    }
}

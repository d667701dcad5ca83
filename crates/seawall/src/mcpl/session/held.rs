//! What came before the server's receipt and waits for it, in the order in which it came.

use std::collections::VecDeque;

use seawall_proto::Json;

/// At most this many messages wait for the receipt; a request past it is refused, a notification dropped.
pub(super) const MAX_HELD: usize = 64;
/// At most this many bytes of them.
pub(super) const MAX_HELD_BYTES: usize = 4 << 20;

/// Messages that wait.
#[derive(Debug)]
pub(super) struct Held<K> {
    messages: VecDeque<Message<K>>,
    bytes: usize,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Message<K> {
    /// The request's key; a notification has none.
    pub(super) key: Option<K>,
    pub(super) method: String,
    pub(super) params: Option<Json>,
}

impl<K> Message<K> {
    fn bytes(&self) -> usize {
        self.method.len() + self.params.as_ref().map_or(0, Json::len)
    }
}

impl<K> Default for Held<K> {
    fn default() -> Self {
        Self {
            messages: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<K: PartialEq> Held<K> {
    /// Keeps a message; gives it back if there is no room for it.
    pub(super) fn hold(&mut self, message: Message<K>) -> Result<(), Message<K>> {
        let bytes = self.bytes + message.bytes();
        if self.messages.len() >= MAX_HELD || bytes > MAX_HELD_BYTES {
            return Err(message);
        }
        self.bytes = bytes;
        self.messages.push_back(message);
        Ok(())
    }

    /// Takes the next one out.
    pub(super) fn pop(&mut self) -> Option<Message<K>> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.bytes();
        Some(message)
    }

    /// Drops the request of this key.
    pub(super) fn withdraw(&mut self, key: &K) {
        let is_it = |message: &Message<K>| message.key.as_ref() == Some(key);
        if let Some(at) = self.messages.iter().position(is_it)
            && let Some(message) = self.messages.remove(at)
        {
            self.bytes -= message.bytes();
        }
    }
}

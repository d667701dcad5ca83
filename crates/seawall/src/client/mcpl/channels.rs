//! What a host asks of channels and tells them.

use seawall_proto::Json;

use super::{Mcpl, McplError};
use crate::mcpl::channels::{Channel, Delivery, Intent, Place, TypingOp, chunk, complete};

/// The conversation, the channel and the place of something that a host says.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// The host's own id of the conversation.
    pub conversation_id: &'a str,
    /// The channel.
    pub channel_id: &'a str,
    /// Where in it.
    pub place: &'a Place,
}

impl<'a> Destination<'a> {
    /// Anywhere in a channel.
    #[must_use]
    pub fn channel(conversation_id: &'a str, channel_id: &'a str) -> Self {
        Self {
            conversation_id,
            channel_id,
            place: &Place::Anywhere,
        }
    }
}

impl Mcpl {
    /// The channels that are registered, by their ids.
    #[must_use]
    pub fn channels(&self) -> Vec<Channel> {
        self.with(|session| session.registry().iter().cloned().collect())
    }

    /// `channels/publish`: has a message delivered to a channel; `content` is an array of blocks
    /// ([`text_blocks`](crate::mcpl::channels::text_blocks)). It is always a request, so that what became of it is known.
    ///
    /// # Errors
    /// Nothing was sent; or the request failed, and then the message may have been delivered unless the error's outcome is
    /// `not_sent`.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request; the message may be delivered all the same.
    pub async fn publish(
        &self,
        to: Destination<'_>,
        content: &Json,
    ) -> Result<Delivery, McplError> {
        let (request, publication) = self.begin("channels/publish", None, |session| {
            let place = to.place.clone();
            let publication =
                session.publication(to.conversation_id, to.channel_id, place, content)?;
            Ok((publication.params().clone(), publication))
        })?;
        let result = request.await.map_err(McplError::Failed)?;
        Ok(publication.delivery(&result))
    }

    /// `channels/open`, of a registered channel.
    ///
    /// # Errors
    /// Nothing was sent; the request failed (-32024: the server could not open it); or its answer names no such channel.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request.
    pub async fn open_channel(&self, channel_id: &str) -> Result<Channel, McplError> {
        let (request, ()) = self.begin("channels/open", None, |session| {
            Ok((session.opening(channel_id)?, ()))
        })?;
        let result = request.await.map_err(McplError::Failed)?;
        let opened = self.with(|session| session.opened(Some(channel_id), Some(&result)));
        opened.ok_or(McplError::Answer("channels/open"))
    }

    /// `channels/close`, of a registered channel.
    ///
    /// # Errors
    /// Nothing was sent; the request failed; or the server says that it was not closed.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request.
    pub async fn close_channel(&self, channel_id: &str) -> Result<(), McplError> {
        let (request, ()) = self.begin("channels/close", None, |session| {
            Ok((session.closing(channel_id)?, ()))
        })?;
        let result = request.await.map_err(McplError::Failed)?;
        let closed = self.with(|session| session.closed(channel_id, &result));
        closed
            .then_some(())
            .ok_or(McplError::Answer("channels/close"))
    }

    /// `channels/list`: the server's own list, as it wrote it. It registers nothing.
    ///
    /// # Errors
    /// Nothing was sent, or the request failed.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request.
    pub async fn list_channels(&self) -> Result<Json, McplError> {
        let (request, ()) =
            self.begin("channels/list", None, |_| Ok((Json::empty_object(), ())))?;
        request.await.map_err(McplError::Failed)
    }

    /// `channels/acknowledge`: shows that a message was seen. Whether the server showed it.
    ///
    /// # Errors
    /// Nothing was sent, or the request failed.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request.
    pub async fn acknowledge(
        &self,
        channel_id: &str,
        message_id: &str,
        intent: Intent<'_>,
    ) -> Result<bool, McplError> {
        let (request, ()) = self.begin("channels/acknowledge", None, |session| {
            Ok((session.acknowledging(channel_id, message_id, intent)?, ()))
        })?;
        let result = request.await.map_err(McplError::Failed)?;
        let said = result.member("acknowledged");
        Ok(said.is_some_and(|said| said.as_str() == "true"))
    }

    /// `channels/typing`: shows that somebody writes.
    ///
    /// # Errors
    /// Nothing was sent.
    pub fn typing(&self, channel_id: &str, op: TypingOp) -> Result<(), McplError> {
        self.notify("channels/typing", |session| session.typing(channel_id, op))
    }

    /// `channels/outgoing/chunk`: what a model says to a channel while it says it. It must hold nothing that
    /// [`publish`](Self::publish) would not deliver there; `index` counts the chunks of one inference over all channels.
    ///
    /// # Errors
    /// Nothing was sent.
    pub fn outgoing_chunk(
        &self,
        inference_id: &str,
        to: Destination<'_>,
        index: u64,
        delta: &str,
    ) -> Result<(), McplError> {
        self.notify("channels/outgoing/chunk", |session| {
            session.streams_to(to.channel_id)?;
            let ids = [inference_id, to.conversation_id, to.channel_id];
            Ok(chunk(ids, to.place, index, delta))
        })
    }

    /// `channels/outgoing/complete`: the end of such a stream, with all of it as blocks. Once for each inference and channel
    /// that got chunks, however the inference ended.
    ///
    /// # Errors
    /// Nothing was sent.
    pub fn outgoing_complete(
        &self,
        inference_id: &str,
        to: Destination<'_>,
        content: &Json,
    ) -> Result<(), McplError> {
        self.notify("channels/outgoing/complete", |session| {
            session.streams_to(to.channel_id)?;
            let ids = [inference_id, to.conversation_id, to.channel_id];
            Ok(complete(ids, to.place, content))
        })
    }
}

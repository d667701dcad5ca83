//! The channels of one connection.
//!
//! Source: SPEC, sections 14.3 and 14.5.

use std::collections::{BTreeMap, HashSet};

use seawall_proto::Json;
use serde_json::{Value, json};

use super::Reason;
use super::descriptor::Descriptor;
use crate::mcpl::wire::{self, Invalid};

/// So many channels may one connection have.
pub const MAX_CHANNELS: usize = 2_048;
/// So many descriptors or ids may stand in one request.
const MAX_SUBMITTED: usize = 2 * MAX_CHANNELS;

/// The channels of one connection. Empty at first, and to be dropped with the connection.
#[derive(Debug, Default)]
pub struct Registry {
    channels: BTreeMap<String, Channel>,
}

/// A channel that is registered.
#[derive(Debug, Clone)]
pub struct Channel {
    descriptor: Descriptor,
    state: ChannelState,
}

/// Whether the host opened a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ChannelState {
    /// It did not, or closed it again.
    #[default]
    Closed,
    /// It did.
    Open,
}

/// What became of one descriptor that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The channel's id, if it can be told.
    pub id: Option<String>,
    /// Whether it is registered now, as submitted, or why not.
    pub outcome: Result<(), Reason>,
}

/// What `channels/changed` did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changed {
    /// The channels that are gone, of those that were known.
    pub removed: Vec<String>,
    /// One for each descriptor that was submitted, those under `added` first.
    pub verdicts: Vec<Verdict>,
}

impl Registry {
    /// No channel.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the parameters of `channels/register` and judges each descriptor for itself. One whose id is known already
    /// takes the other's place and stays as open as it was. `allow` is the operator's word on one descriptor.
    ///
    /// # Errors
    /// `channels` is no array, or has too many elements; nothing is registered then.
    pub fn register(
        &mut self,
        params: &Json,
        mut allow: impl FnMut(&Descriptor) -> bool,
    ) -> Result<Vec<Verdict>, Invalid> {
        let [channels] = wire::members(params, "params", ["channels"])?;
        let channels = wire::required("channels", channels)?;
        let submitted = wire::elements("channels", &channels, MAX_SUBMITTED)?;
        let mut seen = HashSet::new();
        Ok(submitted
            .iter()
            .map(|json| self.submit(json, &mut seen, &mut allow, |_| true))
            .collect())
    }

    /// Takes the parameters of `channels/changed`: what is removed goes first; then `added` as in
    /// [`register`](Self::register), then `updated`, which have to be known.
    ///
    /// # Errors
    /// A member is no array, has too many elements, or `removed` holds something other than ids; nothing is changed then.
    pub fn changed(
        &mut self,
        params: &Json,
        mut allow: impl FnMut(&Descriptor) -> bool,
    ) -> Result<Changed, Invalid> {
        let names = ["added", "removed", "updated"];
        let [added, removed, updated] = wire::members(params, "params", names)?;
        let list = |field, member| match wire::present(member) {
            Some(member) => wire::elements(field, &member, MAX_SUBMITTED),
            None => Ok(Vec::new()),
        };
        let (added, updated) = (list("added", added)?, list("updated", updated)?);
        let mut removed = wire::optional_texts("removed", removed, MAX_SUBMITTED)?;
        removed.retain(|id| self.channels.remove(id).is_some());
        let mut seen = HashSet::new();
        let mut verdicts: Vec<Verdict> = added
            .iter()
            .map(|json| self.submit(json, &mut seen, &mut allow, |_| true))
            .collect();
        for json in &updated {
            verdicts.push(self.submit(json, &mut seen, &mut allow, |known| known));
        }
        Ok(Changed { removed, verdicts })
    }

    /// Takes the descriptor that answered `channels/open`, and marks its channel open. `asked` is the id that was asked for,
    /// if one was; another one is not what was opened.
    ///
    /// # Errors
    /// The answer has no sound descriptor, one of another channel, one that is not allowed, or one channel too many.
    pub fn opened(
        &mut self,
        asked: Option<&str>,
        result: &Json,
        mut allow: impl FnMut(&Descriptor) -> bool,
    ) -> Result<&Channel, Reason> {
        let descriptor = Descriptor::of(&result.member("channel").ok_or(Reason::Invalid)?)?;
        if asked.is_some_and(|asked| asked != descriptor.id()) {
            return Err(Reason::UnknownChannel);
        }
        let id = descriptor.id().to_owned();
        self.put(descriptor, &mut allow)?;
        let channel = self.channels.get_mut(&id).ok_or(Reason::Invalid)?;
        channel.state = ChannelState::Open;
        Ok(channel)
    }

    /// Marks a channel closed.
    pub fn closed(&mut self, id: &str) {
        if let Some(channel) = self.channels.get_mut(id) {
            channel.state = ChannelState::Closed;
        }
    }

    /// The channel with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Channel> {
        self.channels.get(id)
    }

    /// The channels, by their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Channel> {
        self.channels.values()
    }

    /// How many channels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.channels.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    /// The answer to the server's own `channels/list`: its channels as it described them.
    #[must_use]
    pub fn list(&self) -> Json {
        let channels: Vec<&Json> = self
            .iter()
            .map(|channel| channel.descriptor.json())
            .collect();
        #[derive(serde::Serialize)]
        struct List<'a> {
            channels: Vec<&'a Json>,
        }
        Json::of(&List { channels }).unwrap_or_else(|_| Json::empty_object())
    }

    fn submit(
        &mut self,
        json: &Json,
        seen: &mut HashSet<String>,
        allow: &mut impl FnMut(&Descriptor) -> bool,
        may_be: impl Fn(bool) -> bool,
    ) -> Verdict {
        let descriptor = match Descriptor::of(json) {
            Ok(descriptor) => descriptor,
            Err(reason) => {
                let [id] = wire::members(json, "descriptor", ["id"]).unwrap_or([None]);
                return Verdict {
                    id: wire::name("id", id).ok(),
                    outcome: Err(reason),
                };
            }
        };
        let id = descriptor.id().to_owned();
        let outcome = if !seen.insert(id.clone()) {
            Err(Reason::Repeated)
        } else if may_be(self.channels.contains_key(&id)) {
            self.put(descriptor, allow)
        } else {
            Err(Reason::UnknownChannel)
        };
        Verdict {
            id: Some(id),
            outcome,
        }
    }

    fn put(
        &mut self,
        descriptor: Descriptor,
        allow: &mut impl FnMut(&Descriptor) -> bool,
    ) -> Result<(), Reason> {
        if !allow(&descriptor) {
            return Err(Reason::Denied);
        }
        if let Some(known) = self.channels.get_mut(descriptor.id()) {
            known.descriptor = descriptor;
            return Ok(());
        }
        if self.channels.len() >= MAX_CHANNELS {
            return Err(Reason::TooMany);
        }
        let channel = Channel {
            descriptor,
            state: ChannelState::default(),
        };
        self.channels
            .insert(channel.descriptor.id().to_owned(), channel);
        Ok(())
    }
}

impl Channel {
    /// What its server says of it.
    #[must_use]
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Whether the host opened it.
    #[must_use]
    pub fn state(&self) -> ChannelState {
        self.state
    }
}

/// The result of `channels/register`, and of `channels/changed` as a request: one entry per descriptor, and the ids that
/// were taken as older servers look for them (`registered`).
#[must_use]
pub fn verdicts(verdicts: &[Verdict]) -> Json {
    let results: Vec<Value> = verdicts
        .iter()
        .map(|verdict| match verdict.outcome {
            Ok(()) => json!({ "id": verdict.id, "accepted": true }),
            Err(reason) => {
                json!({ "id": verdict.id, "accepted": false, "reason": reason.as_str() })
            }
        })
        .collect();
    let registered: Vec<&String> = verdicts
        .iter()
        .filter(|verdict| verdict.outcome.is_ok())
        .filter_map(|verdict| verdict.id.as_ref())
        .collect();
    Json::of(&json!({ "results": results, "registered": registered }))
        .unwrap_or_else(|_| Json::empty_object())
}

//! Calls of legacy servers that wait for the answers of clients of 2026-07-28.
//!
//! **Invariant:** a parked call goes on with one request, of the same client and with the same parameters, that has its
//! state; any other leaves it as it is.
//! **Invariant:** each has a task in the set, which ends with the call, or a while after it; when nobody comes, the call's
//! own deadline ends it, and its server is told.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, INVALID_PARAMS};
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::carry::Underway;
use crate::clients::Client;
use crate::service::{Exchange, Request, SessionId};

/// Parked calls of all clients. Fixed.
const MAX_PARKED: usize = 256;
/// Parked calls of one client. Fixed.
const MAX_OF_ONE: usize = 32;
/// How long the end of a call is kept that came while nobody was there.
const KEPT: Duration = Duration::from_secs(60);

/// The calls that wait for their clients. Dropping it ends them.
#[derive(Debug, Default)]
pub(super) struct Parked {
    entries: Arc<Entries>,
    tasks: Mutex<JoinSet<()>>,
}

#[derive(Debug, Default)]
struct Entries(Mutex<HashMap<String, Entry>>);

#[derive(Debug)]
struct Entry {
    of: Of,
    hand_over: oneshot::Sender<oneshot::Sender<Underway>>,
}

/// What a state is bound to.
#[derive(Debug, PartialEq)]
pub(super) struct Of {
    whose: Whose,
    /// Of the method and of the parameters, but for what another round adds to them.
    request: [u8; 32],
}

/// A client, and the connection that it came by where all its requests come by one.
#[derive(Debug)]
struct Whose {
    client: Arc<Client>,
    session: Option<SessionId>,
}

impl PartialEq for Whose {
    fn eq(&self, other: &Self) -> bool {
        self.client.is_same(&other.client) && self.session == other.session
    }
}

impl Of {
    pub(super) fn new(request: &Request, exchange: &Exchange) -> Self {
        let whose = Whose {
            client: Arc::clone(&request.client),
            session: exchange.session().map(|session| session.id()),
        };
        let mut members = request
            .params
            .as_ref()
            .map(Json::members)
            .unwrap_or_default();
        members.retain(|(key, _)| !OF_A_ROUND.contains(&key.as_str()));
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            // The length says where one ends and the next begins.
            let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
            hash.update(length.to_be_bytes());
            hash.update(text.as_bytes());
        };
        part(&request.method);
        for (key, value) in &members {
            part(key);
            part(value.as_str());
        }
        Self {
            whose,
            request: hash.finalize().into(),
        }
    }
}

/// The members of the parameters that differ between rounds of one call.
const OF_A_ROUND: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// What became of a state.
pub(super) enum Claimed {
    /// The call goes on.
    Call(Box<Underway>),
    /// It is none of a parked call: a server's own, maybe.
    Unknown,
}

impl Parked {
    /// Parks a call; its state, or the call if there is no room.
    pub(super) fn park(&self, of: Of, underway: Underway) -> Result<Json, Box<Underway>> {
        let state = new_state();
        let Some((name, state)) =
            state.and_then(|name| Some((name.clone(), Json::of(&name).ok()?)))
        else {
            return Err(Box::new(underway));
        };
        let (hand_over, wanted) = oneshot::channel();
        {
            let mut entries = self.entries.lock();
            let of_one = entries.values().filter(|one| one.of.whose == of.whose);
            if entries.len() >= MAX_PARKED || of_one.count() >= MAX_OF_ONE {
                return Err(Box::new(underway));
            }
            entries.insert(name.clone(), Entry { of, hand_over });
        }
        let forget = Forget {
            entries: Arc::downgrade(&self.entries),
            name,
        };
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            keep(underway, wanted).await;
            drop(forget);
        });
        Ok(state)
    }

    /// Takes out the call that has this state.
    ///
    /// # Errors
    /// -32602: it is of another request, or of another client.
    pub(super) async fn claim(&self, state: &Json, of: &Of) -> Result<Claimed, ErrorObject> {
        let Some(state) = state.string() else {
            return Ok(Claimed::Unknown);
        };
        let (hand, handed) = oneshot::channel();
        {
            let mut entries = self.entries.lock();
            match entries.get(&*state) {
                None => return Ok(Claimed::Unknown),
                Some(entry) if entry.of != *of => return Err(not_parked()),
                Some(_) => {}
            }
            let entry = entries.remove(&*state).ok_or_else(not_parked)?;
            entry.hand_over.send(hand).map_err(|_| not_parked())?;
        }
        let underway = handed.await.map_err(|_| not_parked())?;
        Ok(Claimed::Call(Box::new(underway)))
    }

    /// Ends all of them.
    pub(super) fn end(&self) {
        let all = std::mem::take(&mut *self.entries.lock());
        drop(all);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.lock().len()
    }
}

impl Entries {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a call until it is wanted; one that ended by itself a while longer.
async fn keep(mut underway: Underway, mut wanted: oneshot::Receiver<oneshot::Sender<Underway>>) {
    let hand = tokio::select! {
        biased;
        hand = &mut wanted => hand,
        () = underway.end() => match timeout(KEPT, wanted).await {
            Ok(hand) => hand,
            Err(_) => return,
        },
    };
    // Who ended the gateway, or left in this very moment, drops the call, which tells its server.
    if let Ok(hand) = hand {
        let _ = hand.send(underway);
    }
}

/// Takes an entry out when its task ends, however it does.
struct Forget {
    entries: Weak<Entries>,
    name: String,
}

impl Drop for Forget {
    fn drop(&mut self) {
        if let Some(entries) = self.entries.upgrade() {
            let gone = entries.lock().remove(&self.name);
            drop(gone);
        }
    }
}

/// -32602. One text for all, since whose state it is, and whether it is one, is nobody's business.
pub(crate) fn not_parked() -> ErrorObject {
    ErrorObject::new(
        INVALID_PARAMS,
        "Invalid params: the requestState is of no call that waits for this request: it was not given here for the same \
         method and parameters, was used before, or the call is over; call again without it",
        None,
    )
}

/// 256 random bits, as text: who has it goes on with the call.
fn new_state() -> Option<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).ok()?;
    let mut state = String::with_capacity(64);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(state, "{byte:02x}");
    }
    Some(state)
}

//! The resources that clients follow: one union per server, kept up over the server's sessions.
//!
//! **Invariant:** a server is asked one thing at a time, by [`Follows::keep`] alone.
//! **Invariant:** what nobody follows any longer is let go of: who leaves is taken out of everything.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use seawall::Host;
use seawall::host::LiveSession;
use seawall::limits::MAX_SUBSCRIPTIONS;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use super::kind::tells_updates;
use crate::service::{Session, SessionId};

/// How long a server may take to say that it tells of a resource. Fixed.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client waits for that at most: one of another may come first.
const WAIT: Duration = Duration::from_secs(20);

/// Who follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Follower {
    /// A session, until it unsubscribes or ends.
    Session(SessionId),
    /// A subscription by its number, until it ends.
    Listener(u64),
}

/// Why a resource is not followed.
#[derive(Debug, Clone)]
pub(super) enum NotFollowed {
    /// As many of the server's are followed as can be.
    Full,
    /// The server did not say in time.
    Late,
    /// The host's.
    Host(seawall::Error),
}

/// What is followed.
#[derive(Debug, Default)]
pub(crate) struct Follows {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// By server, and URI.
    followed: HashMap<Arc<str>, BTreeMap<String, Followed>>,
    /// Sessions that began to follow, and whose end is not watched yet.
    arrived: Vec<Session>,
}

#[derive(Debug)]
struct Followed {
    by: HashSet<Follower>,
    waiting: Vec<oneshot::Sender<Result<(), NotFollowed>>>,
    stage: Stage,
}

/// How the server stands to it; the number is that of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The server does not know of it.
    Wanted,
    Followed(u64),
    /// The server would not, in this session.
    Refused(u64),
    /// The server is being told that nobody follows it any longer.
    Leaving,
}

/// Something to ask a server for.
struct Due {
    server: Arc<str>,
    generation: u64,
    uri: String,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Follow,
    Unfollow,
}

/// A resource that somebody follows from now on.
///
/// # Drop behavior
/// It follows it no longer, unless it is to be [kept](Self::keep).
pub(super) struct Following<'f> {
    follows: &'f Follows,
    server: Arc<str>,
    uri: String,
    follower: Follower,
    is_kept: bool,
    answer: Option<oneshot::Receiver<Result<(), NotFollowed>>>,
}

impl Following<'_> {
    /// Waits until the server said that it tells of it.
    pub(super) async fn settled(&mut self) -> Result<(), NotFollowed> {
        let Some(answer) = self.answer.take() else {
            return Ok(());
        };
        match timeout(WAIT, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(NotFollowed::Late),
        }
    }

    /// It is followed until its follower leaves.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            let (server, follower) = (&self.server, self.follower);
            self.follows.change(|state| {
                let uris = state.followed.get_mut(server);
                if let Some(followed) = uris.and_then(|uris| uris.get_mut(&self.uri)) {
                    followed.by.remove(&follower);
                }
            });
        }
    }
}

impl Follows {
    /// Follows a resource of a server.
    ///
    /// # Errors
    /// As many are followed as can be.
    pub(super) fn follow(
        &self,
        server: &Arc<str>,
        uri: &str,
        follower: Follower,
        session: Option<&Session>,
    ) -> Result<Following<'_>, NotFollowed> {
        let mut state = self.lock();
        let uris = state.followed.entry(Arc::clone(server)).or_default();
        let wanted = uris.values().filter(|followed| !followed.by.is_empty());
        let is_new = uris.get(uri).is_none_or(|followed| followed.by.is_empty());
        if is_new && wanted.count() >= MAX_SUBSCRIPTIONS {
            return Err(NotFollowed::Full);
        }
        let followed = uris.entry(uri.to_owned()).or_insert_with(|| Followed {
            by: HashSet::new(),
            waiting: Vec::new(),
            stage: Stage::Wanted,
        });
        let is_kept = !followed.by.insert(follower);
        if let Stage::Refused(_) = followed.stage {
            followed.stage = Stage::Wanted;
        }
        let answer = match followed.stage {
            Stage::Followed(_) => None,
            _ => {
                let (sender, answer) = oneshot::channel();
                followed.waiting.retain(|waiting| !waiting.is_closed());
                followed.waiting.push(sender);
                Some(answer)
            }
        };
        state.arrived.extend(session.cloned());
        drop(state);
        self.news.notify_one();
        Ok(Following {
            follows: self,
            server: Arc::clone(server),
            uri: uri.to_owned(),
            follower,
            is_kept,
            answer,
        })
    }

    /// Follows it no longer, whosever it is.
    pub(super) fn unfollow(&self, uri: &str, follower: Follower) {
        self.change(|state| {
            for uris in state.followed.values_mut() {
                if let Some(followed) = uris.get_mut(uri) {
                    followed.by.remove(&follower);
                }
            }
        });
    }

    /// Follows nothing any longer.
    pub(crate) fn leave(&self, follower: Follower) {
        self.change(|state| {
            for followed in state.followed.values_mut().flat_map(BTreeMap::values_mut) {
                followed.by.remove(&follower);
            }
        });
    }

    /// Whether it follows this resource of the server, or one that it is a part of.
    pub(crate) fn is_told(&self, follower: Follower, server: &str, uri: &str) -> bool {
        let state = self.lock();
        let mut uris = state.followed.get(server).into_iter().flatten();
        uris.any(|(followed, by)| is_part_of(uri, followed) && by.by.contains(&follower))
    }

    /// Everything that is followed.
    pub(crate) fn all(&self) -> Vec<(Arc<str>, String)> {
        let state = self.lock();
        let servers = state.followed.iter();
        servers
            .flat_map(|(server, uris)| {
                uris.keys()
                    .map(move |uri| (Arc::clone(server), uri.clone()))
            })
            .collect()
    }

    /// Asks servers for what is wanted of them, for as long as there is a host. `tell` is told of what may have changed while
    /// nobody listened.
    pub(crate) async fn keep(&self, host: &Host, tell: impl Fn(&Arc<str>, &str)) {
        let mut snapshots = host.watch_tools();
        let mut asking = FuturesUnordered::new();
        let mut busy: HashSet<Arc<str>> = HashSet::new();
        let mut ends = FuturesUnordered::new();
        let mut watched: HashSet<SessionId> = HashSet::new();
        loop {
            snapshots.borrow_and_update();
            for session in std::mem::take(&mut self.lock().arrived) {
                if watched.insert(session.id()) {
                    ends.push(async move {
                        session.ended().await;
                        session.id()
                    });
                }
            }
            for due in self.due(&host.sessions(), &busy) {
                busy.insert(Arc::clone(&due.server));
                asking.push(ask(host, due));
            }
            tokio::select! {
                () = self.news.notified() => {}
                changed = snapshots.changed() => if changed.is_err() {
                    return;
                },
                Some((due, result)) = asking.next() => {
                    busy.remove(&due.server);
                    if self.asked(&due, &result) {
                        tell(&due.server, &due.uri);
                    }
                }
                Some(id) = ends.next() => {
                    watched.remove(&id);
                    self.leave(Follower::Session(id));
                }
            }
        }
    }

    /// The next thing to ask each server for that is not asked for anything.
    fn due(&self, live: &[LiveSession], busy: &HashSet<Arc<str>>) -> Vec<Due> {
        let mut state = self.lock();
        for uris in state.followed.values_mut() {
            // Of what nobody follows only that is kept which a server has to be told of.
            uris.retain(|_, followed| {
                !followed.by.is_empty()
                    || !matches!(followed.stage, Stage::Wanted | Stage::Refused(_))
            });
        }
        state.followed.retain(|_, uris| !uris.is_empty());
        let mut due = Vec::new();
        for session in live {
            let Some(uris) = state.followed.get_mut(&session.server) else {
                continue;
            };
            if busy.contains(&session.server) || !tells_updates(session) {
                continue;
            }
            let generation = session.generation;
            // What another session was told of is gone with it.
            uris.retain(|_, followed| {
                !followed.by.is_empty() || followed.stage == Stage::Followed(generation)
            });
            let leaving = uris.iter_mut().find(|(_, followed)| followed.by.is_empty());
            let next = match leaving {
                Some((uri, followed)) => {
                    followed.stage = Stage::Leaving;
                    Some((uri, What::Unfollow))
                }
                None => {
                    let mut all = uris.iter();
                    let wanted = all.find(|(_, followed)| match followed.stage {
                        Stage::Followed(at) | Stage::Refused(at) => at != generation,
                        Stage::Wanted | Stage::Leaving => true,
                    });
                    wanted.map(|(uri, _)| (uri, What::Follow))
                }
            };
            due.extend(next.map(|(uri, what)| Due {
                server: Arc::clone(&session.server),
                generation,
                uri: uri.clone(),
                what,
            }));
        }
        due
    }

    /// Takes what a server said; whether the resource may have changed while nobody listened.
    fn asked(&self, due: &Due, result: &Result<(), NotFollowed>) -> bool {
        let mut state = self.lock();
        let uris = state.followed.get_mut(&due.server);
        let Some(followed) = uris.and_then(|uris| uris.get_mut(&due.uri)) else {
            return false;
        };
        if due.what == What::Unfollow {
            // It may be wanted again by now.
            followed.stage = Stage::Wanted;
            return false;
        }
        let before = followed.stage;
        followed.stage = match result {
            Ok(()) => Stage::Followed(due.generation),
            Err(_) => Stage::Refused(due.generation),
        };
        for waiting in followed.waiting.drain(..) {
            // Who waited may have left.
            let _ = waiting.send(result.clone());
        }
        matches!(before, Stage::Followed(_))
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.news.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn ask(host: &Host, due: Due) -> (Due, Result<(), NotFollowed>) {
    let asked = timeout(PATIENCE, async {
        match due.what {
            What::Follow => host.follow(&due.server, &due.uri).await,
            What::Unfollow => host.unfollow(&due.server, &due.uri).await,
        }
    });
    let result = match asked.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(NotFollowed::Host(error)),
        Err(_) => Err(NotFollowed::Late),
    };
    (due, result)
}

/// Whether what changed is what is followed, or a part of it.
///
/// Source: 2025-11-25, `schema`, `ResourceUpdatedNotificationParams`: it may be a sub-resource.
pub(super) fn is_part_of(changed: &str, followed: &str) -> bool {
    let rest = changed.strip_prefix(followed);
    rest.is_some_and(|rest| {
        rest.is_empty() || followed.ends_with('/') || rest.starts_with(['/', '#', '?'])
    })
}

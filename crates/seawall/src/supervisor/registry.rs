//! Who owns which id and which prefix (H1, H3, H6).
//!
//! An id is held from a connect's admission until its supervisor lets go of it, which it does once everything that it
//! started is confirmed gone. Whoever holds it is the only one who acts on the server; everybody else sends messages.
//!
//! **Invariant:** the table is locked for moments, and never across an await.
//! **Invariant:** two prefixes of different owners never meet.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot, watch};

use super::command::{Answer, Command, Connected};
use super::error::{Held, HostError, Operation};
use super::status::{ServerState, Standing};
use crate::config::ServerConfig;

/// The table of a host. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Registry(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    stopping: bool,
    last_owner: u64,
    last_hold: u64,
    ids: BTreeMap<Arc<str>, Entry>,
    prefixes: BTreeMap<Arc<str>, PrefixEntry>,
    /// What failed and is gone: for `status()` alone.
    down: BTreeMap<Arc<str>, (Arc<ServerConfig>, Standing)>,
}

#[derive(Clone)]
pub(crate) struct Entry {
    owner: u64,
    /// The hold's own number: what drops is compared by it.
    number: u64,
    pub(crate) hold: HoldOf,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) mailbox: mpsc::Sender<Command>,
    pub(crate) standing: watch::Receiver<Standing>,
}

impl Entry {
    /// The place of its server in the order of admission, which a restart keeps.
    pub(crate) fn place(&self) -> u64 {
        self.owner
    }
}

/// What holds an id.
#[derive(Clone)]
pub(crate) enum HoldOf {
    Server,
    Restart { from: Arc<str> },
}

struct PrefixEntry {
    owner: u64,
    number: u64,
    server: Arc<str>,
    restarting: bool,
}

impl Registry {
    /// Holds the id and the prefix of a new server.
    pub(crate) fn admit(
        &self,
        config: &Arc<ServerConfig>,
        mailbox: mpsc::Sender<Command>,
        standing: watch::Receiver<Standing>,
    ) -> Result<Holding, HostError> {
        let mut table = self.lock();
        let server: Arc<str> = config.server().into();
        table.check_open(&server)?;
        table.check_id(&server)?;
        let owner = table.last_owner + 1;
        table.check_prefix(config.name_prefix(), &server, owner)?;
        table.last_owner = owner;
        table.down.remove(&server);
        let entry = Entry {
            owner,
            number: table.next_hold(),
            hold: HoldOf::Server,
            config: Arc::clone(config),
            mailbox,
            standing,
        };
        let prefix = table.hold_prefix(config.name_prefix(), &server, owner, false);
        Ok(Holding {
            prefix: self.prefix_hold(prefix),
            id: self.hold_id(&mut table, server, entry),
        })
    }

    /// Holds what a restart of `server` moves it to, beside what it has, and hands the restart to its supervisor. Both in
    /// one step, so that no operation on the new id can reach the supervisor before the restart does. `moved` is told once
    /// the server is what the restart makes it, and its connect is under way; it is dropped if that does not come about.
    pub(crate) fn restart(
        &self,
        server: &str,
        config: &Arc<ServerConfig>,
        answer: Answer<Connected>,
        moved: Option<oneshot::Sender<()>>,
    ) -> Result<(), HostError> {
        let mut table = self.lock();
        let (mailbox, state, mut claim) = self.claim(&mut table, server, config)?;
        claim.moved = moved;
        let config = Arc::clone(config);
        let command = Command::Restart {
            config,
            claim,
            answer,
        };
        let refused = mailbox.try_send(command);
        // Before the claim is let go of, which takes the lock.
        drop(table);
        refused.map_err(|_| HostError::NotNow {
            server: server.into(),
            operation: Operation::Restart,
            state,
        })
    }

    fn claim(
        &self,
        table: &mut Table,
        server: &str,
        config: &Arc<ServerConfig>,
    ) -> Result<(mpsc::Sender<Command>, ServerState, Claim), HostError> {
        let from: Arc<str> = server.into();
        table.check_open(&from)?;
        let entry = table.entry(&from)?;
        let HoldOf::Server = entry.hold else {
            return Err(HostError::NotRegistered { server: from });
        };
        let to: Arc<str> = config.server().into();
        let moves = *to != *from;
        if moves {
            table.check_id(&to)?;
        }
        let owner = entry.owner;
        table.check_prefix(config.name_prefix(), &to, owner)?;
        let known = table.prefixes.contains_key(config.name_prefix());
        if known && entry.config.name_prefix() != config.name_prefix() {
            // Another restart of the same server holds it.
            return Err(HostError::PrefixMeets {
                server: to,
                other: from,
                restarting: true,
            });
        }
        let prefix = (!known).then(|| {
            let prefix = table.hold_prefix(config.name_prefix(), &from, owner, true);
            self.prefix_hold(prefix)
        });
        let id = moves.then(|| {
            let hold = HoldOf::Restart { from };
            let config = Arc::clone(config);
            let number = table.next_hold();
            let claimed = Entry {
                number,
                hold,
                config,
                ..entry.clone()
            };
            self.hold_id(table, to, claimed)
        });
        let state = entry.standing.borrow().state;
        Ok((
            entry.mailbox,
            state,
            Claim {
                prefix,
                id,
                moved: None,
            },
        ))
    }

    /// Who holds this id.
    pub(crate) fn find(&self, server: &str) -> Result<Entry, HostError> {
        self.lock().entry(&server.into())
    }

    /// Who holds this id, for an operation that is refused once the host stops.
    pub(crate) fn find_open(&self, server: &str) -> Result<Entry, HostError> {
        let table = self.lock();
        let server = server.into();
        table.check_open(&server)?;
        table.entry(&server)
    }

    /// Forgets a server of which nothing is left; true if it was known.
    pub(crate) fn forget_down(&self, server: &str) -> bool {
        self.lock().down.remove(server).is_some()
    }

    /// Refuses new operations from now on; yields everybody there is.
    pub(crate) fn begin_stop(&self) -> Vec<(Arc<str>, Entry)> {
        let mut table = self.lock();
        table.stopping = true;
        table.servers()
    }

    /// Every server that is held, without what restarts move to.
    pub(crate) fn servers(&self) -> Vec<(Arc<str>, Entry)> {
        self.lock().servers()
    }

    /// What failed and is gone.
    pub(crate) fn down(&self) -> Vec<(Arc<ServerConfig>, Standing)> {
        self.lock().down.values().cloned().collect()
    }

    /// The server whose prefix begins this flow's name.
    pub(crate) fn server_of_flow(&self, flow: &str) -> Option<(Arc<str>, ServerState)> {
        let (prefix, _) = flow.rsplit_once('/')?;
        let table = self.lock();
        let server = Arc::clone(&table.prefixes.get(prefix)?.server);
        let state = table.ids.get(&server)?.standing.borrow().state;
        Some((server, state))
    }

    fn hold_id(&self, table: &mut Table, server: Arc<str>, entry: Entry) -> IdHold {
        let number = entry.number;
        table.ids.insert(Arc::clone(&server), entry);
        IdHold {
            registry: self.clone(),
            number,
            server,
            failed: None,
        }
    }

    fn prefix_hold(&self, (prefix, number): (Arc<str>, u64)) -> PrefixHold {
        PrefixHold {
            registry: self.clone(),
            number,
            prefix,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn servers(&self) -> Vec<(Arc<str>, Entry)> {
        self.ids
            .iter()
            .filter(|(_, entry)| matches!(entry.hold, HoldOf::Server))
            .map(|(server, entry)| (Arc::clone(server), entry.clone()))
            .collect()
    }

    fn entry(&self, server: &Arc<str>) -> Result<Entry, HostError> {
        self.ids.get(server).cloned().ok_or_else(|| {
            let server = Arc::clone(server);
            HostError::NotRegistered { server }
        })
    }

    fn check_open(&self, server: &Arc<str>) -> Result<(), HostError> {
        if self.stopping {
            let server = Arc::clone(server);
            return Err(HostError::Stopping { server });
        }
        Ok(())
    }

    fn check_id(&self, server: &Arc<str>) -> Result<(), HostError> {
        let Some(entry) = self.ids.get(server) else {
            return Ok(());
        };
        let held = match &entry.hold {
            HoldOf::Server => Held::Server(entry.standing.borrow().state),
            HoldOf::Restart { from } => Held::Restart {
                from: Arc::clone(from),
            },
        };
        let server = Arc::clone(server);
        Err(HostError::Taken { server, held })
    }

    fn check_prefix(&self, prefix: &str, server: &Arc<str>, owner: u64) -> Result<(), HostError> {
        let meeting = self
            .prefixes
            .iter()
            .find(|(other, entry)| entry.owner != owner && prefixes_meet(prefix, other));
        match meeting {
            None => Ok(()),
            Some((_, entry)) => Err(HostError::PrefixMeets {
                server: Arc::clone(server),
                other: Arc::clone(&entry.server),
                restarting: entry.restarting,
            }),
        }
    }

    fn hold_prefix(
        &mut self,
        prefix: &str,
        server: &Arc<str>,
        owner: u64,
        restarting: bool,
    ) -> (Arc<str>, u64) {
        let prefix: Arc<str> = prefix.into();
        let number = self.next_hold();
        let entry = PrefixEntry {
            owner,
            number,
            server: Arc::clone(server),
            restarting,
        };
        self.prefixes.insert(Arc::clone(&prefix), entry);
        (prefix, number)
    }

    fn next_hold(&mut self) -> u64 {
        self.last_hold += 1;
        self.last_hold
    }

    fn free_id(&mut self, hold: &mut IdHold) {
        let held = self.ids.get(&hold.server);
        if held.is_some_and(|entry| entry.number == hold.number) {
            self.ids.remove(&hold.server);
            if let Some(failed) = hold.failed.take() {
                self.down.insert(Arc::clone(&hold.server), *failed);
            }
        }
    }

    fn free_prefix(&mut self, hold: &PrefixHold) {
        let held = self.prefixes.get(&hold.prefix);
        if held.is_some_and(|entry| entry.number == hold.number) {
            self.prefixes.remove(&hold.prefix);
        }
    }
}

/// Whether names under two prefixes could meet: they are equal, or one is nested in the other (H6).
pub(crate) fn prefixes_meet(one: &str, other: &str) -> bool {
    let nested = |inner: &str, outer: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    nested(one, other) || nested(other, one)
}

/// What a server holds.
///
/// # Drop behavior
/// The prefix is free first, so that whoever finds the id free finds the prefix free too.
pub(crate) struct Holding {
    pub(crate) prefix: PrefixHold,
    pub(crate) id: IdHold,
}

impl Holding {
    /// Moves to what a restart claimed, and lets go of what it leaves; `left` is told of an id that is free now. In one
    /// step: at no moment is the server without an id that it goes by, or a stop would pass it by. Yields whom to tell of it.
    pub(crate) fn take(
        &mut self,
        claim: Claim,
        config: &Arc<ServerConfig>,
        left: impl FnOnce(&Arc<str>),
    ) -> Option<oneshot::Sender<()>> {
        let Claim { prefix, id, moved } = claim;
        let registry = self.id.registry.clone();
        let mut table = registry.lock();
        let old_prefix = prefix.map(|prefix| std::mem::replace(&mut self.prefix, prefix));
        let old_id = id.map(|id| std::mem::replace(&mut self.id, id));
        if let Some(entry) = table.ids.get_mut(&self.id.server) {
            entry.hold = HoldOf::Server;
            entry.config = Arc::clone(config);
        }
        if let Some(entry) = table.prefixes.get_mut(&self.prefix.prefix) {
            entry.restarting = false;
            entry.server = Arc::clone(&self.id.server);
        }
        table.down.remove(&self.id.server);
        if let Some(prefix) = &old_prefix {
            table.free_prefix(prefix);
        }
        let old_id = old_id.map(|mut id| {
            table.free_id(&mut id);
            left(&id.server);
            id
        });
        // Before they are dropped, which takes the lock.
        drop(table);
        drop((old_prefix, old_id));
        moved
    }

    /// Lets go of everything. `left` is told before anybody else can have the id, so that what is told of the next server
    /// of that id comes after.
    pub(crate) fn leave(mut self, left: impl FnOnce(&Arc<str>)) {
        let registry = self.id.registry.clone();
        let mut table = registry.lock();
        table.free_prefix(&self.prefix);
        table.free_id(&mut self.id);
        left(&self.id.server);
        drop(table);
    }
}

/// What a restart moves its server to, where that is not what the server has.
pub(crate) struct Claim {
    prefix: Option<PrefixHold>,
    id: Option<IdHold>,
    /// Told once the server has moved.
    moved: Option<oneshot::Sender<()>>,
}

/// An id, held.
///
/// # Drop behavior
/// The id is free.
pub(crate) struct IdHold {
    registry: Registry,
    number: u64,
    pub(crate) server: Arc<str>,
    /// How the server failed, to be shown after.
    pub(crate) failed: Option<Box<(Arc<ServerConfig>, Standing)>>,
}

impl Drop for IdHold {
    fn drop(&mut self) {
        let registry = self.registry.clone();
        registry.lock().free_id(self);
    }
}

/// A prefix, held.
///
/// # Drop behavior
/// The prefix is free.
pub(crate) struct PrefixHold {
    registry: Registry,
    number: u64,
    prefix: Arc<str>,
}

impl Drop for PrefixHold {
    fn drop(&mut self) {
        self.registry.lock().free_prefix(self);
    }
}

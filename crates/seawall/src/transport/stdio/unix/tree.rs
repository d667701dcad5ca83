//! A child and everybody it started, and their end.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Clock};

use rustix::process::{Pid, Signal, test_kill_process_group};
use seawall_proto::connection::ExitReason;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::super::{KILL_NOW_WAIT, KILL_WAIT, NotReaped, TERMINATE_WAIT};
use super::leader::{Leader, Sight};
use super::others::{Others, Rest};
use super::watchdog;

/// The pauses between looks at what no signal tells: whether the rest of a group is gone.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Children whose handles were dropped before they died. They are reaped when the next child is started or killed.
static UNREAPED: Mutex<Vec<Leader>> = Mutex::new(Vec::new());

/// A child and everybody it started. Clones are handles to the same tree.
///
/// # Drop behavior
/// Dropping the last handle does what [`kill_now`](Self::kill_now) does.
#[derive(Clone)]
pub(crate) struct ProcessTree(Arc<Tree>);

impl ProcessTree {
    pub(super) fn new(server: &str, leader: Leader) -> Self {
        let pid = leader.pid();
        Self::with_life(server, pid, Life::Child(leader))
    }

    fn with_life(server: &str, pid: Pid, life: Life) -> Self {
        let state = State {
            life,
            stage: Stage::Untouched,
            failures: 0,
            failure: None,
            waited: false,
        };
        Self(Arc::new(Tree {
            server: server.into(),
            pid,
            state: Mutex::new(state),
            turn: tokio::sync::Mutex::new(()),
        }))
    }

    /// The tree of a child whose number is not ours any more.
    #[cfg(test)]
    pub(super) fn reaped_by_somebody_else(pid: u32) -> Self {
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        let others = Others::new(u64::MAX);
        Self::with_life("demo", pid, Life::Unpinned(ExitReason::Unknown, others))
    }

    /// The child's process id. It stays the child's until [`end`](Self::end) succeeded.
    pub(crate) fn pid(&self) -> u32 {
        self.0.raw_pid()
    }

    /// Waits until the child's exit is seen. Says nothing about who else of its tree lives, and reaps nothing.
    ///
    /// # Cancel safety
    /// Cancel safe; any number of callers may wait.
    pub(crate) async fn exited(&self) -> ExitReason {
        let mut children = signal(SignalKind::child());
        loop {
            if let Some(exit) = self.0.state().exit() {
                return exit;
            }
            let told = async {
                let told = match &mut children {
                    Ok(children) => children.recv().await.is_some(),
                    Err(_) => false,
                };
                if !told {
                    sleep(LONGEST_PAUSE).await;
                }
            };
            match watchdog::mend() {
                None => told.await,
                // Whether it is told or not, it looks again.
                Some(early) => drop(timeout(early, told).await),
            }
        }
    }

    /// Ends the tree and waits until it is gone: `grace` to exit by itself (the caller has closed stdin), then SIGTERM to
    /// the group, after 2 s SIGKILL, then at most 2 s more. A child that exited by itself is reaped only after whoever it
    /// left behind has gone the same way.
    ///
    /// Concurrent callers share one attempt. After success every call returns the same exit at once.
    ///
    /// # Errors
    /// [`NotReaped`]: somebody is still there. Nothing was given up; a later call kills and waits again.
    ///
    /// # Cancel safety
    /// Cancel safe: the next call goes on where this one stopped.
    pub(crate) async fn end(&self, grace: Duration) -> Result<ExitReason, NotReaped> {
        let failures_before = self.0.state().failures;
        let _turn = self.0.turn.lock().await;
        {
            let state = self.0.state();
            match &state.failure {
                // Whoever had the turn while we waited for it has just tried.
                Some(failure) if state.failures != failures_before => return Err(failure.clone()),
                _ => {}
            }
        }
        let ended = self.0.end(self, grace).await;
        if let Err(failure) = &ended {
            let mut state = self.0.state();
            state.failures += 1;
            state.failure = Some(failure.clone());
        }
        ended
    }

    /// Looks who belongs to the tree by now, and remembers who left the group: without the launch's mark they are found
    /// only while their parents live. On Linux it reads the process table, which takes some milliseconds.
    pub(crate) fn look(&self) {
        if let Life::Child(leader) = &mut self.0.state().life {
            leader.look(Clock::now());
        }
    }

    /// Kills the tree at once, and waits at most 100 ms for its exit. Synchronous; needs no runtime. What has not gone by
    /// then is reaped later; another call kills again and does not wait again.
    pub(crate) fn kill_now(&self) {
        self.0.kill_now();
    }
}

impl fmt::Debug for ProcessTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessTree")
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

struct Tree {
    server: Arc<str>,
    pid: Pid,
    /// Never held across an await.
    state: Mutex<State>,
    /// Held by the one caller who ends the tree.
    turn: tokio::sync::Mutex<()>,
}

struct State {
    life: Life,
    stage: Stage,
    failures: u64,
    failure: Option<NotReaped>,
    /// Whether a synchronous kill has waited for the exit.
    waited: bool,
}

enum Life {
    /// Not reaped: its number is its own.
    Child(Leader),
    /// Reaped, and it could not be told whether the rest of its group was gone. Its number may be looked at, never
    /// signalled; the others are known by themselves.
    Unpinned(ExitReason, Others),
    /// Everybody is gone.
    Gone(ExitReason),
}

/// How far the end has come.
#[derive(Clone, Copy)]
enum Stage {
    Untouched,
    /// Left to exit by itself since then.
    Asked(Instant),
    Terminated(Instant),
    Killed(Instant),
}

/// What is left to wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Leader,
    Rest,
    Nobody,
}

impl State {
    /// How the child exited, once that is seen.
    fn exit(&mut self) -> Option<ExitReason> {
        match &self.life {
            Life::Unpinned(exit, _) | Life::Gone(exit) => Some(*exit),
            Life::Child(leader) => match leader.sight() {
                Sight::Running => None,
                Sight::Exited(exit) => Some(exit),
                Sight::Lost => {
                    self.unpin(ExitReason::Unknown);
                    Some(ExitReason::Unknown)
                }
            },
        }
    }

    /// Who is still there. Reaps the child once nobody else is.
    fn look(&mut self, pid: Pid, asked: Clock) -> Left {
        let Some(exit) = self.exit() else {
            return Left::Leader;
        };
        let rest = match &mut self.life {
            Life::Child(leader) => leader.rest(asked),
            Life::Unpinned(_, others) => match test_kill_process_group(pid) {
                Ok(()) => Rest::Alive,
                Err(_) if others.rest(None, asked) == Rest::Alive => Rest::Alive,
                Err(_) => Rest::Gone,
            },
            Life::Gone(_) => Rest::Gone,
        };
        match rest {
            Rest::Alive => Left::Rest,
            Rest::Gone => {
                if let Life::Child(leader) = std::mem::replace(&mut self.life, Life::Gone(exit)) {
                    leader.reap();
                }
                Left::Nobody
            }
            Rest::Unknown => {
                // Only once the leader is reaped can its group be told from itself: kill it while its number is certain.
                self.signal(Signal::KILL, asked);
                self.unpin(exit);
                Left::Rest
            }
        }
    }

    fn unpin(&mut self, exit: ExitReason) {
        if let Life::Child(leader) = std::mem::replace(&mut self.life, Life::Gone(exit)) {
            self.life = Life::Unpinned(exit, leader.reap());
        }
    }

    fn signal(&mut self, signal: Signal, asked: Clock) {
        match &mut self.life {
            Life::Child(leader) => leader.signal(signal, asked),
            Life::Unpinned(_, others) => {
                others.look(None, asked);
                others.signal(signal);
            }
            Life::Gone(_) => {}
        }
    }
}

impl Tree {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn raw_pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    async fn end(&self, handle: &ProcessTree, grace: Duration) -> Result<ExitReason, NotReaped> {
        loop {
            let until = self.begin_stage(grace, together().await);
            let left = self.wait(handle, until).await;
            let asked = together().await;
            let mut state = self.state();
            if let Life::Gone(exit) = state.life {
                return Ok(exit);
            }
            let now = Instant::now();
            match state.stage {
                Stage::Untouched => {}
                Stage::Asked(_) => {
                    state.signal(Signal::TERM, asked);
                    state.stage = Stage::Terminated(now);
                }
                Stage::Terminated(_) => {
                    state.signal(Signal::KILL, asked);
                    state.stage = Stage::Killed(now);
                }
                Stage::Killed(since) => {
                    // The next attempt begins with another kill.
                    state.stage = Stage::Terminated(since);
                    let (pid, server) = (self.raw_pid(), Arc::clone(&self.server));
                    return Err(match left {
                        Left::Leader => NotReaped::Leader { pid, server },
                        Left::Rest | Left::Nobody => NotReaped::Rest { pid, server },
                    });
                }
            }
        }
    }

    /// When the stage that the end has come to is over.
    fn begin_stage(&self, grace: Duration, asked: Clock) -> Instant {
        let mut state = self.state();
        if let (Stage::Untouched, Life::Child(leader)) = (state.stage, &mut state.life) {
            // Without the launch's mark, whoever left the group is found only while its parents live.
            leader.look(asked);
        }
        match state.stage {
            Stage::Untouched => {
                let now = Instant::now();
                state.stage = Stage::Asked(now);
                now + grace
            }
            Stage::Asked(since) => since + grace,
            Stage::Terminated(since) => since + TERMINATE_WAIT,
            Stage::Killed(since) => since + KILL_WAIT,
        }
    }

    /// Waits until nobody is left, at most until then.
    async fn wait(&self, handle: &ProcessTree, until: Instant) -> Left {
        if timeout_at(until, handle.exited()).await.is_err() {
            let asked = together().await;
            return self.state().look(self.pid, asked);
        }
        let mut pause = FIRST_PAUSE;
        loop {
            let asked = together().await;
            let left = {
                let mut state = self.state();
                let left = state.look(self.pid, asked);
                if left != Left::Nobody && matches!(state.stage, Stage::Killed(_)) {
                    // For whoever was found only since.
                    state.signal(Signal::KILL, asked);
                }
                left
            };
            let now = Instant::now();
            if left == Left::Nobody || now >= until {
                return left;
            }
            sleep_until(until.min(now + pause)).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    fn kill_now(&self) {
        sweep();
        let until = {
            let mut state = self.state();
            state.signal(Signal::KILL, Clock::now());
            let wait = if std::mem::replace(&mut state.waited, true) {
                Duration::ZERO
            } else {
                KILL_NOW_WAIT
            };
            Clock::now() + wait
        };
        loop {
            {
                let mut state = self.state();
                let left = state.look(self.pid, Clock::now());
                if left == Left::Nobody || matches!(state.life, Life::Unpinned(..)) {
                    return;
                }
                if left == Left::Rest {
                    // For whoever was found only since.
                    state.signal(Signal::KILL, Clock::now());
                }
            }
            if Clock::now() >= until {
                return;
            }
            pause_thread(FIRST_PAUSE);
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill_now();
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Life::Child(leader) =
            std::mem::replace(&mut state.life, Life::Gone(ExitReason::Unknown))
        {
            unreaped().push(leader);
        }
    }
}

/// The moment from which on a look is asked for. Whoever else is to look in this turn of the runtime asks first, so that one
/// reading of the process table answers all of them.
async fn together() -> Clock {
    let asked = Clock::now();
    yield_now().await;
    asked
}

/// Reaps the children that were not dead yet when their last handle was dropped.
pub(super) fn sweep() {
    let mut waiting = unreaped();
    let all = std::mem::take(&mut *waiting);
    let asked = Clock::now();
    for mut leader in all {
        match leader.sight() {
            // It was killed when its handle was dropped.
            Sight::Running => waiting.push(leader),
            Sight::Exited(_) if leader.rest(asked) == Rest::Alive => {
                leader.signal(Signal::KILL, asked);
                waiting.push(leader);
            }
            Sight::Exited(_) => drop(leader.reap()),
            Sight::Lost => {
                leader.signal(Signal::KILL, asked);
                leader.reap();
            }
        }
    }
}

fn unreaped() -> MutexGuard<'static, Vec<Leader>> {
    UNREAPED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the synchronous kill has no runtime to wait with; bounded by KILL_NOW_WAIT"
)]
fn pause_thread(pause: Duration) {
    std::thread::sleep(pause);
}

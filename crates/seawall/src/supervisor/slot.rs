//! The stages of one server's life. What a stage needs lives in it, and goes with it.
//!
//! ```text
//!   Connecting ──▶ Up ──▶ Closing ──▶ (the id is free)
//!     ▲    └────────────▶ │  │  └───▶ Unreaped ──▶ Closing
//!     └──── Waiting ◀─────┘  └─(restart)─▶ Connecting
//! ```

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use seawall_proto::connection::Change;
use seawall_proto::limits::MAX_SUBSCRIPTIONS;
use tokio::time::{Sleep, sleep, timeout};

use super::backoff::STEADY;
use super::command::{Answer, Asked};
use super::connector::{BoxFuture, Dial, Launch, Session};
use super::pace::Pace;
use super::published::Publication;
use super::refresh::{Read, Refreshes};
use super::registry::Claim;
use crate::config::ServerConfig;
use crate::error::Error;

/// A connect that was told to end gets so long to end by itself before its future is dropped, which kills its child.
const CONNECT_END: Duration = Duration::from_secs(10);

/// So many announcements are taken before others get their turn.
const CHANGES_PER_TURN: usize = 32;

/// The stage that a server is in.
pub(crate) enum Slot {
    Connecting(Connecting),
    Up(Up),
    Closing(Closing),
    Waiting(Waiting),
    Unreaped(Unreaped),
}

/// A connect is under way.
pub(crate) struct Connecting {
    pub(crate) dial: Dial,
    /// Who waits for it; nobody waits for a reconnect.
    pub(crate) asked: Option<Asked>,
}

/// A session is live.
pub(crate) struct Up {
    pub(crate) session: Arc<dyn Session>,
    pub(crate) launch: Arc<dyn Launch>,
    /// Gone with the stage: nothing of an ended session stays published.
    pub(crate) publication: Publication,
    pub(crate) refreshes: Refreshes,
    pub(crate) changed: BoxFuture<Option<Change>>,
    /// What was announced and not acted on yet, each change once.
    pub(crate) announced: VecDeque<Change>,
    /// How fast that is acted on.
    pub(crate) pace: Pace,
    /// Fires once, when the session has stood long enough to count.
    pub(crate) steady: Option<Pin<Box<Sleep>>>,
}

/// Everything that was started is being ended.
pub(crate) struct Closing {
    pub(crate) ending: BoxFuture<Result<(), Error>>,
    pub(crate) launch: Arc<dyn Launch>,
    pub(crate) then: Then,
    pub(crate) waiters: Vec<Answer<()>>,
}

/// What comes after the end.
pub(crate) enum Then {
    /// The id is free; if it failed, with what is shown after.
    Vacate { failed: Option<Error> },
    /// The next attempt, after a pause.
    Retry,
    /// A connect by another entry.
    Restart {
        config: Arc<ServerConfig>,
        claim: Claim,
        answer: Answer<super::command::Connected>,
    },
    /// Whoever waits for the connect is told that it failed; then the next attempt, or none.
    Fail {
        asked: Asked,
        error: ConnectFailure,
        retry: bool,
    },
}

/// Why a connect failed.
#[derive(Clone)]
pub(crate) enum ConnectFailure {
    Failed(Error),
    /// The session was there, and ended at once.
    Lost(Error),
}

/// The next attempt is due after a pause.
pub(crate) struct Waiting {
    pub(crate) pause: Pin<Box<Sleep>>,
}

/// A child could not be reaped.
pub(crate) struct Unreaped {
    pub(crate) launch: Arc<dyn Launch>,
}

/// What happened in a stage.
pub(crate) enum Happened {
    Connected(Result<Arc<dyn Session>, Error>),
    Changed(Change),
    Lost,
    Read(Read),
    Steady,
    Ended(Result<(), Error>),
    Due,
}

impl Slot {
    /// Waits for what happens next. Cancel safe: what is waited for lives in the stage.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Happened> {
        match self {
            Self::Connecting(stage) => stage
                .dial
                .connecting
                .as_mut()
                .poll(context)
                .map(Happened::Connected),
            Self::Up(stage) => stage.poll(context),
            Self::Closing(stage) => stage.ending.as_mut().poll(context).map(Happened::Ended),
            Self::Waiting(stage) => stage.pause.as_mut().poll(context).map(|()| Happened::Due),
            Self::Unreaped(_) => Poll::Pending,
        }
    }
}

impl Up {
    pub(crate) fn new(
        session: Arc<dyn Session>,
        launch: Arc<dyn Launch>,
        publication: Publication,
    ) -> Self {
        Self {
            changed: session.changed(),
            announced: VecDeque::new(),
            pace: Pace::default(),
            session,
            launch,
            publication,
            refreshes: Refreshes::default(),
            steady: Some(Box::pin(sleep(STEADY))),
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Happened> {
        // The end comes first: whatever is read or announced of a session that ended is no news.
        if self.poll_changed(context).is_ready() {
            return Poll::Ready(Happened::Lost);
        }
        if !self.announced.is_empty()
            && self.pace.poll(context).is_ready()
            && let Some(change) = self.announced.pop_front()
        {
            self.pace.took();
            return Poll::Ready(Happened::Changed(change));
        }
        if let Poll::Ready(read) = self.refreshes.poll(context, &self.session) {
            return Poll::Ready(Happened::Read(read));
        }
        if let Some(steady) = &mut self.steady
            && steady.as_mut().poll(context).is_ready()
        {
            self.steady = None;
            return Poll::Ready(Happened::Steady);
        }
        Poll::Pending
    }

    /// Gathers what is announced, each change once, however fast it comes; ready once the session ended.
    fn poll_changed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        for _ in 0..CHANGES_PER_TURN {
            match std::task::ready!(self.changed.as_mut().poll(context)) {
                None => return Poll::Ready(()),
                Some(change) => {
                    self.changed = self.session.changed();
                    let room = self.announced.len() < MAX_SUBSCRIPTIONS;
                    if room && !self.announced.contains(&change) {
                        self.announced.push_back(change);
                    }
                }
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// The end of a connect that is under way, and of what it started.
pub(crate) fn end_connect(dial: Dial) -> (Arc<dyn Launch>, BoxFuture<Result<(), Error>>) {
    let Dial { connecting, launch } = dial;
    launch.close();
    let held = Arc::clone(&launch);
    let ending = async move {
        // A session that comes all the same is kept until its end: dropping it would kill its child at once.
        let session = timeout(CONNECT_END, connecting).await;
        let ended = held.end().await;
        drop(session);
        ended
    };
    (launch, Box::pin(ending))
}

/// The end of what a connect started; `session` is kept until then.
pub(crate) fn end_launch(
    launch: &Arc<dyn Launch>,
    session: Option<Arc<dyn Session>>,
) -> BoxFuture<Result<(), Error>> {
    launch.close();
    let held = Arc::clone(launch);
    Box::pin(async move {
        let ended = held.end().await;
        drop(session);
        ended
    })
}

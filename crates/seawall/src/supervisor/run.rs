//! The task of a supervisor: one message or one event at a time moves its stage on.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll};

use tokio::sync::{mpsc, oneshot, watch};

use super::backoff::Backoff;
use super::bus::Bus;
use super::command::{Answer, Asked, Command, Connected};
use super::connector::{BoxFuture, Connector, Launch};
use super::error::{EndedBy, HostError, Operation};
use super::published::Publisher;
use super::registry::{Claim, Holding, Registry};
use super::slot::{
    Closing, Connecting, Happened, Slot, Then, Unreaped, Up, end_connect, end_launch,
};
use super::status::{ServerState, Standing};
use super::tell::Reply;
use super::totals::Totals;
use crate::config::{CatalogMode, Reconnect, ServerConfig};
use crate::error::Error;

/// So many messages wait for a supervisor; whoever sends the next one waits too.
const MAILBOX: usize = 16;

/// How a connect comes out, once it does.
pub(crate) type Answered = oneshot::Receiver<Result<Connected, HostError>>;

/// What all supervisors of a host share.
pub(crate) struct World {
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) publisher: Publisher,
    pub(crate) bus: Arc<Bus>,
    pub(crate) registry: Registry,
    /// Whether a lost connection is made again where the entry does not say.
    pub(crate) reconnect_default: Reconnect,
    /// The last connection's generation.
    pub(crate) generations: AtomicU64,
}

/// The owner of one server.
pub(crate) struct Supervisor {
    pub(super) world: Arc<World>,
    pub(super) config: Arc<ServerConfig>,
    pub(super) holding: Holding,
    pub(super) mailbox: mpsc::Receiver<Command>,
    pub(super) standing: watch::Sender<Standing>,
    pub(super) backoff: Backoff,
    pub(super) incident: Incident,
    /// What is answered once what it tells of can be seen.
    pub(super) outbox: Vec<Reply>,
}

/// Whether the server counts as down.
pub(super) enum Incident {
    None,
    Told,
}

/// What moves a stage on.
enum Event {
    Command(Command),
    /// Nobody can ask for anything any longer.
    Deserted,
    Happened(Happened),
}

impl Supervisor {
    /// Admits a server, and whoever wants to know how its connect comes out.
    pub(crate) fn admit(
        world: &Arc<World>,
        config: Arc<ServerConfig>,
    ) -> Result<(Self, Asked, Answered), HostError> {
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let standing = watch::Sender::new(Standing::new());
        let holding = world
            .registry
            .admit(&config, sender, standing.subscribe())?;
        let (answer, answered) = oneshot::channel();
        let supervisor = Self {
            world: Arc::clone(world),
            config,
            holding,
            mailbox,
            standing,
            backoff: Backoff::default(),
            incident: Incident::None,
            outbox: Vec::new(),
        };
        Ok((supervisor, Asked::Connect(answer), answered))
    }

    /// Lives the server's life to its end.
    pub(crate) async fn run(mut self, asked: Asked) {
        let mut next = Some(self.connect(Some(asked)));
        while let Some(mut slot) = next {
            let event = poll_fn(|context| self.poll_event(context, &mut slot)).await;
            next = match event {
                Event::Command(command) => self.handle_command(slot, command),
                Event::Deserted => self.handle_disconnect(slot, EndedBy::Stop, None),
                Event::Happened(happened) => self.handle_happened(slot, happened),
            };
            if let Some(slot) = &next {
                self.show(slot);
                self.outbox.drain(..).for_each(Reply::send);
            }
        }
        self.leave();
    }

    fn poll_event(&mut self, context: &mut Context<'_>, slot: &mut Slot) -> Poll<Event> {
        match self.mailbox.poll_recv(context) {
            Poll::Ready(Some(command)) => return Poll::Ready(Event::Command(command)),
            Poll::Ready(None) if !matches!(slot, Slot::Closing(_)) => {
                return Poll::Ready(Event::Deserted);
            }
            _ => {}
        }
        slot.poll(context).map(Event::Happened)
    }

    fn handle_command(&mut self, slot: Slot, command: Command) -> Option<Slot> {
        match command {
            Command::Disconnect { server, by, answer } => {
                // A stop means whoever gets it, by whatever id.
                if by == EndedBy::Stop || self.answers_to(&slot, &server) {
                    return self.handle_disconnect(slot, by, answer);
                }
                if let Some(answer) = answer {
                    self.reply(answer, Err(HostError::NotRegistered { server }));
                }
                Some(slot)
            }
            Command::Restart {
                config,
                claim,
                answer,
            } => Some(self.handle_restart(slot, config, claim, answer)),
            Command::Refresh { answer } => {
                let mut slot = slot;
                self.handle_refresh(&mut slot, answer);
                Some(slot)
            }
        }
    }

    /// Whether an operation on this id is one on this server: the id may be that which a restart moves it to, and the
    /// restart may be over.
    fn answers_to(&self, slot: &Slot, server: &Arc<str>) -> bool {
        let moves_to = |slot: &Slot| match slot {
            Slot::Closing(Closing {
                then: Then::Restart { config, .. },
                ..
            }) => config.server() == &**server,
            _ => false,
        };
        self.id() == server || moves_to(slot)
    }

    fn handle_disconnect(
        &mut self,
        slot: Slot,
        by: EndedBy,
        answer: Option<Answer<()>>,
    ) -> Option<Slot> {
        let then = Then::Vacate { failed: None };
        let mut waiters: Vec<_> = answer.into_iter().collect();
        let (ending, launch) = match slot {
            Slot::Waiting(_) => {
                for answer in waiters {
                    self.reply(answer, Ok(()));
                }
                return None;
            }
            Slot::Connecting(Connecting { dial, asked }) => {
                if let Some(asked) = asked {
                    let ended = self.ended(by);
                    self.reply_connect(asked, Err(ended));
                }
                let (launch, ending) = end_connect(dial);
                (ending, launch)
            }
            Slot::Up(up) => self.end_session(up),
            Slot::Unreaped(Unreaped { launch }) => (end_launch(&launch, None), launch),
            Slot::Closing(closing) => {
                self.call_off(closing.then, by);
                let answers = closing.waiters;
                waiters.splice(0..0, answers);
                (closing.ending, closing.launch)
            }
        };
        Some(Slot::Closing(Closing {
            ending,
            launch,
            then,
            waiters,
        }))
    }

    /// Whoever waited for what was to come after an end is told that it does not.
    fn call_off(&mut self, then: Then, by: EndedBy) {
        match then {
            Then::Restart { answer, .. } => {
                let asked = Asked::Restart(Arc::clone(self.id()), answer);
                let ended = self.ended(by);
                self.reply_connect(asked, Err(ended));
            }
            Then::Fail { asked, error, .. } => {
                let failure = self.failure(error);
                self.reply_connect(asked, Err(failure));
            }
            Then::Vacate { .. } | Then::Retry => {}
        }
    }

    fn handle_restart(
        &mut self,
        slot: Slot,
        config: Arc<ServerConfig>,
        claim: Claim,
        answer: Answer<Connected>,
    ) -> Slot {
        let (ending, launch) = match slot {
            Slot::Up(up) => self.end_session(up),
            Slot::Connecting(Connecting { dial, asked: None }) => {
                let (launch, ending) = end_connect(dial);
                (ending, launch)
            }
            // Nothing is there to end.
            Slot::Waiting(_) => {
                let from = Arc::clone(self.id());
                return self.move_to(config, claim, Asked::Restart(from, answer));
            }
            Slot::Closing(Closing {
                ending,
                launch,
                then: Then::Retry,
                waiters,
            }) if waiters.is_empty() => (ending, launch),
            other => {
                let error = HostError::NotNow {
                    server: Arc::clone(self.id()),
                    operation: Operation::Restart,
                    state: self.standing.borrow().state,
                };
                self.outbox
                    .push(Reply::Connect(Asked::Connect(answer), Err(error)));
                return other;
            }
        };
        Slot::Closing(Closing {
            ending,
            launch,
            then: Then::Restart {
                config,
                claim,
                answer,
            },
            waiters: Vec::new(),
        })
    }

    fn handle_refresh(&mut self, slot: &mut Slot, answer: Answer<()>) {
        let server = Arc::clone(self.id());
        match slot {
            Slot::Up(_) if self.config.catalog() == CatalogMode::Frozen => {
                self.reply(answer, Err(HostError::Frozen { server }));
            }
            Slot::Up(up) => up.refreshes.ask(answer),
            _ => {
                let state = self.standing.borrow().state;
                self.reply(answer, Err(not_now(server, state)));
            }
        }
    }

    /// Ends a session: its tools are gone at once, its refreshes are told.
    pub(super) fn end_session(
        &mut self,
        up: Up,
    ) -> (BoxFuture<Result<(), Error>>, Arc<dyn Launch>) {
        let Up {
            session,
            launch,
            publication,
            refreshes,
            changed,
            ..
        } = up;
        drop(publication);
        drop(changed);
        if let Some(client) = session.client() {
            let ended = Totals::of(&client.report());
            // Both at once: whoever looks counts no session twice.
            self.standing.send_modify(|standing| {
                standing.session = None;
                standing.past = standing.past + ended;
            });
        }
        for answer in refreshes.into_answers() {
            let closing = not_now(Arc::clone(self.id()), ServerState::Closing);
            self.reply(answer, Err(closing));
        }
        (end_launch(&launch, Some(session)), launch)
    }
}

fn not_now(server: Arc<str>, state: ServerState) -> HostError {
    HostError::NotNow {
        server,
        operation: Operation::Refresh,
        state,
    }
}

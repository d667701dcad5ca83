//! `seawall run`: every configured server, kept up until a signal ends them.
//!
//! **Invariant:** nothing that is slow to read what is shown holds up a server: supervisors run on threads of their own,
//! stdout is written by one of its own, and what it misses is told.
//! **Invariant:** a configuration with a problem changes nothing.

mod alerts;
mod hangup;
mod journal;
mod line;
mod mcpl;
mod source;
mod table;
mod watch;

use std::future::{Future, pending};
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use seawall::config::{Checked, GatewayConfig, Reconnect};
use seawall::host::{Applied, EventKind, Events, Heard, StartError, Started};
use seawall::{Host, HostError};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::mcpl::listening;
use super::serve::{Front, Wanted};
use super::servers::{ServerSet, hint_no_servers};
use crate::args::RunArgs;
use crate::failure::{Failure, Status, UsageError};
use crate::interrupt::Interrupts;
use crate::printer::{Board, Feed, Printer};
use crate::settings::Settings;
use alerts::Alerts;
use hangup::{Hangup, Meaning};
use journal::Recorded;
use line::{Line, Weight};
use source::Source;
use table::Times;
use watch::{LOOK, Watch};

/// How long the end waits for threads that are in the middle of something, once everything was ended.
const LAST_THREADS: Duration = Duration::from_millis(500);

pub(crate) fn run(
    args: &RunArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    keep(args, settings, printer, None)
}

/// Keeps the servers up until a signal, and serves clients meanwhile, if that is wanted.
pub(super) fn keep(
    args: &RunArgs,
    settings: &Settings,
    printer: &mut Printer,
    wanted: Option<Wanted>,
) -> Result<Status, Failure> {
    let mut source = Source::new(settings.lookup.clone(), settings.asker);
    let mut watch = Watch::default();
    let checked = read(&mut source, &mut watch);
    let gateway = checked.gateway.clone();
    let servers = ServerSet::of(checked, settings, printer)?;
    if servers.is_empty() {
        hint_no_servers(printer);
    }
    let runtime = super::built(&mut Builder::new_multi_thread())?;
    let begun = Begun {
        args,
        servers,
        source,
        watch,
        wanted,
        gateway,
    };
    let ended = begin(begun, settings, printer, &runtime);
    // Whatever was not ended is killed here.
    runtime.shutdown_timeout(LAST_THREADS);
    ended.map(|()| Status::Done)
}

/// What a run begins with.
struct Begun<'a> {
    args: &'a RunArgs,
    servers: ServerSet,
    source: Source,
    watch: Watch,
    wanted: Option<Wanted>,
    /// What the configuration says of clients.
    gateway: GatewayConfig,
}

fn begin(
    begun: Begun<'_>,
    settings: &Settings,
    printer: &mut Printer,
    runtime: &Runtime,
) -> Result<(), Failure> {
    runtime.block_on(async {
        let mut interrupts = Interrupts::listen_but_for_hangups().map_err(Failure::Runtime)?;
        let hangup = Hangup::listen().map_err(Failure::Runtime)?;
        let alerts = alerts::resolve(begun.args.alert_log.as_deref())?;
        let journal = Recorded::of(begun.wanted.as_ref(), &begun.gateway.journal, printer)?;
        let serves = begun.wanted.is_some();
        let logins = begun.servers.logins().clone();
        let host = build(begun.servers, &alerts, &journal, printer, serves)?;
        let front = match begun.wanted {
            Some(wanted) => Some(Front::open(wanted, &begun.gateway, &host, printer).await?),
            None => None,
        };
        let board = match &front {
            Some(front) if front.is_stdio() => None,
            _ => printer.board(),
        };
        if board.is_none() {
            printer.talk_aside();
        }
        // Whoever sees the table needs no lines on the same terminal, and a gateway's stdout is the client's.
        let lines: Option<Box<dyn Write + Send>> = match (&front, &board) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => Some(Box::new(io::stderr())),
            (None, Some(_)) if printer.is_terminal() => None,
            (None, _) => Some(Box::new(io::stdout())),
        };
        let feed = lines
            .map(Feed::start)
            .transpose()
            .map_err(Failure::Runtime)?;
        let run = Run {
            settings,
            printer,
            events: host.events(),
            host,
            source: begun.source,
            watch: begun.watch,
            gateway: begun.gateway,
            hangup,
            feed,
            board,
            front,
            journal: journal.clone(),
            times: Times::default(),
            budget: Duration::from_millis(begun.args.budget.into()),
        };
        let ended = run.until_ended(&mut interrupts).await;
        if !matches!(ended, Err(Failure::Killed)) {
            logins.settle(&mut interrupts, printer).await;
            // A signal meanwhile is one not to wait.
            interrupts.unless(alerts.finish()).await.ok();
            interrupts.unless(journal.finish()).await.ok();
        }
        ended
    })
}

fn build(
    servers: ServerSet,
    alerts: &Alerts,
    journal: &Recorded,
    printer: &Printer,
    serves: bool,
) -> Result<Host, Failure> {
    let logins = servers.logins().clone();
    let mut builder = Host::builder()
        .reconnect_default(Reconnect::On)
        // Nobody waits for an answer, so nobody is asked anything.
        .suppliers(servers.means_of_a_look().suppliers)
        // But who calls through a gateway.
        .relays(serves)
        .prepare(move |builder| {
            let config = builder.config().clone();
            logins.authorise(&config, builder)
        });
    if !serves {
        // What is pushed is shown. A gateway has nobody to pass it on to, so that it is not even offered there.
        builder = builder.mcpl(listening());
    }
    for sink in &alerts.sinks {
        builder = builder.alert(Arc::clone(sink));
    }
    if let Some(journal) = journal.journal() {
        builder = builder.journal(journal);
    }
    if let Some(observer) = printer.observer() {
        builder = builder.observer(observer);
    }
    Ok(builder.servers(servers.select(&[])?).build())
}

/// Reads the configuration, and how its files stood at the latest before that.
fn read(source: &mut Source, watch: &mut Watch) -> Checked {
    let before = source.stamps();
    let checked = source.read();
    watch.read(source.stamps().overlaid(&before));
    checked
}

/// One run.
struct Run<'r> {
    settings: &'r Settings,
    printer: &'r mut Printer,
    host: Host,
    events: Events,
    source: Source,
    watch: Watch,
    hangup: Hangup,
    /// Lines, unless the table is there instead: on stdout, or beside a gateway on stderr.
    feed: Option<Feed>,
    board: Option<Board>,
    /// What the configuration said of clients at the start, or when it was last told to have changed.
    gateway: GatewayConfig,
    /// Where clients are served, if they are.
    front: Option<Front>,
    journal: Recorded,
    times: Times,
    budget: Duration,
}

/// What the host is busy with.
type Work = Pin<Box<dyn Future<Output = Done>>>;

/// What it is busy with at once; each is begun after the one before it, and each may wait for servers that come up slowly.
/// Past it what changes is seen later.
const MAX_WORK: usize = 16;

enum Done {
    Started(Result<Started, StartError>),
    Applied(Result<Applied, HostError>),
}

enum Turn {
    Stop,
    Broken(io::Error),
    /// The one client is gone; why, if it is not that it left.
    Served(Option<String>),
    Hangup(Meaning),
    Heard(Heard),
    Journal(Box<Line>),
    Done(Done),
    Look,
}

/// Why a run ends.
enum Ending {
    Asked,
    /// stdout takes no more.
    Output(io::Error),
    /// The host has stopped already.
    NotStarted(StartError),
    /// What the servers offer cannot be served as it is wanted.
    Refused(UsageError),
}

impl Run<'_> {
    async fn until_ended(mut self, interrupts: &mut Interrupts) -> Result<(), Failure> {
        let ending = self.keep(interrupts).await;
        let ended = match ending {
            Ending::NotStarted(error) => {
                self.drain().await;
                Err(Failure::NotStarted(error))
            }
            Ending::Asked => self.stop(interrupts).await,
            Ending::Refused(error) => {
                let stopped = self.stop(interrupts).await;
                stopped.and(Err(error.into()))
            }
            Ending::Output(error) => {
                let stopped = self.stop(interrupts).await;
                // Whoever reads no further wants no more.
                stopped.and(match error.kind() {
                    io::ErrorKind::BrokenPipe => Ok(()),
                    _ => Err(Failure::Output(error)),
                })
            }
        };
        drop(self.board);
        if let Some(feed) = self.feed {
            feed.finish();
        }
        ended
    }

    /// Starts the servers and keeps them, and the configuration, as they should be.
    async fn keep(&mut self, interrupts: &mut Interrupts) -> Ending {
        let (host, budget) = (self.host.clone(), self.budget);
        let start: Work = Box::pin(async move { Done::Started(host.start(budget).await) });
        let mut work: FuturesUnordered<Work> = std::iter::once(start).collect();
        let mut asked = false;
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let turn = tokio::select! {
                biased;
                () = interrupts.next() => Turn::Stop,
                error = broken(&mut self.feed) => Turn::Broken(error),
                why = served(&mut self.front) => Turn::Served(why),
                meaning = self.hangup.next() => Turn::Hangup(meaning),
                heard = self.events.next() => heard.map_or(Turn::Stop, Turn::Heard),
                line = self.journal.news() => Turn::Journal(Box::new(line)),
                Some(done) = work.next() => Turn::Done(done),
                _ = looks.tick() => Turn::Look,
            };
            let looks_now = matches!(turn, Turn::Look);
            match turn {
                Turn::Served(why) => {
                    if let Some(why) = why {
                        self.printer.error(&why);
                    }
                    return Ending::Asked;
                }
                Turn::Stop | Turn::Hangup(Meaning::TerminalGone) => return Ending::Asked,
                // Clients are served all the same where nobody reads what is told of it.
                Turn::Broken(_) if self.front.is_some() => self.feed = None,
                Turn::Broken(error) => return Ending::Output(error),
                Turn::Hangup(Meaning::Reload) => asked = true,
                Turn::Heard(heard) => self.heard(heard),
                Turn::Journal(line) => self.say(&line),
                Turn::Done(Done::Started(Ok(started))) => {
                    self.say(&Line::started(&started));
                    if let Some(front) = &mut self.front
                        && let Err(error) = front.started(self.printer)
                    {
                        return Ending::Refused(error);
                    }
                }
                Turn::Done(Done::Started(Err(error))) => return Ending::NotStarted(error),
                Turn::Done(Done::Applied(applied)) => self.applied(applied),
                Turn::Look => {
                    if let Some(front) = &mut self.front {
                        front.look(self.printer);
                    }
                }
            }
            if work.len() < MAX_WORK
                && (asked || looks_now && self.watch.look(self.source.stamps()))
            {
                asked = false;
                work.extend(self.reload());
            }
            self.draw();
        }
    }

    /// Ends every server within the budget; a signal meanwhile, at once.
    async fn stop(&mut self, interrupts: &mut Interrupts) -> Result<(), Failure> {
        self.say(&Line::stopping());
        let until = Instant::now() + self.budget;
        if let Some(front) = self.front.take() {
            // Half of the time is the servers'.
            let closing = front.close(self.budget / 2);
            tokio::select! {
                biased;
                () = interrupts.next() => return Err(Failure::Killed),
                () = closing => {}
            }
        }
        let host = self.host.clone();
        let budget = until.saturating_duration_since(Instant::now());
        let mut stop = std::pin::pin!(async move { host.stop(budget).await });
        let mut looks = interval(LOOK);
        let stopped = loop {
            tokio::select! {
                biased;
                () = interrupts.next() => return Err(Failure::Killed),
                Some(heard) = self.events.next() => self.heard(heard),
                stopped = &mut stop => break stopped,
                _ = looks.tick() => {}
            }
            self.draw();
        };
        self.drain().await;
        stopped.map_err(Failure::NotGone)?;
        self.say(&Line::stopped());
        Ok(())
    }

    /// Reads the configuration again; what is to be done by it, if it is good.
    fn reload(&mut self) -> Option<Work> {
        let checked = read(&mut self.source, &mut self.watch);
        self.compare(&checked);
        let problems: Vec<String> = checked.problems.iter().map(ToString::to_string).collect();
        let servers = ServerSet::of(checked, self.settings, self.printer)
            .and_then(|servers| Ok(servers.select(&[])?));
        match servers {
            Ok(servers) => {
                let host = self.host.clone();
                Some(Box::pin(
                    async move { Done::Applied(host.apply(servers).await) },
                ))
            }
            Err(failure) => {
                failure.tell(self.printer);
                let problems = match &failure {
                    Failure::Usage(UsageError::Configuration(_)) => problems,
                    other => vec![other.to_string()],
                };
                self.say(&Line::refused(problems));
                None
            }
        }
    }

    /// Tells if what a gateway reads at its start alone is another now.
    fn compare(&mut self, checked: &Checked) {
        if self.front.is_some() && checked.problems.is_empty() && checked.gateway != self.gateway {
            self.gateway = checked.gateway.clone();
            self.printer.warning(
                "the configuration's section \"gateway\" changed; it is read at the start, so start again for it to count",
            );
        }
    }

    fn applied(&mut self, applied: Result<Applied, HostError>) {
        match applied {
            Ok(applied) => {
                for error in &applied.failed {
                    self.printer.error(&error.to_string());
                }
                self.say(&Line::reloaded(&applied));
            }
            Err(error) => {
                self.printer.error(&error.to_string());
                self.say(&Line::refused(vec![error.to_string()]));
            }
        }
    }

    fn heard(&mut self, heard: Heard) {
        match heard {
            Heard::Event(event) => {
                self.times.heard(&event);
                self.say(&Line::of(&event));
                if let (EventKind::Published { .. }, Some(front)) = (&event.kind, &mut self.front) {
                    front.look(self.printer);
                }
            }
            Heard::Missed(count) => self.say(&Line::missed(count)),
        }
    }

    /// Tells what has happened so far.
    async fn drain(&mut self) {
        loop {
            tokio::select! {
                biased;
                Some(heard) = self.events.next() => self.heard(heard),
                () = std::future::ready(()) => break,
            }
        }
    }

    fn say(&mut self, line: &Line) {
        let json = self.printer.is_json();
        let text = |line: &Line| match json {
            true => line.json(),
            false => line.words(),
        };
        if let Some(feed) = &mut self.feed {
            feed.line(&text(line), |count| text(&Line::missed(count)));
        }
        if self.board.is_some() {
            match line.weight {
                Weight::Bad => self.printer.error(&line.words()),
                Weight::News => self.printer.talk(&line.words()),
                Weight::Usual => self.printer.detail(&line.words()),
            }
        }
    }

    fn draw(&self) {
        if let Some(board) = &self.board {
            table::draw(board, &self.host, &self.times);
        }
    }
}

/// Waits until stdout takes no more, if it takes anything.
async fn broken(feed: &mut Option<Feed>) -> io::Error {
    match feed {
        Some(feed) => feed.broken().await,
        None => pending().await,
    }
}

/// Serves clients, if that is wanted, until the only one is gone; why, if it is not that it left.
async fn served(front: &mut Option<Front>) -> Option<String> {
    match front {
        Some(front) => front.ended().await,
        None => pending().await,
    }
}

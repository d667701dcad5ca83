//! Connections that do as a script says, and a world that watches what is alive.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seawall_proto::Outcome;
use seawall_proto::connection::{Change, CloseReason};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until};

use crate::client::Client;
use crate::config::ServerConfig;
use crate::error::{Error, ErrorKind};
use crate::flows::{Flow, project, tests::catalog};
use crate::policy::Grant;
use crate::supervisor::{BoxFuture, Connector, Dial, Launch, Session};
use crate::transport::stdio::NotReaped;

/// What one connection does.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// How long the handshake and its list take.
    pub(super) handshake: Duration,
    pub(super) ending: Ending,
    /// How long its children take to be gone.
    pub(super) end: Duration,
    /// So many attempts to reap them fail.
    pub(super) unreapable: u32,
    /// How long it takes to read the list again.
    pub(super) reading: Duration,
    pub(super) tools: Vec<&'static str>,
}

impl Script {
    /// All that it does takes no time.
    pub(super) fn at_once() -> Self {
        Self {
            handshake: Duration::ZERO,
            end: Duration::ZERO,
            ..Self::default()
        }
    }
}

/// How a connection ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Never,
    /// The connect fails.
    Fails,
    /// The connect fails, and trying again cannot help.
    Refuses,
    /// The session is over when the connect comes to its end.
    LostMeanwhile,
    /// The connect never ends, whatever it is told.
    Stuck,
    /// The session is lost after this.
    Dies(Duration),
}

impl Default for Script {
    fn default() -> Self {
        Self {
            handshake: Duration::from_millis(20),
            ending: Ending::Never,
            end: Duration::from_millis(10),
            unreapable: 0,
            reading: Duration::from_millis(20),
            tools: vec!["one", "two"],
        }
    }
}

/// The world: who was launched, and who is alive.
#[derive(Default)]
pub(super) struct Faulty(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    scripts: HashMap<String, VecDeque<Script>>,
    children: Vec<Arc<Child>>,
    violations: Vec<String>,
}

pub(super) struct Child {
    server: Arc<str>,
    prefix: String,
    script: Script,
    changes: Notify,
    inner: Mutex<Inner>,
    closed: watch::Sender<Option<Error>>,
}

struct Inner {
    alive: bool,
    unreapable: u32,
    tools: Vec<&'static str>,
    readings: usize,
    launched: Option<Instant>,
    /// What is announced.
    change: Change,
}

impl Faulty {
    /// What the next connections of a server do; the last one is repeated.
    pub(super) fn script(&self, server: &str, scripts: impl IntoIterator<Item = Script>) {
        let scripts = scripts.into_iter().collect();
        self.0
            .lock()
            .unwrap()
            .scripts
            .insert(server.to_owned(), scripts);
    }

    /// What every child of a server that was ever launched is, the newest last.
    pub(super) fn children(&self, server: &str) -> Vec<Arc<Child>> {
        let state = self.0.lock().unwrap();
        let of_it = |child: &&Arc<Child>| {
            &*child.server == server && child.inner.lock().unwrap().launched.is_some()
        };
        state.children.iter().filter(of_it).cloned().collect()
    }

    pub(super) fn newest(&self, server: &str) -> Arc<Child> {
        self.children(server).pop().expect("one was launched")
    }

    /// The servers with a child that is not confirmed gone.
    pub(super) fn alive(&self) -> Vec<String> {
        let state = self.0.lock().unwrap();
        let alive = state.children.iter().filter(|child| child.is_alive());
        alive.map(|child| child.server.to_string()).collect()
    }

    /// The prefixes of live sessions.
    pub(super) fn serving(&self) -> Vec<String> {
        let state = self.0.lock().unwrap();
        let serving = state
            .children
            .iter()
            .filter(|child| child.is_alive() && child.closed.borrow().is_none());
        serving.map(|child| child.prefix.clone()).collect()
    }

    pub(super) fn check(&self) {
        let state = self.0.lock().unwrap();
        assert!(state.violations.is_empty(), "{:?}", state.violations);
    }
}

impl Child {
    pub(super) fn is_alive(&self) -> bool {
        self.inner.lock().unwrap().alive
    }

    /// The session is lost.
    pub(super) fn crash(&self) {
        self.close_with(CloseReason::StdoutClosed);
    }

    /// The server says that its tools changed, and they did.
    pub(super) fn change(&self, tools: &[&'static str]) {
        self.inner.lock().unwrap().tools = tools.to_vec();
        self.changes.notify_one();
    }

    /// The server says that something else of it changed.
    pub(super) fn announce(&self, change: Change) {
        self.inner.lock().unwrap().change = change;
        self.changes.notify_one();
    }

    /// How often its list was read again.
    pub(super) fn readings(&self) -> usize {
        self.inner.lock().unwrap().readings
    }

    /// When it was launched.
    pub(super) fn launched(&self) -> Instant {
        self.inner
            .lock()
            .unwrap()
            .launched
            .expect("it was launched")
    }

    fn close_with(&self, reason: CloseReason) {
        self.closed.send_if_modified(|closed| {
            let first = closed.is_none();
            if first {
                *closed = Some(self.failed(reason));
            }
            first
        });
    }

    fn failed(&self, reason: CloseReason) -> Error {
        let kind = ErrorKind::Connect {
            reason,
            outcome: Outcome::NoResponse,
            unreaped: None,
        };
        Error::new(&self.server, kind)
    }

    async fn is_closed(&self) -> Error {
        let mut closed = self.closed.subscribe();
        let closed = closed.wait_for(Option::is_some).await.unwrap();
        closed.clone().unwrap()
    }
}

impl Connector for Faulty {
    fn dial(&self, config: &Arc<ServerConfig>) -> Dial {
        let mut state = self.0.lock().unwrap();
        let script = match state.scripts.get_mut(config.server()) {
            Some(scripts) if scripts.len() > 1 => scripts.pop_front().unwrap(),
            Some(scripts) => scripts.front().cloned().unwrap_or_default(),
            None => Script::default(),
        };
        let child = Arc::new(Child {
            server: config.server().into(),
            prefix: config.name_prefix().to_owned(),
            inner: Mutex::new(Inner {
                alive: false,
                unreapable: script.unreapable,
                tools: script.tools.clone(),
                readings: 0,
                launched: None,
                change: Change::Tools,
            }),
            script,
            changes: Notify::new(),
            closed: watch::Sender::new(None),
        });
        state.children.push(Arc::clone(&child));
        let world = Arc::clone(&self.0);
        let launch = Arc::new(FaultyLaunch(Arc::clone(&child)));
        Dial {
            connecting: Box::pin(connect(world, child)),
            launch,
        }
    }
}

async fn connect(world: Arc<Mutex<State>>, child: Arc<Child>) -> Result<Arc<dyn Session>, Error> {
    {
        let mut state = world.lock().unwrap();
        let twin = |other: &&Arc<Child>| other.server == child.server && other.is_alive();
        if state.children.iter().any(|other| twin(&other)) {
            let violation = format!("two children of {}", child.server);
            state.violations.push(violation);
        }
        let mut inner = child.inner.lock().unwrap();
        inner.alive = true;
        inner.launched = Some(Instant::now());
    }
    if child.script.ending == Ending::Stuck {
        pending::<()>().await;
    }
    tokio::select! {
        error = child.is_closed() => return Err(error),
        () = sleep(child.script.handshake) => {}
    }
    match child.script.ending {
        Ending::Fails => {
            child.crash();
            return Err(child.failed(CloseReason::StdoutClosed));
        }
        Ending::Refuses => {
            child.crash();
            return Err(Error::new(&child.server, ErrorKind::LoginOverStdio));
        }
        Ending::LostMeanwhile => child.crash(),
        _ => {}
    }
    Ok(session(child))
}

fn session(child: Arc<Child>) -> Arc<dyn Session> {
    let tools = child.inner.lock().unwrap().tools.clone();
    let entries: Vec<String> = tools
        .iter()
        .map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#))
        .collect();
    let catalog = catalog(&entries.join(","));
    let flows = project(
        &catalog,
        &child.server,
        &child.prefix,
        &[],
        &[],
        &Grant::default(),
    )
    .unwrap();
    Arc::new(FaultySession { child, flows })
}

struct FaultyLaunch(Arc<Child>);

impl Launch for FaultyLaunch {
    fn close(&self) {
        self.0.close_with(CloseReason::ScopeClosed);
    }

    fn end(&self) -> BoxFuture<Result<(), Error>> {
        let child = Arc::clone(&self.0);
        Box::pin(async move {
            sleep(child.script.end).await;
            let mut inner = child.inner.lock().unwrap();
            if inner.alive && inner.unreapable > 0 {
                inner.unreapable -= 1;
                let server = Arc::clone(&child.server);
                let unreaped = NotReaped::Leader { pid: 7, server };
                return Err(Error::new(&child.server, ErrorKind::Unreaped(unreaped)));
            }
            inner.alive = false;
            Ok(())
        })
    }
}

struct FaultySession {
    child: Arc<Child>,
    flows: Vec<Flow>,
}

impl Session for FaultySession {
    fn flows(&self) -> &[Flow] {
        &self.flows
    }

    fn quarantined(&self) -> usize {
        0
    }

    fn closed(&self) -> Option<Error> {
        self.child.closed.borrow().clone()
    }

    fn changed(&self) -> BoxFuture<Option<Change>> {
        let child = Arc::clone(&self.child);
        Box::pin(async move {
            let death = async {
                match child.script.ending {
                    Ending::Dies(after) => {
                        sleep_until(child.launched() + child.script.handshake + after).await;
                    }
                    _ => pending().await,
                }
            };
            tokio::select! {
                biased;
                _ = child.is_closed() => None,
                () = death => {
                    child.crash();
                    None
                }
                () = child.changes.notified() => Some(child.inner.lock().unwrap().change.clone()),
            }
        })
    }

    fn refresh(&self) -> BoxFuture<Result<Arc<dyn Session>, Error>> {
        let child = Arc::clone(&self.child);
        Box::pin(async move {
            child.inner.lock().unwrap().readings += 1;
            // What is listed is what was there when the reading began.
            let listed = session(Arc::clone(&child));
            tokio::select! {
                biased;
                error = child.is_closed() => Err(error),
                () = sleep(child.script.reading) => Ok(listed),
            }
        })
    }

    fn client(&self) -> Option<&Client> {
        None
    }
}

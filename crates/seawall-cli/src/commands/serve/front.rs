//! The front that clients come to, and the gateway behind it.

use std::collections::BTreeSet;
use std::future::{Future, pending};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use seawall::Host;
use seawall::config::GatewayConfig;
use seawall_gateway::clients::Client;
use seawall_gateway::http::{Endpoint, HttpLimits, listen};
use seawall_gateway::names::Names;
use seawall_gateway::stdio::{self, CloseReason, StdioLimits};
use seawall_gateway::{Gateway, Meeting, Site};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout_at};

use super::input::Input;
use super::{Wanted, pipes, terms};
use crate::failure::{Failure, UsageError};
use crate::printer::Printer;

/// How long the last answers may take to be written.
const LAST_ANSWERS: Duration = Duration::from_millis(250);

/// A gateway that is served.
pub(crate) struct Front {
    gateway: Arc<Gateway>,
    /// `None` once it has ended.
    serving: Option<Pin<Box<dyn Future<Output = Option<String>>>>>,
    stop: oneshot::Sender<()>,
    names: Names,
    is_stdio: bool,
    /// Names that were told to be left out.
    told: BTreeSet<String>,
}

impl Front {
    /// Opens it, in front of a host that is not started yet.
    pub(crate) async fn open(
        wanted: Wanted,
        config: &GatewayConfig,
        host: &Host,
        printer: &mut Printer,
    ) -> Result<Self, Failure> {
        let mut options = terms::options(&wanted, config);
        options.telemetry.clone_from(&wanted.telemetry);
        let names = options.names;
        let gateway = Arc::new(Gateway::new(host.clone(), options));
        let (stop, stopped) = oneshot::channel();
        let serving: Pin<Box<dyn Future<Output = Option<String>>>> = match wanted.http {
            None => {
                let client = terms::client(wanted.client.as_deref(), config)?;
                Box::pin(over_stdio(Arc::clone(&gateway), client, stopped))
            }
            Some(address) => {
                let guard = terms::guard(config)?;
                let access = terms::access(address, guard.as_deref(), config)?;
                terms::warn(address, guard.as_deref(), config, printer);
                let listener = bind(address).await?;
                let address = listener.local_addr().map_err(Failure::Runtime)?;
                printer.talk(&format!("serving at http://{address}/mcp"));
                printer.talk(&format!("status page at http://{address}/"));
                let limits = HttpLimits::default();
                let mut endpoint = Endpoint::new(Arc::clone(&gateway), access, limits);
                endpoint = endpoint.beside(Arc::new(Site::new(Arc::clone(&gateway))));
                if let Some(guard) = guard {
                    endpoint = endpoint.guarded(guard);
                }
                let serving = over_http(Arc::clone(&gateway), endpoint, listener, stopped);
                Box::pin(async move {
                    serving.await;
                    None
                })
            }
        };
        Ok(Self {
            gateway,
            serving: Some(serving),
            stop,
            names,
            is_stdio: wanted.http.is_none(),
            told: BTreeSet::new(),
        })
    }

    pub(crate) fn is_stdio(&self) -> bool {
        self.is_stdio
    }

    /// Serves, until the client is gone; over HTTP for ever. Told once: why, if it is not that it left.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub(crate) async fn ended(&mut self) -> Option<String> {
        let why = match &mut self.serving {
            Some(serving) => serving.await,
            None => pending().await,
        };
        self.serving = None;
        why
    }

    /// The servers' first connects are through.
    ///
    /// # Errors
    /// Tools have the same plain name.
    pub(crate) fn started(&mut self, printer: &mut Printer) -> Result<(), UsageError> {
        let first = self.gateway.meetings().into_iter().next();
        if let (Names::Plain, Some(Meeting { name, servers, .. })) = (self.names, first) {
            return Err(UsageError::NamesMeet { name, servers });
        }
        self.look(printer);
        self.gateway.started();
        Ok(())
    }

    /// Tells what is left out from now on.
    pub(crate) fn look(&mut self, printer: &mut Printer) {
        for notice in self.gateway.notices() {
            printer.warning(&notice.to_string());
        }
        for meeting in self.gateway.meetings() {
            let servers = meeting.servers.join(", ");
            if self.told.insert(meeting.name.clone()) {
                printer.warning(&format!(
                    "tools that would all be named {:?} are left out (of {servers})",
                    meeting.name
                ));
            }
        }
    }

    /// Ends: begins nothing new, lets what is under way end within `budget`, and closes.
    pub(crate) async fn close(self, budget: Duration) {
        let until = Instant::now() + budget;
        let Some(mut serving) = self.serving else {
            return;
        };
        tokio::select! {
            _ = self.gateway.drain(budget) => {}
            _ = &mut serving => return,
        }
        // If nobody listens any more, it has ended.
        let _ = self.stop.send(());
        let until = until.max(Instant::now() + LAST_ANSWERS * 2);
        let _ = timeout_at(until, serving).await;
    }
}

async fn over_stdio(
    gateway: Arc<Gateway>,
    client: Arc<Client>,
    stop: oneshot::Receiver<()>,
) -> Option<String> {
    let input = Input {
        input: pipes::input(),
        stop,
    };
    let limits = StdioLimits::default();
    let output = pipes::output();
    let serving = stdio::serve(Arc::clone(&gateway), client, input, output, limits);
    tokio::select! {
        reason = serving => match reason {
            CloseReason::FrameTooLong { limit } => Some(format!(
                "the client sent a line of more than {limit} bytes, past which nothing it says can be told apart; it is no longer served"
            )),
            _ => None,
        },
        () = gateway.announce() => None,
    }
}

async fn over_http(
    gateway: Arc<Gateway>,
    endpoint: Endpoint<Gateway>,
    listener: TcpListener,
    stop: oneshot::Receiver<()>,
) {
    let limits = HttpLimits::default();
    let handler = {
        let endpoint = endpoint.clone();
        move |request| {
            let endpoint = endpoint.clone();
            async move { endpoint.handle(request).await }
        }
    };
    let stopped = async {
        let _ = stop.await;
        // The last answers are on their way to their streams, which end with the sessions.
        sleep(LAST_ANSWERS).await;
        endpoint.close();
    };
    tokio::select! {
        () = listen(listener, &limits, handler, stopped) => {}
        () = gateway.announce() => {}
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address)
        .await
        .map_err(|source| UsageError::ServeBind { address, source }.into())
}

//! Connecting and closing, with the person at the keyboard able to end either.

use std::sync::Arc;

use seawall::config::ServerConfig;
use seawall::events::Observer;
use seawall::inputs::Suppliers;
use seawall::{Client, Error};
use tokio::task::JoinSet;

use super::mcpl::visiting;
use super::together::together;
use crate::failure::{Failure, Status, Undone};
use crate::inputs::Inputs;
use crate::interrupt::Interrupts;
use crate::logins::{Logins, Visit, origin, wants_login};
use crate::printer::{Place, Printer, visible};

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Calling a tool: a server without tools is none that can be used.
    Tools,
    /// Whatever the server offers.
    Anything,
}

/// How a run comes to its servers.
#[derive(Clone)]
pub(crate) struct Means {
    pub(crate) needs: Needs,
    pub(crate) suppliers: Suppliers,
    /// The person who may be asked whether to log in.
    pub(crate) inputs: Inputs,
    pub(crate) logins: Logins,
}

/// Connects; a signal ends it and the child with it.
pub(crate) async fn connect(
    config: ServerConfig,
    means: &Means,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Client, Failure> {
    let interrupted = |_| Failure::Interrupted {
        undone: Undone::Anything,
        server: Some(config.server().to_owned()),
    };
    let attempt = || builder(&config, means, printer.observer()).connect();
    // A future that is dropped half way ends its child.
    let mut connected = interrupts.unless(attempt()).await.map_err(interrupted)?;
    if let Err(error) = &connected
        && wants_login(error)
        && log_in(&config, means, error, interrupts, printer).await?
    {
        connected = interrupts.unless(attempt()).await.map_err(interrupted)?;
    }
    let client = connected?;
    tell_connected(&client, &config, means, printer).await;
    Ok(client)
}

/// Offers the person at the terminal to log in, as `error` wants it; whether that was done.
pub(crate) async fn log_in(
    config: &ServerConfig,
    means: &Means,
    error: &Error,
    interrupts: &mut Interrupts,
    printer: &Printer,
) -> Result<bool, Failure> {
    let interrupted = |_| Failure::Interrupted {
        undone: Undone::Anything,
        server: Some(config.server().to_owned()),
    };
    let failed = |error| Failure::Login {
        server: config.server().to_owned(),
        error,
    };
    // The login is good, and does not reach.
    let wish = match error.http_status() {
        Some(403) => "more permissions than its login has",
        _ => "a login",
    };
    let question = format!(
        "MCP server \"{}\" at {} wants {wish}. Open your browser for it?",
        visible(config.server(), Place::Line),
        origin(config).unwrap_or_default()
    );
    let asked = means.inputs.agrees(&question, printer);
    if !interrupts.unless(asked).await.map_err(interrupted)? {
        return Ok(false);
    }
    let oauth = means.logins.with_person(config, Visit::Open, &[]);
    let Some(oauth) = oauth.map_err(failed)? else {
        return Ok(false);
    };
    let logged_in = interrupts.unless(oauth.login()).await;
    logged_in.map_err(interrupted)?.map_err(failed)?;
    Ok(true)
}

async fn tell_connected(
    client: &Client,
    config: &ServerConfig,
    means: &Means,
    printer: &mut Printer,
) {
    if printer.verbosity() == 0 {
        return;
    }
    let (tools, revision) = (client.flows().len(), client.session().revision);
    printer.detail(&format!(
        "connected to {}: revision {revision}, {tools} tools",
        client.server()
    ));
    if let Some(login) = means.logins.state(config).await
        && login.is_there()
    {
        printer.detail(&format!("  {}", login.words()));
    }
}

pub(crate) fn builder(
    config: &ServerConfig,
    means: &Means,
    observer: Option<Arc<dyn Observer>>,
) -> seawall::ClientBuilder {
    let builder = Client::builder(config.clone())
        .suppliers(means.suppliers.clone())
        .mcpl(visiting());
    let mut builder = means.logins.authorise(config, builder);
    if means.needs == Needs::Anything {
        builder = builder.tools_optional();
    }
    match observer {
        Some(observer) => builder.observer(observer),
        None => builder,
    }
}

/// Connects to all at once; what failed costs the others nothing. Both lists keep the order of `configs`.
pub(crate) async fn connect_all(
    configs: Vec<ServerConfig>,
    means: &Means,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<(Vec<Client>, Vec<Failure>), Failure> {
    let spinner = printer.spinner("connecting");
    let builders = configs
        .iter()
        .map(|config| builder(config, means, printer.observer()));
    let works: Vec<_> = builders.map(seawall::ClientBuilder::connect).collect();
    let connected = together(works, interrupts).await;
    drop(spinner);
    let (mut clients, mut failures) = (Vec::new(), Vec::new());
    for (result, config) in connected?.into_iter().zip(configs) {
        match result {
            Ok(client) => {
                tell_connected(&client, &config, means, printer).await;
                clients.push(client);
            }
            // Once more, now that it can be asked whether to log in: one at a time.
            Err(error) if wants_login(&error) && means.inputs.is_interactive() => {
                match connect(config, means, interrupts, printer).await {
                    Ok(client) => clients.push(client),
                    Err(interrupted @ Failure::Interrupted { .. }) => return Err(interrupted),
                    Err(failure) => failures.push(failure),
                }
            }
            Err(error) => failures.push(error.into()),
        }
    }
    Ok((clients, failures))
}

/// Tells what failed, and gives the status of the worst. Where there is nothing else to show, that one is the answer.
pub(crate) fn tell_failures(
    failures: &[Failure],
    nothing_else: bool,
    printer: &mut Printer,
) -> Status {
    let statuses = failures.iter().map(Failure::status);
    let status = statuses.max().unwrap_or(Status::Done);
    let worst = failures
        .iter()
        .find(|failure| nothing_else && failure.status() == status);
    for failure in failures {
        if !worst.is_some_and(|worst| std::ptr::eq(worst, failure)) {
            printer.error(&failure.to_string());
        }
    }
    if let Some(worst) = worst {
        worst.print(printer);
    }
    status
}

/// Closes all at once, as [`close`] does one.
pub(crate) async fn close_all(
    clients: Vec<Client>,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) {
    let mut closing = JoinSet::new();
    for client in clients {
        closing.spawn(async move { client.close().await });
    }
    while let Ok(Some(closed)) = interrupts.unless(closing.join_next()).await {
        if let Ok(Err(error)) = closed {
            printer.error(&error.to_string());
        }
    }
}

/// Closes gently; a signal meanwhile kills at once. A server that cannot be ended is said aloud.
pub(crate) async fn close(client: Client, interrupts: &mut Interrupts, printer: &mut Printer) {
    if let Ok(Err(error)) = interrupts.unless(client.close()).await {
        printer.error(&error.to_string());
    }
    // The last handle is dropped here, and with it whatever is still alive.
}

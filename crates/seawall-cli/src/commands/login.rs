//! `seawall login ID` and `seawall logout ID`.

use std::future::Future;

use seawall::AuthError;
use seawall::config::{Endpoint, ServerConfig};
use seawall::oauth::OAuth;
use serde::Serialize;

use super::servers::ServerSet;
use crate::args::{LoginArgs, LogoutArgs};
use crate::failure::{Failure, NoLogin, Status, Undone, UsageError};
use crate::interrupt::Interrupts;
use crate::logins::{LoginState, Visit, origin};
use crate::printer::Printer;

/// What `--json` shows.
#[derive(Serialize)]
struct Shown<'a> {
    server: &'a str,
    #[serde(flatten)]
    login: LoginState,
}

pub(crate) async fn login(
    args: LoginArgs,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let config = servers.named(&args.server)?;
    let visit = if args.no_browser {
        Visit::Tell
    } else {
        Visit::Open
    };
    let failed = |error| Failure::Login {
        server: config.server().to_owned(),
        error,
    };
    let oauth = servers
        .logins()
        .with_person(&config, visit, &args.scopes)
        .map_err(failed)?
        .ok_or_else(|| no_login(&config))?;
    let place = origin(&config).unwrap_or_default();
    printer.talk(&format!("logging in to \"{}\" at {place}", config.server()));
    if visit == Visit::Open {
        printer.talk("your browser opens where its authorization server is; come back here when you are done");
    }
    conclude(oauth.login(), &oauth, &config, interrupts, printer).await
}

pub(crate) async fn logout(
    args: LogoutArgs,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let config = servers.named(&args.server)?;
    let failed = |error| Failure::Login {
        server: config.server().to_owned(),
        error,
    };
    let oauth = servers
        .logins()
        .with_person(&config, Visit::Tell, &[])
        .map_err(failed)?
        .ok_or_else(|| no_login(&config))?;
    conclude(oauth.logout(), &oauth, &config, interrupts, printer).await
}

/// Waits for the change, unless a signal comes, and tells what is kept of the login now.
async fn conclude(
    change: impl Future<Output = Result<(), AuthError>>,
    oauth: &OAuth,
    config: &ServerConfig,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let server = config.server().to_owned();
    let failed = |error| Failure::Login {
        server: server.clone(),
        error,
    };
    let changed = interrupts.unless(change).await;
    changed
        .map_err(|_| Failure::Interrupted {
            server: Some(server.clone()),
            undone: Undone::Login,
        })?
        .map_err(failed)?;
    let login = LoginState::from(oauth.state().await.map_err(failed)?);
    tell(config, login, printer);
    Ok(Status::Done)
}

fn tell(config: &ServerConfig, login: LoginState, printer: &mut Printer) {
    let server = config.server();
    if printer.is_json() {
        printer.json(&Shown { server, login });
    } else {
        printer.talk(&format!("{server}: {}", login.words()));
    }
}

/// Why there is nothing to log in to.
fn no_login(config: &ServerConfig) -> UsageError {
    let why = match config.endpoint() {
        Endpoint::Http(network) if network.bearer_token_env.is_some() => NoLogin::Bearer,
        Endpoint::Http(_) => NoLogin::Off,
        _ => NoLogin::NotHttp,
    };
    UsageError::NoLogin {
        id: config.server().to_owned(),
        why,
    }
}

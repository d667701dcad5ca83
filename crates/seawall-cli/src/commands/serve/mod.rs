//! `seawall serve`: the servers kept up as `run` does, and their tools offered to MCP clients.
//!
//! **Invariant:** over stdio stdout carries protocol and nothing else; all talk is on stderr.

mod front;
mod input;
mod pipes;
mod terms;

use std::net::SocketAddr;
use std::sync::Arc;

use seawall_gateway::Telemetry;

use super::run::keep;
use crate::args::{JournalPlace, NamesArg, RemoteErrorsArg, ServeArgs};
use crate::asker::Asker;
use crate::failure::{Failure, Status, UsageError};
use crate::printer::Printer;
use crate::settings::Settings;
use crate::telemetry::Export;

pub(super) use front::Front;

/// How clients come to the gateway.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// Where it listens; without one, over stdio.
    pub(super) http: Option<SocketAddr>,
    /// What the flags say; else the configuration does.
    pub(super) names: Option<NamesArg>,
    pub(super) remote_errors: Option<RemoteErrorsArg>,
    /// Who the client over stdio is.
    pub(super) client: Option<String>,
    /// Where calls are recorded, if that was said.
    pub(super) journal: Option<JournalPlace>,
    /// Where spans of calls are told.
    pub(super) telemetry: Option<Arc<dyn Telemetry>>,
}

pub(crate) fn run(
    args: &ServeArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let export = match Export::begin() {
        Ok(export) => export,
        Err(error) => {
            let failure = Failure::from(UsageError::Export(error));
            failure.tell(printer);
            return Ok(failure.status());
        }
    };
    let wanted = Wanted {
        http: args.http,
        names: args.names,
        remote_errors: args.remote_errors,
        client: args.client.clone(),
        journal: args.journal.clone(),
        telemetry: export.as_ref().and_then(Export::telemetry),
    };
    let mut settings = settings.clone();
    if args.http.is_none() {
        // stdin is the client's.
        settings.asker = Asker::Nobody;
    }
    let ended = keep(&args.keep, &settings, printer, Some(wanted));
    if let Some(export) = export {
        export.end();
    }
    // A failure is talk here, also with --json.
    Ok(ended.unwrap_or_else(|failure| {
        failure.tell(printer);
        failure.status()
    }))
}

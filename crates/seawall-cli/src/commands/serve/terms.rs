//! On what terms clients come: what the flags say, else the configuration's section `gateway`, else the defaults.

use std::net::SocketAddr;
use std::sync::Arc;

use seawall::HttpClient;
use seawall::config::{GatewayConfig, GatewayErrors, GatewayNames};
use seawall_gateway::clients::{Client, Guard, Roster};
use seawall_gateway::http::Access;
use seawall_gateway::names::Names;
use seawall_gateway::{Options, RemoteErrors};

use super::Wanted;
use crate::args::{NamesArg, RemoteErrorsArg};
use crate::failure::{Failure, UsageError};
use crate::printer::Printer;

/// How the gateway behaves.
pub(super) fn options(wanted: &Wanted, config: &GatewayConfig) -> Options {
    let mut options = Options::default();
    options.names = match (wanted.names, config.names) {
        (Some(NamesArg::Plain), _) | (None, Some(GatewayNames::Plain)) => Names::Plain,
        _ => Names::Scoped,
    };
    options.remote_errors = match (wanted.remote_errors, config.remote_errors) {
        (Some(RemoteErrorsArg::Withheld), _) | (None, Some(GatewayErrors::Withheld)) => {
            RemoteErrors::Withheld
        }
        _ => RemoteErrors::Redacted,
    };
    options
}

/// Who the client over stdio is.
pub(super) fn client(
    name: Option<&str>,
    config: &GatewayConfig,
) -> Result<Arc<Client>, UsageError> {
    let Some(name) = name else {
        let local = Client::named("local").searching(config.tool_search);
        return Ok(Arc::new(local));
    };
    let roster = Roster::of(config);
    roster.named(name).ok_or_else(|| UsageError::UnknownClient {
        name: name.to_owned(),
        configured: roster.names().map(str::to_owned).collect(),
    })
}

/// Who asks clients over HTTP who they are, if anybody can be asked.
pub(super) fn guard(config: &GatewayConfig) -> Result<Option<Arc<Guard>>, Failure> {
    let http = HttpClient::new().map_err(UsageError::HttpClient)?;
    Ok(Guard::of(config, http).map(Arc::new))
}

/// Which hosts are answered at this address, and whose pages. Whoever is asked nothing comes from this machine.
pub(super) fn access(
    address: SocketAddr,
    guard: Option<&Guard>,
    config: &GatewayConfig,
) -> Result<Access, UsageError> {
    let mut access = Access::loopback();
    for origin in &config.origins {
        access = access.with_origin(origin);
    }
    let ip = address.ip().to_canonical();
    let Some(guard) = guard else {
        return match ip.is_loopback() {
            true => Ok(access),
            false => Err(UsageError::ServeAddress { address }),
        };
    };
    if !ip.is_unspecified() {
        access = access.with_host(&ip.to_string());
    }
    for host in config
        .hosts
        .iter()
        .map(String::as_str)
        .chain(guard.own_host())
    {
        access = access.with_host(host);
    }
    Ok(access)
}

/// What is worth knowing of who may come to an address.
pub(super) fn warn(
    address: SocketAddr,
    guard: Option<&Guard>,
    config: &GatewayConfig,
    printer: &mut Printer,
) {
    let ip = address.ip().to_canonical();
    if guard.is_none() && !config.clients.is_empty() {
        printer.warning(
            "no client of the configuration's gateway.clients has a token, so nobody is asked who they are, and whoever comes sees everything",
        );
    }
    if ip.is_loopback() {
        return;
    }
    printer.warning(
        "tokens come to this address without encryption; let others reach it through a proxy that has TLS, or a tunnel",
    );
    let own_host = guard.and_then(Guard::own_host);
    if ip.is_unspecified() && config.hosts.is_empty() && own_host.is_none() {
        printer.warning(
            "the configuration's gateway.hosts is empty, so requests are answered at names of this machine's loopback only",
        );
    }
}

#[cfg(test)]
mod tests;

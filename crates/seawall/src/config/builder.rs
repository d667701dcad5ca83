//! An entry made by a program instead of a file.

use std::path::PathBuf;
use std::time::Duration;

use seawall_proto::limits::Limits;

use super::draft::Draft;
use super::findings::Findings;
use super::oauth::{self, OAuthConfig};
use super::problem::{Place, Problems};
use super::server::{CatalogMode, Protocol, Reconnect, ServerConfig};
use super::surroundings::{Process, Surroundings};
use crate::policy::OnConflict;
use crate::terms::policy::McplPolicy;

impl ServerConfig {
    /// Begins an entry for a program that speaks over its stdin and stdout.
    pub fn stdio(server: impl Into<String>, command: impl Into<String>) -> ServerConfigBuilder {
        ServerConfigBuilder(Draft {
            server: server.into(),
            command: Some(command.into()),
            ..Draft::default()
        })
    }

    /// Begins an entry for a server at an `http`, `https`, `ws`, `wss` or `mcpl` URL.
    pub fn url(server: impl Into<String>, url: impl Into<String>) -> ServerConfigBuilder {
        ServerConfigBuilder(Draft {
            server: server.into(),
            url: Some(url.into()),
            ..Draft::default()
        })
    }
}

/// An entry in the making. Values are taken as they are: `${NAME}` is not replaced.
#[derive(Clone)]
#[must_use]
pub struct ServerConfigBuilder(Draft);

impl ServerConfigBuilder {
    /// Adds one argument of the program.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.0.args.push(arg.into());
        self
    }

    /// Adds arguments of the program.
    pub fn args<T: Into<String>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.0.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets the program's working directory. Default: the host's own.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.0.cwd = Some(cwd.into());
        self
    }

    /// Declares a variable of the program's environment.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.env.insert(name.into(), value.into());
        self
    }

    /// Passes on variables of the host, by their names.
    pub fn pass_env<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.0.pass_env.extend(names.into_iter().map(Into::into));
        self
    }

    /// Passes on the host's whole environment, its credentials included.
    pub fn dangerous_inherit_env(mut self) -> Self {
        self.0.inherit_env = true;
        self
    }

    /// Sends a header with each request.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.headers.insert(name.into(), value.into());
        self
    }

    /// Names the variable that holds the bearer token; it must be set when the entry is built.
    pub fn bearer_token_env(mut self, name: impl Into<String>) -> Self {
        self.0.bearer_token_env = Some(name.into());
        self
    }

    /// Sets how the server is logged in to. Default: as [`OAuthConfig::default`] says, unless there is a bearer token.
    pub fn oauth(mut self, oauth: OAuthConfig) -> Self {
        self.0.oauth = oauth::Said::On(Box::new(oauth));
        self
    }

    /// Never logs in.
    pub fn without_oauth(mut self) -> Self {
        self.0.oauth = oauth::Said::Off;
        self
    }

    /// Sets how the server is spoken to. Default: legacy for a program, auto for http, MCPL for ws.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.0.protocol = Some(protocol);
        self
    }

    /// Sets the bounds on the server. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.0.limits = limits;
        self
    }

    /// Lets progress restart the request timeout, never past this total. Default: the request timeout itself.
    pub fn max_total_timeout(mut self, total: Duration) -> Self {
        self.0.max_total_timeout = Some(total);
        self
    }

    /// Sets what comes before `/<tool>` in the names of flows. Default: `mcp/<server>`.
    pub fn name_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.0.name_prefix = Some(prefix.into());
        self
    }

    /// Offers only these tools; a connect fails if the server lacks one of them. Default: all.
    pub fn include<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.0.include.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Leaves these tools out.
    pub fn exclude<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.0.exclude.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Narrows the declaration of the server's flows to these capabilities, as `fs:read:/srv/**`. Default: all of them (F4).
    pub fn grant<T: Into<String>>(mut self, capabilities: impl IntoIterator<Item = T>) -> Self {
        let granted = &mut self.0.grant.capabilities;
        granted.extend(capabilities.into_iter().map(Into::into));
        self
    }

    /// Sets what is done with two calls of one run. Default: [`OnConflict::Serialize`] (F2).
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> Self {
        self.0.grant.on_conflict = on_conflict;
        self
    }

    /// Sets whether a lost connection is made again. Default: the host decides.
    pub fn reconnect(mut self, reconnect: Reconnect) -> Self {
        self.0.reconnect = reconnect;
        self
    }

    /// Sets the first and the longest delay before a reconnect. Default: 5 s and 300 s.
    pub fn reconnect_intervals(mut self, first: Duration, longest: Duration) -> Self {
        self.0.reconnect_interval = Some(first);
        self.0.reconnect_max_interval = Some(longest);
        self
    }

    /// Makes any failure of the server stop the host.
    pub fn required(mut self) -> Self {
        self.0.required = true;
        self
    }

    /// Sets whether the published tools follow the server's changes. Default: [`CatalogMode::Live`].
    pub fn catalog(mut self, catalog: CatalogMode) -> Self {
        self.0.catalog = catalog;
        self
    }

    /// Sets what a server of MCPL is allowed. Default: [`McplPolicy::default`]. On another entry, a policy that asks for
    /// something is refused (K8).
    pub fn mcpl(mut self, policy: McplPolicy) -> Self {
        self.0.mcpl.policy = policy;
        self
    }

    /// Checks the entry, with the token of `bearer_token_env` taken from this process's environment.
    ///
    /// # Errors
    ///
    /// Every reason why the entry cannot be used.
    pub fn build(self) -> Result<ServerConfig, Problems> {
        self.build_in(&Process)
    }

    /// Checks the entry in surroundings that the caller gives; reads nothing else.
    ///
    /// # Errors
    ///
    /// Every reason why the entry cannot be used.
    pub fn build_in(self, surroundings: &dyn Surroundings) -> Result<ServerConfig, Problems> {
        let mut findings = Findings::new(Place::default());
        findings.begin_entry(Some(&self.0.server), None);
        let server = self.0.finish(surroundings, &mut findings);
        server.ok_or_else(|| Problems(findings.finish("").0))
    }
}

impl std::fmt::Debug for ServerConfigBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerConfigBuilder")
            .field("server", &self.0.server)
            .finish_non_exhaustive()
    }
}

//! The configured servers, and which of them a flow belongs to.

use seawall::config::{Checked, ServerConfig, load};

use super::connect::{Means, Needs};
use crate::arguments::nearest;
use crate::asker;
use crate::failure::{Failure, UsageError};
use crate::inputs::Inputs;
use crate::logins::Logins;
use crate::printer::Printer;
use crate::settings::Settings;

/// The servers of one run: the configuration's, and the built-in one if it was asked for.
pub(crate) struct ServerSet {
    servers: Vec<ServerConfig>,
    /// The ids of those that the configuration switches off.
    disabled: Vec<String>,
    inputs: Inputs,
    logins: Logins,
}

/// The id of the built-in server.
const DEMO: &str = "demo";

impl ServerSet {
    /// Finds, reads and checks the configuration; warnings are told, problems end the run.
    pub(crate) fn load(settings: &Settings, printer: &mut Printer) -> Result<Self, Failure> {
        Self::of(load(&settings.lookup, &settings.asker), settings, printer)
    }

    /// Of a configuration that was read and checked; warnings are told, problems are the failure.
    pub(crate) fn of(
        mut checked: Checked,
        settings: &Settings,
        printer: &mut Printer,
    ) -> Result<Self, Failure> {
        asker::unless_interrupted()?;
        if checked.problems.is_empty() {
            for warning in &checked.warnings {
                printer.warning(&warning.to_string());
            }
        }
        let disabled = std::mem::take(&mut checked.disabled);
        let mut servers = checked.into_servers().map_err(UsageError::Configuration)?;
        let inputs = Inputs::resolve(settings)?;
        if settings.demo {
            let demo = built_in()?;
            if servers.iter().any(|config| meet(config, &demo)) {
                return Err(UsageError::DemoTaken.into());
            }
            servers.push(demo);
        }
        Ok(Self {
            servers,
            disabled,
            inputs,
            logins: Logins::default(),
        })
    }

    /// The logins to them.
    pub(crate) fn logins(&self) -> &Logins {
        &self.logins
    }

    /// For commands that ask nothing of a server but what it is.
    pub(crate) fn means_of_a_look(&self) -> Means {
        Means {
            needs: Needs::Anything,
            suppliers: self.inputs.of_a_look(),
            inputs: self.inputs.clone(),
            logins: self.logins.clone(),
        }
    }

    /// For commands that wait for an answer.
    pub(crate) fn means_of_a_request(&self, needs: Needs, printer: &Printer) -> Means {
        Means {
            needs,
            suppliers: self.inputs.of_a_request(printer),
            inputs: self.inputs.clone(),
            logins: self.logins.clone(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// All servers, or the named ones in the order they were named in.
    pub(crate) fn select(self, ids: &[String]) -> Result<Vec<ServerConfig>, UsageError> {
        if ids.is_empty() {
            return Ok(self.servers);
        }
        let mut selected: Vec<ServerConfig> = Vec::new();
        for id in ids {
            if selected.iter().any(|config| config.server() == id) {
                continue;
            }
            selected.push(self.named(id)?);
        }
        Ok(selected)
    }

    /// The server that is named, or the only one that is configured; `None` if there are several.
    pub(crate) fn only(&self, id: Option<&str>) -> Result<Option<ServerConfig>, UsageError> {
        match (id, self.servers.as_slice()) {
            (Some(id), _) => self.named(id).map(Some),
            (None, [config]) => Ok(Some(config.clone())),
            (None, _) => Ok(None),
        }
    }

    /// The server of a prompt and the prompt's name there: both named apart, or as `SERVER/NAME`.
    pub(crate) fn of_prompt<'p>(
        &self,
        id: Option<&str>,
        prompt: &'p str,
    ) -> Result<(ServerConfig, &'p str), UsageError> {
        if let Some(id) = id {
            return Ok((self.named(id)?, prompt));
        }
        // An id holds no slash, and a prompt's name may.
        let (server, name) = prompt.split_once('/').unwrap_or((prompt, ""));
        match (self.named(server), self.servers.as_slice()) {
            (Ok(config), _) if !name.is_empty() => Ok((config, name)),
            (_, [config]) => Ok((config.clone(), prompt)),
            (Err(unknown), _) if !name.is_empty() => Err(unknown),
            _ => Err(UsageError::PromptWithoutServer {
                name: prompt.to_owned(),
                configured: self.ids(),
            }),
        }
    }

    /// The server of a channel and the channel's id there, as `SERVER/CHANNEL`.
    pub(crate) fn of_channel<'c>(
        &self,
        channel: &'c str,
    ) -> Result<(ServerConfig, &'c str), UsageError> {
        // An id of a server holds no slash, and a channel's may.
        match channel.split_once('/') {
            Some((server, id)) if !id.is_empty() => Ok((self.named(server)?, id)),
            _ => Err(UsageError::ChannelWithoutServer {
                name: channel.to_owned(),
                configured: self.ids(),
            }),
        }
    }

    pub(crate) fn named(&self, id: &str) -> Result<ServerConfig, UsageError> {
        let config = self.servers.iter().find(|config| config.server() == id);
        config.cloned().ok_or_else(|| self.unknown_server(id))
    }

    /// The server that `flow` belongs to, and the tool's name there. Prefixes never nest, so at most one fits.
    pub(crate) fn of_flow<'f>(&self, flow: &'f str) -> Result<(ServerConfig, &'f str), UsageError> {
        let tool_of = |config: &ServerConfig| {
            let tool = flow.strip_prefix(config.name_prefix())?.strip_prefix('/')?;
            Some((config.clone(), tool)).filter(|_| !tool.is_empty())
        };
        self.servers
            .iter()
            .find_map(tool_of)
            .ok_or_else(|| self.unknown_flow(flow))
    }

    fn unknown_flow(&self, flow: &str) -> UsageError {
        let of_disabled = |id: &&String| {
            let named = flow.strip_prefix("mcp/").unwrap_or(flow);
            named
                .split_once('/')
                .is_some_and(|(server, _)| server == id.as_str())
        };
        if let Some(id) = self.disabled.iter().find(of_disabled) {
            return UsageError::Disabled { id: id.clone() };
        }
        // `demo/add` for `mcp/demo/add` is what people write first.
        let named_server = self.servers.iter().find_map(|config| {
            let tool = flow.strip_prefix(config.server())?.strip_prefix('/')?;
            (!tool.is_empty()).then(|| format!("{}/{tool}", config.name_prefix()))
        });
        let nearest_prefix = || {
            let (prefix, tool) = flow.rsplit_once('/').filter(|(_, tool)| !tool.is_empty())?;
            let prefixes: Vec<String> = self
                .servers
                .iter()
                .map(|config| config.name_prefix().to_owned())
                .collect();
            nearest(&prefixes, prefix).map(|near| format!("{near}/{tool}"))
        };
        UsageError::UnknownFlow {
            flow: flow.to_owned(),
            meant: named_server.or_else(nearest_prefix),
            configured: self.ids(),
        }
    }

    fn unknown_server(&self, id: &str) -> UsageError {
        if self.disabled.iter().any(|disabled| disabled == id) {
            return UsageError::Disabled { id: id.to_owned() };
        }
        let configured = self.ids();
        UsageError::UnknownServer {
            id: id.to_owned(),
            meant: nearest(&configured, id),
            configured,
        }
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        self.servers
            .iter()
            .map(|config| config.server().to_owned())
            .collect()
    }
}

/// Whether two servers, or the names of their flows, could be taken for each other (H6).
fn meet(one: &ServerConfig, other: &ServerConfig) -> bool {
    let within = |inner: &str, outer: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    let (a, b) = (one.name_prefix(), other.name_prefix());
    one.server() == other.server() || a == b || within(a, b) || within(b, a)
}

/// This very program as a server.
fn built_in() -> Result<ServerConfig, Failure> {
    let program = std::env::current_exe().map_err(Failure::Runtime)?;
    let program = program.to_str().ok_or(UsageError::DemoPath)?;
    let config = ServerConfig::stdio(DEMO, program)
        .args(["demo-server"])
        .build();
    config.map_err(|problems| UsageError::Configuration(problems).into())
}

/// Says how to get servers.
pub(crate) fn hint_no_servers(printer: &mut Printer) {
    printer.hint("no servers are configured; name a file with --mcp-config PATH, or try the built-in server with --demo");
}

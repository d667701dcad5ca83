//! What a server has of MCP Live, and what to do about what it has not.

use std::time::Duration;

use seawall::config::ServerConfig;
use seawall::mcpl::features::Off;
use seawall::mcpl::grant::{Denial, Denied};
use seawall::mcpl::session::{Policy, Refusal};
use seawall::mcpl::{Capability, CapabilitySet};
use seawall::{Client, Mcpl};
use serde::Serialize;

use crate::commands::mcpl::{ShownChannel, is_live, of_server, policy_words, settle};
use crate::printer::{Place, visible};

/// How long a server that may have channels has to register them.
const FOR_CHANNELS: Duration = Duration::from_secs(1);

/// How a server stands to MCP Live.
pub(super) enum Standing {
    /// It has nothing to do with it.
    None,
    /// Its entry asks for it, and it does not advertise it.
    Unadvertised,
    /// It advertises it, and its entry does not ask for it.
    Unused,
    Live(Box<Live>),
}

/// What was seen of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Live {
    /// The version that it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Where the policy exchange stands.
    policy: &'static str,
    /// Why it is a plain server, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    advertised: CapabilitySet,
    /// What is in force: nothing, unless the server acknowledged it.
    granted: CapabilitySet,
    denied: Vec<Refused>,
    feature_sets: Vec<Feature>,
    channels: Vec<ShownChannel>,
    #[serde(skip)]
    pub(super) remedies: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Refused {
    capability: Capability,
    why: String,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Feature {
    /// The server's own name of it.
    name: String,
    on: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// What it uses and is not granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<CapabilitySet>,
    /// What it uses and nobody knows: the server's own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    unrecognized: Option<Vec<String>>,
}

/// Looks at a connection, until its policy exchange is over and it had the time to register channels.
pub(super) async fn look(client: &Client, config: &ServerConfig) -> Standing {
    let advertises = || {
        let experimental = client.session().capabilities.member("experimental");
        experimental.is_some_and(|experimental| experimental.member("mcpl").is_some())
    };
    match (client.mcpl(), is_live(config)) {
        (Some(mcpl), _) => {
            let policy = settle(&mcpl, FOR_CHANNELS, true, |all| !all.is_empty()).await;
            Standing::Live(Box::new(Live::of(&mcpl, policy)))
        }
        (None, true) => Standing::Unadvertised,
        (None, false) if advertises() => Standing::Unused,
        (None, false) => Standing::None,
    }
}

impl Standing {
    /// Whether the server works, but not as its entry wants it.
    pub(super) fn is_lacking(&self) -> bool {
        match self {
            Self::None | Self::Unused => false,
            Self::Unadvertised => true,
            Self::Live(live) => live.policy != "in_force",
        }
    }

    pub(super) fn live(&self) -> Option<&Live> {
        match self {
            Self::Live(live) => Some(live),
            _ => None,
        }
    }

    /// What to know or to do.
    pub(super) fn remedies(&self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::Unadvertised => vec![
                "its entry asks for MCP Live, which it does not advertise, so it is a plain server: write `protocol: \
                 \"legacy\"`, or correct the command or the URL"
                    .to_owned(),
            ],
            Self::Unused => vec![
                "it advertises MCP Live, which its entry does not ask for, so it is a plain server: `protocol: \"mcpl\"` \
                 grants it what `seawall doctor` lists then"
                    .to_owned(),
            ],
            Self::Live(live) => live.remedies.clone(),
        }
    }
}

impl Live {
    fn of(mcpl: &Mcpl, policy: Policy) -> Self {
        let (wanted, granted) = (mcpl.wanted(), mcpl.grant());
        let (word, refusal) = policy_words(policy);
        let refused = wanted.denied().iter().map(|each| each.capability);
        let advertised = wanted.effective().iter().chain(refused).collect();
        let selection = mcpl.selection();
        let on = selection.on().map(|name| Feature::of(name, None));
        let off = selection
            .off()
            .map(|off| Feature::of(off.name, Some(off.why)));
        let mut feature_sets: Vec<Feature> = on.chain(off).collect();
        feature_sets.sort_by(|one, other| one.name.cmp(&other.name));
        let version = mcpl.manifest().and_then(|manifest| {
            let version = manifest.member("version")?;
            Some(version.string()?.into_owned())
        });
        let mut remedies: Vec<String> = of_policy(policy, refusal).into_iter().collect();
        remedies.extend(of_denials(wanted.denied()));
        remedies.extend(
            selection
                .off()
                .filter_map(|off| of_feature(off.name, off.why)),
        );
        Self {
            version,
            policy: word,
            refusal: refusal.map(|why| why.to_string()),
            advertised,
            granted: granted.effective().clone(),
            denied: wanted.denied().iter().map(Refused::of).collect(),
            feature_sets,
            channels: of_server(mcpl),
            remedies,
        }
    }

    /// What was seen, for a person: a name and what is to be said of it, in lines.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        let policy = match (self.policy, &self.refusal) {
            (_, Some(why)) => format!("plain MCP only: {why}"),
            ("in_force", None) => "acknowledged".to_owned(),
            ("ended", None) => "the connection ended before it was over".to_owned(),
            _ => "not acknowledged".to_owned(),
        };
        let version = self.version.as_deref().unwrap_or("without a version");
        lines.push(("MCP Live", visible(version, Place::Line).into_owned()));
        lines.push(("  policy", policy));
        let granted: Vec<&str> = self.granted.iter().map(Capability::as_str).collect();
        if !granted.is_empty() {
            lines.push(("  granted", granted.join(", ")));
        }
        for Refused { capability, why } in &self.denied {
            lines.push(("  denied", format!("{capability}: {why}")));
        }
        for feature in &self.feature_sets {
            let name = visible(&feature.name, Place::Line);
            lines.push((
                "  feature set",
                match feature.reason {
                    None => format!("{name}: on"),
                    Some(reason) => format!("{name}: off ({reason})"),
                },
            ));
        }
        for channel in &self.channels {
            let (id, label) = (
                visible(&channel.id, Place::Line),
                visible(&channel.label, Place::Line),
            );
            let may = channel.may.join(", ");
            lines.push((
                "  channel",
                format!("{id} ({label}), {}: {may}", channel.direction),
            ));
        }
        lines
    }
}

impl Refused {
    fn of(denied: &Denied) -> Self {
        Self {
            capability: denied.capability,
            why: denied.why.to_string(),
        }
    }
}

impl Feature {
    fn of(name: &str, off: Option<&Off>) -> Self {
        let (missing, unrecognized) = match off {
            Some(Off::MissingCapabilities { missing }) => (Some(missing.clone()), None),
            Some(Off::InvalidUses { unrecognized }) => (None, Some(unrecognized.clone())),
            _ => (None, None),
        };
        Self {
            name: name.to_owned(),
            on: off.is_none(),
            reason: off.map(Off::as_str),
            missing,
            unrecognized,
        }
    }
}

/// What to do about a policy exchange that did not come to its end.
fn of_policy(policy: Policy, refusal: Option<Refusal>) -> Option<String> {
    let text = match (policy, refusal?) {
        (_, Refusal::Before05) => {
            "it is of a time before MCP Live 0.5 and has its tools alone: `mcplPolicy: \"legacy\"` takes what it is granted as \
             accepted"
        }
        (_, Refusal::McpOnly | Refusal::Close) => {
            "it refused what it is granted: grant it more of what is denied above, if it may have that \
             (`enabledCapabilities`, `disabledCapabilities`), or leave it with its tools (`protocol: \"legacy\"`)"
        }
        _ => {
            "its tools alone work: tell the server's author what became of `featureSets/update`, or write `protocol: \"legacy\"`"
        }
    };
    Some(text.to_owned())
}

/// What to do about what was denied because nobody asked for it: all of it at once.
fn of_denials(denied: &[Denied]) -> Vec<String> {
    let by = |why: Denial| -> Vec<&str> {
        let denied = denied.iter().filter(|denied| denied.why == why);
        denied.map(|denied| denied.capability.as_str()).collect()
    };
    let (by_default, lifecycle) = (by(Denial::ByDefault), by(Denial::ToolLifecycle));
    let mut remedies = Vec::new();
    if !by_default.is_empty() {
        remedies.push(format!(
            "it would write into contexts ({}): that is granted only where `enabledCapabilities` names it in full, together \
             with everything else that it is to have",
            by_default.join(", ")
        ));
    }
    if !lifecycle.is_empty() {
        remedies.push(format!(
            "it would watch the calls to other servers' tools ({}): that is granted by `toolLifecycle` alone",
            lifecycle.join(", ")
        ));
    }
    remedies
}

/// What to do about a feature set that is off.
fn of_feature(name: &str, why: &Off) -> Option<String> {
    let name = format!("feature set \"{name}\" is off");
    Some(match why {
        Off::InvalidUses { .. } => {
            format!("{name}: its `uses` names what is no capability; tell the server's author")
        }
        Off::MissingCapabilities { missing } => {
            let missing: Vec<&str> = missing.iter().map(Capability::as_str).collect();
            format!(
                "{name}: it uses what is denied above ({})",
                missing.join(", ")
            )
        }
        Off::NotSelected => {
            format!("{name}: `enabledFeatureSets` or `disabledFeatureSets` leaves it out")
        }
        _ => return None,
    })
}

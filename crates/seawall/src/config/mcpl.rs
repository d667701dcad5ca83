//! MCPL policy: the keys of it, which of them ask for MCPL behaviour, and the [`McplPolicy`] that they make (K8).

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;

use super::credentials::sayable;
use super::decode::Shape;
use super::findings::Findings;
use super::keys;
use super::problem::{Expected, ProblemKind, WarningKind};
use super::server::Protocol;
use super::value::Reader;
use crate::terms::capability::Capability;
use crate::terms::policy::{
    Autofetch, Before05, ChannelSubscription, DEFAULT_TOOL_CLASSES, McplPolicy, Narrowing, Pattern,
    TOOL_CLASSES, ToolLifecycle,
};

/// The keys whose patterns are kept as texts until it is known that the entry is one of MCPL.
const PATTERNS: [&str; 4] = [
    "enabledCapabilities",
    "disabledCapabilities",
    "enabledFeatureSets",
    "disabledFeatureSets",
];

/// What an entry says of MCPL.
#[derive(Clone, Default)]
pub(super) struct Said {
    /// The rest of the policy, and all of it where a program made the entry.
    pub(super) policy: McplPolicy,
    /// What a file says under the keys of [`PATTERNS`].
    patterns: [Option<Vec<String>>; 4],
    host_commands: bool,
    scopes: bool,
}

/// Whether a key is MCPL policy.
pub(super) fn is_policy(key: &str) -> bool {
    PATTERNS.contains(&key)
        || matches!(
            key,
            "allowHostCommands"
                | "channelSubscription"
                | "mcplPolicy"
                | "autofetch"
                | "toolLifecycle"
                | "scopes"
        )
}

impl Said {
    /// Reads the value of one of its keys; what cannot be read is in `findings`.
    pub(super) fn read(&mut self, reader: Reader<'_>, shape: Shape) -> Option<()> {
        if let Some(at) = PATTERNS.iter().position(|key| *key == reader.field) {
            *self.patterns.get_mut(at)? = Some(reader.texts()?);
            return Some(());
        }
        let policy = &mut self.policy;
        match reader.field {
            "allowHostCommands" => self.host_commands = reader.boolean()?,
            "channelSubscription" if reader.value.as_array().is_some() => {
                policy.channel_subscription = ChannelSubscription::Listed(reader.texts()?);
            }
            "channelSubscription" => {
                let choices = [("manual", false), ("auto", true)];
                let words = "\"manual\", \"auto\", or an array of ids";
                policy.channel_subscription = if reader.choice(&choices, words)? {
                    ChannelSubscription::Auto
                } else {
                    ChannelSubscription::Manual
                };
            }
            "mcplPolicy" => {
                let choices = [("strict", Before05::Strict), ("legacy", Before05::Legacy)];
                policy.before_05 = reader.choice(&choices, "\"strict\", \"legacy\"")?;
            }
            "autofetch" => policy.autofetch = Some(autofetch(reader, shape)?),
            "toolLifecycle" => policy.tool_lifecycle = tool_lifecycle(reader, shape)?,
            _ => self.scopes = !reader.object()?.properties.is_empty(),
        }
        Some(())
    }

    /// The keys whose values ask for MCPL behaviour. A default that is repeated asks for nothing, and neither does what only
    /// takes something away.
    pub(super) fn asks(&self) -> Vec<&'static str> {
        let policy = &self.policy;
        let names_some = |at: usize, typed: &Option<Vec<Pattern>>| {
            let texts = self.patterns.get(at).and_then(Option::as_ref);
            texts.is_some_and(|texts| !texts.is_empty())
                || typed.as_ref().is_some_and(|typed| !typed.is_empty())
        };
        let subscribes = match &policy.channel_subscription {
            ChannelSubscription::Manual => false,
            ChannelSubscription::Auto => true,
            ChannelSubscription::Listed(channels) => !channels.is_empty(),
        };
        let tools = &policy.tool_lifecycle;
        let asking = [
            ("allowHostCommands", self.host_commands),
            (PATTERNS[0], names_some(0, &policy.enabled_capabilities)),
            (PATTERNS[2], names_some(2, &policy.enabled_feature_sets)),
            ("channelSubscription", subscribes),
            ("autofetch", policy.autofetch.is_some()),
            (
                "toolLifecycle",
                tools.observe.is_some() || tools.inputs.is_some(),
            ),
            ("mcplPolicy", policy.before_05 != Before05::default()),
        ];
        let asking = asking.into_iter().filter(|(_, asks)| *asks);
        asking.map(|(key, _)| key).collect()
    }

    /// The policy of an entry of MCPL; what is wrong in it is in `findings`. Other entries have none (K8).
    pub(super) fn settle(
        &self,
        protocol: Option<Protocol>,
        findings: &mut Findings,
    ) -> Option<McplPolicy> {
        if protocol != Some(Protocol::Mcpl) {
            return None;
        }
        for (said, field, advice) in [
            (
                self.host_commands,
                "allowHostCommands",
                ": no server commands the host",
            ),
            (self.scopes, "scopes", ": MCPL 0.5 has no scoped access"),
        ] {
            if said {
                findings.warning(field.to_owned(), WarningKind::Ignored { advice });
            }
        }
        let mut policy = self.policy.clone();
        let [enabled, disabled, enabled_sets, disabled_sets] = &self.patterns;
        let mut settle = |key, texts: &Option<Vec<String>>, typed: &mut Vec<Pattern>| {
            let numbered = match texts {
                Some(texts) => parse(texts, key, findings),
                None => typed.drain(..).enumerate().collect(),
            };
            for (at, pattern) in &numbered {
                if let Some(kind) = mistake(key, pattern) {
                    findings.problem(format!("{key}[{at}]"), kind);
                }
            }
            *typed = numbered.into_iter().map(|(_, pattern)| pattern).collect();
        };
        settle(PATTERNS[1], disabled, &mut policy.disabled_capabilities);
        settle(
            PATTERNS[3],
            disabled_sets,
            &mut policy.disabled_feature_sets,
        );
        for (key, texts, typed) in [
            (PATTERNS[0], enabled, &mut policy.enabled_capabilities),
            (PATTERNS[2], enabled_sets, &mut policy.enabled_feature_sets),
        ] {
            if texts.is_some() || typed.is_some() {
                settle(key, texts, typed.get_or_insert_default());
            }
        }
        Some(policy)
    }
}

/// The patterns with their places; of a text that is none, a problem.
fn parse(texts: &[String], key: &str, findings: &mut Findings) -> Vec<(usize, Pattern)> {
    let mut patterns = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        match text.parse() {
            Ok(pattern) => patterns.push((at, pattern)),
            Err(fault) => {
                findings.problem(format!("{key}[{at}]"), ProblemKind::McplPattern { fault });
            }
        }
    }
    patterns
}

/// What is wrong with a pattern that is to match capabilities and matches none: it would grant or deny nothing.
fn mistake(key: &str, pattern: &Pattern) -> Option<ProblemKind> {
    let paths: Vec<&'static str> = Capability::ALL.iter().map(|each| each.as_str()).collect();
    let beneath = paths.iter().copied().find(|path| pattern.denies(path));
    let grants = paths.iter().any(|path| pattern.allows(path));
    match (key, beneath) {
        ("disabledCapabilities", Some(_)) => None,
        ("enabledCapabilities", _) if grants => None,
        ("enabledCapabilities", Some(example)) => Some(ProblemKind::McplSegments { example }),
        ("enabledCapabilities" | "disabledCapabilities", None) => {
            let nearest = keys::nearest_of(&paths, pattern.as_str());
            Some(ProblemKind::McplCapability { nearest })
        }
        _ => None,
    }
}

fn autofetch(reader: Reader<'_>, shape: Shape) -> Option<Autofetch> {
    let mut autofetch = Autofetch::default();
    members(
        reader,
        shape,
        &["maxBytes", "maxTotalBytes"],
        |key, reader| {
            let limit = reader.limit();
            let bytes = match key {
                "maxBytes" => &mut autofetch.max_bytes,
                _ => &mut autofetch.max_total_bytes,
            };
            *bytes = limit.unwrap_or(*bytes);
        },
    )?;
    Some(autofetch)
}

fn tool_lifecycle(reader: Reader<'_>, shape: Shape) -> Option<ToolLifecycle> {
    let mut tools = ToolLifecycle::default();
    members(
        reader,
        shape,
        &["observe", "inputs", "maxInputBytes"],
        |key, reader| match key {
            "observe" => tools.observe = narrowing(reader, shape),
            "inputs" => tools.inputs = narrowing(reader, shape),
            _ => tools.max_input_bytes = reader.limit().unwrap_or(tools.max_input_bytes),
        },
    )?;
    Some(tools)
}

/// `true`, `false`, or what narrows the permission.
fn narrowing(reader: Reader<'_>, shape: Shape) -> Option<Narrowing> {
    match reader.value {
        Value::BooleanLit(literal) => return literal.value.then(Narrowing::default),
        Value::Object(_) => {}
        _ => {
            let expected = Expected::ObjectOrBoolean;
            let field = reader.field.to_owned();
            reader
                .findings
                .problem(field, ProblemKind::Expected { expected });
            return None;
        }
    }
    let mut narrowing = Narrowing::default();
    members(
        reader,
        shape,
        &["tools", "classes", "conversations"],
        |key, reader| match key {
            "tools" => narrowing.tools = reader.texts(),
            "conversations" => narrowing.conversations = reader.texts(),
            _ => narrowing.classes = classes(reader),
        },
    )?;
    Some(narrowing)
}

/// Classes of tools, or `"default"`, which stands for those that do something in the world.
fn classes(reader: Reader<'_>) -> Option<Vec<String>> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    if reader.value.as_string_lit().is_some() {
        let words = "\"default\", or an array of classes";
        return reader
            .choice(&[("default", &DEFAULT_TOOL_CLASSES)], words)
            .map(|words| owned(words));
    }
    let field = reader.field.to_owned();
    let Reader {
        value, findings, ..
    } = reader;
    let classes = Reader {
        field: &field,
        value,
        findings: &mut *findings,
    }
    .texts()?;
    for (at, class) in classes.iter().enumerate() {
        if !TOOL_CLASSES.contains(&class.as_str()) {
            let expected = Expected::OneOf(
                "\"comms\", \"memory\", \"notes\", \"files\", \"shell\", \"web\", \"computer\", \"media\", \"body\", \"control\"",
            );
            findings.problem(format!("{field}[{at}]"), ProblemKind::Expected { expected });
        }
    }
    Some(classes)
}

/// Reads the known members of an object one by one; says which are not known.
fn members(
    reader: Reader<'_>,
    shape: Shape,
    known: &[&'static str],
    mut read: impl FnMut(&str, Reader<'_>),
) -> Option<()> {
    let Reader {
        field,
        value,
        findings,
    } = reader;
    let Some(object) = value.as_object() else {
        let expected = Expected::Object;
        findings.problem(field.to_owned(), ProblemKind::Expected { expected });
        return None;
    };
    for prop in &object.properties {
        let key = prop.name.as_str();
        let path = format!("{field}.{}", sayable(key));
        findings.locate(path.clone(), prop.start());
        if known.contains(&key) {
            read(
                key,
                Reader {
                    field: &path,
                    value: &prop.value,
                    findings: &mut *findings,
                },
            );
            continue;
        }
        let said = sayable(key);
        match shape {
            Shape::Map => findings.warning(path, WarningKind::UnknownKey { key: said }),
            Shape::Array => {
                let nearest = keys::nearest_of(known, key);
                findings.problem(path, ProblemKind::UnknownKey { key: said, nearest });
            }
        }
    }
    Some(())
}

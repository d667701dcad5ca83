//! One entry of the file into a [`Draft`]: keys, types, `${…}`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use seawall_proto::limits::{InvalidTools, Limits};
use seawall_proto::mcp::revision::{Revision, has_revision_form};

use super::credentials::{is_credential_name, looks_like_credential, sayable};
use super::draft::{Draft, Transport};
use super::env_file;
use super::expand::Expander;
use super::findings::Findings;
use super::keys::{self, Foreign};
use super::mcpl;
use super::oauth;
use super::problem::{Expected, ProblemKind, WarningKind};
use super::server::{CatalogMode, Protocol, Reconnect};
use super::value::Reader;

/// The shape that an entry stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Seawall's own: a key that is not known is a problem.
    Array,
    /// Another host's: a key that is not known is a warning.
    Map,
}

pub(super) struct Decoder<'a> {
    shape: Shape,
    expander: Expander<'a>,
    defaults: Option<&'a Object<'a>>,
}

/// A field of an entry under Seawall's name for it.
struct Field<'v> {
    key: &'v str,
    prop: &'v ObjectProp<'v>,
    origin: FieldOrigin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldOrigin {
    Entry,
    Defaults,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(
        shape: Shape,
        expander: Expander<'a>,
        defaults: Option<&'a Object<'a>>,
    ) -> Self {
        Self {
            shape,
            expander,
            defaults,
        }
    }

    /// What fills `${…}` in, with the answers that were given so far.
    pub(super) fn into_expander(self) -> Expander<'a> {
        self.expander
    }

    /// Whether an entry of a map is switched off.
    pub(super) fn is_disabled(&self, entry: &Object<'_>, findings: &mut Findings) -> bool {
        if self.shape == Shape::Array {
            return false;
        }
        let mut said = |field: &str| {
            let of_entry = entry.get(field).map(|prop| &prop.value);
            let value = of_entry.or_else(|| Some(&self.defaults?.get(field)?.value))?;
            Reader {
                field,
                value,
                findings,
            }
            .boolean()
        };
        let disabled = said("disabled");
        let enabled = said("enabled");
        disabled.unwrap_or(false) || !enabled.unwrap_or(true)
    }

    /// Reads an entry as far as it can be read; what cannot is in `findings`.
    pub(super) fn decode(
        &mut self,
        id: &str,
        entry: &Object<'_>,
        findings: &mut Findings,
    ) -> Draft {
        let mut draft = Draft {
            server: id.to_owned(),
            ..Draft::default()
        };
        let mut env_file = None;
        let fields = self.fields(entry);
        let wrote = |key: &str| fields.iter().any(|field| field.key == key);
        for field in &fields {
            findings.locate(field.key.to_owned(), field.prop.start());
            if let Some(Foreign::Same(key)) = keys::foreign(field.prop.name.as_str()) {
                findings.rename(key, field.prop.name.as_str());
            }
            if field.key == "envFile" && self.shape == Shape::Map {
                env_file = self.text(field, findings);
                continue;
            }
            self.field(field, &mut draft, findings);
            if field.origin == FieldOrigin::Entry {
                if let Some(key) = keys::stdio_only(field.key) {
                    draft.stdio_only.push(key);
                } else if let Some(key) = keys::network_only(field.key) {
                    draft.network_only.push(key);
                }
            }
        }
        for (key, is_read) in [
            ("command", draft.command.is_some()),
            ("url", draft.url.is_some()),
        ] {
            if !is_read && wrote(key) {
                draft.unread.push(key);
            }
        }
        if let Some(path) = env_file {
            self.env_file(&path, &mut draft, findings);
        }
        if self.shape == Shape::Array {
            let starts_program =
                wrote("command") && draft.transport.is_none_or(|said| said == Transport::Stdio);
            for key in ["server", "args"] {
                if entry.get(key).is_none() && (key == "server" || starts_program) {
                    findings.problem(None, ProblemKind::MissingKey { key });
                }
            }
        }
        draft
    }

    /// The fields of the entry, then those of `defaults` that the entry leaves open and that fit it.
    fn fields<'v>(&self, entry: &'v Object<'v>) -> Vec<Field<'v>>
    where
        'a: 'v,
    {
        let own_name = |prop: &'v ObjectProp<'v>| match keys::foreign(prop.name.as_str()) {
            Some(Foreign::Same(key)) if self.shape == Shape::Map => key,
            _ => prop.name.as_str(),
        };
        let mut written = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut fields = Vec::new();
        for prop in &entry.properties {
            let key = own_name(prop);
            written.insert(key);
            if seen.insert(prop.name.as_str()) {
                fields.push(Field {
                    key,
                    prop,
                    origin: FieldOrigin::Entry,
                });
            }
        }
        let defaults = self
            .defaults
            .map(|defaults| defaults.properties.as_slice())
            .unwrap_or_default();
        // Where an entry has both, `transport` says which it is (K6).
        let says_network = || {
            let said = entry.properties.iter().chain(defaults);
            let said = said.filter(|prop| own_name(prop) == "transport");
            let mut said = said.filter_map(|prop| prop.value.as_string_lit());
            said.next().is_some_and(|said| {
                let mut known = TRANSPORTS.iter();
                known.any(|(word, kind)| *word == said.value && *kind != Transport::Stdio)
            })
        };
        let is_network =
            written.contains("url") && (!written.contains("command") || says_network());
        let mut seen = BTreeSet::new();
        for prop in defaults {
            let key = own_name(prop);
            let fits = if is_network {
                keys::stdio_only(key)
            } else {
                keys::network_only(key)
            }
            .is_none();
            let is_open = !written.contains(key) || matches!(key, "env" | "headers");
            let is_for_entries = !matches!(key, "server" | "command" | "args" | "url");
            if fits && is_open && is_for_entries && seen.insert(prop.name.as_str()) {
                fields.push(Field {
                    key,
                    prop,
                    origin: FieldOrigin::Defaults,
                });
            }
        }
        fields
    }

    fn field(
        &mut self,
        field: &Field<'_>,
        draft: &mut Draft,
        findings: &mut Findings,
    ) -> Option<()> {
        let reader = Reader {
            field: field.key,
            value: &field.prop.value,
            findings,
        };
        match field.key {
            "server" if self.shape == Shape::Array => {
                reader.non_empty()?;
            }
            "command" => draft.command = Some(self.text(field, findings)?),
            "args" => draft.args = self.args(reader.texts()?, findings),
            "cwd" => draft.cwd = Some(PathBuf::from(self.text(field, findings)?)),
            "env" => self.map(
                field,
                &mut draft.env,
                &mut draft.literal_credentials,
                findings,
            ),
            "headers" => self.map(
                field,
                &mut draft.headers,
                &mut draft.literal_credentials,
                findings,
            ),
            "passEnv" => draft.pass_env = reader.texts()?,
            "inheritEnv" => draft.inherit_env = reader.boolean()?,
            "url" => draft.url = Some(self.text(field, findings)?),
            "bearerTokenEnv" => draft.bearer_token_env = Some(reader.non_empty()?.to_owned()),
            "transport" => {
                let words = "\"stdio\", \"http\", \"websocket\"";
                draft.transport = Some(reader.choice(&TRANSPORTS, words)?);
            }
            "protocol" => draft.protocol = Some(protocol(reader)?),
            "namePrefix" => draft.name_prefix = Some(reader.non_empty()?.to_owned()),
            "include" => {
                let tools = reader.texts()?;
                include(field, tools, draft, findings);
            }
            "exclude" => draft.exclude.extend(reader.texts()?),
            "grant" => draft.grant.read_capabilities(reader)?,
            "onConflict" => draft.grant.read_on_conflict(reader)?,
            "reconnect" => {
                draft.reconnect = if reader.boolean()? {
                    Reconnect::On
                } else {
                    Reconnect::Off
                };
            }
            "reconnectIntervalMs" => draft.reconnect_interval = Some(reader.timeout()?),
            "reconnectMaxIntervalMs" => draft.reconnect_max_interval = Some(reader.timeout()?),
            "maxTotalTimeoutMs" => {
                draft.max_total_timeout = Some(reader.timeout()?);
            }
            "handshakeTimeoutMs" => draft.limits.handshake_timeout = reader.timeout()?,
            "requestTimeoutMs" => draft.limits.request_timeout = reader.timeout()?,
            "invalidTools" => {
                let choices = [
                    ("refuse", InvalidTools::Refuse),
                    ("quarantine", InvalidTools::Quarantine),
                ];
                draft.limits.invalid_tools =
                    reader.choice(&choices, "\"refuse\", \"quarantine\"")?;
            }
            "required" => draft.required = reader.boolean()?,
            "catalog" => {
                let choices = [("live", CatalogMode::Live), ("frozen", CatalogMode::Frozen)];
                draft.catalog = reader.choice(&choices, "\"live\", \"frozen\"")?;
            }
            "oauth" => {
                draft.oauth = oauth::read(
                    reader.value,
                    self.shape,
                    &mut self.expander,
                    reader.findings,
                )?;
            }
            key if mcpl::is_policy(key) => draft.mcpl.read(reader, self.shape)?,
            key => match size(key, &mut draft.limits) {
                Some(size) => *size = usize::try_from(reader.limit()?).unwrap_or(usize::MAX),
                None => self.other(field, findings),
            },
        }
        Some(())
    }

    /// A text that is not empty, with its `${…}` replaced in a map.
    fn text(&mut self, field: &Field<'_>, findings: &mut Findings) -> Option<String> {
        let reader = Reader {
            field: field.key,
            value: &field.prop.value,
            findings,
        };
        let text = reader.non_empty()?.to_owned();
        match self.shape {
            Shape::Array => Some(text),
            Shape::Map => Some(self.expander.expand(&text, field.key, findings).text),
        }
    }

    fn args(&mut self, args: Vec<String>, findings: &mut Findings) -> Vec<String> {
        if self.shape == Shape::Array {
            return args;
        }
        let expand = |(at, arg): (usize, String)| {
            self.expander
                .expand(&arg, &format!("args[{at}]"), findings)
                .text
        };
        args.into_iter().enumerate().map(expand).collect()
    }

    /// Adds the strings of an object to `map`, where a name that is there already stays: the entry goes before the
    /// defaults. Names of credentials that are written out go to `literal`.
    fn map(
        &mut self,
        field: &Field<'_>,
        map: &mut BTreeMap<String, String>,
        literal: &mut Vec<String>,
        findings: &mut Findings,
    ) {
        let Value::Object(object) = &field.prop.value else {
            let expected = Expected::Object;
            findings.problem(field.key.to_owned(), ProblemKind::Expected { expected });
            return;
        };
        let present: BTreeSet<String> = map.keys().cloned().collect();
        for prop in object
            .properties
            .iter()
            .filter(|prop| !present.contains(prop.name.as_str()))
        {
            let name = prop.name.as_str();
            let path = format!("{}.{name}", field.key);
            findings.locate(path.clone(), prop.start());
            let value = match (&prop.value, self.shape) {
                (Value::StringLit(value), _) => value.value.as_ref(),
                // Other hosts take a number for its text, and null for no value.
                (Value::NumberLit(number), Shape::Map) => number.value,
                (Value::NullKeyword(_), Shape::Map) => continue,
                _ => {
                    let expected = Expected::Text;
                    findings.problem(path, ProblemKind::Expected { expected });
                    continue;
                }
            };
            let expanded = self.expander.expand(value, &path, findings);
            if expanded.is_literal && is_credential(name, &expanded.text) {
                literal.push(path);
            }
            map.insert(name.to_owned(), expanded.text);
        }
    }

    /// Adds the variables of an `envFile`; the entry's own `env` wins.
    fn env_file(&self, path: &str, draft: &mut Draft, findings: &mut Findings) {
        let text = match self.expander.env_file(path) {
            Ok(text) => text,
            Err(error) => {
                let error = error.kind();
                return findings.problem("envFile".to_owned(), ProblemKind::EnvFile { error });
            }
        };
        let (variables, bad_lines) = env_file::parse(&text);
        for line in bad_lines {
            findings.problem("envFile".to_owned(), ProblemKind::EnvFileLine { line });
        }
        for (name, value) in variables {
            draft.env.entry(name).or_insert(value);
        }
    }

    /// A key that is not Seawall's.
    fn other(&self, field: &Field<'_>, findings: &mut Findings) {
        let written = field.prop.name.as_str();
        let at = || Some(written.to_owned());
        if keys::is_literal_token(written) {
            return findings.problem(at(), ProblemKind::LiteralToken);
        }
        let key = written.to_owned();
        if self.shape == Shape::Array {
            let key = sayable(&key);
            let nearest = keys::nearest(written);
            return findings.problem(at(), ProblemKind::UnknownKey { key, nearest });
        }
        // What `defaults` holds beside values for entries is said once, there.
        if field.origin == FieldOrigin::Defaults || keys::is_for_maps(written) {
            return;
        }
        warn_of_foreign_key(key, findings);
    }
}

/// Warns of a key of a map shape that has no meaning here.
pub(super) fn warn_of_foreign_key(key: String, findings: &mut Findings) {
    match keys::foreign(&key) {
        Some(Foreign::Nothing) => {}
        Some(Foreign::Ignored(advice)) => findings.warning(key, WarningKind::Ignored { advice }),
        Some(Foreign::Same(_)) | None => {
            let said = sayable(&key);
            findings.warning(key, WarningKind::UnknownKey { key: said });
        }
    }
}

/// What hosts write for each transport.
const TRANSPORTS: [(&str, Transport); 11] = [
    ("stdio", Transport::Stdio),
    ("local", Transport::Stdio),
    ("http", Transport::Http),
    ("streamable-http", Transport::Http),
    ("streamableHttp", Transport::Http),
    ("streamable_http", Transport::Http),
    ("sse", Transport::Http),
    ("remote", Transport::Http),
    ("websocket", Transport::WebSocket),
    ("ws", Transport::WebSocket),
    ("wss", Transport::WebSocket),
];

fn protocol(reader: Reader<'_>) -> Option<Protocol> {
    const WORDS: [(&str, Protocol); 4] = [
        ("legacy", Protocol::Legacy),
        ("modern", Protocol::Modern),
        ("mcpl", Protocol::Mcpl),
        ("auto", Protocol::Auto),
    ];
    if let Some(text) = reader
        .value
        .as_string_lit()
        .map(|literal| literal.value.as_ref())
    {
        if let Ok(revision) = text.parse::<Revision>() {
            return Some(Protocol::Pinned(revision));
        }
        if has_revision_form(text) {
            reader
                .findings
                .problem(reader.field.to_owned(), ProblemKind::UnknownRevision);
            return None;
        }
    }
    reader.choice(
        &WORDS,
        "\"legacy\", \"modern\", \"mcpl\", \"auto\", or a revision",
    )
}

fn include(field: &Field<'_>, tools: Vec<String>, draft: &mut Draft, findings: &mut Findings) {
    let is_own_key = field.prop.name.as_str() == "include";
    if is_own_key && tools.is_empty() {
        findings.problem("include".to_owned(), ProblemKind::EmptyInclude);
    } else if is_own_key || tools != ["*"] {
        draft.include.extend(tools);
    }
}

/// The limit of a key, if it is the key of one that has a size.
fn size<'d>(key: &str, limits: &'d mut Limits) -> Option<&'d mut usize> {
    Some(match key {
        "queueCapacity" => &mut limits.queue_capacity,
        "maxFrameBytes" => &mut limits.max_frame_bytes,
        "maxOutboundFrameBytes" => &mut limits.max_outbound_frame_bytes,
        "maxTools" => &mut limits.max_tools,
        "maxToolNameBytes" => &mut limits.max_tool_name_bytes,
        "maxToolDocumentBytes" => &mut limits.max_tool_document_bytes,
        "maxCatalogPages" => &mut limits.max_catalog_pages,
        "maxStderrBytes" => &mut limits.max_stderr_bytes,
        "maxBufferedBytes" => &mut limits.max_buffered_bytes,
        _ => return None,
    })
}

/// Whether a literal value is a credential: by its name, unless it is a number, a switch or a path; or by its form.
fn is_credential(name: &str, value: &str) -> bool {
    let is_plain = value.is_empty()
        || value.parse::<f64>().is_ok()
        || matches!(value, "true" | "false")
        || value.starts_with(['/', '.', '~']);
    !is_plain && (is_credential_name(name) || looks_like_credential(value))
}

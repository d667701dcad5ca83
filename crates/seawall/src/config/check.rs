//! A text in, checked entries and findings out (K12).

use std::collections::BTreeMap;
use std::path::Path;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::credentials::sayable;
use super::decode::{Decoder, Shape, warn_of_foreign_key};
use super::expand::Expander;
use super::findings::Findings;
use super::gateway::{self, GatewayConfig};
use super::keys;
use super::names::id_of_foreign;
use super::problem::{
    Expected, Origin, Place, Problem, ProblemKind, Problems, Warning, WarningKind,
};
use super::server::ServerConfig;
use super::surroundings::{Input, Nothing, Surroundings};

/// A text to check, and what the checks need to know beside it.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Source<'a> {
    /// The text: JSON, with comments and trailing commas if it likes.
    pub text: &'a str,
    /// Where the text was read, for the findings.
    pub path: Option<&'a Path>,
    /// How the text was named, for the findings.
    pub origin: Origin,
    /// What `${workspaceFolder}` stands for, and what a relative `envFile` is relative to.
    pub workspace: &'a Path,
    /// Answers what the checks ask of the world.
    pub surroundings: &'a dyn Surroundings,
}

impl<'a> Source<'a> {
    /// A text by itself: from nowhere, in an empty world, with `.` as its workspace.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            path: None,
            origin: Origin::Caller,
            workspace: Path::new("."),
            surroundings: &Nothing,
        }
    }
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("path", &self.path)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// What the checks made of a configuration.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Checked {
    /// The entries without a problem, in the order of the file.
    pub servers: Vec<ServerConfig>,
    /// The ids of the entries that are switched off; nothing else of them is checked.
    pub disabled: Vec<String>,
    /// How a gateway offers the servers, and to whom: the section `gateway` of a map-shaped file.
    pub gateway: GatewayConfig,
    /// Every reason why the configuration cannot be used, in the order of the file.
    pub problems: Vec<Problem>,
    /// Everything else worth knowing, in the order of the file.
    pub warnings: Vec<Warning>,
}

impl Checked {
    /// The entries, if the whole configuration is without a problem.
    ///
    /// # Errors
    ///
    /// Every problem: one bad entry makes the whole configuration unusable (K3).
    pub fn into_servers(self) -> Result<Vec<ServerConfig>, Problems> {
        if self.problems.is_empty() {
            Ok(self.servers)
        } else {
            Err(Problems(self.problems))
        }
    }
}

/// Checks a configuration whole. Reads nothing and starts nothing: the same source gives the same findings.
#[must_use]
pub fn check(source: &Source<'_>) -> Checked {
    let text = source.text.strip_prefix('\u{feff}').unwrap_or(source.text);
    let mut checker = Checker {
        source,
        findings: Findings::new(Place {
            origin: source.origin,
            path: source.path.map(Path::to_path_buf),
            ..Place::default()
        }),
        checked: Checked::default(),
        claims: Vec::new(),
    };
    match parse_to_ast(text, &CollectOptions::default(), &strict()) {
        Ok(parsed) => match parsed.value {
            Some(root) => checker.root(&root),
            None => {
                let message = "the text is empty".to_owned();
                checker
                    .findings
                    .problem_at(0, ProblemKind::Syntax { message });
            }
        },
        Err(error) => {
            let message = error.kind().to_string().to_lowercase();
            let offset = error.range().start;
            checker
                .findings
                .problem_at(offset, ProblemKind::Syntax { message });
        }
    }
    checker.refuse_meeting_prefixes();
    let (problems, warnings) = checker.findings.finish(text);
    Checked {
        problems,
        warnings,
        ..checker.checked
    }
}

struct Checker<'a> {
    source: &'a Source<'a>,
    findings: Findings,
    checked: Checked,
    /// Id, prefix and place of each entry.
    claims: Vec<Claim>,
}

struct Claim {
    server: String,
    prefix: String,
    offset: usize,
}

impl Checker<'_> {
    fn root(&mut self, root: &Value<'_>) {
        match root {
            Value::Array(entries) => {
                let expander = Expander::new(
                    self.source.surroundings,
                    self.source.workspace,
                    BTreeMap::new(),
                );
                let mut decoder = Decoder::new(Shape::Array, expander, None);
                for (index, entry) in entries.elements.iter().enumerate() {
                    let id = entry
                        .as_object()
                        .and_then(|entry| entry.get_string("server"))
                        .filter(|id| !id.value.is_empty());
                    let id = id.map_or_else(|| format!("#{index}"), |id| id.value.to_string());
                    self.entry(&mut decoder, &id, &id, entry, entry.start());
                }
            }
            Value::Object(root) => self.maps(root),
            other => self.findings.problem_at(other.start(), ProblemKind::Shape),
        }
    }

    fn maps(&mut self, root: &Object<'_>) {
        for prop in duplicates(root) {
            self.duplicate(prop);
        }
        let map = match (root.get("mcpServers"), root.get("servers")) {
            (Some(map), None) | (None, Some(map)) => map,
            (None, None) => return self.findings.problem_at(root.start(), ProblemKind::Shape),
            (Some(_), Some(second)) => {
                return self
                    .findings
                    .problem_at(second.start(), ProblemKind::TwoMaps);
            }
        };
        self.unknown_top_level_keys(root);
        let field = map.name.as_str().to_owned();
        self.findings.locate(field.clone(), map.start());
        let Value::Object(entries) = &map.value else {
            let expected = Expected::Object;
            return self
                .findings
                .problem(field, ProblemKind::Expected { expected });
        };
        let defaults = root.get("defaults").and_then(|prop| self.defaults(prop));
        let inputs = root
            .get("inputs")
            .map(|prop| inputs(&prop.value))
            .unwrap_or_default();
        let expander = Expander::new(self.source.surroundings, self.source.workspace, inputs);
        let mut decoder = Decoder::new(Shape::Map, expander, defaults);
        for prop in duplicates(entries) {
            self.duplicate(prop);
        }
        let mut seen = std::collections::BTreeSet::new();
        for prop in &entries.properties {
            if seen.insert(prop.name.as_str()) {
                let written = prop.name.as_str();
                let id = id_of_foreign(written);
                self.entry(&mut decoder, &id, written, &prop.value, prop.start());
            }
        }
        if let Some(prop) = root.get("gateway") {
            self.duplicates_within(&prop.value);
            let ids = self.claims.iter().map(|claim| claim.server.as_str());
            let disabled = self.checked.disabled.iter().map(String::as_str);
            let ids = ids.chain(disabled).collect();
            let mut expander = decoder.into_expander();
            self.findings.locate("gateway".to_owned(), prop.start());
            self.checked.gateway =
                gateway::read(&prop.value, &mut expander, &ids, &mut self.findings);
        }
    }

    fn unknown_top_level_keys(&mut self, root: &Object<'_>) {
        const KNOWN: [&str; 6] = [
            "mcpServers",
            "servers",
            "defaults",
            "inputs",
            "gateway",
            "$schema",
        ];
        for prop in root
            .properties
            .iter()
            .filter(|prop| !KNOWN.contains(&prop.name.as_str()))
        {
            let key = prop.name.as_str().to_owned();
            self.findings.locate(key.clone(), prop.start());
            self.findings
                .warning(key.clone(), WarningKind::UnknownKey { key });
        }
    }

    /// The object of `defaults`, with what is wrong in it by itself.
    fn defaults<'v>(&mut self, prop: &'v ObjectProp<'v>) -> Option<&'v Object<'v>> {
        self.findings.locate("defaults".to_owned(), prop.start());
        let Value::Object(defaults) = &prop.value else {
            let expected = Expected::Object;
            self.findings
                .problem("defaults".to_owned(), ProblemKind::Expected { expected });
            return None;
        };
        self.duplicates_within(&prop.value);
        for key in ["server", "command", "args", "url", "httpUrl", "serverUrl"] {
            if let Some(found) = defaults.get(key) {
                self.findings
                    .problem_at(found.start(), ProblemKind::NotADefault { key });
            }
        }
        for prop in &defaults.properties {
            let key = prop.name.as_str();
            if !keys::KNOWN.contains(&key)
                && !keys::is_for_maps(key)
                && !keys::is_literal_token(key)
            {
                self.findings.locate(key.to_owned(), prop.start());
                warn_of_foreign_key(key.to_owned(), &mut self.findings);
            }
        }
        Some(defaults)
    }

    /// Checks the entry of `id`, for which the file has `written`.
    fn entry(
        &mut self,
        decoder: &mut Decoder<'_>,
        id: &str,
        written: &str,
        value: &Value<'_>,
        offset: usize,
    ) {
        self.findings.begin_entry(Some(id), Some(offset));
        self.duplicates_within(value);
        let Value::Object(entry) = value else {
            let expected = Expected::Object;
            return self
                .findings
                .problem(None, ProblemKind::Expected { expected });
        };
        if decoder.is_disabled(entry, &mut self.findings) {
            self.checked.disabled.push(id.to_owned());
        } else {
            if id != written {
                let written = sayable(written);
                self.findings
                    .warning(None, WarningKind::RenamedServer { written });
            }
            let draft = decoder.decode(id, entry, &mut self.findings);
            let prefix = draft.name_prefix.clone();
            self.claims.push(Claim {
                prefix: prefix.unwrap_or_else(|| format!("mcp/{}", draft.server)),
                server: draft.server.clone(),
                offset,
            });
            let server = draft.finish(self.source.surroundings, &mut self.findings);
            self.checked.servers.extend(server);
        }
        self.findings.begin_entry(None, None);
    }

    /// Two entries must not share an id, and their tools' names must never meet (H6).
    fn refuse_meeting_prefixes(&mut self) {
        let mut ids = BTreeMap::new();
        let mut prefixes: BTreeMap<&str, &Claim> = BTreeMap::new();
        let mut doubles = std::collections::BTreeSet::new();
        for (index, claim) in self.claims.iter().enumerate() {
            if ids.insert(claim.server.as_str(), index).is_some() {
                doubles.insert(index);
                self.findings
                    .begin_entry(Some(&claim.server), Some(claim.offset));
                self.findings
                    .problem("server".to_owned(), ProblemKind::DuplicateServer);
            }
        }
        let meet = |findings: &mut Findings, claim: &Claim, other: &Claim| {
            findings.begin_entry(Some(&claim.server), Some(claim.offset));
            let other = sayable(&other.server);
            findings.problem("namePrefix".to_owned(), ProblemKind::PrefixesMeet { other });
        };
        let singles = || {
            self.claims
                .iter()
                .enumerate()
                .filter(|(index, _)| !doubles.contains(index))
        };
        for (_, claim) in singles() {
            match prefixes.get(claim.prefix.as_str()) {
                Some(other) => meet(&mut self.findings, claim, other),
                None => {
                    prefixes.insert(&claim.prefix, claim);
                }
            }
        }
        for (_, claim) in singles() {
            let ends = claim.prefix.match_indices('/').map(|(end, _)| end);
            for other in ends.filter_map(|end| prefixes.get(claim.prefix.get(..end)?)) {
                meet(&mut self.findings, claim, other);
            }
        }
        self.findings.begin_entry(None, None);
    }

    fn duplicates_within(&mut self, value: &Value<'_>) {
        match value {
            Value::Object(object) => {
                for prop in duplicates(object) {
                    self.duplicate(prop);
                }
                for prop in &object.properties {
                    self.duplicates_within(&prop.value);
                }
            }
            Value::Array(array) => {
                for element in &array.elements {
                    self.duplicates_within(element);
                }
            }
            _ => {}
        }
    }

    fn duplicate(&mut self, prop: &ObjectProp<'_>) {
        let key = sayable(prop.name.as_str());
        self.findings
            .problem_at(prop.start(), ProblemKind::DuplicateKey { key });
    }
}

/// JSON as the standard has it, but for comments and trailing commas.
fn strict() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The members of an object whose key was there before.
fn duplicates<'v, 'a>(object: &'v Object<'a>) -> Vec<&'v ObjectProp<'a>> {
    let mut seen = std::collections::HashSet::new();
    object
        .properties
        .iter()
        .filter(|prop| !seen.insert(prop.name.as_str()))
        .collect()
}

/// VS Code's `inputs`: what to ask for. What is malformed in them is left out; its use then asks by the id alone.
fn inputs(value: &Value<'_>) -> BTreeMap<String, Input> {
    let elements = value
        .as_array()
        .map(|array| array.elements.as_slice())
        .unwrap_or_default();
    let input = |value: &Value<'_>| {
        let object = value.as_object()?;
        let text = |key: &str| object.get_string(key).map(|text| text.value.to_string());
        let id = text("id")?;
        let password = object
            .get_boolean("password")
            .is_some_and(|password| password.value);
        let (description, default) = (text("description"), text("default"));
        Some((
            id.clone(),
            Input {
                id,
                description,
                default,
                password,
            },
        ))
    };
    elements.iter().filter_map(input).collect()
}

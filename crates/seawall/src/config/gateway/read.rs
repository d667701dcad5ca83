//! The section's own members; what is of clients and of `auth` is read beside.

use std::collections::BTreeSet;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use url::Url;

use super::super::credentials::sayable;
use super::super::expand::Expander;
use super::super::findings::Findings;
use super::super::keys;
use super::super::problem::{Expected, ProblemKind};
use super::super::value::Reader;
use super::{GatewayConfig, GatewayErrors, GatewayFault, GatewayNames, auth, client, journal};

/// The keys of the section.
const KEYS: [&str; 8] = [
    "names",
    "remoteErrors",
    "toolSearch",
    "hosts",
    "origins",
    "clients",
    "auth",
    "journal",
];

/// What the readers of the section share.
pub(super) struct Reading<'s, 'e> {
    pub(super) expander: &'s mut Expander<'e>,
    /// The ids of all entries, also of those that are switched off.
    pub(super) servers: &'s BTreeSet<&'s str>,
    pub(super) findings: &'s mut Findings,
}

/// Reads the value of `gateway`; what is wrong with it is in `findings`.
pub(in super::super) fn read(
    value: &Value<'_>,
    expander: &mut Expander<'_>,
    servers: &BTreeSet<&str>,
    findings: &mut Findings,
) -> GatewayConfig {
    let mut reading = Reading {
        expander,
        servers,
        findings,
    };
    let mut config = GatewayConfig::default();
    let Some(object) = reading.object("gateway", value) else {
        return config;
    };
    let mut said_auth = None;
    for (key, field, value) in reading.members("gateway", object) {
        match key {
            "names" => {
                let choices = [
                    ("scoped", GatewayNames::Scoped),
                    ("plain", GatewayNames::Plain),
                ];
                let words = "\"scoped\", \"plain\"";
                config.names = reading.at(&field, value).choice(&choices, words);
            }
            "remoteErrors" => {
                let choices = [
                    ("redacted", GatewayErrors::Redacted),
                    ("withhold", GatewayErrors::Withheld),
                ];
                let words = "\"redacted\", \"withhold\"";
                config.remote_errors = reading.at(&field, value).choice(&choices, words);
            }
            "toolSearch" => {
                config.tool_search = reading.at(&field, value).boolean().unwrap_or_default();
            }
            "hosts" => config.hosts = reading.each(&field, value, host),
            "origins" => config.origins = reading.each(&field, value, origin),
            "clients" => config.clients = client::read_all(&mut reading, &field, value),
            "auth" => {
                said_auth = Some(field.clone());
                config.auth = auth::read(&mut reading, &field, value);
            }
            "journal" => config.journal = journal::read(&mut reading, &field, value),
            _ => reading.unknown(field, key, &KEYS),
        }
    }
    client::check_all(&mut reading, &config.clients, said_auth);
    config
}

impl Reading<'_, '_> {
    /// The reader of one value.
    pub(super) fn at<'r>(&'r mut self, field: &'r str, value: &'r Value<'r>) -> Reader<'r> {
        Reader {
            field,
            value,
            findings: self.findings,
        }
    }

    /// The object that a value is.
    pub(super) fn object<'v>(
        &mut self,
        field: &str,
        value: &'v Value<'v>,
    ) -> Option<&'v Object<'v>> {
        let object = value.as_object();
        if object.is_none() {
            let expected = Expected::Object;
            let kind = ProblemKind::Expected { expected };
            self.findings.problem(field.to_owned(), kind);
        }
        object
    }

    /// The members of an object, each once, with their fields, which are located from now on.
    pub(super) fn members<'v>(
        &mut self,
        field: &str,
        object: &'v Object<'v>,
    ) -> Vec<(&'v str, String, &'v Value<'v>)> {
        let mut seen = BTreeSet::new();
        let mut members = Vec::new();
        self.findings.locate(field.to_owned(), object.start());
        for prop in &object.properties {
            let key = prop.name.as_str();
            let field = format!("{field}.{}", sayable(key));
            self.findings.locate(field.clone(), prop.start());
            // That it is there twice is told elsewhere.
            if seen.insert(key) {
                members.push((key, field, &prop.value));
            }
        }
        members
    }

    /// A text that is not empty, with its `${…}` replaced; whether it is as it was written.
    pub(super) fn text(&mut self, field: &str, value: &Value<'_>) -> Option<(String, bool)> {
        let text = self.at(field, value).non_empty()?.to_owned();
        let expanded = self.expander.expand(&text, field, self.findings);
        Some((expanded.text, expanded.is_literal))
    }

    /// Texts, each with its `${…}` replaced and made into something, or the fault of it.
    pub(super) fn each<T>(
        &mut self,
        field: &str,
        value: &Value<'_>,
        make: impl Fn(&str) -> Result<T, GatewayFault>,
    ) -> Vec<T> {
        let texts = self.at(field, value).texts().unwrap_or_default();
        let mut made = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            let field = format!("{field}[{at}]");
            let text = self.expander.expand(text, &field, self.findings).text;
            match make(&text) {
                Ok(one) => made.push(one),
                Err(fault) => self.fault(field, fault),
            }
        }
        made
    }

    pub(super) fn fault(&mut self, field: String, fault: GatewayFault) {
        self.findings.problem(field, ProblemKind::Gateway { fault });
    }

    pub(super) fn unknown(&mut self, field: String, key: &str, known: &[&'static str]) {
        let nearest = keys::nearest_of(known, key);
        let key = sayable(key);
        self.findings
            .problem(field, ProblemKind::UnknownKey { key, nearest });
    }
}

fn host(text: &str) -> Result<String, GatewayFault> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(text).parse::<std::net::IpAddr>() {
        return Ok(address.to_string());
    }
    match url::Host::parse(text) {
        Ok(url::Host::Domain(name)) if bare.is_none() => Ok(name.to_ascii_lowercase()),
        _ => Err(GatewayFault::Host),
    }
}

fn origin(text: &str) -> Result<String, GatewayFault> {
    let url = Url::parse(text).map_err(|_| GatewayFault::Origin)?;
    let origin = url.origin().ascii_serialization();
    let is_whole =
        url.origin().is_tuple() && text.trim_end_matches('/').eq_ignore_ascii_case(&origin);
    if is_whole {
        Ok(origin)
    } else {
        Err(GatewayFault::Origin)
    }
}

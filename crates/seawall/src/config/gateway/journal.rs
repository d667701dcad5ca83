//! `journal`: where calls are recorded, and how.

use std::path::PathBuf;
use std::time::Duration;

use jsonc_parser::ast::Value;
use serde::{Serialize, Serializer};

use super::GatewayFault;
use super::read::Reading;

/// The keys of `journal`.
const KEYS: [&str; 7] = [
    "off",
    "path",
    "maxAge",
    "maxBytes",
    "store",
    "unwritable",
    "durability",
];

/// Where a gateway records calls, and how. The default is a file without the member.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JournalConfig {
    /// Whether there is none. `off`.
    pub off: bool,
    /// The file. Default: the platform's. `path`.
    pub path: Option<PathBuf>,
    /// How long calls are kept. Default: 30 days. `maxAge`, as `12h` or `30d`.
    #[serde(serialize_with = "seconds", rename = "maxAgeSeconds")]
    pub max_age: Option<Duration>,
    /// How large the file may grow. Default: 256 MiB. `maxBytes`.
    pub max_bytes: Option<u64>,
    /// Whether arguments and results are kept, redacted and cut. Default: no. `store`.
    pub store: bool,
    /// What becomes of a call that cannot be recorded. `unwritable`.
    pub unwritable: WhenUnwritable,
    /// What a record survives. `durability`.
    pub durability: Durability,
}

/// What becomes of a call that cannot be recorded: the disk is full, the file is read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum WhenUnwritable {
    /// It is refused, `not_sent`; but where its tool is marked read-only it is made, and recorded as soon as that can be.
    #[default]
    RefuseWrites,
    /// It is refused, `not_sent`, whatever its tool is; each call waits for its record then.
    RefuseAll,
    /// It is made, and recorded as soon as that can be.
    Allow,
}

/// What a record survives once its call may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Durability {
    /// The end of the process, by `kill -9` too: the system has it. A loss of power can take the last moments, from the
    /// newest backwards; the file stays sound. SQLite's `synchronous = NORMAL`.
    #[default]
    Process,
    /// A loss of power too: the disk was told to keep it, which takes milliseconds. SQLite's `synchronous = FULL`.
    Power,
}

pub(super) fn read(reading: &mut Reading<'_, '_>, field: &str, value: &Value<'_>) -> JournalConfig {
    let mut config = JournalConfig::default();
    let Some(object) = reading.object(field, value) else {
        return config;
    };
    for (key, field, value) in reading.members(field, object) {
        match key {
            "off" => config.off = reading.at(&field, value).boolean().unwrap_or_default(),
            "path" => config.path = reading.text(&field, value).map(|(text, _)| text.into()),
            "maxAge" => {
                let text = reading.at(&field, value).non_empty();
                config.max_age = text.and_then(age);
                if text.is_some() && config.max_age.is_none() {
                    reading.fault(field, GatewayFault::Age);
                }
            }
            "maxBytes" => config.max_bytes = reading.at(&field, value).limit(),
            "store" => config.store = reading.at(&field, value).boolean().unwrap_or_default(),
            "unwritable" => {
                let choices = [
                    ("refuseWrites", WhenUnwritable::RefuseWrites),
                    ("refuseAll", WhenUnwritable::RefuseAll),
                    ("allow", WhenUnwritable::Allow),
                ];
                let words = "\"refuseWrites\", \"refuseAll\", \"allow\"";
                let choice = reading.at(&field, value).choice(&choices, words);
                config.unwritable = choice.unwrap_or_default();
            }
            "durability" => {
                let choices = [
                    ("process", Durability::Process),
                    ("power", Durability::Power),
                ];
                let choice = reading
                    .at(&field, value)
                    .choice(&choices, "\"process\", \"power\"");
                config.durability = choice.unwrap_or_default();
            }
            _ => reading.unknown(field, key, &KEYS),
        }
    }
    config
}

/// A whole number and a unit: `45s`, `15m`, `12h`, `30d`.
fn age(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    let number = text.get(..text.len() - 1)?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u32 = number.parse().ok()?;
    (number > 0).then(|| Duration::from_secs(u64::from(number).saturating_mul(seconds)))
}

fn seconds<S: Serializer>(age: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    age.map(|age| age.as_secs()).serialize(serializer)
}

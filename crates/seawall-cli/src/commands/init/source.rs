//! Reading the hosts' files: every server that is named in one, as an entry.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstNode, CstObject, CstRootNode};
use seawall::config::MAX_FILE_BYTES;
use serde_json::Value;

use super::codex;
use super::entry::Entry;
use super::places::{HostApp, Place};

/// A host's file that is there.
pub(super) struct HostFile {
    pub(super) place: Place,
    /// The file itself, where the place is a link.
    pub(super) real: PathBuf,
    /// Its text, or why it cannot be read.
    pub(super) text: Result<String, String>,
    pub(super) found: Vec<Found>,
    /// What the file says of its inputs.
    pub(super) inputs: Vec<Value>,
}

/// A server that a file names.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) section: Section,
    /// The entry, or why it is none.
    pub(super) entry: Result<Entry, String>,
    /// What was said beside it and has no place in an entry.
    pub(super) notes: Vec<String>,
}

/// Which of a file's maps a server is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Section {
    Whole,
    /// Of Claude Code's file, what holds in one folder.
    Project(String),
}

impl HostFile {
    /// The file of a place, if there is one.
    pub(super) fn read(place: Place) -> Option<Self> {
        let real = place.path.canonicalize().ok()?;
        let mut file = Self {
            text: read_text(&real),
            place,
            real,
            found: Vec::new(),
            inputs: Vec::new(),
        };
        if let Ok(text) = &file.text {
            let read = match file.place.host {
                HostApp::Codex => codex::servers(text),
                host => servers(text, host, &mut file.inputs),
            };
            match read {
                Ok(found) => file.found = found,
                Err(fault) => file.text = Err(fault),
            }
        }
        Some(file)
    }
}

/// Reads a text that is not larger than a configuration may be.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err(cannot_be_read(&error));
    }
    if u64::try_from(bytes.len()).is_ok_and(|len| len > MAX_FILE_BYTES) {
        return Err(format!("larger than {MAX_FILE_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "not UTF-8 text".to_owned())
}

fn cannot_be_read(error: &io::Error) -> String {
    format!("cannot be read: {}", error.kind())
}

/// A text as JSON with comments, to be read or changed in place; an empty one is an empty object.
pub(super) fn parse(text: &str) -> Result<(CstRootNode, CstObject), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = CstRootNode::parse(text, &options()).map_err(|error| {
        let kind = error.kind().to_string().to_lowercase();
        format!("not JSON: line {}: {kind}", error.line_display())
    })?;
    let object = root.object_value_or_create();
    let object = object.ok_or_else(|| "not a JSON object".to_owned())?;
    Ok((root, object))
}

fn servers(text: &str, host: HostApp, inputs: &mut Vec<Value>) -> Result<Vec<Found>, String> {
    let (_, root) = parse(text)?;
    if let Some(Value::Array(said)) = root.get("inputs").and_then(|prop| prop.to_serde_value()) {
        *inputs = said;
    }
    let mut found = of_map(&root, host.map_key(), &Section::Whole)?;
    if host == HostApp::ClaudeCode
        && let Some(projects) = root.object_value("projects")
    {
        for project in projects.properties() {
            if let (Some(folder), Some(of_folder)) =
                (project.decoded_name(), project.object_value())
            {
                let section = Section::Project(folder);
                found.extend(of_map(&of_folder, host.map_key(), &section)?);
            }
        }
    }
    Ok(found)
}

fn of_map(parent: &CstObject, key: &str, section: &Section) -> Result<Vec<Found>, String> {
    let Some(prop) = parent.get(key) else {
        return Ok(Vec::new());
    };
    let map = prop.object_value();
    let map = map.ok_or_else(|| format!("\"{key}\" is not an object"))?;
    let of_prop = |prop: jsonc_parser::cst::CstObjectProp| {
        let entry = match prop.value() {
            Some(CstNode::Container(value)) => value.as_object().map(|value| Entry::of(&value)),
            _ => None,
        };
        Some(Found {
            id: prop.decoded_name()?,
            section: section.clone(),
            entry: entry.ok_or_else(|| "not an object".to_owned()),
            notes: Vec::new(),
        })
    };
    Ok(map.properties().into_iter().filter_map(of_prop).collect())
}

/// JSON as the standard has it, but for comments and trailing commas.
fn options() -> ParseOptions {
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

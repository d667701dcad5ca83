//! What becomes of each server that was found: taken under which id, switched off, or left where it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use seawall::config::id_of_foreign;
use serde_json::{Value, json};

use super::document::Existing;
use super::entry::Entry;
use super::places::HostApp;
use super::source::{Found, HostFile, Section};

/// What the user wants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    /// Whether the working directory's own files are gathered from.
    pub(super) project: bool,
}

/// What becomes of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is an entry of Seawall's, under this id.
    Taken { id: String },
    /// It is what another one is, or what the configuration had already.
    Same { id: String },
    /// It is an entry that is switched off, and stays where it is too.
    Off { id: String, why: String },
    /// It stays where it is.
    Left { why: String },
    /// It is the gateway itself, which must not stand behind itself.
    Gateway,
}

/// One server that was found.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) host: HostApp,
    pub(super) path: PathBuf,
    /// Which of the files.
    pub(super) file: usize,
    pub(super) section: Section,
    /// The id in its file.
    pub(super) id: String,
    /// As it is in Seawall's configuration; in its file, if it could not be read.
    pub(super) entry: Entry,
    pub(super) fate: Fate,
    /// Fields that hold a secret in plain text.
    pub(super) secrets: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Row {
    /// Whether the gateway serves it, so that its host need not start it.
    pub(super) fn is_served(&self) -> bool {
        matches!(self.fate, Fate::Taken { .. } | Fate::Same { .. })
    }
}

/// Everything that is to happen to Seawall's configuration.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) rows: Vec<Row>,
    /// The entries that are new, in order.
    pub(super) new: Vec<(String, Entry)>,
    /// What is said of the inputs that they ask for.
    pub(super) inputs: Vec<Value>,
}

struct Planner<'a> {
    existing: &'a Existing,
    working_dir: &'a Path,
    plan: Plan,
}

impl Plan {
    pub(super) fn of(
        files: &[HostFile],
        existing: &Existing,
        working_dir: &Path,
        scope: Scope,
    ) -> Self {
        let mut planner = Planner {
            existing,
            working_dir,
            plan: Self::default(),
        };
        for (at, file) in files.iter().enumerate() {
            for found in &file.found {
                planner.place(at, file, found.clone(), scope);
            }
        }
        planner.plan
    }
}

impl Planner<'_> {
    fn place(&mut self, at: usize, file: &HostFile, found: Found, scope: Scope) {
        let mut row = Row {
            host: file.place.host,
            path: file.place.path.clone(),
            file: at,
            section: found.section,
            id: found.id,
            entry: Entry::default(),
            fate: Fate::Left { why: String::new() },
            secrets: Vec::new(),
            notes: found.notes,
        };
        row.fate = match found.entry {
            Ok(entry) => {
                row.entry = entry;
                self.fate(&mut row, file, scope)
            }
            Err(why) => Fate::Left { why },
        };
        self.plan.rows.push(row);
    }

    fn fate(&mut self, row: &mut Row, file: &HostFile, scope: Scope) -> Fate {
        let left = |why: &str| Fate::Left {
            why: why.to_owned(),
        };
        row.entry.normalise();
        if row.entry.is_gateway() {
            return Fate::Gateway;
        }
        if file.place.project.is_some() && !scope.project {
            return left("the folder's own file, which others may have written; add --project");
        }
        let folder = match &row.section {
            Section::Project(folder) => Some(PathBuf::from(folder)),
            Section::Whole => file.place.project.clone(),
        };
        if let Some(folder) = &folder {
            if !folder.is_dir() {
                return left("the folder that it is for is gone");
            }
            row.entry.settle_in(folder);
        }
        let inputs = self.inputs_of(row, &file.inputs);
        let workspace = folder.as_deref().unwrap_or(self.working_dir);
        let seen = row.entry.inspect(&inputs, workspace);
        row.secrets = seen.secrets;
        row.notes.extend(seen.notes);
        if !seen.problems.is_empty() {
            return Fate::Left {
                why: seen.problems.join("; "),
            };
        }
        let mut why = Vec::new();
        if row.entry.is_off() {
            why.push("switched off there".to_owned());
        }
        why.extend(seen.missing);
        if !why.is_empty() {
            row.entry.remove("enabled");
            row.entry.set("disabled", json!(true));
        }
        self.under_an_id(row, folder.as_deref(), &inputs, &why.join("; "))
    }

    /// The id that is free for it, or that it has already.
    fn under_an_id(
        &mut self,
        row: &mut Row,
        folder: Option<&Path>,
        inputs: &[Value],
        off: &str,
    ) -> Fate {
        let wanted = sound_id(&row.id);
        let suffix = match folder.and_then(Path::file_name) {
            Some(name) => sound_id(&name.to_string_lossy()),
            None => row.host.suffix().to_owned(),
        };
        let ids = [wanted.clone(), format!("{wanted}-{suffix}")]
            .into_iter()
            .chain((2..).map(|count| format!("{wanted}-{suffix}-{count}")));
        for id in ids {
            let (is_same, is_off) = match self.holder(&id) {
                None => {
                    if id != row.id {
                        row.notes.push(self.renamed(&row.id, &wanted, &id));
                    }
                    self.plan.new.push((id.clone(), row.entry.clone()));
                    self.plan.inputs.extend(inputs.iter().cloned());
                    return match off {
                        "" => Fate::Taken { id },
                        why => Fate::Off {
                            id,
                            why: why.to_owned(),
                        },
                    };
                }
                Some(Holder::New(entry)) => (entry.is_same(&row.entry), entry.is_off()),
                Some(Holder::Existing(entry)) => (entry.covers(&row.entry), entry.is_off()),
            };
            if is_same && (is_off || !off.is_empty()) {
                let why = if off.is_empty() {
                    "switched off in the configuration"
                } else {
                    off
                };
                return Fate::Off {
                    id,
                    why: why.to_owned(),
                };
            }
            if is_same {
                return Fate::Same { id };
            }
        }
        Fate::Left {
            why: "no id is free for it".to_owned(),
        }
    }

    fn renamed(&self, from: &str, wanted: &str, id: &str) -> String {
        if id == wanted {
            format!("{from} is no id here: it is {id}")
        } else {
            format!("{wanted} is another server already: this one is {id}")
        }
    }

    fn holder(&self, id: &str) -> Option<Holder<'_>> {
        let of = |entries: &'_ [(String, Entry)]| entries.iter().position(|(other, _)| other == id);
        if let Some(at) = of(&self.existing.entries) {
            return self
                .existing
                .entries
                .get(at)
                .map(|(_, entry)| Holder::Existing(entry));
        }
        let at = of(&self.plan.new)?;
        self.plan.new.get(at).map(|(_, entry)| Holder::New(entry))
    }

    /// What is said of the inputs that an entry asks for; one whose id means something else already gets another.
    fn inputs_of(&self, row: &mut Row, said: &[Value]) -> Vec<Value> {
        let known = self.existing.inputs.iter().chain(&self.plan.inputs);
        let known: BTreeMap<&str, &Value> = known
            .filter_map(|input| Some((input["id"].as_str()?, input)))
            .collect();
        let mut inputs = Vec::new();
        for id in row.entry.inputs() {
            let Some(input) = said.iter().find(|input| input["id"] == id.as_str()) else {
                continue;
            };
            match known.get(id.as_str()) {
                Some(other) if *other == input => {}
                Some(_) => {
                    let mut input = input.clone();
                    let renamed = format!("{}-{id}", sound_id(&row.id));
                    row.entry.rename_input(&id, &renamed);
                    input["id"] = json!(renamed);
                    inputs.push(input);
                }
                None => inputs.push(input.clone()),
            }
        }
        inputs
    }
}

enum Holder<'a> {
    Existing(&'a Entry),
    New(&'a Entry),
}

/// An id that Seawall takes: one part of a flow's name.
fn sound_id(id: &str) -> String {
    match id_of_foreign(id).into_owned() {
        id if matches!(id.as_str(), "" | "." | "..") => "server".to_owned(),
        id => id,
    }
}

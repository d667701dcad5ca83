//! `seawall init`: the servers that agents on this machine have, gathered into Seawall's configuration; with `--wire`, the
//! agents pointed to the gateway, and with `--unwire` back.
//!
//! **Invariant:** starts no server and dials nothing; nothing found is dropped without a word; no secret is shown.

mod codex;
mod document;
mod entry;
mod files;
mod places;
mod plan;
mod show;
mod source;
mod wire;

use std::path::{Path, PathBuf};

use crate::args::InitArgs;
use crate::failure::{Failure, Status, UsageError};
use crate::printer::Printer;
use crate::settings::Settings;
use document::Existing;
pub(crate) use places::HostApp;
use places::World;
use plan::{Plan, Row, Scope};
use show::{Config, File, Report, Server, short};
use source::{HostFile, Section};
use wire::{Gateway, Unwiring, Wiring};

/// Why nothing is gathered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InitError {
    #[error("nobody's home folder is known here: set HOME")]
    NoHome,
    #[error("there is no configuration folder here: name a file with --mcp-config PATH")]
    NoConfigFolder,
    #[error("{} is a file of {host}'s own; name another with --mcp-config PATH", .path.display())]
    HostsOwn { path: PathBuf, host: &'static str },
    #[error("{} is there already, and {many} would be added to it: add --force; what it has stays as it is", .path.display())]
    Exists { path: PathBuf, many: usize },
    #[error("{}: {why}", .path.display())]
    Existing { path: PathBuf, why: String },
    #[error("the path of {what} is not UTF-8")]
    NotUtf8 { what: &'static str },
}

/// What one run works on.
struct Run<'a> {
    args: &'a InitArgs,
    working_dir: &'a Path,
    home: PathBuf,
    /// Seawall's own file.
    config: PathBuf,
    files: Vec<HostFile>,
}

pub(crate) fn run(
    args: &InitArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let working_dir = &settings.lookup.working_dir;
    let variable = |name: &str| std::env::var_os(name);
    let world = World::of_process(working_dir, &variable).ok_or(InitError::NoHome);
    let world = world.map_err(UsageError::Init)?;
    let wanted = |host| args.hosts.is_empty() || args.hosts.contains(&host);
    let places = world.places().into_iter();
    let places: Vec<_> = places.filter(|place| wanted(place.host)).collect();
    for place in &places {
        let path = place.path.display();
        printer.detail(&format!("looked for {}: {path}", place.host.name()));
    }
    let run = Run {
        args,
        working_dir,
        home: world.home.clone(),
        config: config_path(settings).map_err(UsageError::Init)?,
        files: places.into_iter().filter_map(HostFile::read).collect(),
    };
    if args.unwire {
        return Ok(run.unwire(printer));
    }
    run.gather(printer)
}

/// The file to write: the one that a flag or a variable names, else the one in the configuration folder.
fn config_path(settings: &Settings) -> Result<PathBuf, InitError> {
    let lookup = &settings.lookup;
    let variable = lookup.variable.as_ref().filter(|path| !path.is_empty());
    let named = lookup.flag.clone().or_else(|| variable.map(PathBuf::from));
    let path = match named {
        Some(path) => path,
        None => {
            let folder = lookup.config_dir.as_ref();
            let folder = folder.ok_or(InitError::NoConfigFolder)?;
            folder.join(seawall::config::CONFIG_FILE)
        }
    };
    Ok(std::path::absolute(&path).unwrap_or(path))
}

impl Run<'_> {
    fn gather(&self, printer: &mut Printer) -> Result<Status, Failure> {
        self.refuse_hosts_own().map_err(UsageError::Init)?;
        let unusable = |why| InitError::Existing {
            path: self.config.clone(),
            why,
        };
        let existing = self
            .existing()
            .map_err(unusable)
            .map_err(UsageError::Init)?;
        let scope = Scope {
            project: self.args.project,
        };
        let plan = Plan::of(&self.files, &existing, self.working_dir, scope);
        let text = existing.with(&plan).map_err(unusable);
        let text = text.map_err(UsageError::Init)?;
        let variables = document::variables_of(&text, &self.config, self.working_dir);
        let variables = variables.map_err(UsageError::Configuration)?;
        self.tell(&plan, printer);
        let is_new = existing.text.as_ref() != Some(&text);
        if existing.text.is_some() && is_new && !self.args.force {
            return Err(UsageError::from(InitError::Exists {
                path: self.config.clone(),
                many: plan.new.len(),
            })
            .into());
        }
        let has_servers = existing.text.is_some() || !plan.new.is_empty();
        let state = match (has_servers, is_new, self.args.dry_run) {
            (false, ..) => "not_there",
            (true, false, _) => "unchanged",
            (true, true, true) => "would_be_written",
            (true, true, false) => {
                files::write_private(&self.config, &text).map_err(|source| {
                    Failure::OutputFile {
                        path: self.config.clone(),
                        source,
                    }
                })?;
                "written"
            }
        };
        self.tell_config(state, plan.new.len(), printer);
        let mut files = Vec::new();
        let mut status = Status::Done;
        if self.args.wire && has_servers {
            let gateway = self.gateway(variables).map_err(UsageError::Init)?;
            for (at, file) in self.files.iter().enumerate() {
                files.push(self.wire(at, file, &plan.rows, &gateway, printer));
            }
            if files.iter().any(|file| file.state == "refused") {
                status = Status::Usage;
            }
        } else {
            files.extend(self.files.iter().map(read_file));
        }
        self.report(state, files, &plan.rows, printer);
        Ok(status)
    }

    /// Refuses to write over what an agent reads.
    fn refuse_hosts_own(&self) -> Result<(), InitError> {
        let real = self.config.canonicalize();
        let own = |file: &&HostFile| {
            file.place.path == self.config || real.as_ref().is_ok_and(|real| *real == file.real)
        };
        match self.files.iter().find(own) {
            Some(file) => Err(InitError::HostsOwn {
                path: self.config.clone(),
                host: file.place.host.name(),
            }),
            None => Ok(()),
        }
    }

    fn existing(&self) -> Result<Existing, String> {
        match self.config.try_exists() {
            Ok(false) => Ok(Existing::default()),
            _ => Existing::of(source::read_text(&self.config)?),
        }
    }

    fn tell(&self, plan: &Plan, printer: &mut Printer) {
        for file in &self.files {
            if let Err(why) = &file.text {
                let path = short(&file.place.path, &self.home);
                printer.warning(&format!("{path} ({}): {why}", file.place.host.name()));
            }
        }
        if printer.is_json() {
            return;
        }
        if plan.rows.is_empty() {
            printer.hint(
                "no servers of Claude Code, Claude Desktop, Cursor, VS Code or Codex were found; -v says where they were looked for",
            );
        } else {
            show::table(&plan.rows, &self.home, printer);
        }
    }

    fn tell_config(&self, state: &str, added: usize, printer: &mut Printer) {
        let path = short(&self.config, &self.home);
        let many = match added {
            1 => "1 server".to_owned(),
            many => format!("{many} servers"),
        };
        match state {
            "written" => printer.talk(&format!(
                "{path}: {many} added; its owner alone can read it"
            )),
            "would_be_written" => printer.talk(&format!("{path}: {many} would be added")),
            "unchanged" => printer.talk(&format!("{path}: has all of them")),
            _ => {}
        }
    }

    fn gateway(&self, variables: Vec<String>) -> Result<Gateway, InitError> {
        let utf8 = |path: &Path, what| {
            let path = path.to_str().ok_or(InitError::NotUtf8 { what })?;
            Ok(path.to_owned())
        };
        Ok(Gateway {
            program: utf8(&program(), "this program")?,
            config: utf8(&self.config, "the configuration")?,
            variables,
        })
    }

    fn wire(
        &self,
        at: usize,
        file: &HostFile,
        rows: &[Row],
        gateway: &Gateway,
        printer: &mut Printer,
    ) -> File {
        let path = short(&file.place.path, &self.home);
        let who = file.place.host.name();
        let mut shown = read_file(file);
        if file.place.project.is_some() && !self.args.project {
            return shown;
        }
        let served: Vec<(&Section, &str)> = rows
            .iter()
            .filter(|row| row.file == at && row.is_served())
            .map(|row| (&row.section, row.id.as_str()))
            .collect();
        let refused = |shown: &mut File, why: String, printer: &mut Printer| {
            printer.error(&format!("{path} is left as it is: {why}"));
            shown.state = "refused";
            shown.reason = Some(why);
        };
        match wire::wire(file, &served, gateway) {
            Wiring::Done => {
                printer.talk(&format!("{path}: {who} starts the gateway already"));
                shown.state = "wired_already";
            }
            Wiring::Change { .. } if self.args.dry_run => {
                printer.talk(&format!("{path}: {who} would start the gateway"));
                shown.state = "would_be_wired";
            }
            Wiring::Change { text } => match wire::apply(file, &text) {
                Ok(backup) => {
                    let kept = short(&backup, &self.home);
                    printer.talk(&format!(
                        "{path}: {who} starts the gateway from its next start on; what it was is in {kept}"
                    ));
                    shown.state = "wired";
                    shown.backup = Some(backup);
                }
                Err(why) => refused(&mut shown, why, printer),
            },
            Wiring::Refused { why } => refused(&mut shown, why, printer),
        }
        let is_deaf = file.place.host == HostApp::ClaudeDesktop && !gateway.variables.is_empty();
        if is_deaf && shown.state != "refused" {
            printer.warning(&format!(
                "{who} hands no variables on, and servers take something from {}: write the values into {}, or start {who} where the variables are set",
                gateway.variables.join(", "),
                short(&self.config, &self.home)
            ));
        }
        shown
    }

    fn unwire(&self, printer: &mut Printer) -> Status {
        let mut status = Status::Done;
        let mut files = Vec::new();
        for file in &self.files {
            let path = short(&file.place.path, &self.home);
            let mut shown = read_file(file);
            let (state, would, said, text, spent) = match wire::unwire(file) {
                Unwiring::Untouched => {
                    shown.state = "not_wired";
                    files.push(shown);
                    continue;
                }
                Unwiring::Refused { why } => {
                    printer.error(&format!("{path} is left as it is: {why}"));
                    status = Status::Usage;
                    shown.state = "refused";
                    shown.reason = Some(why);
                    files.push(shown);
                    continue;
                }
                Unwiring::Back { text, spent } => (
                    "restored",
                    "would_be_restored",
                    "is what it was before",
                    text,
                    spent,
                ),
                Unwiring::Merged { text, spent } => (
                    "merged",
                    "would_be_merged",
                    "was changed since: its servers are put back into it, the gateway is taken out",
                    text,
                    spent,
                ),
            };
            if self.args.dry_run {
                printer.talk(&format!("{path}: {would}").replace('_', " "));
                shown.state = would;
            } else if let Err(why) = wire::take_back(file, &text, &spent) {
                printer.error(&format!("{path} is left as it is: {why}"));
                status = Status::Usage;
                shown.state = "refused";
                shown.reason = Some(why);
            } else {
                printer.talk(&format!("{path} {said}"));
                shown.state = state;
            }
            files.push(shown);
        }
        if !files.iter().any(|file| file.state != "not_wired") {
            printer.hint("no agent's file has the gateway in it");
        }
        let state = match self.config.try_exists() {
            Ok(false) => "not_there",
            _ => "unchanged",
        };
        let is_back = files
            .iter()
            .any(|file| matches!(file.state, "restored" | "merged"));
        if is_back && state == "unchanged" {
            let config = short(&self.config, &self.home);
            printer.hint(&format!(
                "{config} is kept, with whatever secrets were gathered into it; remove it if you do not want it"
            ));
        }
        self.report(state, files, &[], printer);
        status
    }

    fn report(&self, state: &'static str, files: Vec<File>, rows: &[Row], printer: &mut Printer) {
        if printer.is_json() {
            printer.json(&Report {
                dry_run: self.args.dry_run,
                config: Config {
                    path: self.config.clone(),
                    state,
                },
                files,
                servers: rows.iter().map(Server::of).collect(),
            });
        } else if !self.args.wire && !self.args.unwire && state != "not_there" {
            printer.hint("`seawall init --wire` has the agents start the gateway in their stead; `seawall doctor` says how the servers are");
        }
    }
}

fn read_file(file: &HostFile) -> File {
    File {
        host: file.place.host,
        path: file.place.path.clone(),
        state: match file.text {
            Ok(_) => "read",
            Err(_) => "unreadable",
        },
        backup: None,
        reason: file.text.as_ref().err().cloned(),
    }
}

/// This program, under the name by which the user's shell finds it: that one stays when a new version is installed.
fn program() -> PathBuf {
    let name = format!("seawall{}", std::env::consts::EXE_SUFFIX);
    let Ok(this) = std::env::current_exe() else {
        return PathBuf::from(name);
    };
    let real = this.canonicalize().ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .find(|candidate| real.is_some() && candidate.canonicalize().ok() == real);
    found.unwrap_or(this)
}

//! What the figures were measured on: its kind, never its name.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::plan::Effort;

/// The kind of machine, and how it was used.
pub(crate) struct Machine {
    cpu: String,
    cores: usize,
    kernel: String,
    rustc: String,
    repetitions: usize,
}

impl Machine {
    /// The line that stands before tables.
    pub(super) fn line(&self) -> String {
        let Self {
            cpu,
            cores,
            kernel,
            rustc,
            repetitions,
        } = self;
        format!(
            "{cores} cores of {cpu}, Linux {kernel}, {rustc}, rmcp 3.11.0. Medians of {repetitions} repetitions, least and most of\n\
             them in brackets; a ratio is the median of the repetitions' own ratios.\n"
        )
    }

    pub(crate) fn look(effort: &Effort) -> Self {
        let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let models: BTreeSet<&str> = cpus
            .lines()
            .filter_map(|line| line.strip_prefix("model name"))
            .map(|line| line.trim_start_matches([' ', '\t', ':']))
            .collect();
        let models: Vec<&str> = models.into_iter().collect();
        Self {
            cpu: models.join(", "),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            kernel: kernel(),
            rustc: rustc(),
            repetitions: effort.repetitions,
        }
    }
}

/// `6.18.44`, without what a distribution appends.
fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = release.trim().split('-').next();
    version.unwrap_or_default().to_owned()
}

/// `rustc 1.95.0`, without the rest.
fn rustc() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let text = output.map_or_else(|_| Vec::new(), |output| output.stdout);
    let text = String::from_utf8_lossy(&text);
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    words.join(" ")
}

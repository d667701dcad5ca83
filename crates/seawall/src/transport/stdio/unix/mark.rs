//! The mark of a launch: a variable that whatever the child starts inherits, however far it goes from its parents (T1).
//!
//! It is no secret and proves nothing: it finds what a server left behind, and is never a reason to trust anybody.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;

/// The variable. It holds the marks of a launch and of the launches that this host itself descends from.
pub(super) const VARIABLE: &str = "SEAWALL_LAUNCH";

/// Longer values of the host's own variable are not passed on.
const MAX_INHERITED_BYTES: usize = 1024;

/// The kernel takes no larger environment (three quarters of 8 MiB for it and the arguments).
const MAX_ENVIRONMENT_BYTES: u64 = 6 * 1024 * 1024;

/// Of a launch in its mark.
const LAUNCH_DIGITS: usize = 16;

/// 32 hexadecimal digits of this host process, then 16 of the launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    /// The mark of this process's launch of that number.
    pub(super) fn new(token: u64) -> Self {
        Self(format!("{}{token:016x}", host()))
    }

    /// The variable's value for the child, where `inherited` is the host's own: a host that is itself the server of a
    /// host passes on the marks it was started with, so that each of them finds what is its own.
    pub(super) fn value(&self, inherited: Option<&OsStr>) -> OsString {
        let outer = inherited
            .and_then(OsStr::to_str)
            .filter(|marks| !marks.is_empty() && marks.len() <= MAX_INHERITED_BYTES)
            .filter(|marks| {
                marks
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b','))
            });
        match outer {
            Some(outer) => format!("{outer},{}", self.0).into(),
            None => OsString::from(&self.0),
        }
    }
}

/// The launches of this host whose marks a process carries. None as well where the system does not show us its environment.
pub(super) fn launches_of(pid: i32) -> Vec<u64> {
    let shown = environment(Path::new(&format!("/proc/{pid}")));
    if !shown.is_empty() {
        return launches_in(&shown);
    }
    // One whose first thread ended shows it by the others alone.
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"));
    threads
        .into_iter()
        .flatten()
        .flatten()
        .map(|thread| environment(&thread.path()))
        .find(|shown| !shown.is_empty())
        .map_or_else(Vec::new, |shown| launches_in(&shown))
}

fn environment(process: &Path) -> Vec<u8> {
    let mut environment = Vec::new();
    // An error half way leaves what was read.
    if let Ok(file) = std::fs::File::open(process.join("environ")) {
        file.take(MAX_ENVIRONMENT_BYTES)
            .read_to_end(&mut environment)
            .ok();
    }
    environment
}

fn launches_in(environment: &[u8]) -> Vec<u64> {
    let host = host().as_bytes();
    memchr::memmem::find_iter(environment, host)
        .filter_map(|at| {
            let digits = environment.get(at + host.len()..)?.get(..LAUNCH_DIGITS)?;
            let digits = std::str::from_utf8(digits).ok()?;
            // It would take a sign too.
            let plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            plain.then(|| u64::from_str_radix(digits, 16).ok())?
        })
        .collect()
}

/// What the marks of all this process's launches begin with.
pub(super) fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        // Keyed by the system's random bytes, each time with other keys.
        let random = || RandomState::new().build_hasher().finish();
        format!("{:016x}{:016x}", random(), random())
    })
}

#[cfg(test)]
mod tests;

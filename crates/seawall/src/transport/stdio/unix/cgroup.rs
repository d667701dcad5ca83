//! A control group for each launch, where the system lets us make one: whoever is in it ends by one write, however fast it
//! forks and wherever its parents went (T1).
//!
//! That is so where the host's own group is its to divide: where systemd delegated it, or no systemd runs. Elsewhere a launch
//! goes without, and its tree is known by [`others`](super::others) alone.
//!
//! Source: the kernel's `admin-guide/cgroup-v2`, "Core Interface Files" and "Delegation"; systemd's "Control Group APIs and
//! Delegation".

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use super::mark;

/// What the names of all of them begin with; then the host's mark, and the launch's number.
const PREFIX: &str = "seawall-";
/// So many groups are removed at most that a server made in its own: each takes the system some 0.2 ms.
const MAX_REMOVED: usize = 1_000;
/// A group that is younger may be one that its launch has yet to enter.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);
/// Where this is, systemd manages the groups.
const SYSTEMD: &str = "/run/systemd/system";

/// The group of one launch. Dropping it removes it, if nobody is in it.
#[derive(Debug)]
pub(super) struct Cgroup {
    path: PathBuf,
    procs: Arc<File>,
}

impl Cgroup {
    /// A new one, beside those of the host's other launches.
    pub(super) fn new(launch: u64) -> Option<Self> {
        static FIRST: Once = Once::new();
        let (parent, _) = place()?;
        FIRST.call_once(|| remove_forgotten(&parent));
        Self::within(&parent, launch)
    }

    pub(super) fn within(parent: &Path, launch: u64) -> Option<Self> {
        let path = parent.join(format!("{PREFIX}{}-{launch:x}", mark::host()));
        fs::create_dir(&path).ok()?;
        let open = |file| OpenOptions::new().write(true).open(path.join(file));
        match (open("cgroup.procs"), open("cgroup.kill")) {
            (Ok(procs), Ok(_)) => Some(Self {
                procs: Arc::new(procs),
                path,
            }),
            // A kernel before 5.14, or a group of threads.
            _ => {
                remove(&path);
                None
            }
        }
    }

    /// Where a child writes `0` to go in.
    pub(super) fn entrance(&self) -> Arc<File> {
        Arc::clone(&self.procs)
    }

    /// Whether anybody lives in it; a zombie does not. `None` where that cannot be told.
    pub(super) fn is_populated(&self) -> Option<bool> {
        let events = fs::read_to_string(self.path.join("cgroup.events")).ok()?;
        let populated = events
            .lines()
            .find_map(|line| line.strip_prefix("populated "))?;
        Some(populated != "0")
    }

    /// Kills everybody in it, at once.
    pub(super) fn kill(&self) {
        // Whether it reached anybody shows in the next look.
        fs::write(self.path.join("cgroup.kill"), "1").ok();
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// The directory that the groups of this host's launches are made in, and what their names begin with.
pub(super) fn place() -> Option<(PathBuf, String)> {
    // The tests' launches go without unless they ask, so that the other ways of knowing a tree are tested too.
    #[cfg(test)]
    std::env::var_os(super::tests::cgroup::ASKED)?;
    Some((divisible()?, format!("{PREFIX}{}-", mark::host())))
}

/// The host's own group, if it is the host's to divide.
pub(super) fn divisible() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let path = own(&groups, &mounts)?;
    // A table of another namespace names another's.
    let members = fs::read_to_string(path.join("cgroup.procs")).ok()?;
    let myself = std::process::id().to_string();
    let is_ours = members.lines().any(|member| member == myself);
    (is_ours && is_delegated(&path)).then_some(path)
}

/// The path of the group that these tables say this process is in.
fn own(groups: &str, mounts: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // `ID PARENT DEVICE ROOT POINT OPTIONS … - TYPE SOURCE OPTIONS`
    let point = mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        // A part of the tree is mounted, or its place has a blank in it, which is written otherwise.
        let plain = root == "/" && !point.contains('\\');
        (kind.starts_with("cgroup2 ") && plain).then_some(point)
    })?;
    let climbs = group.split('/').any(|part| part == "..");
    (!climbs).then(|| Path::new(point).join(group))
}

/// Whether whoever manages the groups leaves this one's inside to us.
fn is_delegated(path: &Path) -> bool {
    let of_a_host = path
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with(PREFIX));
    of_a_host
        || !Path::new(SYSTEMD).exists()
        || ["user.delegate", "trusted.delegate"]
            .into_iter()
            .any(|name| {
                let mut value = [0_u8; 4];
                let length = rustix::fs::getxattr(path, name, &mut value);
                length.ok().and_then(|length| value.get(..length)) == Some(b"1")
            })
}

/// Removes a group, and those in it, however deep. What is more than [`MAX_REMOVED`] is left to the watchdog.
fn remove(path: &Path) {
    let mut left = MAX_REMOVED;
    let mut waiting = vec![path.to_owned()];
    while let Some(next) = waiting.last() {
        let Err(error) = fs::remove_dir(next) else {
            waiting.pop();
            continue;
        };
        let inside: Vec<PathBuf> = fs::read_dir(next)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .take(left)
            .collect();
        if inside.is_empty() {
            if error.kind() != ErrorKind::NotFound {
                tracing::debug!(%error, "a control group was left behind");
            }
            return;
        }
        left -= inside.len();
        waiting.extend(inside);
    }
}

/// Removes what hosts left that were killed together with their watchdogs: old groups that nobody is in.
pub(super) fn remove_forgotten(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_old = || {
            let made = entry.metadata().and_then(|group| group.modified());
            made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > FORGOTTEN_AFTER))
        };
        if name.to_str().is_some_and(|name| name.starts_with(PREFIX)) && is_old() {
            // One that somebody is in stays. That of a host that lives is no loss once nobody is in it.
            fs::remove_dir(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests;

//! Finds the built servers from any crate's test.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::SystemTime;

const SCRIPTED: &str = "scripted-server";
const EVERYTHING: &str = "everything-server";
/// Where the code of each stands, from this crate's folder.
const SCRIPTED_SOURCES: [&str; 1] = ["src"];
const EVERYTHING_SOURCES: [&str; 3] = ["src", "../seawall-gateway/src", "../seawall-proto/src"];

/// The path of the built `scripted-server`, beside the running test in `target/<profile>/`.
///
/// If it is missing or older than its sources, it is built once, with the same profile.
///
/// # Panics
/// If it cannot be built: a test cannot go on without its server.
#[must_use]
#[expect(clippy::panic, reason = "a test cannot go on without its server")]
pub fn server_path() -> &'static Path {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match FOUND.get_or_init(|| find_or_build(SCRIPTED, &SCRIPTED_SOURCES)) {
        Ok(path) => path,
        Err(reason) => panic!("no {SCRIPTED}: {reason}"),
    }
}

/// The path of the built `everything-server`, as [`server_path`].
///
/// # Panics
/// If it cannot be built: a test cannot go on without its server.
#[must_use]
#[expect(clippy::panic, reason = "a test cannot go on without its server")]
pub fn everything_path() -> &'static Path {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match FOUND.get_or_init(|| find_or_build(EVERYTHING, &EVERYTHING_SOURCES)) {
        Ok(path) => path,
        Err(reason) => panic!("no {EVERYTHING}: {reason}"),
    }
}

fn find_or_build(name: &str, sources: &[&str]) -> Result<PathBuf, String> {
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let profile_dir = exe
        .ancestors()
        .skip(1)
        .find(|dir| !dir.ends_with("deps") && !dir.ends_with("examples"))
        .ok_or("the running test has no folder")?;
    let path = profile_dir.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if is_fresh(&path, sources) {
        return Ok(path);
    }
    build(name, profile_dir)
}

fn build(name: &str, profile_dir: &Path) -> Result<PathBuf, String> {
    let target = target_dir(profile_dir);
    // A documentation test runs from a folder of its own, which tells no profile.
    let profile = match profile_dir.file_name().and_then(|name| name.to_str()) {
        Some(name) if target.is_some() && name != "debug" => name,
        _ => "dev",
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "-p",
            "seawall-testkit",
            "--bins",
            "--message-format=json",
            "--profile",
            profile,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .envs(target)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo build ended with {}", output.status));
    }
    output
        .stdout
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok())
        .filter_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
        .find(|path| path.file_stem().is_some_and(|stem| stem == name))
        .ok_or_else(|| "cargo built no such program".to_owned())
}

/// The target folder of the running test, unless the test was built for a named platform (one folder deeper).
fn target_dir(profile_dir: &Path) -> Option<(&'static str, &Path)> {
    let parent = profile_dir.parent()?;
    parent
        .join(".rustc_info.json")
        .exists()
        .then_some(("CARGO_TARGET_DIR", parent))
}

/// Whether the program exists and no source of it is newer.
fn is_fresh(path: &Path, sources: &[&str]) -> bool {
    let Some(built) = modified(path) else {
        return false;
    };
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = sources
        .iter()
        .filter_map(|source| newest(&home.join(source)));
    sources.max().is_none_or(|source| source <= built)
}

fn newest(dir: &Path) -> Option<SystemTime> {
    std::fs::read_dir(dir)
        .ok()?
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            if path.is_dir() {
                newest(&path)
            } else {
                modified(&path)
            }
        })
        .max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata()
        .and_then(|metadata| metadata.modified())
        .ok()
}

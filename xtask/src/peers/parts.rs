//! The parts, and how each is built.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::PeersError;
use super::install::{Part, finish, part};

const NODE: &str = "install Node.js 20 or newer; the servers from npm run on it";
const NPM: &str = "install npm, which comes with Node.js";
const PYTHON: &str = "install Python 3.11 or newer; the servers from PyPI run on it";
const VENV: &str = "install Python's venv and pip (on Debian: the package python3-venv)";
const CARGO: &str = "install Rust";
const GIT: &str = "install git; one of the servers works on a repository";

/// The name of a program, as the platform has it.
pub(super) const PYTHON_PROGRAM: &str = if cfg!(windows) { "python" } else { "python3" };
const NPM_PROGRAM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// Where a virtual environment keeps its interpreter.
pub(super) const VENV_PYTHON: &str = if cfg!(windows) {
    "Scripts/python.exe"
} else {
    "bin/python"
};

/// Checks that Node.js is there and new enough.
pub(super) fn node() -> Result<(), PeersError> {
    let version = finish(Command::new("node").arg("--version"), "node", NODE)?;
    let major = version
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok());
    if major.is_some_and(|major| major < 20) {
        return Err(PeersError::TooOld {
            program: "node",
            version,
            remedy: NODE,
        });
    }
    Ok(())
}

/// Checks that Python is there and new enough; what tells this Python from another.
pub(super) fn python() -> Result<String, PeersError> {
    let ask = "import sys; print(sys.version_info >= (3, 11), '.'.join(map(str, sys.version_info[:3])), sys.base_prefix)";
    let answer = finish(
        Command::new(PYTHON_PROGRAM).args(["-c", ask]),
        "python3",
        PYTHON,
    )?;
    match answer.split_once(' ') {
        Some(("True", python)) => Ok(python.to_owned()),
        _ => Err(PeersError::TooOld {
            program: "python3",
            version: answer,
            remedy: PYTHON,
        }),
    }
}

/// The servers from npm, and those of ours beside the packages that they stand on.
pub(super) fn npm(peers: &Path, cache: &Path) -> Result<PathBuf, PeersError> {
    const SCRIPTS: [&str; 3] = ["http.mjs", "sdk1_server.mjs", "sdk2_server.mjs"];
    npm_packages("npm", "npm packages", &SCRIPTS, peers, cache)
}

/// The clients from npm, and what each of them does.
pub(super) fn clients(peers: &Path, cache: &Path) -> Result<PathBuf, PeersError> {
    const SCRIPTS: [&str; 4] = ["story.mjs", "sdk1.mjs", "sdk2.mjs", "story.py"];
    npm_packages("clients", "clients from npm", &SCRIPTS, peers, cache)
}

/// The gateway from npm that is measured, and what makes it and FastMCP's run.
pub(super) fn gateways(peers: &Path, cache: &Path) -> Result<PathBuf, PeersError> {
    const SCRIPTS: [&str; 2] = ["loopback.mjs", "proxy_fastmcp.py"];
    npm_packages("gateways", "a gateway from npm", &SCRIPTS, peers, cache)
}

/// The official conformance suite, and the Node.js that it runs on.
pub(super) fn conformance(peers: &Path, cache: &Path) -> Result<PathBuf, PeersError> {
    npm_packages("conformance", "the conformance suite", &[], peers, cache)
}

/// Exactly what the lock in `peers/<name>` names, none of whose scripts run, and the scripts of ours that lie there.
fn npm_packages(
    name: &'static str,
    title: &'static str,
    scripts: &[&str],
    peers: &Path,
    cache: &Path,
) -> Result<PathBuf, PeersError> {
    let files = [&["package.json", "package-lock.json", ".npmrc"], scripts].concat();
    let from = peers.join(name);
    let inputs = files
        .iter()
        .map(|name| read(&from.join(name)))
        .collect::<Result<Vec<_>, _>>()?;
    let build = |folder: &Path| {
        for (name, text) in files.iter().zip(&inputs) {
            write(&folder.join(name), text)?;
        }
        let mut command = Command::new(NPM_PROGRAM);
        command.current_dir(folder).args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]);
        finish(&mut command, "npm", NPM).map(drop)
    };
    part(
        cache,
        &Part {
            name,
            title,
            inputs: inputs.clone(),
            build: &build,
        },
    )
}

/// A virtual environment with exactly what one of the lists of requirements names, and the scripts beside it.
pub(super) fn python_packages(
    name: &'static str,
    title: &'static str,
    list: &str,
    python: &str,
    peers: &Path,
    cache: &Path,
) -> Result<PathBuf, PeersError> {
    let from = peers
        .join("python")
        .join(format!("requirements-{list}.txt"));
    let inputs = vec![read(&from)?, python.as_bytes().to_vec()];
    let build = |folder: &Path| {
        finish(
            Command::new(PYTHON_PROGRAM)
                .args(["-m", "venv"])
                .arg(folder),
            "python3",
            VENV,
        )?;
        // All is frozen, so nothing is resolved; and wheels only, so nothing of theirs runs before a test starts it.
        let options = [
            "-m",
            "pip",
            "install",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--quiet",
            "--no-input",
            "-r",
        ];
        let mut command = Command::new(folder.join(VENV_PYTHON));
        command
            .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
            .args(options)
            .arg(&from);
        finish(&mut command, "pip", VENV).map(drop)
    };
    part(
        cache,
        &Part {
            name,
            title,
            inputs,
            build: &build,
        },
    )
}

/// The server and the client on the official Rust SDK, built here.
pub(super) fn rmcp(peers: &Path, cache: &Path) -> Result<PathBuf, PeersError> {
    let from = peers.join("rmcp-server");
    let files = [
        "Cargo.toml",
        "Cargo.lock",
        "src/main.rs",
        "src/six.rs",
        "src/client.rs",
    ];
    let inputs = files
        .iter()
        .map(|name| read(&from.join(name)))
        .collect::<Result<Vec<_>, _>>()?;
    let build = |folder: &Path| {
        let target = folder.join("target");
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .current_dir(&from)
            .args(["build", "--locked", "--quiet", "--target-dir"])
            .arg(&target);
        finish(command.env_remove("CARGO_BUILD_TARGET"), "cargo", CARGO)?;
        for program in [rmcp_program(), rmcp_client()] {
            let built = target.join("debug").join(&program);
            std::fs::rename(&built, folder.join(&program)).map_err(PeersError::file(&built))?;
        }
        std::fs::remove_dir_all(&target).map_err(PeersError::file(&target))
    };
    part(
        cache,
        &Part {
            name: "rmcp",
            title: "the server and the client on rmcp",
            inputs,
            build: &build,
        },
    )
}

/// The file name of the server on rmcp.
pub(super) fn rmcp_program() -> String {
    format!("rmcp-server{}", std::env::consts::EXE_SUFFIX)
}

/// The file name of the client on rmcp.
pub(super) fn rmcp_client() -> String {
    format!("rmcp-client{}", std::env::consts::EXE_SUFFIX)
}

/// The scripts in `peers/python`.
const SCRIPTS: [&str; 5] = [
    "fastmcp_three.py",
    "sdk_server.py",
    "six_fastmcp.py",
    "guarded_fastmcp.py",
    "six_sdk.py",
];

/// The Python scripts, and for the servers that work on such a folder with a file and a git repository with a commit.
///
/// Copies, so that the list of peers holds when this checkout is gone.
pub(super) fn fixtures(peers: &Path, cache: &Path) -> Result<PathBuf, PeersError> {
    let from = peers.join("python");
    let scripts = SCRIPTS
        .iter()
        .map(|name| read(&from.join(name)))
        .collect::<Result<Vec<_>, _>>()?;
    let build = |folder: &Path| {
        for (name, text) in SCRIPTS.iter().zip(&scripts) {
            write(&folder.join(name), text)?;
        }
        let (files, repository) = (folder.join("files"), folder.join("repository"));
        std::fs::create_dir(&files).map_err(PeersError::file(&files))?;
        write(&files.join("hello.txt"), b"hello\n")?;
        std::fs::create_dir(&repository).map_err(PeersError::file(&repository))?;
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.current_dir(&repository).args([
                "-c",
                "user.name=Peer",
                "-c",
                "user.email=peer@localhost",
            ]);
            finish(
                command.args(["-c", "commit.gpgsign=false"]).args(arguments),
                "git",
                GIT,
            )
            .map(drop)
        };
        git(&["init", "--quiet"])?;
        git(&["commit", "--quiet", "--allow-empty", "--message", "first"])
    };
    part(
        cache,
        &Part {
            name: "fixtures",
            title: "scripts, a folder and a repository",
            inputs: scripts.clone(),
            build: &build,
        },
    )
}

fn read(path: &Path) -> Result<Vec<u8>, PeersError> {
    std::fs::read(path).map_err(PeersError::file(path))
}

fn write(path: &Path, text: &[u8]) -> Result<(), PeersError> {
    std::fs::write(path, text).map_err(PeersError::file(path))
}

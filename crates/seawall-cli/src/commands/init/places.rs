//! Which hosts there are, and where each keeps its servers on each platform.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HostApp {
    /// Claude Code: `~/.claude.json` with its projects, `.mcp.json`
    ClaudeCode,
    /// Claude Desktop: `claude_desktop_config.json`
    ClaudeDesktop,
    /// Cursor: `~/.cursor/mcp.json`, `.cursor/mcp.json`
    Cursor,
    /// VS Code: `mcp.json` of the user and of its profiles, `.vscode/mcp.json`
    #[value(name = "vscode")]
    #[serde(rename = "vscode")]
    VsCode,
    /// Codex: `~/.codex/config.toml`, `.codex/config.toml`
    Codex,
}

impl HostApp {
    /// Its name, for people.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
        }
    }

    /// What is added to the id of a server that another host has under the same id.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
        }
    }

    /// The key of the map of servers in its files.
    pub(super) const fn map_key(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor => "mcpServers",
            Self::VsCode => "servers",
            Self::Codex => "mcp_servers",
        }
    }
}

/// A file that a host reads, if it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) host: HostApp,
    pub(super) path: PathBuf,
    /// The folder whose own file it is; others may have written it.
    pub(super) project: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Platform {
    Linux,
    MacOs,
    Windows,
}

impl Platform {
    const fn this() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

/// What the places depend on.
pub(super) struct World<'a> {
    pub(super) platform: Platform,
    pub(super) home: PathBuf,
    pub(super) working_dir: PathBuf,
    pub(super) variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl<'a> World<'a> {
    /// This process's; `None` where nobody has a home.
    pub(super) fn of_process(
        working_dir: &Path,
        variable: &'a dyn Fn(&str) -> Option<OsString>,
    ) -> Option<Self> {
        Some(Self {
            platform: Platform::this(),
            home: etcetera::home_dir().ok()?,
            working_dir: working_dir.to_path_buf(),
            variable,
        })
    }

    fn folder(&self, variable: &str) -> Option<PathBuf> {
        let value = (self.variable)(variable).filter(|value| !value.is_empty())?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    }

    /// Where programs keep what a user set up in them.
    fn application_data(&self) -> PathBuf {
        match self.platform {
            Platform::Linux => self
                .folder("XDG_CONFIG_HOME")
                .unwrap_or_else(|| self.home.join(".config")),
            Platform::MacOs => self.home.join("Library/Application Support"),
            Platform::Windows => self
                .folder("APPDATA")
                .unwrap_or_else(|| self.home.join("AppData").join("Roaming")),
        }
    }

    /// Every file that a host of this user may have, and those of the working directory; whether they are there or not.
    pub(super) fn places(&self) -> Vec<Place> {
        let data = self.application_data();
        let mut places = Vec::new();
        let mut own = |host, path| {
            places.push(Place {
                host,
                path,
                project: None,
            });
        };
        let claude = self.folder("CLAUDE_CONFIG_DIR");
        own(
            HostApp::ClaudeCode,
            claude
                .unwrap_or_else(|| self.home.clone())
                .join(".claude.json"),
        );
        let desktop = "claude_desktop_config.json";
        own(HostApp::ClaudeDesktop, data.join("Claude").join(desktop));
        if self.platform == Platform::Windows {
            // The store's edition sees its own copy of that folder.
            let local = self.folder("LOCALAPPDATA");
            let local = local.unwrap_or_else(|| self.home.join("AppData").join("Local"));
            let package = local.join("Packages").join("Claude_pzs8sxrjxfjjc");
            let folder = package.join("LocalCache").join("Roaming").join("Claude");
            own(HostApp::ClaudeDesktop, folder.join(desktop));
        }
        own(HostApp::Cursor, self.home.join(".cursor").join("mcp.json"));
        for edition in ["Code", "Code - Insiders"] {
            let user = data.join(edition).join("User");
            own(HostApp::VsCode, user.join("mcp.json"));
            for profile in folders_of(&user.join("profiles")) {
                own(HostApp::VsCode, profile.join("mcp.json"));
            }
        }
        let codex = self.folder("CODEX_HOME");
        let codex = codex.unwrap_or_else(|| self.home.join(".codex"));
        own(HostApp::Codex, codex.join("config.toml"));
        let here = &self.working_dir;
        let theirs = [
            (HostApp::ClaudeCode, here.join(".mcp.json")),
            (HostApp::Cursor, here.join(".cursor").join("mcp.json")),
            (HostApp::VsCode, here.join(".vscode").join("mcp.json")),
            (HostApp::Codex, here.join(".codex").join("config.toml")),
        ];
        for (host, path) in theirs {
            // In the home these are the user's own.
            if !places.iter().any(|place| place.path == path) {
                places.push(Place {
                    host,
                    path,
                    project: Some(here.clone()),
                });
            }
        }
        places
    }
}

/// The folders in a folder, by name; none if it cannot be read.
fn folders_of(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests;

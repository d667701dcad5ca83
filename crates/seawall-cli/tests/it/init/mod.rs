//! `seawall init`, in homes made for it.

mod gathering;
mod wiring;
mod writing;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Ran, seawall};

/// A user's home, a working directory in it, and nothing of the machine's own.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(home.path().join("work")).expect("a folder");
        Self(home)
    }

    fn path(&self, path: &str) -> PathBuf {
        // The system's temporary folder may be a link.
        let home = self.0.path().canonicalize().expect("it is there");
        home.join(path)
    }

    fn put(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(&path, text).expect("the file is written");
        path
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).expect("it is there")
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.text(path)).expect("JSON")
    }

    fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = seawall(&["init"]);
        command
            .args(args)
            .current_dir(self.path("work"))
            .env("HOME", self.path(""))
            .env("XDG_CONFIG_HOME", self.path(".config"))
            .env_remove("CODEX_HOME")
            .env_remove("CLAUDE_CONFIG_DIR")
            .envs(variables.iter().copied());
        command.output().expect("the binary runs").into()
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    /// Everything that is in it: paths and contents.
    fn everything(&self) -> Vec<(PathBuf, String)> {
        fn walk(folder: &Path, all: &mut Vec<(PathBuf, String)>) {
            for entry in std::fs::read_dir(folder).expect("readable").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    walk(&path, all);
                } else {
                    let text = std::fs::read_to_string(&path).expect("text");
                    all.push((path, text));
                }
            }
        }
        let mut all = Vec::new();
        walk(&self.path(""), &mut all);
        all.sort();
        all
    }
}

/// The configuration, where nothing names another.
const CONFIG: &str = ".config/seawall/seawall.json";

/// One host of each kind, with a server each.
fn full_home() -> Home {
    let home = Home::new();
    home.put(
        ".claude.json",
        &r#"{
  "numStartups": 12,
  "mcpServers": {
    "github": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_0123456789abcdefghij"}
    }
  },
  "projects": {
    "HOME/work": {"allowedTools": [], "mcpServers": {"files": {"type": "stdio", "command": "files", "args": ["."], "env": {}}}},
    "HOME/gone": {"mcpServers": {"old": {"command": "old"}}}
  }
}
"#
        .replace("HOME", home.path("").to_str().expect("UTF-8").trim_end_matches('/')),
    );
    home.put(
        ".config/Claude/claude_desktop_config.json",
        r#"{"globalShortcut": "", "mcpServers": {"github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"], "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_9876543210zyxwvutsrq"}}, "time": {"command": "uvx", "args": ["mcp-server-time"]}}}"#,
    );
    home.put(
        ".cursor/mcp.json",
        r#"{
  // Cursor's
  "mcpServers": {
    "time": { "command": "uvx", "args": ["mcp-server-time"] },
    "wiki": { "url": "https://wiki.example/mcp?key=hush", "headers": { "Authorization": "Bearer ${env:WIKI_TOKEN}" } }
  }
}
"#,
    );
    home.put(
        ".config/Code/User/mcp.json",
        r#"{
  "inputs": [{ "type": "promptString", "id": "key", "description": "The key", "password": true }],
  "servers": {
    "io.example/search": { "type": "http", "url": "https://search.example/mcp" },
    "paid": { "type": "stdio", "command": "paid", "env": { "KEY": "${input:key}" } },
  },
}
"#,
    );
    home.put(
        ".codex/config.toml",
        r#"model = "best"

[mcp_servers.tracker]
url = "https://tracker.example/mcp"
bearer_token_env_var = "TRACKER_TOKEN"
tool_timeout_sec = 90
supports_parallel_tool_calls = true

[mcp_servers.sleeping]
command = "zzz"
enabled = false
"#,
    );
    home
}

/// The variables that the full home's servers take something from.
const VARIABLES: [(&str, &str); 2] = [("WIKI_TOKEN", "w-hush"), ("TRACKER_TOKEN", "t-hush")];

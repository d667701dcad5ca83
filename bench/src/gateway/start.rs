//! Starting gateways: which there are, what stands behind each, and when it is ready.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::{BARE, Found, Gateway, SEAWALL};
use crate::plan::{Cell, Sample};
use crate::server::HttpServer;

/// Interpreters take their time.
const PATIENCE: Duration = Duration::from_secs(30);

/// None, Seawall's, and those of others that are installed.
pub(super) fn gateways() -> Result<Vec<Gateway>> {
    let bare = Gateway {
        name: BARE.to_owned(),
        version: String::new(),
        stdio: Vec::new(),
        http: Vec::new(),
    };
    let program = seawall()?;
    let serve = ["serve", "--names", "plain", "--mcp-config", "{config}"];
    let mut stdio = vec![program];
    stdio.extend(serve.map(str::to_owned));
    let mut http = stdio.clone();
    http.extend(["--http", "127.0.0.1:0"].map(str::to_owned));
    let seawall = Gateway {
        name: SEAWALL.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        stdio,
        http,
    };
    let text = fs::read_to_string(cache()?.join("gateways.json"))
        .context("the others are missing: cargo xtask peers --gateways installs them")?;
    let others: Vec<Gateway> = serde_json::from_str(&text)?;
    Ok([bare, seawall].into_iter().chain(others).collect())
}

/// The folder that `cargo xtask peers` fills.
fn cache() -> Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = set("SEAWALL_PEERS") {
        return Ok(folder.into());
    }
    let folder = set("XDG_CACHE_HOME").map(PathBuf::from);
    let own = || Some(PathBuf::from(set("HOME")?).join(".cache"));
    let folder = folder.or_else(own).context("no cache folder: set HOME")?;
    Ok(folder.join("seawall/peers"))
}

/// The program as it is released, built now if it is not.
fn seawall() -> Result<String> {
    if let Ok(program) = std::env::var("SEAWALL_PROGRAM") {
        return Ok(program);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root)
        .args(["build", "--release", "--locked", "--bin", "seawall"])
        .args(["--message-format", "json"])
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "seawall cannot be built");
    let lines = output.stdout.split(|byte| *byte == b'\n');
    let program = lines
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "seawall")
        .find_map(|message| Some(message["executable"].as_str()?.to_owned()));
    program.context("seawall was built, and cargo does not say where")
}

/// A gateway that is up, with what stands behind it. It ends with this value.
pub(super) struct Standing {
    pub(super) child: Child,
    /// Where it listens, if it does.
    pub(super) address: SocketAddr,
    is_bare: bool,
    /// The server that it talks to, if that is no child of its own.
    _behind: Option<HttpServer>,
    config: PathBuf,
}

impl Standing {
    /// One that speaks over stdio, in front of a server behind HTTP; bare, a server over stdio.
    pub(super) fn stdio(gateway: &Gateway, cell: Cell, core: usize, bytes: usize) -> Result<Self> {
        let is_bare = gateway.stdio.is_empty();
        let behind = match is_bare {
            true => None,
            false => Some(HttpServer::start(cell)?),
        };
        let url = behind.as_ref().map(|server| {
            let address = server.address;
            format!("http://{address}/mcp")
        });
        let url = url.unwrap_or_default();
        let config = config(&json!({"url": url}))?;
        let line = match is_bare {
            true => server(core, bytes)?,
            false => filled(&gateway.stdio, &[("{url}", &url)], &[], &config),
        };
        let child = spawn(&line, Stdio::null())?;
        Ok(Self {
            child,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            is_bare,
            _behind: behind,
            config,
        })
    }

    /// One that listens, in front of a program; bare, a server behind HTTP.
    pub(super) fn http(gateway: &Gateway, cell: Cell, core: usize, bytes: usize) -> Result<Self> {
        let behind = server(core, bytes)?;
        let (program, args) = behind.split_first().context("no program")?;
        let config = config(&json!({"command": program, "args": args}))?;
        if gateway.http.is_empty() {
            let server = HttpServer::start(cell)?;
            return Ok(Self {
                child: spawn(&["true".to_owned()], Stdio::null())?,
                address: server.address,
                is_bare: true,
                _behind: Some(server),
                config,
            });
        }
        let port = free_port()?;
        let names = [
            ("{port}", &*port.to_string()),
            ("{line}", &*behind.join(" ")),
        ];
        let takes_port = gateway.http.iter().any(|arg| arg == "{port}");
        let line = filled(&gateway.http, &names, &behind, &config);
        let talks = gateway.name == SEAWALL;
        let stderr = if talks { Stdio::piped() } else { Stdio::null() };
        let child = spawn(&line, stderr)?;
        let mut standing = Self {
            child,
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            is_bare: false,
            _behind: None,
            config,
        };
        match takes_port {
            true => standing.wait_for_port()?,
            false => standing.address = standing.told(talks)?,
        }
        Ok(standing)
    }

    /// The address that it tells.
    fn told(&mut self, talks: bool) -> Result<SocketAddr> {
        let pipe: Box<dyn std::io::Read + Send> = match talks {
            true => Box::new(self.child.stderr.take().context("no stderr")?),
            false => Box::new(self.child.stdout.take().context("no stdout")?),
        };
        let mut lines = BufReader::new(pipe).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("http://")?;
            rest.split('/').next()?.parse().ok()
        });
        // What it says from here on is nobody's, and must not fill its pipe.
        std::thread::spawn(move || lines.for_each(drop));
        address.context("it does not tell where it listens")
    }

    fn wait_for_port(&mut self) -> Result<()> {
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(self.address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended: {status}");
            }
            ensure!(Instant::now() < until, "it does not listen");
            std::thread::yield_now();
        }
        Ok(())
    }

    /// What is resident of the gateway's own process; nothing of none.
    pub(super) fn resident_bytes(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id());
        let text = fs::read_to_string(status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kib = kib.and_then(|kib| kib.trim().parse().ok());
        kib.filter(|_| !self.is_bare).unwrap_or(0_u64) * 1024
    }

    pub(super) fn found(&self, sample: Option<Sample>, bytes_before: u64) -> Result<Found> {
        Ok(Found {
            sample,
            bytes: self.resident_bytes(),
            bytes_before,
        })
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.config);
    }
}

/// The server over stdio: this same program.
fn server(core: usize, bytes: usize) -> Result<Vec<String>> {
    let program = std::env::current_exe()?;
    let program = program.to_str().context("a path that is not UTF-8")?;
    let (core, bytes) = (core.to_string(), bytes.to_string());
    Ok([program, "server", &core, "echo", "--bytes", &bytes]
        .map(str::to_owned)
        .to_vec())
}

/// A configuration of Seawall's with one server.
fn config(entry: &serde_json::Value) -> Result<PathBuf> {
    let path = std::env::temp_dir().join(format!("seawall-bench-{}.json", std::process::id()));
    let text = json!({"mcpServers": {"behind": entry}}).to_string();
    fs::write(&path, text)?;
    Ok(path)
}

/// A command line with everything put in.
fn filled(
    line: &[String],
    names: &[(&str, &str)],
    program: &[String],
    config: &Path,
) -> Vec<String> {
    let mut out = Vec::new();
    for arg in line {
        match arg.as_str() {
            "{program}" => out.extend_from_slice(program),
            "{config}" => out.push(config.to_string_lossy().into_owned()),
            arg => {
                let value = names.iter().find(|(name, _)| *name == arg);
                out.push(value.map_or(arg, |(_, value)| value).to_owned());
            }
        }
    }
    out
}

fn spawn(line: &[String], stderr: Stdio) -> Result<Child> {
    let (program, args) = line.split_first().context("no program")?;
    let child = Command::new(program)
        .args(args)
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn();
    child.with_context(|| format!("{program} cannot be started"))
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

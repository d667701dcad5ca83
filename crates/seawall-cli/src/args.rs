//! What can be written on the command line. Nothing is read or decided here: that is `settings`.

use std::net::{AddrParseError, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::commands::HostApp;
mod journal;
mod mcpl;

use journal::JOURNAL_EXAMPLES;
pub(crate) use journal::{JournalArgs, JournalPlace, OutcomeArg};
use mcpl::{CHANNELS_EXAMPLES, PUBLISH_EXAMPLES, PUBLISH_STATUSES};
pub(crate) use mcpl::{ChannelsArgs, PublishArgs};

/// The exit statuses, as `--help` and the README show them.
pub(crate) const EXIT_STATUSES: &str = "\
Exit statuses:
  0  done
  1  the tool reported an error (its result says isError)
  2  usage or configuration
  3  not_sent: nothing of the request reached the server
  4  error_response: the server refused the request
  5  answered, but the answer cannot be used
  6  no_response: what the tool did is unknown; verify state before retrying";

const ROOT_EXAMPLES: &str = "\
Examples:
  seawall tools --demo                         what the built-in server offers
  seawall call mcp/demo/add a=2 b=3 --demo     call one of its tools
  seawall tools --mcp-config claude.json       the tools of another host's servers
  seawall doctor                               is every server well?";

const TOOLS_EXAMPLES: &str = "\
Examples:
  seawall tools                                every server's tools
  seawall tools --server github                one server's
  seawall tools --json | jq -r '.[].name'      names alone

--json prints an array of {name, server, tool, description, inputSchema, outputSchema?, digest, unusable?}. \
If some servers fail, the tools of the others are listed all the same; the exit status is the worst failure's.";

const CALL_EXAMPLES: &str = "\
Examples:
  seawall call mcp/demo/add a=2 b=3 --demo
  seawall call mcp/github/search_issues q='is:open crash' per_page=5
  seawall call mcp/files/edit path=a.txt edits='[{\"old\":\"x\",\"new\":\"y\"}]' options.dryRun=true
  seawall call mcp/db/query --args @query.json --timeout 5000
  jq '{text: .body}' mail.json | seawall call mcp/demo/echo --args - --json --demo

key=value is typed by the tool's own input schema: a string is taken as it stands; integers, numbers, booleans \
and null are parsed; arrays and objects are JSON. A repeated key appends to an array, a.b=1 reaches into an \
object. A key the schema says nothing of is JSON if it parses as JSON, else text. Big numbers stay exact.

--json prints the tool's result as the server sent it, or {\"error\": {code, outcome, server, message, \
jsonRpcCode?, httpStatus?}}. Ctrl-C cancels the call and ends the server; a second Ctrl-C ends at once.";

const RESOURCES_EXAMPLES: &str = "\
Examples:
  seawall resources                            every server's resources
  seawall resources --server docs --templates  the patterns of one server's URIs
  seawall resources --json | jq -r '.[].uri'   URIs alone

--json prints an array of the servers' own entries, each with `server` added.";

const READ_EXAMPLES: &str = "\
Examples:
  seawall read file:///notes/today.md
  seawall read db://people/7 --server db
  seawall read img://logo --output logo.png
  seawall read img://logo --server art > logo.png

Without --server it is asked of the only configured server, else of the one whose list has the URI. Text goes to \
stdout as it is; on a terminal, what a terminal would obey or hide is made visible. Binary data goes to a file or a \
pipe, never to a terminal. --json prints the server's own result, binary data in base64.";

const PROMPTS_EXAMPLES: &str = "\
Examples:
  seawall prompts                              every server's prompts
  seawall prompts --server review --json       one server's, as it wrote them

--json prints an array of the servers' own entries, each with `server` added.";

const PROMPT_EXAMPLES: &str = "\
Examples:
  seawall prompt review/pull_request number=7
  seawall prompt pull_request number=7 style=terse --server review --json

Arguments are text, as the protocol has it. The server's list says which there are and which are required.
--json prints the server's own result.";

const CHECK_EXAMPLES: &str = "\
Examples:
  seawall check                                the configuration that other commands would use
  seawall check ~/.cursor/mcp.json             another host's file
  seawall check --json | jq '.problems'

Nothing is spawned and nothing is dialed. Exit status 2 if there is a problem; warnings alone are no failure.";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  seawall doctor                               every configured server, all at once
  seawall doctor github files                  these two
  seawall doctor --demo --json                 one object per server

Connects, looks, and closes; calls no tool. Exit status 0 only if every server is healthy, else the status of \
the worst failure.";

const RUN_EXAMPLES: &str = "\
Examples:
  seawall run                                  keep every configured server up, until Ctrl-C
  seawall run --json | jq -r '.event'          what happens, one JSON object a line
  kill -HUP $(pidof seawall)                   read the configuration again
  SEAWALL_ALERT_WEBHOOK=https://… seawall run --alert-log alerts.jsonl

On a terminal a table of the servers is kept up to date on stderr; a stdout that is no terminal gets a line per \
event. A lost server is connected again, unless its entry says `\"reconnect\": false`; the failure of such a one at the \
start, or of one that is `required`, stops all. The configuration is read again when its file changes, or upon SIGHUP; \
one with a problem changes nothing.";

const RUN_STATUSES: &str = "\
Exit statuses:
  0  stopped, and every server is gone
  2  usage or configuration
  3  a server that had to come up did not
  5  stdout took no more
  6  a server may still be there: it is named, or a second signal ended everything at once";

const SERVE_EXAMPLES: &str = "\
Examples:
  seawall serve                                over stdio: what an agent starts
  seawall serve --http 127.0.0.1:8700          at http://127.0.0.1:8700/mcp, for any number of clients
  claude mcp add seawall -- seawall serve      one server of an agent instead of many

Clients of every MCP revision, at once. A tool is named `server__tool`. The servers are kept up as by `seawall run`. \
Everything but the protocol is on stderr. Over stdio it ends with its input.";

const INIT_EXAMPLES: &str = "\
Examples:
  seawall init                                 gather the servers of this machine's agents into seawall.json
  seawall init --dry-run                       show what would be gathered, write nothing
  seawall init --wire                          and have the agents start the gateway in their stead
  seawall init --unwire                        back to what the agents' files were

Reads what Claude Code, Claude Desktop, Cursor, VS Code and Codex have; starts nothing. Each server becomes an entry of \
`seawall/seawall.json` in the configuration folder (or of --mcp-config), which its owner alone can read. What is not \
understood is named and stays where it is. Secrets are copied as they stand, and told of.

--wire changes each agent's file in place: servers that the gateway has now are taken out, `seawall` is put in; a backup \
is kept beside it. End the agents before, start them again after. --json prints {dryRun, config, files, servers}.";

const LOGIN_EXAMPLES: &str = "\
Examples:
  seawall login github                         in the browser of this machine
  seawall login github --no-browser            prints the address to open instead
  seawall login github --scope repo            asks for this permission too

The login is kept, and renewed, for all later runs. It goes to that server and nowhere else; `seawall logout` forgets \
it. --json prints {server, state, issuer?, scopes?, expiresInS?}.";

const LOGOUT_EXAMPLES: &str = "\
Examples:
  seawall logout github

Forgets the login and tells the authorization server, where that listens. --json prints {server, state}.";

const DEMO_SERVER_HELP: &str = "\
Tools: echo {text} · add {a, b} · sleep {ms} · fail {message?} · image {} · structured {text}

It speaks MCP 2024-11-05 to 2025-11-25, one JSON message per line on stdin and stdout, and ends with its input.
Other hosts can use it too: {\"mcpServers\": {\"demo\": {\"command\": \"seawall\", \"args\": [\"demo-server\"]}}}";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  seawall completions bash > ~/.local/share/bash-completion/completions/seawall
  seawall completions zsh  > ~/.zfunc/_seawall
  seawall completions fish > ~/.config/fish/completions/seawall.fish";

/// Call the tools of MCP servers, and learn what became of each call.
///
/// Seawall starts the servers that a configuration names, shows their tools as flows, calls them, and says
/// truthfully how each call ended. Servers are untrusted: bounded, isolated, and never left running.
#[derive(Debug, Parser)]
#[command(name = "seawall", version, max_term_width = 100)]
#[command(after_help = ROOT_EXAMPLES, after_long_help = format!("{ROOT_EXAMPLES}\n\n{EXIT_STATUSES}"))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// The servers: a JSON file as Claude, Cursor or VS Code have it, or an array of entries
    ///
    /// Without it: the file that SEAWALL_MCP_CONFIG names, else `seawall.json` in the working directory, else
    /// `seawall/seawall.json` in the configuration folder of the platform, else no servers.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) mcp_config: Option<PathBuf>,
    /// Print JSON to stdout, exact, and nothing else
    ///
    /// What is no data stays as it is: `completions` prints a script, `--help` and `--version` print text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say more on stderr; twice, what servers say beside the protocol
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Tell servers that ask for roots to work in this folder; can be repeated
    ///
    /// Roots tell a server what matters; they keep it from nothing. Without any, none are declared.
    #[arg(long = "root", global = true, value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    /// Add the built-in server `demo`
    #[arg(long, global = true)]
    pub(crate) demo: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools of the servers
    #[command(after_help = TOOLS_EXAMPLES)]
    Tools(ToolsArgs),
    /// Call a tool
    #[command(after_help = CALL_EXAMPLES, after_long_help = format!("{CALL_EXAMPLES}\n\n{EXIT_STATUSES}"))]
    Call(CallArgs),
    /// List the resources of the servers, or the templates of their URIs
    #[command(after_help = RESOURCES_EXAMPLES)]
    Resources(ResourcesArgs),
    /// Read a resource
    #[command(after_help = READ_EXAMPLES, after_long_help = format!("{READ_EXAMPLES}\n\n{EXIT_STATUSES}"))]
    Read(ReadArgs),
    /// List the prompts of the servers
    #[command(after_help = PROMPTS_EXAMPLES)]
    Prompts(PromptsArgs),
    /// Get a prompt, filled in
    #[command(after_help = PROMPT_EXAMPLES, after_long_help = format!("{PROMPT_EXAMPLES}\n\n{EXIT_STATUSES}"))]
    Prompt(PromptArgs),
    /// List the channels of servers of MCP Live
    #[command(after_help = CHANNELS_EXAMPLES)]
    Channels(ChannelsArgs),
    /// Send a message to a channel
    #[command(after_help = PUBLISH_EXAMPLES, after_long_help = format!("{PUBLISH_EXAMPLES}\n\n{PUBLISH_STATUSES}"))]
    Publish(PublishArgs),
    /// Check a configuration and list every problem in it
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Connect to servers and say how they are
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArgs),
    /// Keep the servers up until a signal ends them
    #[command(after_help = RUN_EXAMPLES, after_long_help = format!("{RUN_EXAMPLES}\n\n{RUN_STATUSES}"))]
    Run(RunArgs),
    /// Offer the tools of all servers to MCP clients, over stdio or HTTP
    #[command(after_help = SERVE_EXAMPLES, after_long_help = format!("{SERVE_EXAMPLES}\n\n{RUN_STATUSES}"))]
    Serve(ServeArgs),
    /// Gather the servers that agents on this machine have, and point the agents to the gateway
    #[command(after_help = INIT_EXAMPLES)]
    Init(InitArgs),
    /// Show the calls that went through `seawall serve`, and what became of them
    #[command(after_help = JOURNAL_EXAMPLES)]
    Journal(JournalArgs),
    /// Log in to a server behind a URL
    #[command(after_help = LOGIN_EXAMPLES)]
    Login(LoginArgs),
    /// Forget the login to a server
    #[command(after_help = LOGOUT_EXAMPLES)]
    Logout(LogoutArgs),
    /// Be a small MCP server over stdio, to try things with
    #[command(after_help = DEMO_SERVER_HELP)]
    DemoServer,
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Only this server's tools
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool's flow, as `seawall tools` lists it: `mcp/<server>/<tool>`
    pub(crate) flow: String,
    /// Arguments, typed by the tool's input schema; they override those of --args
    #[arg(value_name = "key=value")]
    pub(crate) pairs: Vec<String>,
    /// The arguments as one JSON object: the text itself, @FILE, or - for stdin
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// How long the whole call may take, in milliseconds, instead of the server's requestTimeoutMs
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..=2_147_483_647))]
    pub(crate) timeout: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct ResourcesArgs {
    /// Only this server's resources
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
    /// The templates of URIs instead of the resources
    #[arg(long)]
    pub(crate) templates: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// The resource's URI, as `seawall resources` lists it, or made from a template
    pub(crate) uri: String,
    /// The server to ask
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
    /// Write what was read to this file instead of stdout
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PromptsArgs {
    /// Only this server's prompts
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// The prompt, as `seawall prompts` lists it; its name alone with --server
    #[arg(value_name = "SERVER/NAME")]
    pub(crate) name: String,
    /// Arguments; each is text
    #[arg(value_name = "key=value")]
    pub(crate) pairs: Vec<String>,
    /// The server to ask
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The file to check, instead of the configured one
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The servers to look at; without any, all of them
    #[arg(value_name = "ID")]
    pub(crate) servers: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// How long the end of all servers may take after a signal, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=2_147_483_647))]
    pub(crate) budget: u32,
    /// Add a line of JSON to this file whenever a server counts as down, or is well again
    ///
    /// The variable SEAWALL_ALERT_WEBHOOK may hold a URL to POST the same to; it is a secret, so there is no flag for it.
    #[arg(long, value_name = "FILE")]
    pub(crate) alert_log: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Listen here instead of speaking over stdio; beyond loopback only where the configuration names clients
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,
    /// How tools are named
    #[arg(long, value_enum)]
    pub(crate) names: Option<NamesArg>,
    /// What clients see of a server's error text
    #[arg(long, value_enum)]
    pub(crate) remote_errors: Option<RemoteErrorsArg>,
    /// Serve the client over stdio as this one of the configuration's `gateway.clients`
    #[arg(long, value_name = "NAME", conflicts_with = "http")]
    pub(crate) client: Option<String>,
    /// Where calls are recorded, instead of `seawall/journal.db` in the platform's folder for states; `off` for nowhere
    #[arg(long, value_name = "PATH|off")]
    pub(crate) journal: Option<JournalPlace>,
    #[command(flatten)]
    pub(crate) keep: RunArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NamesArg {
    /// `server__tool`, at most 64 characters of A-Z a-z 0-9 _ -
    Scoped,
    /// The tools' own names; refused if two servers have the same
    Plain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RemoteErrorsArg {
    /// The text, with secrets taken out, bounded
    Redacted,
    /// The code alone
    #[value(alias = "withhold")]
    Withheld,
}

/// `ADDR:PORT`, or `localhost:PORT`.
fn address(text: &str) -> Result<SocketAddr, AddrParseError> {
    match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse(),
        None => text.parse(),
    }
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Only this agent's servers and files; can be repeated
    #[arg(long = "host", value_enum, value_name = "HOST")]
    pub(crate) hosts: Vec<HostApp>,
    /// The files of the working directory too: they came with it, and name programs to start
    #[arg(long)]
    pub(crate) project: bool,
    /// Add to a configuration that is there already; what it has stays as it is
    #[arg(long, conflicts_with = "unwire")]
    pub(crate) force: bool,
    /// Have the agents start the gateway instead of the servers that it has
    #[arg(long)]
    pub(crate) wire: bool,
    /// Put the agents' files back to what they were before --wire
    #[arg(long, conflicts_with = "wire")]
    pub(crate) unwire: bool,
    /// Show what would be done, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// The server, as the configuration names it
    #[arg(value_name = "ID")]
    pub(crate) server: String,
    /// Print the address to stderr instead of opening a browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// One more permission to ask for; can be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// The server, as the configuration names it
    #[arg(value_name = "ID")]
    pub(crate) server: String,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell to print for
    pub(crate) shell: Shell,
}

//! `channels` and `publish`, as they are written on the command line.

use clap::Args;

pub(crate) const CHANNELS_EXAMPLES: &str = "\
Examples:
  seawall channels                             every channel of every server of MCP Live
  seawall channels --server world              one server's
  seawall channels --json | jq -r '.[].id'     ids alone

--json prints an array of {server, id, type, label, direction, open, may, descriptor}: `may` is what the server is granted \
there, `descriptor` what it says of the channel itself.";

pub(crate) const PUBLISH_EXAMPLES: &str = "\
Examples:
  seawall publish world/lobby 'hello, all'
  seawall publish world/lobby 'more of that' --thread t-7
  seawall publish world/lobby --args '[{\"type\":\"text\",\"text\":\"hello\"}]'
  seawall publish world/lobby --args @blocks.json --json

The channel is as `seawall channels` lists it; it is opened first, if it is not and may be. --args takes an array of \
content blocks. --json prints {\"delivered\": true, \"messageId\"?}, {\"delivered\": false}, or {\"error\": {code, outcome, \
server, message, jsonRpcCode?}}.";

pub(crate) const PUBLISH_STATUSES: &str = "\
Exit statuses:
  0  delivered, the server says
  1  not delivered, the server says
  2  usage or configuration
  3  not_sent: nothing was published
  4  error_response: the server refused the request
  5  answered, but not what became of the message; it may have been delivered
  6  no_response: it may have been delivered; verify before it is sent again";

/// How long servers have to register channels, in milliseconds, unless it is said.
const DEFAULT_WAIT_MS: u32 = 2_000;

#[derive(Debug, Args)]
pub(crate) struct ChannelsArgs {
    /// Only this server's channels
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) patience: Patience,
}

#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// The channel, as `seawall channels` lists it
    #[arg(value_name = "SERVER/CHANNEL")]
    pub(crate) channel: String,
    /// What is said
    #[arg(required_unless_present = "args")]
    pub(crate) text: Option<String>,
    /// What is said, as an array of content blocks: the text itself, @FILE, or - for stdin
    #[arg(
        long,
        value_name = "JSON|@FILE|-",
        allow_hyphen_values = true,
        conflicts_with = "text"
    )]
    pub(crate) args: Option<String>,
    /// Into this thread, in a channel that says that it puts a message where it is told to
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
    #[command(flatten)]
    pub(crate) patience: Patience,
}

/// How long is waited for channels.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Patience {
    /// How long to wait for a channel that is not registered yet, in milliseconds
    #[arg(long = "wait", value_name = "MS", default_value_t = DEFAULT_WAIT_MS, value_parser = clap::value_parser!(u32).range(0..=600_000))]
    pub(crate) ms: u32,
}

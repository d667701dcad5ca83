//! `seawall channels`: where servers of MCP Live can be spoken to.

use std::time::Duration;

use seawall::mcpl::Capability;
use seawall::mcpl::session::Policy;
use seawall::{Client, Mcpl};

use super::{ShownChannel, denial, is_live, policy_words, settle};
use crate::args::ChannelsArgs;
use crate::commands::connect::{self, connect_all};
use crate::commands::servers::{ServerSet, hint_no_servers};
use crate::commands::together::together;
use crate::failure::{Failure, Status, UsageError};
use crate::interrupt::Interrupts;
use crate::printer::{Place, Printer, Table, visible};

pub(in crate::commands) async fn run(
    args: ChannelsArgs,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let none = servers.is_empty();
    let means = servers.means_of_a_look();
    let named: Vec<String> = args.server.into_iter().collect();
    let mut selected = servers.select(&named)?;
    if none {
        hint_no_servers(printer);
    } else if let ([_], [config]) = (named.as_slice(), selected.as_slice())
        && !is_live(config)
    {
        return Err(UsageError::NotLive(config.server().to_owned()).into());
    }
    selected.retain(is_live);
    if selected.is_empty() && !none {
        printer.talk("no server is one of MCP Live by its entry (a ws or wss URL, or \"protocol\": \"mcpl\")");
    }
    let (clients, failures) = connect_all(selected, &means, interrupts, printer).await?;
    let fruitless = clients.is_empty();
    let status = connect::tell_failures(&failures, fruitless, printer);
    if fruitless && !failures.is_empty() {
        return Ok(status);
    }
    let wait = Duration::from_millis(args.patience.ms.into());
    let looked = look_at_all(&clients, wait, interrupts, printer).await?;
    let mut channels = Vec::new();
    for looked in looked {
        match looked {
            Ok(of_server) => channels.extend(of_server),
            Err(why) => printer.talk(&why),
        }
    }
    show(&channels, printer);
    connect::close_all(clients, interrupts, printer).await;
    Ok(status)
}

/// What one server has, or why it has nothing.
type Looked = Result<Vec<ShownChannel>, String>;

/// Looks at all at once; in the order of `clients`.
async fn look_at_all(
    clients: &[Client],
    wait: Duration,
    interrupts: &mut Interrupts,
    printer: &Printer,
) -> Result<Vec<Looked>, Failure> {
    let spinner = printer.spinner("waiting for channels");
    let works = clients
        .iter()
        .cloned()
        .map(|client| async move { look(&client, wait).await });
    let looked = together(works, interrupts).await;
    drop(spinner);
    looked
}

async fn look(client: &Client, wait: Duration) -> Looked {
    let server = client.server();
    let none = |why: &str| Err(format!("MCP server \"{server}\": no channels: it {why}"));
    let Some(mcpl) = client.mcpl() else {
        return none("does not speak MCP Live");
    };
    match settle(&mcpl, wait, true, |channels| !channels.is_empty()).await {
        Policy::InForce => {}
        policy => {
            return Err(format!(
                "MCP server \"{server}\": no channels: {}",
                without(policy)
            ));
        }
    }
    if !mcpl.grant().allows(Capability::ChannelsRegister) {
        return none(&denial(&mcpl.wanted(), Capability::ChannelsRegister));
    }
    Ok(of_server(&mcpl))
}

/// Why a server has nothing of MCP Live.
pub(super) fn without(policy: Policy) -> String {
    match policy_words(policy) {
        (_, Some(refusal)) => refusal.to_string(),
        ("ended", None) => "its connection ended".to_owned(),
        _ => "it did not acknowledge what it is granted".to_owned(),
    }
}

/// The channels that are registered.
pub(in crate::commands) fn of_server(mcpl: &Mcpl) -> Vec<ShownChannel> {
    let grant = mcpl.grant();
    let channels = mcpl.channels();
    let shown = channels
        .iter()
        .map(|channel| ShownChannel::of(mcpl.server(), channel, &grant));
    shown.collect()
}

fn show(channels: &[ShownChannel], printer: &mut Printer) {
    if printer.is_json() {
        printer.json(&channels);
        return;
    }
    if channels.is_empty() {
        printer.talk("no channels");
        return;
    }
    let mut table = Table::new(["CHANNEL", "DIRECTION", "MAY", "WHAT THE SERVER CALLS IT"]);
    for channel in channels {
        let open = if channel.open { " (open)" } else { "" };
        table.row([
            visible(&format!("{}/{}", channel.server, channel.id), Place::Line).into_owned(),
            format!("{}{open}", channel.direction),
            channel.may.join(" "),
            visible(&channel.label, Place::Line).into_owned(),
        ]);
    }
    printer.table(&table);
}

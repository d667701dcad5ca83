//! `seawall publish SERVER/CHANNEL TEXT`: one message, and what became of it.

use std::time::Duration;

use seawall::client::Destination;
use seawall::mcpl::Capability;
use seawall::mcpl::channels::{
    Channel, ChannelState, Delivery, Place as Where, PublishError, text_blocks,
};
use seawall::mcpl::session::{Policy, Unsent};
use seawall::{Client, Json, Mcpl, McplError};
use serde::Serialize;

use super::channels::without;
use super::{denial, is_live, settle};
use crate::args::PublishArgs;
use crate::arguments::nearest;
use crate::commands::call::document;
use crate::commands::connect::{self, Needs, connect};
use crate::commands::servers::ServerSet;
use crate::failure::{Failure, PublishFailure, Status, Undone, UsageError};
use crate::interrupt::Interrupts;
use crate::printer::{Place, Printer, visible};

/// What the server is told that the message belongs to.
const CONVERSATION: &str = "seawall";

/// What is to be said where, read whole: stdin blocks, and from then on signals are listened to.
pub(in crate::commands) struct Publication {
    channel: String,
    content: Json,
    place: Where,
    wait: Duration,
}

/// What became of it, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Receipt<'a> {
    delivered: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'a str>,
}

impl Publication {
    pub(in crate::commands) fn read(args: PublishArgs) -> Result<Self, UsageError> {
        let content = match document(args.args.as_deref())? {
            Some(text) => blocks(text)?,
            None => text_blocks(&args.text.unwrap_or_default()),
        };
        Ok(Self {
            channel: args.channel,
            content,
            place: args.thread.map_or(Where::Anywhere, Where::Thread),
            wait: Duration::from_millis(args.patience.ms.into()),
        })
    }
}

fn blocks(text: String) -> Result<Json, UsageError> {
    let json = Json::check(text).map_err(|error| UsageError::ArgumentsJson(error.into()))?;
    if json.as_str().starts_with('[') {
        return Ok(json);
    }
    Err(UsageError::NoBlocks)
}

pub(in crate::commands) async fn run(
    publication: Publication,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let (config, channel) = servers.of_channel(&publication.channel)?;
    let channel = channel.to_owned();
    if !is_live(&config) {
        return Err(UsageError::NotLive(config.server().to_owned()).into());
    }
    let means = servers.means_of_a_request(Needs::Anything, printer);
    let spinner = printer.spinner(&format!("connecting to {}", config.server()));
    let client = connect(config, &means, interrupts, printer)
        .await
        .map_err(|failure| Undone::Publish.of(failure))?;
    spinner.say("publishing");
    let published = publish(&client, &channel, &publication, interrupts).await;
    drop(spinner);
    let status = match published {
        Ok(delivery) => tell(&client, &delivery, printer),
        Err(failure) => {
            failure.print(printer);
            hint_nearest_channel(&client, &channel, printer);
            failure.status()
        }
    };
    connect::close(client, interrupts, printer).await;
    Ok(status)
}

/// Has the message delivered, and the channel opened before, if it is not and may be.
async fn publish(
    client: &Client,
    id: &str,
    publication: &Publication,
    interrupts: &mut Interrupts,
) -> Result<Delivery, Failure> {
    let server = || client.server().to_owned();
    let unsent = |why: String| PublishFailure::Unsent {
        server: server(),
        why,
    };
    let interrupted = |_| Failure::Interrupted {
        server: Some(server()),
        undone: Undone::Publish,
    };
    let Some(mcpl) = client.mcpl() else {
        return Err(unsent("it does not speak MCP Live".to_owned()).into());
    };
    let is_it = |channel: &Channel| channel.descriptor().id() == id;
    let is_there = |channels: &[Channel]| channels.iter().any(is_it);
    let settled = settle(&mcpl, publication.wait, false, is_there);
    let policy = interrupts.unless(settled).await.map_err(interrupted)?;
    if policy != Policy::InForce {
        return Err(unsent(without(policy)).into());
    }
    let channel = mcpl.channels().into_iter().find(is_it);
    let channel = channel.ok_or_else(|| unsent(not_there(&mcpl, id)))?;
    if !channel.descriptor().direction().takes() {
        return Err(unsent(PublishError::Inbound.to_string()).into());
    }
    let opens = mcpl.grant().allows(Capability::ChannelsLifecycle);
    if channel.state() == ChannelState::Closed && opens {
        let opened = interrupts.unless(mcpl.open_channel(id)).await;
        opened
            .map_err(interrupted)?
            .map_err(|error| unopened(&mcpl, error))?;
    }
    let to = Destination {
        conversation_id: CONVERSATION,
        channel_id: id,
        place: &publication.place,
    };
    let published = interrupts.unless(mcpl.publish(to, &publication.content));
    match published.await {
        Ok(Ok(Delivery::Unconfirmed)) => {
            Err(PublishFailure::Unconfirmed { server: server() }.into())
        }
        Ok(Ok(delivery)) => Ok(delivery),
        Ok(Err(error)) => Err(unpublished(&mcpl, error)),
        Err(_) => Err(PublishFailure::LetGo { server: server() }.into()),
    }
}

/// Why there is no such channel.
fn not_there(mcpl: &Mcpl, id: &str) -> String {
    if !mcpl.grant().allows(Capability::ChannelsRegister) {
        return format!(
            "it {}",
            denial(&mcpl.wanted(), Capability::ChannelsRegister)
        );
    }
    format!("it has registered no channel `{id}`")
}

/// Says which channel may have been meant, if there is none with this id.
fn hint_nearest_channel(client: &Client, id: &str, printer: &mut Printer) {
    let channels = client.mcpl().map(|mcpl| mcpl.channels());
    let ids: Vec<String> = channels
        .into_iter()
        .flatten()
        .map(|channel| channel.descriptor().id().to_owned())
        .collect();
    if printer.is_json() || ids.iter().any(|known| known == id) {
        return;
    }
    if let Some(near) = nearest(&ids, id) {
        printer.hint(&format!("did you mean `{}/{near}`?", client.server()));
    }
}

/// Why it was not opened; nothing was published then.
fn unopened(mcpl: &Mcpl, error: McplError) -> Failure {
    match error {
        McplError::Failed(error) => Failure::Uncalled {
            error,
            undone: Undone::Publish,
        },
        McplError::Unsent(unsent) => refused(mcpl, unsent),
        other => unsent_because(mcpl, other.to_string()),
    }
}

/// Why it was not published, or is not known to be.
fn unpublished(mcpl: &Mcpl, error: McplError) -> Failure {
    match error {
        McplError::Failed(error) => error.into(),
        McplError::Unsent(unsent) => refused(mcpl, unsent),
        other => unsent_because(mcpl, other.to_string()),
    }
}

fn refused(mcpl: &Mcpl, unsent: Unsent) -> Failure {
    match unsent {
        Unsent::Denied(capability) => {
            unsent_because(mcpl, format!("it {}", denial(&mcpl.wanted(), capability)))
        }
        Unsent::Publication(error @ (PublishError::Content | PublishError::Thread)) => {
            UsageError::Unpublishable(error).into()
        }
        other => unsent_because(mcpl, other.to_string()),
    }
}

fn unsent_because(mcpl: &Mcpl, why: String) -> Failure {
    let server = mcpl.server().to_owned();
    PublishFailure::Unsent { server, why }.into()
}

/// What the receipt says.
fn tell(client: &Client, delivery: &Delivery, printer: &mut Printer) -> Status {
    let message_id = match delivery {
        Delivery::Delivered { message_id } => message_id.as_deref(),
        _ => None,
    };
    let delivered = matches!(delivery, Delivery::Delivered { .. });
    if printer.is_json() {
        printer.json(&Receipt {
            delivered,
            message_id,
        });
    } else if delivered {
        printer.data(&match message_id {
            Some(id) => format!("delivered as {}", visible(id, Place::Line)),
            None => "delivered".to_owned(),
        });
    } else {
        printer.error(&format!(
            "MCP server \"{}\": it says that the message was not delivered",
            client.server()
        ));
    }
    match delivered {
        true => Status::Done,
        false => Status::ToolError,
    }
}

//! `seawall prompt SERVER/NAME`: one prompt, filled in.

use seawall::{Client, Json};

use super::call::render_block;
use super::connect::{self, Needs, connect};
use super::offers::{Offer, asked};
use super::servers::ServerSet;
use crate::args::PromptArgs;
use crate::arguments::{PromptError, nearest, of_prompt};
use crate::failure::{Failure, Status, Undone, UsageError};
use crate::interrupt::Interrupts;
use crate::printer::{Colour, Look, Place, Printer, visible};

pub(crate) async fn run(
    args: PromptArgs,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let (config, name) = servers.of_prompt(args.server.as_deref(), &args.name)?;
    let name = name.to_owned();
    let means = servers.means_of_a_request(Needs::Anything, printer);
    let spinner = printer.spinner(&format!("connecting to {}", config.server()));
    let client = connect(config, &means, interrupts, printer)
        .await
        .map_err(|failure| Undone::Prompt.of(failure))?;
    spinner.say(&format!("asking for {name}"));
    let got = get(&client, &name, &args.pairs, interrupts).await;
    drop(spinner);
    let got = got.and_then(|result| {
        if printer.is_json() {
            printer.data(result.as_str());
            return Ok(());
        }
        let text = render(&result, printer.colour()).ok_or_else(|| Failure::Unusable {
            server: client.server().to_owned(),
            fault: "holds no messages",
        })?;
        printer.data(&text);
        Ok(())
    });
    let status = match got {
        Ok(()) => Status::Done,
        Err(failure) => {
            failure.print(printer);
            failure.status()
        }
    };
    connect::close(client, interrupts, printer).await;
    Ok(status)
}

/// The prompt's result; its arguments are checked against the server's list before it is asked for.
async fn get(
    client: &Client,
    name: &str,
    pairs: &[String],
    interrupts: &mut Interrupts,
) -> Result<Json, Failure> {
    Offer::Prompts.check(client)?;
    let listed = match interrupts.unless(Offer::Prompts.list(client)).await {
        Ok(listed) => listed.map_err(|error| Undone::Prompt.of(error.into()))?,
        Err(_) => {
            let server = Some(client.server().to_owned());
            let undone = Undone::Prompt;
            return Err(Failure::Interrupted { server, undone });
        }
    };
    let name_of = |entry: &Json| Some(entry.member("name")?.string()?.into_owned());
    let entry = listed
        .iter()
        .find(|entry| name_of(entry).as_deref() == Some(name));
    let Some(entry) = entry else {
        let names: Vec<String> = listed.iter().filter_map(name_of).collect();
        return Err(UsageError::from(PromptError::UnknownPrompt {
            server: client.server().to_owned(),
            name: name.to_owned(),
            nearest: nearest(&names, name),
        })
        .into());
    };
    let arguments = of_prompt(entry, pairs).map_err(UsageError::from)?;
    let request = client.prompt(name, arguments.as_ref());
    Ok(asked(request, interrupts).await?)
}

/// Each message under the name of who speaks.
fn render(result: &Json, colour: Colour) -> Option<String> {
    let messages = result.member("messages")?.elements();
    let shown = messages.iter().map(|message| {
        let role = message.member("role");
        let role = role.as_ref().and_then(Json::string).unwrap_or_default();
        let heading = colour.paint(Look::Faint, &format!("[{}]", visible(&role, Place::Line)));
        let content = message.member("content");
        let content = content.map_or_else(String::new, |block| render_block(&block, colour));
        format!("{heading}\n{content}")
    });
    Some(shown.collect::<Vec<_>>().join("\n"))
}

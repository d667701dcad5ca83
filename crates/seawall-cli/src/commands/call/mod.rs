//! `seawall call FLOW`: one call, from its words to what became of it.

mod input;
mod render;

pub(super) use input::document;
pub(super) use render::render_block;

use std::time::Duration;

use seawall::mcp::ToolResult;
use seawall::{Arguments, Client, Error, Json};

use super::connect::{self, Needs, connect};
use super::servers::ServerSet;
use crate::args::CallArgs;
use crate::arguments::{self, nearest};
use crate::failure::{Failure, Status, Undone, UsageError};
use crate::interrupt::Interrupts;
use crate::logins::wants_login;
use crate::printer::{Printer, Spinner};

/// What is to be called with what, read whole: stdin blocks, and from then on signals are listened to.
pub(crate) struct Request {
    flow: String,
    pairs: Vec<String>,
    document: Option<String>,
    timeout: Option<Duration>,
}

impl Request {
    pub(crate) fn read(args: CallArgs) -> Result<Self, UsageError> {
        Ok(Self {
            document: document(args.args.as_deref())?,
            flow: args.flow,
            pairs: args.pairs,
            timeout: args.timeout.map(|ms| Duration::from_millis(ms.into())),
        })
    }
}

pub(crate) async fn run(
    request: Request,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Status, Failure> {
    let (config, tool) = servers.of_flow(&request.flow)?;
    let tool = tool.to_owned();
    let server = config.server().to_owned();

    let spinner = printer.spinner(&format!("connecting to {server}"));
    let means = servers.means_of_a_request(Needs::Tools, printer);
    let client = connect(config.clone(), &means, interrupts, printer)
        .await
        .map_err(|failure| Undone::Call.of(failure))?;
    let built = build_arguments(&client, &tool, &request);
    let answer = match built {
        Ok(arguments) => {
            spinner.say(&format!("calling {}", request.flow));
            let once = async |interrupts: &mut Interrupts| {
                let (flow, arguments) = (&request.flow, arguments.clone());
                call(
                    &client,
                    flow,
                    arguments,
                    request.timeout,
                    &spinner,
                    interrupts,
                )
                .await
            };
            let mut answer = once(interrupts).await.map_err(Failure::from);
            if let Err(Failure::Server(error)) = &answer
                && wants_login(error)
                // Nothing is called twice that may have been carried out.
                && error.was_refused_unread()
            {
                match connect::log_in(&config, &means, error, interrupts, printer).await {
                    Ok(true) => answer = once(interrupts).await.map_err(Failure::from),
                    Ok(false) => {}
                    Err(failure) => answer = Err(failure),
                }
            }
            answer
        }
        Err(error) => Err(error.into()),
    };
    drop(spinner);
    let status = match &answer {
        Ok(result) => {
            print_result(result, printer);
            if result.is_error() {
                Status::ToolError
            } else {
                Status::Done
            }
        }
        Err(failure) => {
            failure.print(printer);
            hint_nearest_tool(&client, &tool, printer);
            failure.status()
        }
    };
    connect::close(client, interrupts, printer).await;
    Ok(status)
}

/// The arguments, typed by the tool's schema. A tool that the catalog lacks is left to the call to refuse.
fn build_arguments(
    client: &Client,
    tool: &str,
    request: &Request,
) -> Result<Arguments, UsageError> {
    let schema = client
        .catalog()
        .get(tool)
        .map(|tool| tool.input_schema().parse_replacing().unwrap_or_default());
    let text = arguments::build(
        &schema.unwrap_or_default(),
        request.document.as_deref(),
        &request.pairs,
    )?;
    // What is no JSON by the wire's rules is told here, where the words for it are.
    let arguments = Json::check(text).map_err(|error| UsageError::ArgumentsJson(error.into()))?;
    Ok(arguments.into())
}

/// Says which tool may have been meant, if there is none of this name.
fn hint_nearest_tool(client: &Client, tool: &str, printer: &mut Printer) {
    let is_there = client.flows().iter().any(|flow| flow.tool() == tool);
    let left_out = client.catalog().quarantined().iter();
    let is_left_out = left_out
        .filter_map(|one| one.name.as_deref())
        .any(|name| name == tool);
    if printer.is_json() || is_there || is_left_out {
        return;
    }
    let names: Vec<String> = client
        .flows()
        .iter()
        .map(|flow| flow.name().to_owned())
        .collect();
    let tools: Vec<String> = client
        .flows()
        .iter()
        .map(|flow| flow.tool().to_owned())
        .collect();
    let meant =
        nearest(&tools, tool).and_then(|near| tools.iter().position(|known| *known == near));
    match meant.and_then(|at| names.get(at)) {
        Some(name) => printer.hint(&format!("did you mean `{name}`?")),
        None => printer.hint(&format!(
            "`seawall tools --server {}` lists what there is",
            client.server()
        )),
    }
}

/// Waits for the answer, or lets go of the call at the first signal. It goes by the flow's whole name: what follows the
/// prefix may read as a flow's name once more, and is no tool's then.
async fn call(
    client: &Client,
    flow: &str,
    arguments: Arguments,
    timeout: Option<Duration>,
    spinner: &Spinner,
    interrupts: &mut Interrupts,
) -> Result<ToolResult, Error> {
    let mut call = client.call(flow, arguments);
    if let Some(timeout) = timeout {
        call = call.timeout(timeout);
    }
    if let Some(mut tell) = spinner.progress() {
        call = call.on_progress(move |progress| tell(progress.progress, progress.total));
    }
    match interrupts.unless(&mut call).await {
        Ok(answer) => answer,
        Err(_) => call.abandon(),
    }
}

fn print_result(result: &ToolResult, printer: &mut Printer) {
    if printer.is_json() {
        printer.data(&with_is_error(result));
        return;
    }
    printer.data(&render::render(result, printer.colour()));
    if result.is_error() {
        printer.error("the tool reported an error");
    }
}

/// The result as the server sent it; only `isError` is added where it is missing.
fn with_is_error(result: &ToolResult) -> String {
    let raw = result.raw();
    match (raw.member("isError"), raw.as_str().strip_suffix('}')) {
        // A result has at least one member, so a comma fits.
        (None, Some(open)) => format!("{open},\"isError\":false}}"),
        _ => raw.as_str().to_owned(),
    }
}

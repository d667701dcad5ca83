//! Connecting and closing, with the person at the keyboard able to end either.

use std::sync::Arc;

use seawall::Client;
use seawall::config::ServerConfig;
use seawall::events::Observer;

use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;

/// Connects; a signal ends it and the child with it.
pub(crate) async fn connect(
    config: ServerConfig,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Client, Failure> {
    let server = config.server().to_owned();
    let connecting = builder(config, printer.observer()).connect();
    // A future that is dropped half way ends its child.
    let connected = interrupts.unless(connecting).await;
    let client = connected.map_err(|_| Failure::Interrupted { server })??;
    printer.detail(&format!("connected to {} with revision {}", client.server(), client.revision()));
    Ok(client)
}

pub(crate) fn builder(config: ServerConfig, observer: Option<Arc<dyn Observer>>) -> seawall::ClientBuilder {
    let builder = Client::builder(config);
    match observer {
        Some(observer) => builder.observer(observer),
        None => builder,
    }
}

/// Closes gently; a signal meanwhile kills at once. A server that cannot be ended is said aloud.
pub(crate) async fn close(client: Client, interrupts: &mut Interrupts, printer: &mut Printer) {
    if let Ok(Err(error)) = interrupts.unless(client.close()).await {
        printer.error(&error.to_string());
    }
    // The last handle is dropped here, and with it whatever is still alive.
}

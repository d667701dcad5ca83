//! Connecting and closing, with the person at the keyboard able to end either.

use std::sync::Arc;

use seawall::Client;
use seawall::config::ServerConfig;
use seawall::events::Observer;
use seawall::inputs::Suppliers;
use tokio::task::JoinSet;

use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::printer::Printer;

/// Connects; a signal ends it and the child with it.
pub(crate) async fn connect(
    config: ServerConfig,
    suppliers: Suppliers,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<Client, Failure> {
    let server = config.server().to_owned();
    let connecting = builder(config, suppliers, printer.observer()).connect();
    // A future that is dropped half way ends its child.
    let connected = interrupts.unless(connecting).await;
    let client = connected.map_err(|_| Failure::Interrupted {
        server: Some(server),
    })??;
    tell_connected(&client, printer);
    Ok(client)
}

fn tell_connected(client: &Client, printer: &mut Printer) {
    let (tools, revision) = (client.flows().len(), client.session().revision);
    printer.detail(&format!(
        "connected to {}: revision {revision}, {tools} tools",
        client.server()
    ));
}

pub(crate) fn builder(
    config: ServerConfig,
    suppliers: Suppliers,
    observer: Option<Arc<dyn Observer>>,
) -> seawall::ClientBuilder {
    let builder = Client::builder(config).suppliers(suppliers);
    match observer {
        Some(observer) => builder.observer(observer),
        None => builder,
    }
}

/// Connects to all at once; what failed costs the others nothing. Both lists keep the order of `configs`.
pub(crate) async fn connect_all(
    configs: Vec<ServerConfig>,
    suppliers: &Suppliers,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) -> Result<(Vec<Client>, Vec<Failure>), Failure> {
    let spinner = printer.spinner("connecting");
    let mut connecting = JoinSet::new();
    for (place, config) in configs.into_iter().enumerate() {
        let builder = builder(config, suppliers.clone(), printer.observer());
        connecting.spawn(async move { (place, builder.connect().await) });
    }
    let mut connected = Vec::with_capacity(connecting.len());
    loop {
        // Dropping the set ends whatever is still under way, and its children.
        match interrupts.unless(connecting.join_next()).await {
            Ok(Some(Ok(one))) => connected.push(one),
            Ok(Some(Err(error))) => return Err(Failure::Runtime(error.into())),
            Ok(None) => break,
            Err(_) => return Err(Failure::Interrupted { server: None }),
        }
    }
    drop(spinner);
    connected.sort_by_key(|(place, _)| *place);
    let (mut clients, mut failures) = (Vec::new(), Vec::new());
    for (_, result) in connected {
        match result {
            Ok(client) => {
                tell_connected(&client, printer);
                clients.push(client);
            }
            Err(error) => failures.push(error.into()),
        }
    }
    Ok((clients, failures))
}

/// Closes all at once, as [`close`] does one.
pub(crate) async fn close_all(
    clients: Vec<Client>,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
) {
    let mut closing = JoinSet::new();
    for client in clients {
        closing.spawn(async move { client.close().await });
    }
    while let Ok(Some(closed)) = interrupts.unless(closing.join_next()).await {
        if let Ok(Err(error)) = closed {
            printer.error(&error.to_string());
        }
    }
}

/// Closes gently; a signal meanwhile kills at once. A server that cannot be ended is said aloud.
pub(crate) async fn close(client: Client, interrupts: &mut Interrupts, printer: &mut Printer) {
    if let Ok(Err(error)) = interrupts.unless(client.close()).await {
        printer.error(&error.to_string());
    }
    // The last handle is dropped here, and with it whatever is still alive.
}

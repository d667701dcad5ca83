//! What servers offer beside tools: listed over all of them at once.

use seawall::{Client, Error, Json, Request};

use super::connect::{self, connect_all};
use super::servers::{ServerSet, hint_no_servers};
use super::together::together;
use crate::failure::{Failure, Status};
use crate::interrupt::Interrupts;
use crate::printer::{Place, Printer, visible};

/// Something that a server lists if it declares the capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    Resources,
    Templates,
    Prompts,
}

/// One server's list.
pub(super) struct Listed {
    pub(super) server: String,
    /// The entries as the server wrote them; each is an object.
    pub(super) entries: Vec<Json>,
}

impl Offer {
    /// Its name, for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Templates => "templates of resources",
            Self::Prompts => "prompts",
        }
    }

    /// The capability that declares it.
    fn capability(self) -> &'static str {
        match self {
            Self::Resources | Self::Templates => "resources",
            Self::Prompts => "prompts",
        }
    }

    /// Refuses a server that does not declare it.
    pub(super) fn check(self, client: &Client) -> Result<(), Failure> {
        if client
            .session()
            .capabilities
            .member(self.capability())
            .is_some()
        {
            return Ok(());
        }
        Err(Failure::NotOffered {
            server: client.server().to_owned(),
            offer: self.capability(),
        })
    }

    /// The whole list of a server that declares it.
    pub(super) async fn list(self, client: &Client) -> Result<Vec<Json>, Error> {
        let pages = match self {
            Self::Resources => client.resources().await,
            Self::Templates => client.resource_templates().await,
            Self::Prompts => client.prompts().await,
        };
        pages.map(|pages| pages.entries)
    }

    /// The lists of all that declare it, at once, in the order of `clients`; and what failed.
    pub(super) async fn list_all(
        self,
        clients: &[Client],
        interrupts: &mut Interrupts,
        printer: &Printer,
    ) -> Result<(Vec<Listed>, Vec<Failure>), Failure> {
        let spinner = printer.spinner("listing");
        let works = clients
            .iter()
            .cloned()
            .map(|client| async move { self.list(&client).await });
        let lists = together(works, interrupts).await;
        drop(spinner);
        let (mut listed, mut failures) = (Vec::new(), Vec::new());
        for (list, client) in lists?.into_iter().zip(clients) {
            let server = client.server().to_owned();
            match list {
                Ok(entries) => listed.push(Listed { server, entries }),
                Err(error) => failures.push(error.into()),
            }
        }
        Ok((listed, failures))
    }
}

/// Waits for the answer, or lets go of the request at the first signal.
pub(super) async fn asked(
    mut request: Request,
    interrupts: &mut Interrupts,
) -> Result<Json, Error> {
    match interrupts.unless(&mut request).await {
        Ok(answer) => answer,
        Err(_) => request.abandon(),
    }
}

/// Lists what all servers, or the one named, offer; `print` shows it to a person.
pub(super) async fn run(
    offer: Offer,
    only: Option<String>,
    servers: ServerSet,
    interrupts: &mut Interrupts,
    printer: &mut Printer,
    print: impl FnOnce(&[Listed], &mut Printer),
) -> Result<Status, Failure> {
    let none = servers.is_empty();
    let means = servers.means_of_a_look();
    let selected = servers.select(&only.into_iter().collect::<Vec<_>>())?;
    if none {
        hint_no_servers(printer);
    }
    let (clients, mut failures) = connect_all(selected, &means, interrupts, printer).await?;
    let mut offering = Vec::with_capacity(clients.len());
    let reached = clients.len();
    for client in &clients {
        match offer.check(client) {
            Ok(()) => offering.push(client.clone()),
            Err(_) => printer.talk(&format!(
                "MCP server \"{}\": it offers no {}",
                client.server(),
                offer.capability()
            )),
        }
    }
    let (listed, unlisted) = offer.list_all(&offering, interrupts, printer).await?;
    drop(offering);
    let fruitless = listed.is_empty() && reached == unlisted.len();
    failures.extend(unlisted);
    let status = connect::tell_failures(&failures, fruitless, printer);
    if !fruitless || failures.is_empty() {
        show(offer, &listed, printer, print);
    }
    connect::close_all(clients, interrupts, printer).await;
    Ok(status)
}

fn show(
    offer: Offer,
    listed: &[Listed],
    printer: &mut Printer,
    print: impl FnOnce(&[Listed], &mut Printer),
) {
    if printer.is_json() {
        let entries: Vec<String> = listed
            .iter()
            .flat_map(|list| {
                let server = &list.server;
                list.entries
                    .iter()
                    .map(move |entry| with_server(entry, server))
            })
            .collect();
        printer.data(&format!("[{}]", entries.join(",")));
    } else if listed.iter().any(|list| !list.entries.is_empty()) {
        print(listed, printer);
    } else if !listed.is_empty() {
        printer.talk(&format!("no {}", offer.name()));
    }
}

/// The entry as the server wrote it, with `server` added. A member of its own with that name gives way.
fn with_server(entry: &Json, server: &str) -> String {
    let server = serde_json::Value::from(server);
    let open = if entry.member("server").is_none() {
        let open = entry.as_str().strip_suffix('}');
        open.unwrap_or_default().trim_end().to_owned()
    } else {
        let members = entry.members();
        let others = members.iter().filter(|(key, _)| key != "server");
        let others: Vec<String> = others
            .map(|(key, value)| {
                format!(
                    "{}:{}",
                    serde_json::Value::from(key.as_str()),
                    value.as_str()
                )
            })
            .collect();
        format!("{{{}", others.join(","))
    };
    let comma = if open == "{" { "" } else { "," };
    format!("{open}{comma}\"server\":{server}}}")
}

/// A text of an entry, as one line of a table shows it; empty where there is none.
pub(super) fn cell(entry: &Json, name: &str) -> String {
    let text = entry.member(name);
    let text = text.as_ref().and_then(Json::string).unwrap_or_default();
    visible(&text, Place::Line).into_owned()
}

/// What the server says of an entry: the first line, or with `-v` all of it.
pub(super) fn said(entry: &Json, printer: &Printer) -> String {
    let text = |name| entry.member(name)?.string().map(|text| text.into_owned());
    let text: String = text("description")
        .or_else(|| text("title"))
        .unwrap_or_default();
    let shown = if printer.verbosity() > 0 {
        text.trim()
    } else {
        first_line(&text)
    };
    visible(shown, Place::Block).into_owned()
}

/// The first line with anything in it: a docstring often begins with an empty one.
pub(super) fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests;

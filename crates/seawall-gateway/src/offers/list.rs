//! The lists that clients are given: those of all servers, one after the other, in pages.

use std::collections::HashMap;
use std::sync::Arc;

use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;

use super::kind::Kind;
use super::listing::{Entry, Listing};
use super::notice::Notice;
use super::shown;
use crate::clients::Client;
use crate::names::Names;
use crate::tools::{internal, invalid};

/// As a page of tools.
const PAGE_BYTES: usize = 768 * 1024;

/// What is offered of one kind, at one moment.
pub(super) struct Offered {
    kind: Kind,
    entries: Vec<One>,
    by_name: HashMap<Arc<str>, usize>,
}

/// One entry, under the name that clients have for it.
struct One {
    name: Arc<str>,
    of: Arc<Listing>,
    at: usize,
}

impl Offered {
    /// Gathers lists, in the servers' order, as the client sees them; yields what is left out too.
    pub(super) fn of(
        kind: Kind,
        names: Names,
        client: &Client,
        listings: &[Arc<Listing>],
    ) -> (Self, Vec<Notice>) {
        let named = listings.iter().flat_map(|listing| {
            let entries = listing.entries.iter().enumerate();
            let is_seen = |entry: &Entry| {
                kind != Kind::Prompts || client.may_see(listing.server(), &entry.key)
            };
            let entries = entries.filter(move |(_, entry)| is_seen(entry));
            entries.map(move |(at, entry)| One {
                name: match kind {
                    Kind::Prompts => names.of(listing.server(), &entry.key).into(),
                    Kind::Resources | Kind::Templates => Arc::clone(&entry.key),
                },
                of: Arc::clone(listing),
                at,
            })
        });
        let mut entries: Vec<One> = Vec::new();
        let mut by_name: HashMap<Arc<str>, usize> = HashMap::new();
        let mut meeting: HashMap<Arc<str>, Vec<String>> = HashMap::new();
        for one in named {
            let server = |one: &One| one.of.server().as_ref().to_owned();
            if let Some(first) = by_name.get(&one.name).and_then(|at| entries.get(*at)) {
                let servers = meeting
                    .entry(Arc::clone(&one.name))
                    .or_insert_with(|| vec![server(first)]);
                servers.push(server(&one));
                continue;
            }
            by_name.insert(Arc::clone(&one.name), entries.len());
            entries.push(one);
        }
        if kind == Kind::Prompts && !meeting.is_empty() {
            entries.retain(|one| !meeting.contains_key(&one.name));
            let places = entries.iter().enumerate();
            by_name = places
                .map(|(at, one)| (Arc::clone(&one.name), at))
                .collect();
        }
        let notices = meeting.into_iter().map(|(name, servers)| match kind {
            Kind::Prompts => Notice::PromptsMeet {
                name: name.as_ref().to_owned(),
                servers,
            },
            Kind::Resources | Kind::Templates => Notice::UrisMeet {
                uri: name.as_ref().to_owned(),
                servers,
            },
        });
        let notices = notices.collect();
        let offered = Self {
            kind,
            entries,
            by_name,
        };
        (offered, notices)
    }

    /// The server that has this, and its own key for it.
    pub(super) fn find(&self, name: &str) -> Option<(&Listing, &Entry)> {
        let one = self.entries.get(*self.by_name.get(name)?)?;
        Some((&one.of, one.of.entries.get(one.at)?))
    }

    /// One page: what comes after the entry that the cursor names, as the members of a result.
    ///
    /// # Errors
    /// -32602 if the cursor names none; its entry may have gone, and the client lists anew.
    pub(super) fn page(&self, cursor: Option<&Json>) -> Result<String, ErrorObject> {
        let begin = match cursor {
            None => 0,
            Some(cursor) => {
                let name = cursor.string();
                let at = name.and_then(|name| self.by_name.get(&*name));
                at.ok_or_else(|| invalid("no such cursor; list from the beginning"))? + 1
            }
        };
        let mut members = format!("\"{}\":[", self.kind.member());
        let mut last: Option<&One> = None;
        for one in self.entries.iter().skip(begin) {
            let Some(entry) = one.of.entries.get(one.at) else {
                continue;
            };
            let entry = shown::entry(self.kind, &entry.raw, &one.name);
            if let Some(last) = last {
                if members.len() + entry.len() > PAGE_BYTES {
                    let cursor = Json::of(&last.name.as_ref()).map_err(|_| internal())?;
                    members.push_str("],\"nextCursor\":");
                    members.push_str(cursor.as_str());
                    return Ok(members);
                }
                members.push(',');
            }
            members.push_str(entry.as_str());
            last = Some(one);
        }
        members.push(']');
        Ok(members)
    }
}

//! Which server has what a client asks for.
//!
//! **Invariant:** a URI is sent to a server only that lists it, whose template makes it, or that is the only one that it could
//! be of.

use std::sync::Arc;

use seawall::host::LiveSession;

use super::Offers;
use super::kept::Wanted;
use super::kind::Kind;
use super::list::Offered;
use super::listing::Listing;
use super::template;
use crate::clients::Client;

/// A longer URI is one that is listed, or none. Fixed.
const MAX_ROUTED_BYTES: usize = 8_192;

/// How new lists have to be, in which something is looked for: if it is not in what is kept, where that may have changed
/// unannounced it is read again.
const LOOKS: [Wanted; 2] = [Wanted::Kept, Wanted::Recent];

impl Offers {
    /// The lists of the servers that the client sees, and that have such, in the configuration's order. Who does not give one is
    /// left out.
    pub(super) async fn gather(
        &self,
        client: &Client,
        kind: Kind,
        wanted: Wanted,
    ) -> Vec<Arc<Listing>> {
        let live = self.host.sessions();
        self.kept.retain(&live);
        let asked = live
            .iter()
            .filter(|of| kind.declared(of).is_some() && kind.is_for(client, of))
            .map(|of| {
                self.kept
                    .listing(&self.host, of, kind, wanted, &self.notices)
            });
        let lists = futures_util::future::join_all(asked).await;
        lists.into_iter().flatten().collect()
    }

    /// The server that has a resource.
    pub(super) async fn home(&self, client: &Client, uri: &str) -> Option<LiveSession> {
        for wanted in LOOKS {
            let lists = self.gather(client, Kind::Resources, wanted).await;
            if let Some(list) = lists.iter().find(|list| list.has(uri)) {
                return Some(list.of.clone());
            }
            if uri.len() > MAX_ROUTED_BYTES {
                continue;
            }
            let lists = self.gather(client, Kind::Templates, wanted).await;
            if let Some(list) = closest(&lists, uri) {
                return Some(list.of.clone());
            }
        }
        self.only(client)
    }

    /// The server that has a template.
    pub(super) async fn home_of_template(
        &self,
        client: &Client,
        template: &str,
    ) -> Option<LiveSession> {
        for wanted in LOOKS {
            let lists = self.gather(client, Kind::Templates, wanted).await;
            if let Some(list) = lists.iter().find(|list| list.has(template)) {
                return Some(list.of.clone());
            }
        }
        None
    }

    /// The server that has a prompt, and the prompt's name there.
    pub(super) async fn home_of_prompt(
        &self,
        client: &Client,
        name: &str,
    ) -> Option<(LiveSession, Arc<str>)> {
        for wanted in LOOKS {
            let offered = self.offered(client, Kind::Prompts, wanted).await;
            if let Some((list, entry)) = offered.find(name) {
                return Some((list.of.clone(), Arc::clone(&entry.key)));
            }
        }
        None
    }

    /// What the client is offered of one kind.
    pub(super) async fn offered(&self, client: &Client, kind: Kind, wanted: Wanted) -> Offered {
        let lists = self.gather(client, kind, wanted).await;
        let (offered, notices) = Offered::of(kind, self.names, client, &lists);
        notices
            .into_iter()
            .for_each(|notice| self.notices.tell(notice));
        offered
    }

    /// The only server that offers resources, if it is certain that there is no other: one that is not connected may have any.
    fn only(&self, client: &Client) -> Option<LiveSession> {
        let mut live = self.host.sessions();
        let all_are_live = live.len() == self.host.servers().len();
        live.retain(|of| Kind::Resources.declared(of).is_some());
        let only = live.pop().filter(|_| live.is_empty() && all_are_live)?;
        Kind::Resources.is_for(client, &only).then_some(only)
    }
}

/// The list with the template that is the closest to a URI; of two that are as close, the first.
fn closest<'l>(lists: &'l [Arc<Listing>], uri: &str) -> Option<&'l Arc<Listing>> {
    let mut closest: Option<(template::Closeness, &Arc<Listing>)> = None;
    for list in lists {
        let entries = list.entries.iter();
        let found = entries
            .filter_map(|entry| template::closeness(&entry.key, uri))
            .max();
        if let Some(found) = found
            && closest.is_none_or(|(best, _)| found > best)
        {
            closest = Some((found, list));
        }
    }
    closest.map(|(_, list)| list)
}

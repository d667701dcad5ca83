//! The tool list, read page by page: in the handshake, and again whenever it may have changed.

use std::sync::Arc;

use super::handshake::{Ready, Under};
use super::wire;
use super::{Binding, CloseReason, Connection, Event, Session, Stage, Step, Time};
use crate::json::Json;
use crate::mcp::catalog::{CatalogBuilder, Rules};
use crate::mcp::{Catalog, CatalogFault};

/// The tool list, under way.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) session: Arc<Session>,
    catalog: CatalogBuilder,
    pub(super) page: usize,
    cursor: Option<Json>,
    pub(super) since: Time,
    /// Whether the server forgot the session of it once before (T3).
    pub(super) anew: bool,
}

impl Listing {
    pub(super) fn of(session: Arc<Session>, rules: Rules, now: Time) -> Self {
        Self {
            catalog: CatalogBuilder::new(rules),
            session,
            page: 1,
            cursor: None,
            since: now,
            anew: false,
        }
    }
}

impl Connection {
    pub(super) fn list_rules(&self, session: &Session) -> Rules {
        let modern = !session.revision.is_legacy();
        Rules {
            header_params: modern && self.config.binding == Binding::Http,
            empty_cursor: modern,
        }
    }

    /// One page was answered: take it, follow its cursor or finish.
    pub(super) fn listed(
        &mut self,
        now: Time,
        mut listing: Listing,
        result: &Json,
    ) -> Result<Stage, CloseReason> {
        if !self.take_page(now, &mut listing, result)? {
            return Ok(Stage::Listing(Box::new(listing)));
        }
        let catalog = Arc::new(listing.catalog.finish());
        Ok(self.ready(listing.session, catalog))
    }

    /// Takes one page and asks for the next; true at the end of the list.
    fn take_page(
        &mut self,
        now: Time,
        listing: &mut Listing,
        result: &Json,
    ) -> Result<bool, CloseReason> {
        let cursor = listing
            .catalog
            .page(result, &self.config.limits)
            .map_err(CloseReason::Catalog)?;
        let Some(cursor) = cursor else {
            return Ok(true);
        };
        listing.page += 1;
        listing.cursor = Some(cursor);
        listing.since = now;
        self.list(now, listing)?;
        Ok(false)
    }

    pub(super) fn list(&mut self, now: Time, listing: &Listing) -> Result<(), CloseReason> {
        let id = self.new_id();
        let members = listing
            .cursor
            .as_ref()
            .map(|cursor| ("cursor", cursor.as_bytes()));
        let frame = wire::Request {
            id,
            method: "tools/list",
            params: None,
            theirs: None,
            members: members.as_slice(),
            meta: &self.meta,
            token: false,
        }
        .frame();
        let step = Step::ListTools { page: listing.page };
        let limit = self.config.limits.max_outbound_frame_bytes;
        if frame.len() - 1 > limit {
            return Err(CloseReason::RequestTooLong { step, limit });
        }
        self.exchange(now, id, frame, "tools/list", step);
        Ok(())
    }

    /// Reads the tool list again, if nothing else is under way. [`Event::Relisted`] tells that a new one is there,
    /// [`Event::RelistFailed`] that there is none.
    pub fn relist(&mut self, now: Time) {
        self.begin_relist(now, false);
    }

    /// Whether [`relist`](Self::relist) would begin: the session is ready, and neither is its list being read nor the
    /// session itself made anew.
    #[must_use]
    pub fn may_relist(&self) -> bool {
        matches!(&self.stage, Stage::Ready(ready) if matches!(ready.under, Under::Nothing))
    }

    /// Reads the list again whose session was lost while it was read.
    pub(super) fn relist_anew(&mut self, now: Time) {
        self.begin_relist(now, true);
    }

    fn begin_relist(&mut self, now: Time, anew: bool) {
        let Stage::Ready(ready) = &self.stage else {
            return;
        };
        if !matches!(ready.under, Under::Nothing) {
            return;
        }
        let session = Arc::clone(&ready.session);
        let rules = self.list_rules(&session);
        let mut listing = Listing::of(session, rules, now);
        listing.anew = anew;
        match self.list(now, &listing) {
            Ok(()) => {
                if let Stage::Ready(ready) = &mut self.stage {
                    ready.under = Under::Relisting(Box::new(listing));
                }
            }
            Err(reason) => self.events.push_back(Event::RelistFailed(reason)),
        }
    }

    pub(super) fn is_relisting(&self) -> bool {
        matches!(&self.stage, Stage::Ready(ready) if matches!(ready.under, Under::Relisting(_)))
    }

    /// The list could not be read again: the old one stays.
    pub(super) fn relist_failed(&mut self, reason: CloseReason) {
        if let Stage::Ready(ready) = &mut self.stage {
            ready.under = Under::Nothing;
        }
        self.events.push_back(Event::RelistFailed(reason));
        self.after_relist();
    }

    /// One page of a list that is read again was answered; without a result, in a way that is none.
    pub(super) fn relisted(
        &mut self,
        now: Time,
        session: Arc<Session>,
        catalog: Arc<Catalog>,
        mut listing: Listing,
        result: Option<&Json>,
    ) -> Stage {
        let taken = match result {
            Some(result) => self.take_page(now, &mut listing, result),
            None => Err(CloseReason::Catalog(CatalogFault::ResultType)),
        };
        let (catalog, under) = match taken {
            Ok(false) => (catalog, Under::Relisting(Box::new(listing))),
            Ok(true) => {
                let newer = Arc::new(listing.catalog.finish());
                self.events.push_back(Event::Relisted(Arc::clone(&newer)));
                (newer, Under::Nothing)
            }
            Err(reason) => {
                self.events.push_back(Event::RelistFailed(reason));
                (catalog, Under::Nothing)
            }
        };
        Stage::Ready(Ready {
            session,
            catalog,
            under,
        })
    }
}

//! Reading the tool list again.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use seawall_proto::connection::CloseReason;
use seawall_proto::mcp::Catalog;

use super::Client;
use super::offer::Offer;
use super::shared::Shared;
use crate::error::{Error, ErrorKind};

impl Client {
    /// Reads the server's tool list again, whole, and yields a clone that lists and calls by it. The other clones keep the
    /// listing that they have.
    ///
    /// The list is asked for after this is first polled: one that is being read already does not count.
    ///
    /// # Errors
    /// The list could not be read, or lacks a tool that the configuration includes (K11). The session stays.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the list being read, and its result unused.
    pub async fn refresh(&self) -> Result<Self, Error> {
        let catalog = self.handle.shared.relist().await;
        let catalog = catalog.map_err(|reason| self.error(ErrorKind::Refresh(reason)))?;
        let offer = Offer::of(catalog, &self.handle.server, &self.handle.config).await;
        let offer = offer.map_err(|error| {
            let unreaped = None;
            self.error(ErrorKind::Project { error, unreaped })
        })?;
        Ok(Self {
            handle: Arc::clone(&self.handle),
            offer: Arc::new(offer),
        })
    }
}

impl Shared {
    /// Has the list read that begins now, and waits for it.
    async fn relist(&self) -> Result<Arc<Catalog>, CloseReason> {
        let mut before = None;
        poll_fn(|context| {
            let mut guard = self.lock();
            let now = guard.now();
            let state = guard.state();
            if let Some(reason) = state.connection.close_reason() {
                return Poll::Ready(Err(reason.clone()));
            }
            match before {
                Some(before) if state.listings > before => {
                    // A later one may have come meanwhile: it is newer still.
                    if let Some(listing) = &state.listing {
                        return Poll::Ready(listing.clone());
                    }
                }
                None if state.connection.may_relist() => {
                    before = Some(state.listings);
                    state.connection.relist(now);
                    // It has a request to write, or a failure to tell.
                    if let Some(driver) = state.driver.take() {
                        driver.wake();
                    }
                }
                _ => {}
            }
            state.watch(context.waker());
            Poll::Pending
        })
        .await
    }
}

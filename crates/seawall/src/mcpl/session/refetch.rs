//! What a server offers may change under way: it says so, the host asks, and only what the host reads counts.

use std::time::Instant;

use seawall_proto::Json;

use super::{Act, Answer, Ask, Defect, Notice, Session};
use crate::mcpl::features::Selection;
use crate::mcpl::grant::Grant;
use crate::mcpl::manifest::{Announcement, Manifest, Receipt, Standing};

/// So many announcements that share the fetch of another are nothing to speak of.
const MANY: u64 = 16;

impl<K: Clone + PartialEq> Session<K> {
    /// `mcpl/manifestChanged`: a hint, whatever it says. One that says more than the specification lets it is none (§17.3).
    pub(super) fn announced(&mut self, now: Instant, params: Option<&Json>) {
        if params.is_none_or(|params| Announcement::of(params).is_err()) {
            self.defect(Defect::Dropped);
            return;
        }
        self.fetching.announced();
        if self.fetching.coalesced() >= MANY && !std::mem::replace(&mut self.flooded, true) {
            self.defect(Defect::Announcements);
        }
        self.fetch_if_due(now);
    }

    /// When the next fetch is due.
    pub(super) fn fetch_due(&self, now: Instant) -> Option<Instant> {
        self.fetching.due(now).filter(|_| self.is_in_force())
    }

    /// Asks for the manifest, if it is time.
    pub(super) fn fetch_if_due(&mut self, now: Instant) {
        if self.fetch_due(now).is_some_and(|due| due <= now) {
            self.fetching.begin(now);
            self.act(Act::Ask(Ask::Manifest, Json::empty_object()));
        }
    }

    pub(super) fn manifest_answered(&mut self, now: Instant, answer: Answer) {
        self.fetching.end();
        match answer {
            Answer::Result(manifest) => match Manifest::of(&manifest) {
                Ok(manifest) => self.manifest_changed(manifest),
                Err(_) => self.defect(Defect::Manifest),
            },
            Answer::Error(_) | Answer::None => self.defect(Defect::NoManifest),
        }
        self.fetch_if_due(now);
    }

    /// This is what the server offers now: what it lacks is taken away at once, what is new is asked for (§17.5).
    fn manifest_changed(&mut self, next: Manifest) {
        if !(self.is_in_force() || self.is_asking()) {
            return;
        }
        let mut advertised = next.advertised().clone();
        if self.has_tools {
            advertised = advertised.with_tools();
        }
        let wanted = Grant::of(&advertised, &self.offered, &self.policy);
        let selection = Selection::of(next.features(), &wanted, &self.policy);
        let receipt = Receipt::of(
            &Standing::new(&self.manifest, &self.wanted, &self.selection),
            &Standing::new(&next, &wanted, &selection),
            &mut self.accepted,
            &self.named,
        );
        self.manifest = next;
        self.selection = selection;
        self.wanted = wanted;
        self.exchange();
        if !receipt.domains.is_empty() || !receipt.impacts.is_empty() {
            self.tell(Notice::Manifest(receipt));
        }
    }
}

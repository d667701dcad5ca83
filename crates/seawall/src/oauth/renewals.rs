//! The renewals under way, of all the logins of a process.

use std::sync::Arc;

use tokio::sync::watch;

/// The token renewals of one or more [`OAuth`](super::OAuth): what a process waits for before it ends. Clones share them.
///
/// A refresh token is spent when it is used, so a renewal that is abandoned half way costs the login. See
/// [`settle`](Self::settle).
#[derive(Debug, Clone, Default)]
pub struct Renewals(Arc<watch::Sender<Now>>);

#[derive(Debug, Clone, Copy, Default)]
struct Now {
    under_way: usize,
    /// Whether none begins any more.
    settling: bool,
}

/// One renewal, from before its request until what came is kept.
#[derive(Debug)]
pub(super) struct UnderWay(Renewals);

impl Renewals {
    /// Has no renewal begin any more, and waits for those that did. Each is bounded: its request takes 30 s at most.
    ///
    /// # Cancel safety
    /// It may be dropped and asked for again; none begins all the same.
    pub async fn settle(&self) {
        self.0.send_modify(|now| now.settling = true);
        let mut watched = self.0.subscribe();
        // The sender lives as long as this.
        let _ = watched.wait_for(|now| now.under_way == 0).await;
    }

    /// Whether any is under way.
    #[must_use]
    pub fn are_under_way(&self) -> bool {
        self.0.borrow().under_way > 0
    }

    /// One more, unless they are settling.
    pub(super) fn begin(&self) -> Option<UnderWay> {
        let mut begun = false;
        self.0.send_modify(|now| {
            begun = !now.settling;
            now.under_way += usize::from(begun);
        });
        begun.then(|| UnderWay(self.clone()))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let renewals = &self.0;
        renewals
            .0
            .send_modify(|now| now.under_way = now.under_way.saturating_sub(1));
    }
}

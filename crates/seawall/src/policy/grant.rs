//! What an entry says of its server's declarations.

use std::sync::{Arc, LazyLock};

use serde::Serialize;

use super::{Capability, HostAction, capabilities};

/// What the flows of one server declare: the capabilities, and what to do with two calls of one run (F2, F4). Clones share
/// it.
///
/// The default is what a tool of which nothing is known declares: everything, one call after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    capabilities: Arc<[Capability]>,
    on_conflict: OnConflict,
}

/// What to do with two calls of one run whose effects overlap. `onConflict` in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnConflict {
    /// One after the other. The default.
    #[default]
    Serialize,
    /// Both at once: the operator says that the server's calls do not get in each other's way.
    Allow,
}

/// The capability is of no [`HostAction`], so no declaration could hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the capability is not one of a host's actions")]
pub struct NotAHostAction;

impl Grant {
    /// A declaration of these capabilities alone, each of a [`HostAction`]. The order in which they are given, and what is
    /// given twice, do not matter. None at all is everything, as without a grant.
    ///
    /// # Errors
    /// One of them is of no host action.
    pub fn narrowed(
        capabilities: impl IntoIterator<Item = Capability>,
    ) -> Result<Self, NotAHostAction> {
        let with_action = |capability: Capability| Some((HostAction::of(&capability)?, capability));
        let capabilities = capabilities.into_iter().map(with_action);
        let mut sorted: Vec<_> = capabilities.collect::<Option<_>>().ok_or(NotAHostAction)?;
        if sorted.is_empty() {
            return Ok(Self::default());
        }
        sorted.sort();
        sorted.dedup();
        Ok(Self {
            capabilities: sorted
                .into_iter()
                .map(|(_, capability)| capability)
                .collect(),
            on_conflict: OnConflict::default(),
        })
    }

    /// The same with another word on calls of one run.
    #[must_use]
    pub fn on_conflict_of(self, on_conflict: OnConflict) -> Self {
        Self {
            on_conflict,
            ..self
        }
    }

    /// What is declared, in the order of [`HostAction::ALL`]; never empty.
    #[must_use]
    pub fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    /// What to do with two calls of one run.
    #[must_use]
    pub fn on_conflict(&self) -> OnConflict {
        self.on_conflict
    }

    /// Whether less than everything is declared.
    #[must_use]
    pub fn is_narrowed(&self) -> bool {
        *self.capabilities != *capabilities()
    }

    pub(crate) fn shared_capabilities(&self) -> &Arc<[Capability]> {
        &self.capabilities
    }
}

impl Default for Grant {
    fn default() -> Self {
        static ALL: LazyLock<Arc<[Capability]>> = LazyLock::new(|| capabilities().into());
        Self {
            capabilities: Arc::clone(&ALL),
            on_conflict: OnConflict::default(),
        }
    }
}

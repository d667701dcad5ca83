//! What only the host knows of references: their URIs, under names of its own.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Content;
use super::testimony::Testimony;

/// So many references of one connection are known; the oldest ones are forgotten first.
pub const MAX_RECORDS: usize = 2_000;

/// Begins every id of this process, so that one of an earlier process is not taken for one of this.
static PROCESS: LazyLock<u32> = LazyLock::new(|| {
    let drawn = RandomState::new().hash_one(());
    u32::try_from(drawn & 0xff_ffff).unwrap_or_default()
});
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The name of a reference, minted by the host: `ref_<process>_<number>`. It names nothing to a server, and never names
/// another reference later.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReferenceId(String);

/// Where content came in, as a stub says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provenance {
    /// `push/event`
    PushEvent,
    /// `channels/incoming`
    ChannelMessage,
    /// `context/beforeInference`
    Injection,
    /// `tools/call`
    ToolResult,
}

/// One reference as the host knows it. Debug hides the URI.
#[derive(Debug, Clone)]
pub struct Record {
    id: ReferenceId,
    testimony: Testimony,
}

/// The references of one connection, to be dropped with it.
#[derive(Default)]
pub struct References {
    records: VecDeque<Record>,
}

impl References {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives each reference of `content` that has none an id, and remembers what was said of it. Only content that is
    /// accepted should come here.
    pub fn admit(&mut self, content: &mut Content, from: Provenance) {
        for reference in content.references() {
            if reference.id.is_some() {
                continue;
            }
            let id = ReferenceId::mint();
            reference.id = Some(id.clone());
            reference.from = Some(from);
            if self.records.len() == MAX_RECORDS {
                self.records.pop_front();
            }
            self.records.push_back(Record {
                id,
                testimony: reference.testimony.clone(),
            });
        }
    }

    /// What is known of a reference; `None` if the id is unknown or forgotten.
    #[must_use]
    pub fn record(&self, id: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.id.0 == id)
    }
}

impl Record {
    /// Its name.
    #[must_use]
    pub fn id(&self) -> &ReferenceId {
        &self.id
    }

    /// What the server said of it.
    #[must_use]
    pub fn testimony(&self) -> &Testimony {
        &self.testimony
    }
}

impl ReferenceId {
    fn mint() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("ref_{:06x}_{number}", *PROCESS))
    }

    /// The id as text: ASCII letters, digits and `_`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReferenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PushEvent => "attached to a push event",
            Self::ChannelMessage => "attached to a channel message",
            Self::Injection => "injected",
            Self::ToolResult => "from a tool's result",
        })
    }
}

impl fmt::Debug for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("References")
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}

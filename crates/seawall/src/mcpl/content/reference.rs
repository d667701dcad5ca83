//! A reference as a model and an operator see it.

use std::fmt;

use serde::ser::SerializeMap;

use super::references::{Provenance, ReferenceId};
use super::stub;
use super::testimony::{Disposition, Testimony};

/// Something that the server holds. What is shown of it is [`stub`](Self::stub); where it is, only [`References`] know.
///
/// [`References`]: super::References
#[derive(Clone)]
pub struct Reference {
    pub(super) id: Option<ReferenceId>,
    pub(super) kind: ReferenceKind,
    pub(super) testimony: Testimony,
    pub(super) from: Option<Provenance>,
}

/// What a reference is said to lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReferenceKind {
    /// `resource`
    Resource,
    /// `image`
    Image,
    /// `audio`
    Audio,
}

impl Reference {
    /// Its name; `None` until [`References::admit`](super::References::admit) gave it one.
    #[must_use]
    pub fn id(&self) -> Option<&ReferenceId> {
        self.id.as_ref()
    }

    /// What it is said to lead to.
    #[must_use]
    pub fn kind(&self) -> ReferenceKind {
        self.kind
    }

    /// How the server wants it to be treated.
    #[must_use]
    pub fn disposition(&self) -> Option<Disposition> {
        self.testimony.disposition()
    }

    /// The size that the server claims.
    #[must_use]
    pub fn claimed_bytes(&self) -> Option<u64> {
        self.testimony.size_bytes()
    }

    /// The members that were dropped because they are not what they may be: for a diagnostic.
    #[must_use]
    pub fn dropped(&self) -> &[&'static str] {
        self.testimony.dropped()
    }

    /// What a model sees in its place: its id, what the server claims of it, where it came from. One line of at most 400
    /// characters, with nothing invisible in it, whatever the server sent (RFC-005, section 5).
    #[must_use]
    pub fn stub(&self) -> String {
        stub::reference(self)
    }

    pub(super) fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("type", "reference")?;
        map.serialize_entry("of", self.kind.as_str())?;
        if let Some(id) = &self.id {
            map.serialize_entry("ref", id.as_str())?;
        }
        if let Some(name) = self.testimony.name() {
            map.serialize_entry("name", &stub::label(name))?;
        }
        if let Some(mime_type) = self.testimony.mime_type() {
            map.serialize_entry("claimedMimeType", &stub::media_type(mime_type))?;
        }
        if let Some(size) = self.testimony.size_bytes() {
            map.serialize_entry("claimedBytes", &size)?;
        }
        if let Some(disposition) = self.testimony.disposition() {
            map.serialize_entry("disposition", disposition.as_str())?;
        }
        Ok(())
    }
}

impl ReferenceKind {
    /// The kind as the wire has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Image => "image",
            Self::Audio => "audio",
        }
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("testimony", &self.testimony)
            .finish_non_exhaustive()
    }
}

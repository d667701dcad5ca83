//! The manifest of a server: its digest, what changed in it, and what that means here.
//!
//! A server says that its manifest changed; the host fetches it, as often as its own limit allows, and compares. What was
//! taken away is taken away at once; what was added is an input to the next grant and no more. This gives freshness of
//! servers that mean well: what protects from the others is the grant.
//!
//! **Invariant:** no decision is made on a revision, only on what was fetched.

mod announcement;
mod digest;
mod document;
mod fetching;
mod receipt;

#[cfg(test)]
mod tests;

pub use announcement::{Announcement, Domain, InvalidAnnouncement};
pub use digest::{DigestError, InvalidRevision, Revision, digest};
pub use document::{Manifest, NotAManifest};
pub use fetching::{FETCH_TIMEOUT, Fetching, MIN_FETCH_INTERVAL, State};
pub use receipt::{Accepted, Disposition, Entry, Impact, Receipt, Standing, Surface};

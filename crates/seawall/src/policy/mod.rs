//! Who may do what: the capabilities that flows declare, the grants that narrow them, the envelopes that callers have
//! (F2, F4). Pure: texts and values in, a yes or a no out.
//!
//! A flow declares [`Capability`]s. Its server's [`Grant`] says which: all of them, or those of the entry's `grant`. A
//! caller has an [`Envelope`] of [`Pattern`]s, and calls a flow only if its envelope covers everything that the flow
//! declares. So a grant is the operator's word that a server needs no more, and an envelope is what a caller is trusted
//! with; `docs/grants.md` has examples.
//!
//! # Resources
//! The resource of a capability and of a pattern is cut at each `/` into segments, which may be empty: `https://a/b` has
//! four, `/srv` has two. `*` alone in a segment is any one segment, also an empty one; `**` alone is any number of them, also
//! none. Every other segment stands for itself, byte for byte: nothing is decoded, folded or resolved. `*` beside other
//! characters, `.` and `..` as a segment, and control characters do not parse.
//!
//! **Invariant:** a pattern covers a capability only if it matches every resource that the capability could mean.
//! **Invariant:** what does not parse authorises nothing, and is authorised by nothing.

mod capability;
mod envelope;
mod grant;
mod pattern;

#[cfg(test)]
mod tests;

pub use capability::{Capability, HostAction, InvalidCapability, capabilities};
pub use envelope::Envelope;
pub use grant::{Grant, NotAHostAction, OnConflict};
pub use pattern::{InvalidPattern, Pattern};

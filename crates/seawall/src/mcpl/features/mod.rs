//! Feature sets: named bundles of behaviour that a server declares, and which of them are on.
//!
//! They follow from the grant and never add to it: a set is off where a capability that it uses is not granted, and what it
//! uses beyond its declaration is refused. They are a convenience, and no boundary: the grant is.
//!
//! **Invariant:** a set whose declaration cannot be read is off.

mod declaration;
mod selection;

#[cfg(test)]
mod tests;

pub use declaration::{Feature, FeatureSets, MAX_FEATURE_SETS, MAX_NAME_BYTES, MAX_USES, Uses};
pub use selection::{
    Disabled, FEATURE_SET_NOT_ENABLED, Off, Refused, Selection, UNKNOWN_FEATURE_SET,
};

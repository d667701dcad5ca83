//! Seeds and properties of the protocol core, through its public API.

#[cfg(test)]
#[path = "../../../../fuzz/bodies/mod.rs"]
mod bodies;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod properties;

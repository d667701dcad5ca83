//! Addresses, and frames over a peer in memory on a paused clock.

mod addresses;
mod frames;

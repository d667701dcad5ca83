//! The tools of all servers, as clients list and call them.
//!
//! An entry is the server's own JSON with another name, and with what is hidden in its description and its titles made
//! visible; a result is the server's own bytes.

mod call;
mod entry;
mod failure;
mod offered;

#[cfg(test)]
mod tests;

pub(crate) use call::{call, for_era};
pub(crate) use entry::shown;
pub use failure::RemoteErrors;
pub(crate) use failure::{
    acted_on, internal, invalid, late, method_not_found, not_taken, refused, unsent,
};
pub use offered::Meeting;
pub(crate) use offered::Offered;

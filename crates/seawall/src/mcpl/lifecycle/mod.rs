//! What a server is told of calls to tools of other servers: that one begins and ends, and, where all agree, arguments that
//! it asked for (RFC-007). Results are never told; there is no member for them.
//!
//! For one call and one server the order is: the grant and the operator's narrowing say whether the server may know of it;
//! the server's own [`Filter`] says whether it wants to, and which arguments; the grant, the narrowing and the tool's
//! [`Classes`] (RFC-008) say whether it may have them; then they are cut to a bound. An [`Observer`] does that for one
//! connection.
//!
//! **Invariant:** no argument is told that the server did not ask for, none of a tool that is unclassed or deals with other
//! people (`comms`), and none that the operator did not narrow to.
//! **Invariant:** a server is told of no call to its own tools, and of one end at most for each call that it was told of.

mod call;
mod class;
mod filter;
mod narrowing;
mod observer;
mod select;

#[cfg(test)]
mod tests;

pub use call::{CallEnd, Provider, ToolCall, ToolCallId};
pub use class::{
    ClassRemark, ClassSource, Classes, Declared, Effective, ToolClass, UnknownClass, effective,
};
pub use filter::{Filter, MAX_PATHS, MAX_PATTERN_CHARS, MAX_RULES};
pub use narrowing::Narrowings;
pub use observer::{Granted, MAX_OPEN_CALLS, Observer};

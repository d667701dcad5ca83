//! The library against real processes, most of which misbehave on purpose.

#![cfg(unix)]

mod calls;

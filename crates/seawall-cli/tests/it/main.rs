//! The `seawall` binary, driven from outside.

mod demo_server;
mod help;
mod support;

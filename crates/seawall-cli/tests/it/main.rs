//! The `seawall` binary, driven from outside.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test cannot go on without what it needs"
)]

#[cfg(unix)]
mod asked;
mod call;
mod check;
#[cfg(unix)]
mod clients;
mod credentials;
mod demo_server;
mod doctor;
mod help;
mod init;
#[cfg(unix)]
mod interrupt;
mod login;
#[cfg(unix)]
mod mcpl;
mod peers;
mod prompts;
mod resources;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod serve;
mod six;
mod support;
#[cfg(unix)]
mod terminal;
mod tools;
mod web;

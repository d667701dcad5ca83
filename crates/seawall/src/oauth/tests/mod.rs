//! Logins against an authorization server in this process.

mod address;
mod browser;
mod challenge;
mod discovery;
mod extensions;
mod login;
mod processes;
mod renewal;
mod scopes;
mod store;
mod world;

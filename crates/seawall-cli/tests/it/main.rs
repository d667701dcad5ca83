//! The `seawall` binary, driven from outside.

mod call;
mod check;
mod demo_server;
mod doctor;
mod help;
mod interrupt;
mod peers;
mod support;
mod tools;

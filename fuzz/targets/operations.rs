#![no_main]

#[path = "../bodies/operations/mod.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::run(data));

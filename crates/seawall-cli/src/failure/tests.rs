use std::io;

use super::{ErrorReport, Failure, Status, Undone, UsageError};

fn json(failure: &Failure) -> String {
    serde_json::to_string(&ErrorReport::from(failure)).expect("it serialises")
}

#[test]
fn failure_without_a_server_says_null() {
    let failure = Failure::from(UsageError::DemoTaken);
    assert_eq!(failure.status(), Status::Usage);
    insta::assert_snapshot!(json(&failure), @r#"{"error":{"code":"configuration","outcome":"not_sent","server":null,"message":"--demo: the configuration has the server `demo` or its prefix `mcp/demo` already; leave --demo out, or rename that one"}}"#);
}

#[test]
fn signal_before_the_call_is_not_sent() {
    let server = Some("s".to_owned());
    let failure = Failure::Interrupted {
        server,
        undone: Undone::Anything,
    };
    assert_eq!(failure.status(), Status::NotSent);
    insta::assert_snapshot!(json(&failure), @r#"{"error":{"code":"connection_closed","outcome":"not_sent","server":"s","message":"interrupted; no tool was called"}}"#);
}

#[test]
fn lost_output_is_answered_but_unusable() {
    let failure = Failure::Output(io::ErrorKind::StorageFull.into());
    assert_eq!(failure.status(), Status::Unusable);
}

/// BEHAVIOUR O2: each outcome has its exit status.
#[test]
fn outcome_is_the_status() {
    use seawall::Outcome;
    for (outcome, status) in [
        (Outcome::NotSent, 3),
        (Outcome::ErrorResponse, 4),
        (Outcome::Answered, 5),
        (Outcome::NoResponse, 6),
    ] {
        assert_eq!(Status::of_outcome(outcome) as u8, status);
    }
}

/// BEHAVIOUR O1: the code and the status are of one failure; a configuration would be 2.
#[test]
fn a_program_that_cannot_start_is_no_configuration() {
    let failure = Failure::Runtime(io::ErrorKind::OutOfMemory.into());
    assert_eq!(failure.status(), Status::NotSent);
    insta::assert_snapshot!(json(&failure), @r#"{"error":{"code":"spawn_failed","outcome":"not_sent","server":null,"message":"the program cannot start: out of memory"}}"#);
}

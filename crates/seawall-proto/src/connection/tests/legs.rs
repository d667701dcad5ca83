//! O4: the rounds of a call.

use std::time::Duration;

use super::{DISCOVERED, Peer, RESULT, all_capabilities, config, field, modern};
use crate::connection::{
    Abandoned, BetweenLegs, CallError, CallId, ClientConfig, CloseReason, Event, Unfinished,
};
use crate::json::Json;
use crate::limits::{Limits, MAX_INPUTS, MAX_LEGS};
use crate::mcp::InputMethod;
use crate::outcome::{ErrorCode, Outcome};

const PACE: Duration = Duration::from_millis(100);
const STATE: &str = r#"{"resultType":"input_required","requestState":"s"}"#;
const ROOTS: &str = r#"{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}},"requestState":"s"}"#;

fn peer() -> Peer {
    peer_with(Limits::default())
}

fn peer_with(limits: Limits) -> Peer {
    Peer::modern_with(
        DISCOVERED,
        ClientConfig {
            limits,
            capabilities: all_capabilities(),
            ..modern()
        },
    )
}

/// A call whose first leg, request 3, was answered so.
fn paused(peer: &mut Peer, result: &str) -> CallId {
    let call = peer.call();
    peer.sent();
    peer.reply("3", result);
    call
}

fn unfinished(peer: &mut Peer, call: CallId) -> Unfinished {
    match peer.take(call).unwrap_err() {
        CallError::Unfinished(why) => why,
        other => panic!("{other:?}"),
    }
}

/// O4: `requestState` goes back exactly as it was written, with a new id and a new progress token, and only where there
/// was one; the arguments go along unchanged.
#[test]
fn state_is_echoed_exactly() {
    for state in [
        r#""""#,
        r#""plain""#,
        r#"" spaces  \t""#,
        r#""\u0061\ud800\/\"é""#,
        &format!("\"{}\"", "x".repeat(10_000)),
    ] {
        let mut peer = peer();
        let call = peer.try_call("echo", r#"{"a" : 1.50}"#).unwrap();
        peer.sent();
        peer.reply(
            "3",
            &format!(r#"{{"requestState" : {state} ,"resultType":"input_required"}}"#),
        );
        assert!(peer.is_pending(call));
        assert!(peer.sent().is_empty(), "a state-only leg rests");
        peer.pass(PACE - Duration::from_millis(1));
        assert!(peer.sent().is_empty());
        peer.pass(Duration::from_millis(1));
        let sent = peer.sent();
        assert_eq!(sent.len(), 1);
        assert!(
            sent[0].contains(&format!(r#""requestState":{state},"_meta""#)),
            "{}",
            sent[0]
        );
        assert!(sent[0].contains(r#""arguments":{"a" : 1.50}"#));
        assert!(sent[0].contains(r#""id":4,"#));
        assert!(sent[0].contains(r#""progressToken":4}"#));
        assert!(!sent[0].contains("inputResponses"));
        peer.reply("4", RESULT);
        assert!(peer.take(call).is_ok());
        assert_eq!(peer.connection.buffered_bytes(), 0);
    }
}

/// O4: inputs go back under the server's own keys, without a state where there was none.
#[test]
fn inputs_are_supplied_under_their_keys() {
    let mut peer = peer();
    let call = paused(
        &mut peer,
        r#"{"resultType":"input_required","inputRequests":{"\u0061 b":{"method":"elicitation/create","params":{"mode":"form","message":"m"}},"":{"method":"sampling/createMessage","params":{"x":1}}}}"#,
    );
    let events = peer.events();
    let [
        Event::Input {
            id: form,
            method: InputMethod::ElicitForm,
            params: Some(params),
            call: Some(_),
        },
        Event::Input {
            id: sample,
            method: InputMethod::Sample,
            ..
        },
    ] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(params.as_str(), r#"{"mode":"form","message":"m"}"#);
    peer.supply(*sample, Some(r#"{"role":"assistant"}"#));
    assert!(peer.sent().is_empty(), "one is still missing");
    // A person who declines is an answer like any other.
    peer.supply(*form, Some(r#"{"action":"decline"}"#));
    let sent = peer.sent();
    assert!(
        sent[0].contains(
            r#""arguments":{},"inputResponses":{"\u0061 b":{"action":"decline"},"":{"role":"assistant"}},"_meta""#
        ),
        "{}",
        sent[0]
    );
    assert!(!sent[0].contains("requestState"));
    peer.supply(*form, Some("{}"));
    assert!(peer.sent().is_empty(), "what was supplied is not asked for");
    peer.reply("4", RESULT);
    assert!(peer.take(call).is_ok());
}

/// O4: state and inputs never leak into another call, nor into the leg after.
#[test]
fn state_never_leaks() {
    let mut peer = peer();
    let call = paused(&mut peer, ROOTS);
    let other = peer.call();
    let sent = peer.sent();
    assert!(!sent[0].contains("requestState"), "{}", sent[0]);
    let asked = peer.asked();
    peer.supply(asked[0], Some(r#"{"roots":[]}"#));
    let sent = peer.sent();
    assert_eq!(field(&sent[0], "/id"), 5);
    assert_eq!(field(&sent[0], "/params/requestState"), "s");
    peer.reply(
        "5",
        r#"{"resultType":"input_required","inputRequests":{"j":{"method":"roots/list"}}}"#,
    );
    let asked = peer.asked();
    peer.supply(asked[0], Some("{}"));
    let sent = peer.sent();
    assert!(!sent[0].contains("requestState"), "{}", sent[0]);
    assert_eq!(
        field(&sent[0], "/params/inputResponses"),
        serde_json::json!({"j": {}})
    );
    peer.reply("6", RESULT);
    peer.reply("4", RESULT);
    assert!(peer.take(call).is_ok());
    assert!(peer.take(other).is_ok());
}

/// O4: a caller's own `requestState` gives way to the server's.
#[test]
fn own_state_of_a_caller_gives_way() {
    let mut peer = peer();
    let params =
        Json::check(r#"{"name":"p","requestState":"theirs","inputResponses":{}}"#).unwrap();
    peer.connection
        .request(peer.now, "prompts/get", Some(params), None)
        .unwrap();
    assert_eq!(field(&peer.sent()[0], "/params/requestState"), "theirs");
    peer.reply("3", STATE);
    peer.pass(PACE);
    let sent = peer.sent();
    assert_eq!(sent[0].matches("requestState").count(), 1, "{}", sent[0]);
    assert_eq!(field(&sent[0], "/params/requestState"), "s");
}

/// O4: an input that the host cannot supply ends the call without an outcome, and the others are taken back.
#[test]
fn input_that_cannot_be_supplied_ends_the_call() {
    let mut peer = peer();
    let call = paused(
        &mut peer,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}}"#,
    );
    let asked = peer.asked();
    peer.supply(asked[0], None);
    assert_eq!(unfinished(&mut peer, call), Unfinished::NotAnswered);
    assert!(matches!(
        peer.events()[..],
        [Event::InputWithdrawn { id }] if id == asked[1]
    ));
    peer.supply(asked[1], Some("{}"));
    assert!(
        peer.sent().is_empty(),
        "nothing is in flight to be cancelled"
    );
    assert_eq!(peer.connection.buffered_bytes(), 0);
    assert!(peer.is_open());
}

/// O4, S2: an input that the host did not declare is refused before anybody is asked.
#[test]
fn input_that_was_not_declared_is_refused() {
    for (method, what) in [
        (
            r#"{"method":"elicitation/create","params":{}}"#,
            InputMethod::ElicitForm,
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":"url"}}"#,
            InputMethod::ElicitUrl,
        ),
        (
            r#"{"method":"sampling/createMessage"}"#,
            InputMethod::Sample,
        ),
        (r#"{"method":"roots/list"}"#, InputMethod::ListRoots),
    ] {
        let mut peer = Peer::modern_with(DISCOVERED, modern());
        let call = paused(
            &mut peer,
            &format!(r#"{{"resultType":"input_required","inputRequests":{{"k":{method}}}}}"#),
        );
        let error = peer.take(call).unwrap_err();
        assert_eq!(error, CallError::Unfinished(Unfinished::Unsupplied(what)));
        assert_eq!(
            (error.outcome(), error.code()),
            (Outcome::NoResponse, ErrorCode::ToolFailed)
        );
        assert!(error.to_string().contains("does not supply"), "{error}");
        assert!(peer.events().is_empty());
        assert!(peer.sent().is_empty());
    }
}

/// O4: what makes no sense as a wish for another round has no outcome.
#[test]
fn malformed_wish_ends_the_call() {
    for wish in [
        r#""x":1"#,
        r#""inputRequests":[]"#,
        r#""inputRequests":"x","requestState":"s""#,
        r#""requestState":7"#,
        r#""requestState":{}"#,
        r#""inputRequests":null,"requestState":null"#,
        r#""requestState":"a","requestState":"b""#,
        r#""inputRequests":{"k":7}"#,
        r#""inputRequests":{"k":{"method":"tools/call"}}"#,
        r#""inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"x"}}}"#,
        r#""inputRequests":{"k":{"method":"roots/list","method":"roots/list"}}"#,
        r#""inputRequests":{"k":{"method":"roots/list"},"\u006b":{"method":"roots/list"}}"#,
    ] {
        let mut peer = peer();
        let call = paused(
            &mut peer,
            &format!(r#"{{"resultType":"input_required",{wish}}}"#),
        );
        assert_eq!(unfinished(&mut peer, call), Unfinished::Malformed, "{wish}");
        assert!(peer.events().is_empty(), "{wish}");
        assert_eq!(peer.connection.buffered_bytes(), 0);
    }
    // An absent value that was written as null is absent.
    for wish in [
        r#""inputRequests":null,"requestState":"s""#,
        r#""inputRequests":{},"requestState":null"#,
    ] {
        let mut peer = peer();
        let call = paused(
            &mut peer,
            &format!(r#"{{"resultType":"input_required",{wish}}}"#),
        );
        assert!(peer.is_pending(call), "{wish}");
        peer.pass(PACE);
        assert_eq!(
            peer.sent()[0].contains("requestState"),
            wish.contains("\"s\"")
        );
    }
}

/// O4: only the three methods that may ask are gone along with.
#[test]
fn only_some_methods_may_ask() {
    for (method, may) in [
        ("prompts/get", true),
        ("resources/read", true),
        ("prompts/list", false),
        ("completion/complete", false),
        ("tools/list", false),
    ] {
        let mut peer = peer();
        let call = peer
            .connection
            .request(peer.now, method, None, None)
            .unwrap();
        peer.sent();
        peer.reply("3", STATE);
        assert_eq!(peer.is_pending(call), may, "{method}");
        if !may {
            assert!(matches!(
                peer.connection.poll_request(call, std::task::Waker::noop()),
                std::task::Poll::Ready(None)
            ));
        }
    }
}

/// O4: ten further legs, and not one more.
#[test]
fn legs_are_counted() {
    let mut peer = peer();
    let call = peer.call();
    peer.sent();
    for leg in 0..MAX_LEGS {
        peer.reply(&(3 + leg).to_string(), STATE);
        assert!(peer.is_pending(call));
        peer.pass(PACE);
        assert_eq!(field(&peer.sent()[0], "/id"), 4 + leg);
    }
    peer.reply(&(3 + MAX_LEGS).to_string(), STATE);
    let why = unfinished(&mut peer, call);
    assert_eq!(why, Unfinished::TooManyLegs { limit: 10 });
    peer.pass(PACE);
    assert!(peer.sent().is_empty());
}

/// O4: a deadline between legs says that nothing was in flight, has no outcome, cancels nothing and takes back what was
/// asked for; as does a caller that lets go, and an end of the session.
#[test]
fn end_between_legs_cancels_nothing() {
    for result in [ROOTS, STATE] {
        // Of the pause, of the queued next leg.
        for queued in [false, true] {
            let start = |peer: &mut Peer| {
                let call = paused(peer, result);
                let asked = peer.asked();
                if queued {
                    match asked[..] {
                        [id] => peer.supply(id, Some("{}")),
                        _ => peer.pass(PACE),
                    }
                }
                (call, !queued && !asked.is_empty())
            };
            let mut late = peer();
            let (call, withdrawn) = start(&mut late);
            // The pace moves on by itself; without it the deadline comes first.
            late.now = late.now.after(Duration::from_secs(120));
            late.connection.handle_timeout(late.now);
            assert_eq!(late.events().len(), usize::from(withdrawn));
            let error = late.take(call).unwrap_err();
            assert!(
                matches!(
                    error,
                    CallError::BetweenLegs(BetweenLegs::Timeout { limit_ms: 120_000 })
                ),
                "{error:?}"
            );
            assert_eq!(
                (error.outcome(), error.code()),
                (Outcome::NoResponse, ErrorCode::Timeout)
            );
            assert!(error.to_string().contains("nothing was in flight"));
            assert!(late.sent().is_empty());
            assert_eq!(late.connection.stats().cancelled, 0);
            assert_eq!(late.connection.poll_timeout(), None);
            assert_eq!(late.connection.buffered_bytes(), 0);

            let mut gone = peer();
            let (call, withdrawn) = start(&mut gone);
            assert_eq!(gone.connection.abandon(call), Abandoned::BetweenLegs);
            assert_eq!(gone.events().len(), usize::from(withdrawn));
            assert!(gone.sent().is_empty());
            gone.pass(PACE);
            assert!(gone.sent().is_empty());
            assert_eq!(gone.connection.poll_timeout(), None);
            assert_eq!(gone.connection.buffered_bytes(), 0);

            let mut closed = peer();
            let (call, _) = start(&mut closed);
            closed.connection.handle_closed(CloseReason::StdoutClosed);
            let error = closed.take(call).unwrap_err();
            assert_eq!(
                error,
                CallError::BetweenLegs(BetweenLegs::Closed(CloseReason::StdoutClosed))
            );
            assert_eq!(error.outcome(), Outcome::NoResponse);
            assert_eq!(closed.connection.buffered_bytes(), 0);
        }
    }
}

/// O4, S8: a later leg in flight is cancelled by its own id, and its deadline is the call's.
#[test]
fn later_leg_is_cancelled_by_its_own_id() {
    let mut peer = peer();
    let call = paused(&mut peer, STATE);
    peer.pass(PACE);
    peer.sent();
    peer.reply("3", RESULT);
    assert!(peer.is_pending(call), "leg 3 was answered before");
    peer.pass(Duration::from_millis(119_899));
    assert!(peer.is_pending(call));
    peer.pass(Duration::from_millis(1));
    assert_eq!(
        peer.sent(),
        [r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#]
    );
    let error = peer.take(call).unwrap_err();
    assert_eq!(
        error,
        CallError::Timeout {
            limit_ms: 120_000,
            outcome: Outcome::NoResponse
        }
    );
}

/// O3: an error of a later leg is the call's.
#[test]
fn error_of_a_later_leg_is_the_calls() {
    let mut peer = peer();
    let call = paused(&mut peer, STATE);
    peer.pass(PACE);
    peer.sent();
    peer.refuse("4", -32602, "unknown tool");
    let error = peer.take(call).unwrap_err();
    assert_eq!(
        (error.outcome(), error.code()),
        (Outcome::ErrorResponse, ErrorCode::ToolNotFound)
    );
}

/// L1 (maxOutboundFrameBytes), L2: a leg that would be too long or too deep is not said.
#[test]
fn next_leg_keeps_the_bounds() {
    let limits = Limits {
        max_outbound_frame_bytes: 1_000,
        ..Limits::default()
    };
    let mut peer = peer_with(limits);
    let call = paused(
        &mut peer,
        &STATE.replace("\"s\"", &format!("\"{}\"", "s".repeat(990))),
    );
    peer.pass(PACE);
    assert!(peer.sent().is_empty());
    assert_eq!(
        unfinished(&mut peer, call),
        Unfinished::TooLong { limit: 1_000 }
    );
    assert_eq!(peer.connection.buffered_bytes(), 0);

    for (depth, fits) in [(125, true), (126, false)] {
        let mut peer = self::peer();
        let call = paused(&mut peer, ROOTS);
        let asked = peer.asked();
        let answer = "[".repeat(depth) + &"]".repeat(depth);
        peer.supply(asked[0], Some(&answer));
        assert_eq!(peer.is_pending(call), fits);
        let sent = peer.sent();
        assert_eq!(sent.len(), usize::from(fits));
        if let Some(frame) = sent.first() {
            assert_eq!(Json::check(frame.clone()).unwrap().depth(), 128);
        }
    }
}

/// L6: more inputs at once than the bound end the call that asks for them; at the bound they are asked for.
#[test]
fn inputs_at_once_are_bounded() {
    let ask = |count: usize| {
        let requests: Vec<String> = (0..count)
            .map(|at| format!(r#""{at}":{{"method":"roots/list"}}"#))
            .collect();
        format!(
            r#"{{"resultType":"input_required","inputRequests":{{{}}}}}"#,
            requests.join(",")
        )
    };
    let mut peer = peer();
    let call = paused(&mut peer, &ask(MAX_INPUTS));
    assert_eq!(peer.asked().len(), MAX_INPUTS);
    let other = peer.call();
    peer.sent();
    peer.reply("4", &ask(1));
    assert_eq!(
        unfinished(&mut peer, other),
        Unfinished::TooManyInputs { limit: MAX_INPUTS }
    );
    assert!(peer.is_pending(call));
    let mut past = self::peer();
    let call = paused(&mut past, &ask(50_000));
    assert_eq!(
        unfinished(&mut past, call),
        Unfinished::TooManyInputs { limit: MAX_INPUTS }
    );
    assert!(past.events().is_empty());
}

/// L8: what a paused call keeps alive is counted until it goes on or ends.
#[test]
fn pause_counts_against_the_budget() {
    let limits = Limits {
        max_buffered_bytes: 20_000,
        ..Limits::default()
    };
    let mut peer = peer_with(limits);
    let call = paused(
        &mut peer,
        &STATE.replace("\"s\"", &format!("\"{}\"", "s".repeat(25_000))),
    );
    assert!(!peer.connection.wants_read());
    assert_eq!(
        peer.try_call("echo", "{}").unwrap_err(),
        CallError::BufferFull { limit: 20_000 }
    );
    peer.pass(PACE);
    assert!(!peer.connection.wants_read(), "now it is a frame");
    peer.sent();
    assert_eq!(peer.connection.buffered_bytes(), 0);
    peer.reply("4", RESULT);
    assert!(peer.take(call).is_ok());
}

/// O4: a progress token is always sent, each leg its own; progress restarts the timeout, never past the total, and says
/// nothing for a leg that is over.
#[test]
fn progress_restarts_the_timeout_within_the_total() {
    let limits = Limits {
        request_timeout: Duration::from_secs(10),
        ..Limits::default()
    };
    let mut peer = Peer::modern_with(
        DISCOVERED,
        ClientConfig {
            limits,
            max_total_timeout: Duration::from_secs(25),
            ..modern()
        },
    );
    let progress = |token: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
        )
    };
    let call = peer.call();
    peer.sent();
    peer.pass(Duration::from_secs(9));
    peer.recv(&progress(3));
    assert!(peer.connection.take_progress(call).is_some());
    peer.pass(Duration::from_secs(9));
    assert!(peer.is_pending(call), "18 s");
    peer.reply("3", STATE);
    peer.recv(&progress(3));
    assert!(
        peer.connection.take_progress(call).is_none(),
        "leg 3 is over"
    );
    peer.pass(PACE);
    peer.recv(&progress(4));
    assert!(peer.connection.take_progress(call).is_none(), "not begun");
    peer.sent();
    peer.recv(&progress(4));
    assert!(peer.connection.take_progress(call).is_some());
    peer.pass(Duration::from_millis(6_899));
    assert!(peer.is_pending(call));
    peer.recv(&progress(4));
    peer.pass(Duration::from_millis(1));
    let bound = |taken: &Result<_, CallError>| match taken {
        Err(CallError::Timeout { limit_ms, .. }) => Some(*limit_ms),
        _ => None,
    };
    assert_eq!(bound(&peer.take(call)), Some(25_000), "the total ended it");

    // A bound of the caller's own is one of the whole call: progress does not move it, whatever the total.
    let json = Json::check("{}".to_owned()).unwrap();
    let short = Some(Duration::from_secs(2));
    let now = peer.now;
    let call = peer.connection.call(now, "echo", &json, short).unwrap();
    peer.sent();
    peer.pass(Duration::from_secs(1));
    peer.recv(&progress(5));
    assert!(peer.connection.take_progress(call).is_some());
    peer.pass(Duration::from_secs(1));
    assert!(matches!(
        peer.take(call),
        Err(CallError::Timeout { limit_ms: 2000, .. })
    ));

    // A total that is shorter than the timeout bounds the call all the same.
    let total = Duration::from_secs(3);
    let mut short = Peer::ready_with(ClientConfig {
        max_total_timeout: total,
        ..config(Limits::default())
    });
    let call = short.call();
    short.sent();
    short.pass(total - Duration::from_millis(1));
    assert!(short.is_pending(call));
    short.pass(Duration::from_millis(1));
    assert_eq!(bound(&short.take(call)), Some(3_000));

    // Without a total, progress has no effect.
    let mut off = Peer::ready_with(config(Limits::default()));
    let call = off.call();
    off.sent();
    off.pass(Duration::from_secs(119));
    off.recv(&progress(3));
    off.pass(Duration::from_secs(1));
    assert!(off.take(call).is_err());
}

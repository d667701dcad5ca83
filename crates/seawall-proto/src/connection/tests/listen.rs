//! H5, S8: the stream that a modern server tells its changes on.

use std::time::Duration;

use super::{DISCOVERED, Peer, fault, field, modern, modern_http};
use crate::connection::{Change, Event, Order};
use crate::limits::{MAX_CHANGED_URI_BYTES, MAX_SUBSCRIPTIONS};

const SECOND: Duration = Duration::from_secs(1);

fn announcing() -> String {
    DISCOVERED.replace(
        r#""tools":{}"#,
        r#""tools":{"listChanged":true},"prompts":{"listChanged":false},"resources":{"subscribe":true,"listChanged":true}"#,
    )
}

/// Ready; the stream is request 2, and asked for.
fn asked() -> Peer {
    Peer::modern_with(&announcing(), modern())
}

/// Ready, with the stream open.
fn open() -> Peer {
    let mut peer = asked();
    acknowledge(&mut peer, "2");
    peer
}

fn notify(peer: &mut Peer, method: &str, subscription: &str, more: &str) {
    peer.recv(&notification(method, subscription, more));
}

fn notification(method: &str, subscription: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{subscription}}}{more}}}}}"#
    )
}

fn acknowledge(peer: &mut Peer, subscription: &str) {
    notify(
        peer,
        "subscriptions/acknowledged",
        subscription,
        r#","notifications":{}"#,
    );
}

fn changes(peer: &mut Peer) -> Vec<Change> {
    peer.events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Changed(change) => Some(change),
            _ => None,
        })
        .collect()
}

fn end(peer: &mut Peer, id: u64) {
    peer.reply(
        &id.to_string(),
        &format!(
            r#"{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#
        ),
    );
}

/// The id under which the stream was asked for now, if it was.
fn listened(peer: &mut Peer) -> Option<u64> {
    let sent = peer.sent();
    assert!(sent.len() <= 1, "{sent:?}");
    let frame = sent.first()?;
    assert_eq!(field(frame, "/method"), "subscriptions/listen");
    field(frame, "/id").as_u64()
}

/// The pause until the stream is asked for again, which passes.
fn pause(peer: &mut Peer) -> Duration {
    let until = peer.connection.poll_timeout().unwrap();
    let pause = until.since(peer.now);
    peer.pass(pause - Duration::from_millis(1));
    assert!(peer.sent().is_empty());
    peer.pass(Duration::from_millis(1));
    pause
}

/// H5: the stream is asked for before the list is read, for what the server announces and nothing else.
#[test]
fn stream_is_asked_for_before_the_list() {
    let mut peer = Peer::with(modern());
    peer.sent();
    peer.reply("1", &announcing());
    let sent = peer.sent();
    assert_eq!(field(&sent[0], "/method"), "subscriptions/listen");
    assert_eq!(
        field(&sent[0], "/params/notifications"),
        serde_json::json!({"toolsListChanged": true, "resourcesListChanged": true})
    );
    assert_eq!(
        field(
            &sent[0],
            "/params/_meta/io.modelcontextprotocol~1protocolVersion"
        ),
        "2026-07-28"
    );
    assert_eq!(field(&sent[1], "/method"), "tools/list");
    // A server that announces nothing is not asked.
    let mut silent = Peer::modern_with(DISCOVERED, modern());
    silent.pass(Duration::from_secs(3_600));
    assert!(silent.sent().is_empty());
}

/// H5: nothing counts before the acknowledgement, under another subscription, or of a kind that was not asked for.
#[test]
fn only_what_was_asked_for_counts() {
    let mut peer = asked();
    notify(&mut peer, "tools/list_changed", "2", "");
    assert!(changes(&mut peer).is_empty(), "before the acknowledgement");
    acknowledge(&mut peer, "3");
    acknowledge(&mut peer, "\"2\"");
    peer.recv(r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}"#);
    notify(&mut peer, "tools/list_changed", "2", "");
    assert!(changes(&mut peer).is_empty(), "of another subscription");
    acknowledge(&mut peer, "2");
    for subscription in ["3", "\"2\"", "2.0", "null", "[2]"] {
        notify(&mut peer, "tools/list_changed", subscription, "");
    }
    peer.recv(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    notify(&mut peer, "prompts/list_changed", "2", "");
    notify(&mut peer, "resources/updated", "2", r#","uri":"a""#);
    assert!(changes(&mut peer).is_empty());
    notify(&mut peer, "tools/list_changed", "2", "");
    notify(&mut peer, "tools/list_changed", "2", "");
    notify(&mut peer, "resources/list_changed", "2", "");
    assert_eq!(changes(&mut peer), [Change::Tools, Change::Resources]);
    notify(&mut peer, "tools/list_changed", "2", "");
    assert_eq!(changes(&mut peer), [Change::Tools], "each once until taken");
}

/// H5: a stream that was not begun cannot be acknowledged, answered or ended.
#[test]
fn stream_that_was_not_begun_is_not_answered() {
    let mut peer = Peer::with(modern());
    peer.sent();
    peer.reply("1", &announcing());
    acknowledge(&mut peer, "2");
    peer.refuse("2", -32601, "x");
    notify(&mut peer, "cancelled", "2", r#","requestId":2"#);
    notify(&mut peer, "tools/list_changed", "2", "");
    assert!(peer.events().is_empty());
    assert_eq!(peer.sent().len(), 2, "it goes on its way all the same");
    acknowledge(&mut peer, "2");
    notify(&mut peer, "tools/list_changed", "2", "");
    assert_eq!(changes(&mut peer), [Change::Tools]);
}

/// H5: the stream ends gracefully, or is torn down, or both in either order: it is asked for once more after a pause.
#[test]
fn stream_that_ended_is_opened_again() {
    for order in [&["end"][..], &["cut"], &["end", "cut"], &["cut", "end"]] {
        let mut peer = open();
        for step in order {
            match *step {
                "end" => end(&mut peer, 2),
                _ => notify(&mut peer, "cancelled", "2", r#","requestId":2"#),
            }
        }
        let rest = pause(&mut peer);
        assert!(rest >= SECOND && rest <= SECOND * 5 / 4, "{rest:?}");
        assert_eq!(listened(&mut peer), Some(4), "{order:?}");
        assert!(peer.is_open());
        notify(&mut peer, "tools/list_changed", "2", "");
        assert!(changes(&mut peer).is_empty(), "the old stream is over");
        acknowledge(&mut peer, "4");
        assert_eq!(
            changes(&mut peer),
            [Change::Tools, Change::Resources],
            "what changed meanwhile was missed"
        );
    }
}

/// H5: a server that cannot listen is never asked again, whatever is followed.
#[test]
fn server_that_cannot_listen_is_never_asked_again() {
    let mut peer = asked();
    peer.refuse("2", -32601, "x");
    peer.connection.follow([String::from("a")]);
    peer.pass(Duration::from_secs(3_600));
    assert!(peer.sent().is_empty());
    assert_eq!(peer.connection.poll_timeout(), None);
    assert!(peer.is_open());
}

/// H5: the pauses double up to a minute, and begin anew only after a stream that lived.
#[test]
fn pauses_double_and_are_bounded() {
    let mut peer = asked();
    let mut id = 2;
    let mut pauses = Vec::new();
    for round in 0..9 {
        // An acknowledgement alone does not prove that the stream works.
        if round % 2 == 0 {
            acknowledge(&mut peer, &id.to_string());
            peer.pass(SECOND * 9);
            end(&mut peer, id);
        } else {
            peer.refuse(&id.to_string(), -32603, "x");
        }
        pauses.push(pause(&mut peer));
        id = listened(&mut peer).unwrap();
    }
    for (at, pause) in pauses.iter().enumerate() {
        let least = (SECOND * (1 << at)).min(SECOND * 60);
        assert!(
            *pause >= least && *pause <= least * 5 / 4,
            "{at}: {pause:?}"
        );
    }
    acknowledge(&mut peer, &id.to_string());
    peer.pass(SECOND * 10);
    end(&mut peer, id);
    assert!(pause(&mut peer) <= SECOND * 5 / 4, "it lived");
}

/// H5: resources are followed on the same stream, which is asked for anew; the old one is cancelled once.
#[test]
fn resources_are_followed() {
    let mut peer = open();
    peer.connection
        .follow(["b\"".to_owned(), "a".to_owned(), "a".to_owned()]);
    let sent = peer.sent();
    assert_eq!(
        sent[0],
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#
    );
    assert_eq!(
        field(&sent[1], "/params/notifications"),
        serde_json::json!({"toolsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": ["a", "b\""]})
    );
    peer.connection.follow(["a".to_owned(), "b\"".to_owned()]);
    assert!(peer.sent().is_empty(), "nothing new");
    acknowledge(&mut peer, "4");
    changes(&mut peer);
    // What changed may be a part of what is followed.
    notify(&mut peer, "resources/updated", "4", r#","uri":"a\u002f1""#);
    notify(&mut peer, "resources/updated", "4", r#","uri":7"#);
    notify(&mut peer, "resources/updated", "4", "");
    assert_eq!(changes(&mut peer), [Change::Resource("a/1".to_owned())]);

    // A request for the stream that was not begun is taken back, not cancelled.
    peer.connection.follow(["c".to_owned()]);
    peer.sent();
    peer.connection.follow(["d".to_owned()]);
    peer.connection.follow(["e".to_owned()]);
    let sent = peer.sent();
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent[1].contains(r#"["e"]"#));
}

/// L6: changes that nobody takes are bounded in number and length.
#[test]
fn changes_that_nobody_takes_are_bounded() {
    let mut peer = Peer::ready();
    for at in 0..10_000 {
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"uri":"{at}"}}}}"#
        ));
    }
    assert_eq!(changes(&mut peer).len(), MAX_SUBSCRIPTIONS);
    for (length, told) in [(MAX_CHANGED_URI_BYTES, 1), (MAX_CHANGED_URI_BYTES + 1, 0)] {
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"uri":"{}"}}}}"#,
            "u".repeat(length)
        ));
        assert_eq!(changes(&mut peer).len(), told);
    }
}

/// H5: on revisions with a handshake changes come as the server pleases.
#[test]
fn legacy_changes_come_as_they_please() {
    let mut peer = Peer::ready();
    for list in ["tools", "prompts", "resources"] {
        peer.recv(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/{list}/list_changed"}}"#
        ));
    }
    assert_eq!(
        changes(&mut peer),
        [Change::Tools, Change::Prompts, Change::Resources]
    );
    peer.connection.follow(["a".to_owned()]);
    assert!(peer.sent().is_empty(), "it is a request of its own there");
}

/// H5, S8: over exchanges the stream is one of them: its end is no end of the session, and hanging up is the
/// cancellation.
#[test]
fn stream_over_an_exchange() {
    let mut peer = Peer::modern_with(&announcing(), modern_http());
    let on_stream = |peer: &mut Peer, method: &str, id: u64| {
        let frame = notification(method, &id.to_string(), "");
        peer.respond_with(Some(id), 200, &frame);
    };
    on_stream(&mut peer, "subscriptions/acknowledged", 2);
    on_stream(&mut peer, "tools/list_changed", 2);
    assert_eq!(changes(&mut peer), [Change::Tools]);
    peer.ended(2, fault(None));
    assert!(peer.is_open());
    pause(&mut peer);
    let again = peer.connection.poll_transmit(true).unwrap();
    assert_eq!(again.key, 4);
    assert_eq!(again.route.method, "subscriptions/listen");
    // Nothing of it was sent.
    peer.ended(4, fault(None));
    let rest = pause(&mut peer);
    assert!(rest >= SECOND * 2, "{rest:?}");
    let again = peer.connection.poll_transmit(true).unwrap();
    peer.connection.follow(["a".to_owned()]);
    assert_eq!(peer.orders(), [Order::HangUp(again.key)]);
    assert!(!again.handover.begin(), "it was taken back");
    peer.connection.follow(["b".to_owned()]);
    assert!(peer.orders().is_empty(), "the transport had nothing of it");
    let transmits = peer.transmits();
    assert_eq!(transmits.len(), 1);
    assert!(transmits[0].handover.begin());
    peer.connection.follow([]);
    assert_eq!(peer.orders(), [Order::HangUp(transmits[0].key)]);
    for transmit in peer.transmits() {
        let body = String::from_utf8(transmit.body).unwrap();
        assert_eq!(field(&body, "/method"), "subscriptions/listen");
    }
    // A server that does not know the method says so with a status of its own.
    let mut never = Peer::modern_with(&announcing(), modern_http());
    never.respond_with(
        Some(2),
        404,
        r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"x"}}"#,
    );
    never.ended(2, fault(Some(404)));
    assert_eq!(never.connection.poll_timeout(), None);
}

/// H5, T2: a server that has enough to do is left alone as long as it asks for, within reason, whatever its body says.
#[test]
fn busy_server_is_asked_for_its_stream_later() {
    for (status, asked, least) in [
        (429, 30, 30),
        (503, 30, 30),
        (429, 86_400 * 365, 3_600),
        (500, 30, 1),
    ] {
        for body in [None, Some(-32000)] {
            let mut peer = Peer::modern_with(&announcing(), modern_http());
            if let Some(code) = body {
                peer.respond_with(
                    Some(2),
                    status,
                    &format!(
                        r#"{{"jsonrpc":"2.0","id":2,"error":{{"code":{code},"message":"x"}}}}"#
                    ),
                );
            }
            peer.ended(2, fault(Some(status)).with_retry_after(SECOND * asked));
            let rest = pause(&mut peer);
            assert!(
                rest >= SECOND * least && rest <= SECOND * least * 5 / 4,
                "{status} {body:?}: {rest:?}"
            );
        }
    }
}

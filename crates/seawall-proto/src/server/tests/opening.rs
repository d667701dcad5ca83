//! How the client opens decides the era.

use super::{Client, code, initialize, modern, plain};
use crate::mcp::Revision;
use crate::server::{Event, Offer};

/// S1 from the other side: the requested revision if it is served, else the newest with a handshake.
#[test]
fn initialize_negotiates_the_revision() {
    for (asked, negotiated) in [
        ("2024-11-05", Revision::V2024_11_05),
        ("2025-03-26", Revision::V2025_03_26),
        ("2025-06-18", Revision::V2025_06_18),
        ("2025-11-25", Revision::V2025_11_25),
        ("2026-07-28", Revision::V2025_11_25),
        ("1999-01-01", Revision::V2025_11_25),
        ("junk", Revision::V2025_11_25),
    ] {
        let mut client = Client::new();
        client.say(&initialize(asked));
        let events = client.events();
        let [
            Event::Opened {
                revision,
                capabilities,
                ..
            },
            Event::Request(request),
        ] = &events[..]
        else {
            panic!("{events:?}");
        };
        assert_eq!((*revision, request.meta.revision), (negotiated, negotiated));
        assert_eq!(capabilities.as_str(), r#"{"roots":{}}"#);
        assert_eq!(client.server.revision(), None, "not answered yet");
        let offer = Offer {
            capabilities: super::json(r#"{"tools":{}}"#),
            server_info: super::json(r#"{"name":"s","version":"1"}"#),
            instructions: Some(super::json(r#""use it""#)),
        };
        let result = offer.initialize_result(*revision);
        client.answer(request.key, result.as_str());
        assert_eq!(client.server.revision(), Some(negotiated));
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":"i","result":{{"protocolVersion":"{negotiated}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}},"instructions":"use it"}}}}"#
        );
        assert_eq!(client.heard(), [expected]);
    }
}

#[test]
fn nothing_but_a_ping_is_served_before_the_client_opened() {
    let mut client = Client::new();
    client.say(&plain("1", "tools/list"));
    client.say(&plain("2", "server/discover"));
    client.say(&plain("3", "initialize"));
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
    client.say(&plain("4", "ping"));
    let heard = client.heard();
    assert!(heard[..3].iter().all(|frame| code(frame) == (-32602, true)));
    assert_eq!(heard[3..], [r#"{"jsonrpc":"2.0","id":4,"result":{}}"#]);
    assert!(client.events().is_empty());
}

#[test]
fn the_era_of_the_first_request_stays() {
    let mut client = Client::modern();
    client.say(&initialize("2025-11-25"));
    client.say(&plain("1", "tools/list"));
    client.say(&modern("2", "initialize"));
    let codes: Vec<_> = client.heard().iter().map(|frame| code(frame).0).collect();
    assert_eq!(codes, [-32602, -32602, -32601]);
    assert_eq!(client.server.revision(), Some(Revision::V2026_07_28));

    let mut client = Client::legacy("2025-06-18");
    client.say(&modern("1", "server/discover"));
    client.say(&modern("2", "subscriptions/listen"));
    client.say(&initialize("2025-11-25"));
    let codes: Vec<_> = client.heard().iter().map(|frame| code(frame).0).collect();
    assert_eq!(codes, [-32601, -32601, -32600]);
    assert_eq!(client.server.revision(), Some(Revision::V2025_06_18));
}

#[test]
fn a_refused_opening_fixes_nothing() {
    let mut client = Client::new();
    client.say(&modern("1", "server/discover").replace("2026-07-28", "2027-01-01"));
    client.say(&initialize("2025-11-25").replace("capabilities", "capability"));
    assert_eq!(client.heard().len(), 2);
    client.say(&initialize("2025-11-25"));
    let key = client.requests().remove(0).key;
    client.refuse(key).unwrap();
    assert_eq!(client.server.revision(), None);
    client.say(&modern("1", "tools/list"));
    assert_eq!(client.requests().len(), 1);
    assert_eq!(client.server.revision(), Some(Revision::V2026_07_28));
}

/// Clients that write all at once are common on the command line.
#[test]
fn a_client_that_does_not_wait_for_the_handshake_is_served() {
    let mut client = Client::new();
    client.say(&initialize("2025-11-25"));
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    client.say(&plain("1", "tools/list"));
    let events = client.events();
    assert!(matches!(
        events[..],
        [
            Event::Opened { .. },
            Event::Request(_),
            Event::Initialized,
            Event::Request(_)
        ]
    ));
}

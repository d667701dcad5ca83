//! Any sequence of operations keeps the invariants.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::{Client, Event, Lane, initialize, json, modern, plain};
use crate::limits::ServerLimits;
use crate::server::RequestKey;

#[derive(Debug, Clone)]
enum Op {
    Say(String),
    Respond { at: usize, well: bool },
    Notify(Option<usize>),
    Ask(Option<usize>),
    Send(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let id = prop_oneof![
        (0_u8..6).prop_map(|id| id.to_string()),
        (0_u8..3).prop_map(|id| format!("\"{id}\"")),
    ];
    let method = prop_oneof![
        Just("tools/list"),
        Just("tools/call"),
        Just("ping"),
        Just("server/discover"),
        Just("initialize"),
    ];
    let said = prop_oneof![
        6 => (id.clone(), method.clone()).prop_map(|(id, method)| plain(&id, method)),
        6 => (id.clone(), method).prop_map(|(id, method)| modern(&id, method)),
        2 => Just(initialize("2025-03-26")),
        3 => id.clone().prop_map(|id| format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )),
        2 => id.clone().prop_map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)),
        2 => (id.clone(), id).prop_map(|(one, two)| format!("[{},{}]", plain(&one, "ping"), plain(&two, "tools/call"))),
        1 => Just("{".to_owned()),
    ];
    prop_oneof![
        6 => said.prop_map(Op::Say),
        4 => (any::<usize>(), any::<bool>()).prop_map(|(at, well)| Op::Respond { at, well }),
        2 => proptest::option::of(any::<usize>()).prop_map(Op::Notify),
        1 => proptest::option::of(any::<usize>()).prop_map(Op::Ask),
        3 => (0_usize..4).prop_map(Op::Send),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// L6: each request is answered once or cancelled, nothing is said of it afterwards, and what is held is bounded.
    #[test]
    fn every_request_ends_once(ops in proptest::collection::vec(op(), 1..80)) {
        let limits = ServerLimits { max_pending: 4, max_buffered_bytes: 2_000, ..ServerLimits::default() };
        let mut client = Client::with(limits);
        let mut known: HashSet<RequestKey> = HashSet::new();
        let mut open: Vec<RequestKey> = Vec::new();
        let mut ends: HashMap<RequestKey, usize> = HashMap::new();
        let mut sent = Vec::new();
        for op in ops {
            let pick = |at: usize, open: &[RequestKey]| open.get(at % open.len().max(1)).copied();
            match op {
                Op::Say(frame) => known.extend(client.say(&frame).requests),
                Op::Respond { at, well } => if let Some(key) = pick(at, &open) {
                    let done = if well { client.server.respond(key, Ok(&json("{}"))) } else { client.refuse(key) };
                    prop_assert_eq!(done, Ok(()));
                    open.retain(|one| *one != key);
                },
                Op::Notify(at) => {
                    let _ = client.server.notify(at.and_then(|at| pick(at, &open)), "n", None);
                }
                Op::Ask(at) => {
                    let _ = client.server.request(at.and_then(|at| pick(at, &open)), "roots/list", None);
                }
                Op::Send(count) => sent.extend((0..count).map_while(|_| client.server.poll_transmit())),
            }
            for event in client.events() {
                match event {
                    Event::Request(request) => open.push(request.key),
                    Event::Cancelled(key) => {
                        prop_assert!(open.contains(&key));
                        open.retain(|one| *one != key);
                        *ends.entry(key).or_default() += 1;
                    }
                    _ => {}
                }
            }
            prop_assert!(client.server.pending() <= 4);
            prop_assert_eq!(client.server.pending(), open.len());
        }
        for key in open {
            client.answer(key, "{}");
        }
        sent.extend(std::iter::from_fn(|| client.server.poll_transmit()));
        let mut over = HashSet::new();
        for outbound in &sent {
            match outbound.lane {
                Lane::Answer(key) => {
                    *ends.entry(key).or_default() += 1;
                    over.insert(key);
                }
                Lane::During(key) => prop_assert!(!over.contains(&key)),
                _ => {}
            }
        }
        prop_assert_eq!(ends.keys().copied().collect::<HashSet<_>>(), known);
        prop_assert!(ends.values().all(|ends| *ends == 1));
        prop_assert_eq!(client.server.buffered_bytes(), 0);
    }
}

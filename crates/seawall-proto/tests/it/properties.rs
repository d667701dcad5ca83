//! What holds of a connection whatever arrives, in whatever order.

use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;
use seawall_proto::Json;
use seawall_proto::connection::{ClientConfig, CloseReason, Connection, Event, Time};
use seawall_proto::framing::LineDecoder;
use seawall_proto::limits::Limits;

use crate::bodies;

/// What a server may write, one line each; the handshake's answers first.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![
        4 => (3_u64..9, 0_usize..60_000).prop_map(|(id, size)| {
            format!(r#"{{"result":{{"content":["{}"]}},"jsonrpc":"2.0","id":{id}}}"#, "x".repeat(size))
        }),
        1 => (3_u64..9).prop_map(|id| format!(r#"{{"jsonrpc":"2.0","id":"{id}","error":{{"code":-32602,"message":"no such tool"}}}}"#)),
        1 => "[a-z\r{}\\[\\]\"]{0,20}",
        1 => Just(String::from(r#"{"jsonrpc":"2.0","id":"s","method":"ping"}"#)),
        1 => Just(String::from(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)),
        1 => Just(String::from(r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#)),
        1 => Just(String::from(r#"[{"jsonrpc":"2.0","id":3,"result":{"content":[]}},7]"#)),
        1 => prop::sample::select(vec![r#"{"jsonrpc":"2.0"}"#, r#"{"jsonrpc":"2.0","id":4,"id":4,"result":{}}"#]).prop_map(String::from),
        1 => (100_000_usize..200_000).prop_map(|size| "y".repeat(size)),
    ];
    prop::collection::vec(line, 0..12)
}

/// Everything that a caller or a driver can see of a connection that read `bytes` in these chunks.
fn transcript<'a>(revision: &str, chunks: impl Iterator<Item = &'a [u8]>) -> String {
    let mut limits = Limits::default();
    limits.max_frame_bytes = 150_000;
    let mut decoder = LineDecoder::new(limits.max_frame_bytes);
    let mut config = ClientConfig::new("0");
    config.limits = limits;
    config.diagnostics = true;
    let now = Time::from_epoch(Duration::ZERO);
    let mut connection = Connection::client(now, config);
    let write = |connection: &mut Connection| {
        let all: Vec<u8> = connection.transmit().flatten().copied().collect();
        connection.handle_written(all.len());
        String::from_utf8(all).unwrap()
    };
    write(&mut connection);
    for answer in [
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}}}}}}"#
        ),
        String::from(
            r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}"#,
        ),
    ] {
        connection.handle_frame(now, &Bytes::from(answer));
        write(&mut connection);
    }
    let arguments = Json::check("{}").unwrap();
    let calls: Vec<_> = (0..5)
        .map(|_| connection.call(now, "t", &arguments, None).unwrap())
        .collect();
    write(&mut connection);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.read_buffer().extend_from_slice(chunk);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => connection.handle_frame(now, &frame),
                Ok(None) => break,
                Err(error) => {
                    connection.handle_closed(CloseReason::FrameTooLong { limit: error.limit });
                    break;
                }
            }
            while let Some(event) = connection.poll_event() {
                if let Event::Noise { line, .. } = &event {
                    events.push(String::from_utf8_lossy(line).into_owned());
                }
                events.push(format!("{event:?}"));
            }
        }
    }
    while let Some(event) = connection.poll_event() {
        events.push(format!("{event:?}"));
    }
    let results: Vec<_> = calls
        .iter()
        .map(|call| {
            connection
                .take(*call)
                .map(|result| result.map(|result| result.raw().as_str().to_owned()))
        })
        .collect();
    let written = write(&mut connection);
    format!(
        "{events:?} {results:?} {:?} {written} {:?}",
        connection.close_reason(),
        connection.stats()
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// L3: any chunking of the same bytes gives the same events, results and replies.
    #[test]
    fn chunking_never_matters(
        lines in lines(),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r\n"]), 12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
        batches in any::<bool>(),
    ) {
        let bytes: Vec<u8> = lines
            .iter()
            .zip(&ends)
            .flat_map(|(line, end)| [line.as_bytes(), end.as_bytes()])
            .flatten()
            .copied()
            .collect();
        let revision = if batches { "2025-03-26" } else { "2025-11-25" };
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let cut = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        let expected = transcript(revision, bytes.split_inclusive(|byte| *byte == b'\n'));
        prop_assert_eq!(&transcript(revision, cut), &expected);
        prop_assert_eq!(&transcript(revision, bytes.chunks(64 * 1024)), &expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// S5, S8, O2, L6, L8: whatever arrives and in whatever order calls, partial writes, frames valid and hostile,
    /// clock steps and endings happen: each call ends once and with what became of it, the first reason stays, and
    /// what is held is bounded. The program and what is asserted after each step are in the fuzz target's body.
    #[test]
    fn any_program_keeps_the_invariants(
        flags in 0_u8..8,
        program in prop::collection::vec(any::<u8>(), 4..400),
    ) {
        let program: Vec<u8> = [flags].into_iter().chain(program).collect();
        bodies::operations::run(&program);
    }
}

proptest! {
    /// L3: the events of a stream are those of the standard's own steps, however it was chunked.
    #[test]
    fn events_are_the_standards(
        head in any::<[u8; 2]>(),
        pieces in prop::collection::vec(
            prop_oneof![
                5 => prop::sample::select(vec![
                    "data", "data:", "data: ", "id: ", "retry: ", "event: ", ":", "\n", "\r", "\r\n", "\u{feff}", "1",
                ]).prop_map(|text| text.as_bytes().to_vec()),
                1 => prop::collection::vec(any::<u8>(), 0..6),
            ],
            0..80,
        ),
    ) {
        bodies::sse::run(&[&head[..], &pieces.concat()].concat());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// S8, O2, O4, T2, T3, L6, L8: the same of either era, over a stream and over exchanges, with rounds, inputs, streams
    /// of changes and sessions that are lost: each call ends once, `not_sent` is never said of what was begun, what was
    /// taken back never begins, state never leaks, and what is held is bounded.
    #[test]
    fn any_program_of_rounds_keeps_the_invariants(
        flags in 0_u8..128,
        program in prop::collection::vec(any::<u8>(), 4..600),
    ) {
        let program: Vec<u8> = [128, flags].into_iter().chain(program).collect();
        bodies::operations::run(&program);
    }
}

/// Lines of the seeds of `serving`, and some that are nobody's.
fn clients_lines() -> impl Strategy<Value = Vec<String>> {
    let seeds = [
        include_str!("../../../../fuzz/corpus/serving/legacy"),
        include_str!("../../../../fuzz/corpus/serving/modern"),
        include_str!("../../../../fuzz/corpus/serving/junk"),
    ];
    let known: Vec<&str> = seeds.iter().flat_map(|seed| seed.lines()).collect();
    let line = prop_oneof![
        8 => prop::sample::select(known).prop_map(str::to_owned),
        3 => prop::sample::select(vec![">{}", "!", "*", "?", "<"]).prop_map(str::to_owned),
        1 => "[ -~]{0,30}",
        1 => (0_u32..9, 0_usize..6_000).prop_map(|(id, size)| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{}"}}"#, "m".repeat(size))
        }),
        1 => (0_usize..5_000).prop_map(|size| format!(">\"{}\"", "r".repeat(size))),
    ];
    prop::collection::vec(line, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// L6: whatever a client says, each of its requests ends once, and what is held is bounded.
    #[test]
    fn any_client_is_served_within_bounds(lines in clients_lines()) {
        bodies::serving::run(lines.join("\n").as_bytes());
    }
}

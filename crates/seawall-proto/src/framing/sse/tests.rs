//! Events out of chunks: line endings, fields, the bounds, the memory.

use std::time::Duration;

use proptest::prelude::*;

use super::{Event, EventDecoder, EventTooLong, MAX_EVENT_FIELD_BYTES};

type Events = (Vec<Event>, Option<EventTooLong>);

fn feed<'a>(decoder: &mut EventDecoder, chunks: impl IntoIterator<Item = &'a [u8]>) -> Events {
    let mut events = Vec::new();
    for mut chunk in chunks {
        loop {
            match decoder.next_event(&mut chunk) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => return (events, Some(error)),
            }
        }
        assert!(chunk.is_empty(), "everything is taken");
    }
    (events, None)
}

fn decode(bytes: &[u8]) -> Vec<(String, String)> {
    let (events, error) = feed(&mut EventDecoder::new(1_000), [bytes]);
    assert_eq!(error, None);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    events
        .iter()
        .map(|event| (text(&event.name), text(&event.data)))
        .collect()
}

fn data(texts: &[&str]) -> Vec<(String, String)> {
    let event = |text: &&str| (String::new(), (*text).to_owned());
    texts.iter().map(event).collect()
}

/// L3: a line ends with a line feed, a carriage return, or both, mixed as they come.
#[test]
fn each_line_ending_ends_a_line() {
    assert_eq!(decode(b"data: a\n\ndata: b\n\n"), data(&["a", "b"]));
    assert_eq!(decode(b"data: a\r\n\r\ndata: b\r\n\r\n"), data(&["a", "b"]));
    assert_eq!(decode(b"data: a\r\rdata: b\r\r"), data(&["a", "b"]));
    assert_eq!(decode(b"data: a\r\n\ndata: b\n\r\n"), data(&["a", "b"]));
    assert_eq!(decode(b"data: a\r\ndata: b\r\r\n"), data(&["a\nb"]));
}

/// L3: a carriage return ends its event at once, without waiting for a line feed that may never come.
#[test]
fn event_of_carriage_returns_is_whole_at_the_last_one() {
    let (events, _) = feed(&mut EventDecoder::new(8), [&b"data: a\r\r"[..]]);
    assert_eq!(events.len(), 1);
}

#[test]
fn one_byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(decode(b"\xef\xbb\xbfdata: a\n\n"), data(&["a"]));
    assert_eq!(decode(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n"), data(&[]));
    assert_eq!(decode(b"\xef\xbbdata: a\n\ndata: b\n\n"), data(&["b"]));
    assert_eq!(decode(b"\n\xef\xbb\xbfdata: a\n\n"), data(&[]));
}

#[test]
fn data_lines_are_joined_and_one_space_does_not_count() {
    assert_eq!(
        decode(b"data:a\ndata:  b\ndata\ndata:\n\n"),
        data(&["a\n b\n\n"])
    );
    assert_eq!(decode(b"data\n\n"), data(&[""]));
    assert_eq!(decode(b"data: a:b: c\n\n"), data(&["a:b: c"]));
}

#[test]
fn comments_unknown_fields_and_events_without_data_are_nothing() {
    assert_eq!(
        decode(b": hi\n:\ndatas: x\ndat: x\nData: x\n data: x\n\nevent: x\n\ndata: a\n\n"),
        data(&["a"])
    );
}

#[test]
fn event_without_its_blank_line_is_not_one() {
    assert_eq!(decode(b"data: a\n"), data(&[]));
}

#[test]
fn name_belongs_to_its_event_alone() {
    assert_eq!(
        decode(b"event: a\nevent: endpoint\ndata: /x\n\ndata: y\n\n"),
        [("endpoint", "/x"), ("", "y")].map(|(name, data)| (name.to_owned(), data.to_owned()))
    );
}

/// T3: an id counts once its event is whole, stays until another is given, and an empty one takes it back.
#[test]
fn id_counts_once_its_event_is_whole() {
    let mut decoder = EventDecoder::new(100);
    let mut id_after = |bytes: &[u8]| {
        feed(&mut decoder, [bytes]);
        decoder
            .last_event_id()
            .map(|id| String::from_utf8(id.to_vec()).unwrap())
    };
    assert_eq!(id_after(b"id: 1\ndata: half"), None);
    assert_eq!(id_after(b"\n\n").as_deref(), Some("1"));
    assert_eq!(id_after(b"data: x\n\n").as_deref(), Some("1"));
    assert_eq!(id_after(b"id: 2\n").as_deref(), Some("1"));
    assert_eq!(id_after(b"\n").as_deref(), Some("2"), "without data too");
    assert_eq!(id_after(b"id: a\0b\n\n").as_deref(), Some("2"));
    assert_eq!(id_after(b"id\n\n"), None);
}

/// T3: `retry` is digits alone; anything else is as if it were not there.
#[test]
fn retry_is_digits_alone() {
    let retry = |bytes: &[u8]| {
        let mut decoder = EventDecoder::new(100);
        feed(&mut decoder, [bytes]);
        decoder.retry()
    };
    assert_eq!(retry(b"retry: 1500\n"), Some(Duration::from_millis(1_500)));
    assert_eq!(retry(b"retry: 0\n"), Some(Duration::ZERO));
    assert_eq!(
        retry(b"retry: 7\nretry: -1\n"),
        Some(Duration::from_millis(7))
    );
    assert_eq!(retry(b"retry\n"), None);
    assert_eq!(
        retry(format!("retry: {}\n", "9".repeat(40)).as_bytes()),
        Some(Duration::from_millis(u64::MAX))
    );
}

/// L1 (maxFrameBytes): data at the bound passes, one byte past it does not, joined lines counted with their line feed.
#[test]
fn data_bound_is_inclusive() {
    let refused = Some(EventTooLong::Data { limit: 8 });
    for (stream, error) in [
        ("data: 12345678\n\n", None),
        ("data: 123456789\n\n", refused),
        ("data: 1234\ndata: 567\n\n", None),
        ("data: 1234\ndata: 5678\n\n", refused),
        ("data: 12345678\ndata:\n\n", refused),
        ("data: 123456789", refused),
    ] {
        let mut decoder = EventDecoder::new(8);
        assert_eq!(
            feed(&mut decoder, [stream.as_bytes()]).1,
            error,
            "{stream:?}"
        );
        let again = decoder.next_event(&mut &b"data: a\n\n"[..]);
        assert_eq!(again.err(), error, "a refusal stays: {stream:?}");
    }
}

/// L6, O1: the other fields have a bound of their own, which the refusal names.
#[test]
fn other_fields_are_bounded() {
    for field in ["event", "id", "retry"] {
        let line = |length| format!("{field}:{}\n", "1".repeat(length));
        let at = feed(
            &mut EventDecoder::new(8),
            [line(MAX_EVENT_FIELD_BYTES).as_bytes()],
        );
        assert_eq!(at.1, None);
        let past = feed(
            &mut EventDecoder::new(8),
            [line(MAX_EVENT_FIELD_BYTES + 1).as_bytes()],
        );
        assert_eq!(past.1, Some(EventTooLong::Field));
    }
}

/// L6: what is skipped is not held, however long it is.
#[test]
fn endless_comments_cost_no_memory() {
    let mut decoder = EventDecoder::new(8);
    let chunk = vec![b'x'; 1 << 20];
    for start in [&b":"[..], b"\nunknown: ", b"\n"] {
        feed(&mut decoder, [start]);
        for _ in 0..64 {
            assert_eq!(feed(&mut decoder, [&chunk[..]]), (vec![], None));
        }
    }
    assert!(decoder.data.capacity() + decoder.value.capacity() + decoder.name.capacity() < 64);
}

/// L8: a short event does not keep a long buffer alive, and an idle decoder does not either.
#[test]
fn buffers_are_let_go() {
    let mut decoder = EventDecoder::new(1 << 20);
    let long = format!("data: {}\n\n", "x".repeat(700_000));
    feed(&mut decoder, [long.as_bytes()]);
    assert!(decoder.data.capacity() <= 64 * 1024);
    let (events, _) = feed(&mut decoder, [&b"data: a\n\n"[..]]);
    assert!(events[0].data.is_unique());
}

proptest! {
    /// L3: chunking never matters.
    #[test]
    fn chunking_never_matters(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "\u{feff}", "data", "event", "id", "retry", ":", ": ", " ", "\r", "\n", "\r\n", "\n\n", "é", "1", "\0",
                "endpoint", "\u{1f980}", "{\"a\":1}",
            ]),
            0..60,
        ),
        limit in 1_usize..40,
        cuts in prop::collection::vec(1_usize..9, 1..40),
    ) {
        let stream = pieces.concat();
        let whole = {
            let mut decoder = EventDecoder::new(limit);
            (feed(&mut decoder, [stream.as_bytes()]), decoder.last_event_id().cloned(), decoder.retry())
        };
        let mut rest = stream.as_bytes();
        let mut chunks = Vec::new();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at((*cut).min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        let mut decoder = EventDecoder::new(limit);
        let cut = (feed(&mut decoder, chunks), decoder.last_event_id().cloned(), decoder.retry());
        prop_assert_eq!(cut, whole);
    }
}

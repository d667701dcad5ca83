//! Events of a stream: what the text of the standard says, however it was chunked (L3).

use std::time::Duration;

use seawall_proto::framing::{EventDecoder, EventTooLong};

/// Two bytes choose the bound and the chunking, the rest is the stream.
pub(crate) fn run(data: &[u8]) {
    let [bound, chunking, stream @ ..] = data else {
        return;
    };
    let limit = usize::from(*bound) + 1;
    let stream = stream.get(..4_096).unwrap_or(stream);
    let expected = reference(limit, stream);
    assert_eq!(
        decode(limit, stream.chunks(usize::from(*chunking) + 1)),
        expected
    );
    assert_eq!(decode(limit, stream.chunks(1)), expected);
}

/// Name and data of each event, whether it was refused, and then the id and the pause to resume with.
type Events = (Vec<(Vec<u8>, Vec<u8>)>, Option<(Vec<u8>, Option<Duration>)>);

fn decode<'a>(limit: usize, chunks: impl Iterator<Item = &'a [u8]>) -> Events {
    let mut decoder = EventDecoder::new(limit);
    let mut events = Vec::new();
    for mut chunk in chunks {
        loop {
            match decoder.next_event(&mut chunk) {
                Ok(Some(event)) => {
                    assert!(event.data.len() <= limit);
                    events.push((event.name.to_vec(), event.data.to_vec()));
                }
                Ok(None) => break,
                Err(error) => {
                    assert!(
                        matches!(error, EventTooLong::Field)
                            || error == EventTooLong::Data { limit }
                    );
                    assert_eq!(
                        decoder.next_event(&mut chunk),
                        Err(error),
                        "a refusal stays"
                    );
                    return (events, None);
                }
            }
        }
        assert!(chunk.is_empty());
    }
    let id = decoder.last_event_id().map(|id| id.to_vec());
    (events, Some((id.unwrap_or_default(), decoder.retry())))
}

/// The standard's own steps over the whole stream, line by line.
fn reference(limit: usize, stream: &[u8]) -> Events {
    let mut rest = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let mut events = Vec::new();
    let (mut name, mut data, mut id, mut last_id) = (vec![], vec![], vec![], vec![]);
    let mut retry = None;
    loop {
        let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if field == b"data" && (colon.is_some() || end.is_some()) {
            data.extend_from_slice(value);
            if data.len() > limit {
                return (events, None);
            }
            data.push(b'\n');
        }
        let Some(end) = end else {
            return (events, Some((last_id, retry)));
        };
        if line.is_empty() {
            last_id.clone_from(&id);
            let name = std::mem::take(&mut name);
            let mut data = std::mem::take(&mut data);
            if data.pop().is_some() {
                events.push((name, data));
            }
        }
        match field {
            b"event" => name = value.to_vec(),
            b"id" if !value.contains(&0) => id = value.to_vec(),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let number = String::from_utf8_lossy(value).parse().unwrap_or(u64::MAX);
                retry = Some(Duration::from_millis(number));
            }
            _ => {}
        }
        let ending = if rest.get(end..).unwrap_or_default().starts_with(b"\r\n") {
            2
        } else {
            1
        };
        rest = rest.get(end + ending..).unwrap_or_default();
    }
}

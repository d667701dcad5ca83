//! Frames of a stream: what stands between newlines, however it was chunked (L3).

use seawall_proto::framing::LineDecoder;

/// Two bytes choose the bound and the chunking, the rest is the stream; `@` stands for 9 000 bytes, so that frames
/// get long enough to be handed over in their own buffer.
pub(crate) fn run(data: &[u8]) {
    let [bound, chunking, stream @ ..] = data else {
        return;
    };
    let limit = match bound {
        0..=63 => usize::from(*bound) + 1,
        64..=127 => 40_000,
        _ => 70_000,
    };
    let mut bytes = Vec::new();
    for byte in stream.iter().take(4_096) {
        if *byte == b'@' && bytes.len() < 400_000 {
            bytes.extend_from_slice(&[b'@'; 9_000]);
        } else {
            bytes.push(*byte);
        }
    }
    let expected = reference(limit, &bytes);
    let step = if bytes.len() > 10_000 { 997 } else { 1 };
    let chunk = usize::from(*chunking) * step + 1;
    assert_eq!(decode(limit, bytes.chunks(chunk)), expected);
    assert_eq!(decode(limit, bytes.chunks(64 * 1024)), expected);
}

type Frames = (Vec<Vec<u8>>, bool);

fn decode<'a>(limit: usize, chunks: impl Iterator<Item = &'a [u8]>) -> Frames {
    let mut decoder = LineDecoder::new(limit);
    let mut frames = Vec::new();
    for chunk in chunks {
        let buffer = decoder.read_buffer();
        assert!(buffer.capacity() - buffer.len() >= 64 * 1024);
        buffer.extend_from_slice(chunk);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => frames.push(frame.to_vec()),
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(error.limit, limit);
                    assert_eq!(decoder.next_frame(), Err(error), "a refusal stays");
                    return (frames, true);
                }
            }
        }
        assert!(decoder.partial_bytes() <= limit + 1);
        decoder.shrink();
    }
    (frames, false)
}

fn reference(limit: usize, bytes: &[u8]) -> Frames {
    let without_cr = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).to_vec();
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let partial = lines.pop().unwrap_or_default();
    let mut frames = Vec::new();
    for line in lines {
        let frame = without_cr(line);
        if frame.len() > limit {
            return (frames, true);
        }
        frames.push(frame);
    }
    let refused = without_cr(partial).len() > limit;
    (frames, refused)
}

//! Frames out of chunks: the bound, the carriage return, the memory.

use proptest::prelude::*;

use super::{FrameTooLong, LineDecoder, READ_CHUNK_BYTES};

/// What a decoder made of the chunks: its frames, and whether it gave up.
fn decode<'a>(
    limit: usize,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Vec<u8>>, Option<FrameTooLong>) {
    let mut decoder = LineDecoder::new(limit);
    let mut frames = Vec::new();
    for chunk in chunks {
        decoder.read_buffer().extend_from_slice(chunk);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => frames.push(frame.to_vec()),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    (frames, None)
}

/// What the frames of `bytes` are, said without a decoder.
fn reference(limit: usize, bytes: &[u8]) -> (Vec<Vec<u8>>, Option<FrameTooLong>) {
    let mut frames = Vec::new();
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let partial = lines.pop().unwrap_or_default();
    for line in lines {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > limit {
            return (frames, Some(FrameTooLong { limit }));
        }
        frames.push(line.to_vec());
    }
    let partial = partial.strip_suffix(b"\r").unwrap_or(partial);
    let error = (partial.len() > limit).then_some(FrameTooLong { limit });
    (frames, error)
}

/// L3: a frame excludes its newline and exactly one carriage return before it.
#[test]
fn newline_and_one_carriage_return_end_a_frame() {
    let (frames, error) = decode(64, [&b"a\nb\r\nc\r\r\n\n\r\nd\re\n"[..]]);
    assert_eq!(error, None);
    assert_eq!(
        frames,
        [&b"a"[..], b"b", b"c\r", b"", b"", b"d\re"].map(<[u8]>::to_vec)
    );
}

/// L1 (maxFrameBytes): at the limit passes, one past it does not, and neither the newline nor one CR counts.
#[test]
fn frame_bound_is_inclusive_and_counts_neither_newline_nor_one_carriage_return() {
    for ending in [&b"\n"[..], b"\r\n"] {
        let at: Vec<u8> = [&b"12345678"[..], ending].concat();
        assert_eq!(
            decode(8, [&at[..]]),
            (vec![b"12345678".to_vec()], None),
            "at the limit, ending {ending:?}"
        );
        let past: Vec<u8> = [&b"123456789"[..], ending].concat();
        assert_eq!(
            decode(8, [&past[..]]),
            (vec![], Some(FrameTooLong { limit: 8 })),
            "one past it, ending {ending:?}"
        );
    }
    assert_eq!(
        decode(8, [&b"12345678\r\r\n"[..]]).1,
        Some(FrameTooLong { limit: 8 }),
        "a second carriage return counts"
    );
}

/// L3, L6: a line that cannot end within the bound is refused before its newline came; a pending CR is still allowed.
#[test]
fn endless_line_is_refused_as_soon_as_it_passes_the_bound() {
    assert_eq!(decode(8, [&b"12345678"[..]]), (vec![], None));
    assert_eq!(decode(8, [&b"12345678\r"[..]]), (vec![], None));
    assert_eq!(
        decode(8, [&b"12345678\rx"[..]]).1,
        Some(FrameTooLong { limit: 8 })
    );
    assert_eq!(
        decode(8, [&b"123456789"[..]]).1,
        Some(FrameTooLong { limit: 8 })
    );
}

/// L3: a refused stream stays refused.
#[test]
fn refusal_is_sticky() {
    let mut decoder = LineDecoder::new(4);
    decoder.read_buffer().extend_from_slice(b"12345\nok\n");
    for _ in 0..3 {
        assert_eq!(decoder.next_frame(), Err(FrameTooLong { limit: 4 }));
    }
}

/// L6: a gigabyte without a newline costs the bound and a chunk, not a gigabyte.
#[test]
fn gigabyte_without_newline_is_held_to_the_bound() {
    let limit = 1 << 20;
    let mut decoder = LineDecoder::new(limit);
    let chunk = vec![b'x'; READ_CHUNK_BYTES];
    let mut fed = 0_usize;
    let refused = loop {
        assert!(fed < 1 << 30, "never refused");
        decoder.read_buffer().extend_from_slice(&chunk);
        fed += chunk.len();
        match decoder.next_frame() {
            Ok(frame) => assert_eq!(frame, None),
            Err(error) => break error,
        }
    };
    assert_eq!(refused, FrameTooLong { limit });
    assert!(decoder.partial_bytes() <= limit + 1 + READ_CHUNK_BYTES);
    assert!(fed <= limit + 1 + READ_CHUNK_BYTES);
}

/// L6: 10^6 short lines leave nothing behind.
#[test]
fn million_short_lines_leave_an_empty_buffer() {
    let mut decoder = LineDecoder::new(1 << 20);
    let chunk = b"{\"noise\":true}\n".repeat(1_000);
    let mut frames = 0;
    for _ in 0..1_000 {
        decoder.read_buffer().extend_from_slice(&chunk);
        while let Ok(Some(frame)) = decoder.next_frame() {
            assert_eq!(frame.len(), 14);
            frames += 1;
        }
        assert_eq!(decoder.partial_bytes(), 0);
    }
    assert_eq!(frames, 1_000_000);
    assert!(decoder.read_buffer().capacity() <= 4 * READ_CHUNK_BYTES);
}

/// L6: memory that a long frame needed is let go of once nothing is under way.
#[test]
fn shrink_lets_go_of_a_long_frames_buffer_only_between_frames() {
    let mut decoder = LineDecoder::new(4 << 20);
    let long = vec![b'x'; 2 << 20];
    decoder.read_buffer().extend_from_slice(&long);
    assert_eq!(decoder.next_frame(), Ok(None));
    decoder.shrink();
    assert_eq!(
        decoder.partial_bytes(),
        long.len(),
        "a partial frame is kept"
    );
    decoder.read_buffer().extend_from_slice(b"\n");
    let frame = decoder.next_frame().unwrap().unwrap();
    assert_eq!(frame.len(), long.len());
    decoder.shrink();
    assert!(decoder.read_buffer().capacity() <= 2 * READ_CHUNK_BYTES);
}

/// L3: every read is offered a whole chunk, whatever was read before.
#[test]
fn every_read_has_room_for_a_chunk() {
    let mut decoder = LineDecoder::new(1 << 20);
    for size in [0, 1, READ_CHUNK_BYTES - 1, READ_CHUNK_BYTES, 7] {
        let buffer = decoder.read_buffer();
        assert!(buffer.capacity() - buffer.len() >= READ_CHUNK_BYTES);
        buffer.extend_from_slice(&vec![b'y'; size]);
        assert_eq!(decoder.next_frame(), Ok(None));
    }
}

/// L3: long frames (handed over) and short ones (copied out) mix in one chunk without loss.
#[test]
fn long_and_short_frames_mix_in_one_read() {
    let mut bytes = Vec::new();
    let mut expected = Vec::new();
    for (at, length) in [0, 40_000, 3, 32_768, 32_767, 32_769, 1, 70_000]
        .into_iter()
        .enumerate()
    {
        let fill = b'a' + u8::try_from(at).unwrap();
        expected.push(vec![fill; length]);
        bytes.extend(std::iter::repeat_n(fill, length));
        bytes.push(b'\n');
    }
    assert_eq!(decode(1 << 20, [&bytes[..]]), (expected, None));
}

fn line_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(
        prop_oneof![
            3 => Just(b'\n'),
            3 => Just(b'\r'),
            8 => any::<u8>(),
        ],
        0..200,
    )
}

proptest! {
    /// L3: chunking never matters, and a frame is what stands between two newlines.
    #[test]
    fn any_chunking_gives_the_same_frames(
        bytes in line_bytes(),
        cuts in prop::collection::vec(0_usize..200, 0..40),
        limit in 1_usize..24,
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        let expected = reference(limit, &bytes);
        prop_assert_eq!(&decode(limit, chunks), &expected);
        prop_assert_eq!(&decode(limit, [&bytes[..]]), &expected);
        prop_assert_eq!(&decode(limit, bytes.chunks(1)), &expected);
    }
}

//! Frames to lines and back.

use std::future::poll_fn;
use std::io::IoSlice;
use std::pin::pin;
use std::time::Duration;

use bytes::BytesMut;
use seawall_testkit::ws_frame;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{Instant, timeout};

use super::super::open::Open;
use super::super::socket::WebSocket;
use super::super::{WebSocketFault, limits};

const LIMIT: usize = 1000;

/// Both ends; ours takes messages of [`LIMIT`] bytes.
async fn pair(room: usize) -> (WebSocket, DuplexStream) {
    let (below, peer) = duplex(room);
    let open = Open::over(below, LIMIT, LIMIT).await;
    (WebSocket::standing(open), peer)
}

async fn read(socket: &WebSocket, buffer: &mut BytesMut) -> Result<usize, WebSocketFault> {
    poll_fn(|context| socket.poll_read(context, buffer)).await
}

/// Everything up to the end, and the end.
async fn read_all(socket: &WebSocket) -> (String, WebSocketFault) {
    let mut buffer = BytesMut::new();
    loop {
        if let Err(fault) = read(socket, &mut buffer).await {
            let text = String::from_utf8(buffer.to_vec()).expect("lines are UTF-8");
            return (text, fault);
        }
    }
}

/// What comes of these bytes, after which the server closes its end.
async fn of(bytes: &[u8]) -> (String, WebSocketFault) {
    let (socket, mut peer) = pair(1 << 20).await;
    peer.write_all(bytes).await.expect("room");
    drop(peer);
    read_all(&socket).await
}

async fn write(socket: &WebSocket, lines: &[&str]) -> usize {
    let lines: Vec<IoSlice<'_>> = lines
        .iter()
        .map(|line| IoSlice::new(line.as_bytes()))
        .collect();
    poll_fn(|context| socket.poll_write(context, &lines)).await
}

/// The next frame that the server gets: its first byte and its payload, unmasked.
async fn frame(peer: &mut DuplexStream) -> (u8, Vec<u8>) {
    let mut head = [0; 2];
    peer.read_exact(&mut head).await.expect("a frame");
    assert_eq!(head[1] & 0x80, 0x80, "a client masks");
    let length = match head[1] & 0x7f {
        126 => usize::from(peer.read_u16().await.expect("a length")),
        short => usize::from(short),
    };
    let mut mask = [0; 4];
    peer.read_exact(&mut mask).await.expect("a mask");
    let mut payload = vec![0; length];
    peer.read_exact(&mut payload).await.expect("a payload");
    for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
    (head[0], payload)
}

/// T6, S6: one text frame is one line, whatever stands in it and however it is fragmented; a binary one is noise.
#[tokio::test(start_paused = true)]
async fn a_text_frame_is_a_line() {
    let mut bytes = ws_frame(0x81, b"{\n\"a\":\r\n1}");
    bytes.extend(ws_frame(0x01, b"{\"b\""));
    bytes.extend(ws_frame(0x89, b"ping in between"));
    bytes.extend(ws_frame(0x00, "\":é".as_bytes().split_at(3).0));
    bytes.extend(ws_frame(0x80, "\":é".as_bytes().split_at(3).1));
    bytes.extend(ws_frame(0x82, &[0, 159, 146, 150]));
    bytes.extend(ws_frame(0x81, b""));
    bytes.extend(ws_frame(0x88, &[0x0f, 0xa1]));
    let (text, fault) = of(&bytes).await;
    assert_eq!(
        text,
        "{ \"a\":\r 1}\n{\"b\"\":é\n(a binary frame of 4 bytes)\n\n"
    );
    assert_eq!(fault, WebSocketFault::Closed(Some(4001)));
}

/// L1, S5: a message of `maxFrameBytes` is taken, one of a byte more is not, whole or in fragments, before it came.
#[tokio::test(start_paused = true)]
async fn messages_are_bounded() {
    let most = vec![b'x'; LIMIT];
    let (text, _) = of(&ws_frame(0x81, &most)).await;
    assert_eq!(text.len(), LIMIT + 1);
    let too_long = WebSocketFault::TooLong { limit: LIMIT };
    assert_eq!(
        of(&[0x81, 126, 0x03, 0xe9]).await,
        (String::new(), too_long.clone())
    );
    let giant = [0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(of(&giant).await, (String::new(), too_long.clone()));
    let mut fragments = ws_frame(0x01, &most);
    fragments.extend(ws_frame(0x80, b"x"));
    assert_eq!(of(&fragments).await, (String::new(), too_long));
    let mut singly = ws_frame(0x01, b"x");
    for _ in 2..LIMIT {
        singly.extend(ws_frame(0x00, b"x"));
    }
    singly.extend(ws_frame(0x80, b"x"));
    assert_eq!(of(&singly).await.0.len(), LIMIT + 1);
}

/// L6: fragments that hold nothing end the session, though they take no room.
#[tokio::test(start_paused = true)]
async fn empty_fragments_have_an_end() {
    let (socket, mut peer) = pair(1 << 16).await;
    let flood = async {
        let some = ws_frame(0x00, b"").repeat(1 << 12);
        peer.write_all(&ws_frame(0x01, b"{")).await.expect("room");
        let mut written = 0_usize;
        while peer.write_all(&some).await.is_ok() {
            written += some.len();
        }
        written
    };
    let ((text, fault), written) = tokio::join!(
        async {
            let all = read_all(&socket).await;
            socket.let_go();
            all
        },
        flood
    );
    assert_eq!(
        (text.as_str(), fault),
        ("", WebSocketFault::Fragments { limit: LIMIT })
    );
    assert!(written < 1 << 20, "{written}");
}

/// S5: what RFC 6455 does not have ends the session; what came before it is there.
#[tokio::test(start_paused = true)]
async fn frames_that_there_are_not_end_it() {
    let masked = [0x81, 0x81, 1, 2, 3, 4, b'x' ^ 1];
    let long_ping = ws_frame(0x89, &[0; 126]);
    for (bytes, what) in [
        (&ws_frame(0xc1, b"{}")[..], "a reserved bit"),
        (&ws_frame(0x83, b"{}"), "a reserved opcode"),
        (&ws_frame(0x8b, b""), "a reserved control opcode"),
        (&masked, "a mask"),
        (&ws_frame(0x81, &[0xff]), "not UTF-8"),
        (&ws_frame(0x09, b""), "a fragmented ping"),
        (&long_ping, "a long ping"),
        (&ws_frame(0x80, b""), "the end of no message"),
        (
            &[ws_frame(0x01, b""), ws_frame(0x81, b"")].concat(),
            "a message in a message",
        ),
        (&ws_frame(0x88, &[1]), "half a code"),
    ] {
        let mut all = ws_frame(0x81, b"before");
        all.extend_from_slice(bytes);
        let (text, fault) = of(&all).await;
        assert_eq!(
            (text.as_str(), fault),
            ("before\n", WebSocketFault::Frame),
            "{what}"
        );
    }
}

/// S5: a connection that ends without a word, in the middle of a frame too, is lost; the reason stays.
#[tokio::test(start_paused = true)]
async fn a_dropped_connection_is_lost() {
    assert_eq!(of(&[]).await.1, WebSocketFault::Lost);
    let half = &ws_frame(0x81, b"{\"a\":1}")[..5];
    let (socket, mut peer) = pair(1 << 10).await;
    peer.write_all(half).await.expect("room");
    drop(peer);
    for _ in 0..2 {
        assert_eq!(
            read_all(&socket).await,
            (String::new(), WebSocketFault::Lost)
        );
    }
}

/// T6: each line goes out as one masked text frame without its newline.
#[tokio::test(start_paused = true)]
async fn a_line_is_a_text_frame() {
    let (socket, mut peer) = pair(1 << 16).await;
    let long = format!("{}\n", "é".repeat(300));
    assert_eq!(write(&socket, &["{}\n", &long]).await, 3 + long.len());
    assert_eq!(frame(&mut peer).await, (0x81, b"{}".to_vec()));
    assert_eq!(frame(&mut peer).await.1, long.trim().as_bytes());
}

/// O2: a server that does not read takes no more than what was begun; nothing else counts as sent.
#[tokio::test(start_paused = true)]
async fn what_is_not_read_is_not_taken() {
    let (socket, mut peer) = pair(16).await;
    let line = format!("{}\n", "x".repeat(500));
    let lines = [line.as_str()];
    assert_eq!(write(&socket, &lines).await, line.len());
    let more = timeout(Duration::from_secs(5), write(&socket, &lines));
    more.await.expect_err("the first is under way");
    let reads = async {
        assert_eq!(frame(&mut peer).await.1.len(), 500);
    };
    let ((), taken) = tokio::join!(reads, write(&socket, &lines));
    assert_eq!(taken, line.len());
}

/// T6: the server is pinged; one that answers stays, one that nothing comes from is gone after a good minute.
#[tokio::test(start_paused = true)]
async fn a_silent_server_is_gone() {
    let (socket, mut peer) = pair(1 << 10).await;
    let began = Instant::now();
    let answers = async {
        for _ in 0..5 {
            assert_eq!(frame(&mut peer).await, (0x89, Vec::new()));
            peer.write_all(&ws_frame(0x8a, b"")).await.expect("room");
        }
        let answered = Instant::now();
        frame(&mut peer).await;
        frame(&mut peer).await;
        answered
    };
    let ((_, fault), answered) = tokio::join!(read_all(&socket), answers);
    assert_eq!(fault, WebSocketFault::Silent);
    assert_eq!(answered - began, 5 * limits::PING_EVERY);
    assert_eq!(began.elapsed(), 8 * limits::PING_EVERY);
}

/// L6: pings are answered as they can be, and a flood of them takes no room, though the server reads no answer.
#[tokio::test(start_paused = true)]
async fn a_flood_of_pings_holds_nothing() {
    let (socket, mut peer) = pair(1 << 12).await;
    let flood = async {
        let some = ws_frame(0x89, &[b'p'; 125]).repeat(1 << 10);
        for _ in 0..16 {
            peer.write_all(&some).await.expect("they are read");
        }
        peer.write_all(&ws_frame(0x81, b"{}"))
            .await
            .expect("they are read");
        peer
    };
    let mut buffer = BytesMut::new();
    let (read, mut peer) = tokio::join!(read(&socket, &mut buffer), flood);
    assert_eq!((read, &buffer[..]), (Ok(3), &b"{}\n"[..]));
    // What waited to be written is no more than its bound; then comes the newest answer.
    let answers = async {
        let mut waited = 0;
        while let Ok((first, payload)) = timeout(Duration::from_secs(1), frame(&mut peer)).await {
            assert_eq!((first, payload.len()), (0x8a, 125));
            waited += 131;
        }
        waited
    };
    let mut more = BytesMut::new();
    let reading = timeout(
        Duration::from_secs(20),
        super::frames::read(&socket, &mut more),
    );
    let (waited, _) = tokio::join!(answers, reading);
    assert!(
        waited < LIMIT + limits::WRITE_BYTES + limits::ANSWER_BYTES + (1 << 13),
        "{waited}"
    );
}

/// S5: the end is said, and the server's goodbye waited for, a moment at most.
#[tokio::test(start_paused = true)]
async fn the_server_is_told_of_the_end() {
    let (socket, mut peer) = pair(1 << 10).await;
    let server = async {
        assert_eq!(frame(&mut peer).await, (0x88, vec![0x03, 0xe8]));
        peer.write_all(&ws_frame(0x88, b"")).await.expect("room");
    };
    let began = Instant::now();
    tokio::join!(ending(&socket), server);
    assert_eq!(began.elapsed(), Duration::ZERO);
    let (socket, _peer) = pair(1 << 10).await;
    ending(&socket).await;
    assert_eq!(began.elapsed(), limits::FAREWELL);
}

/// Its end, read from meanwhile as the driver does.
async fn ending(socket: &WebSocket) {
    let mut end = pin!(socket.end());
    let mut buffer = BytesMut::new();
    poll_fn(|context| {
        let _ = socket.poll_read(context, &mut buffer);
        end.as_mut().poll(context)
    })
    .await;
}

use std::sync::Arc;
use std::time::Duration;

use seawall_proto::server::CloseReason;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex, split,
};
use tokio::io::{ReadHalf, WriteHalf};

use super::{StdioLimits, serve};
use crate::clients;
use crate::tests::{Obedient, RESULT};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const META: &str = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;

struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Client {
    async fn say(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    async fn hear(&mut self) -> String {
        self.output.next_line().await.unwrap().expect("it ended")
    }

    async fn call(&mut self, id: u32, method: &str) {
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#
        ))
        .await;
    }
}

/// Serves a client that does this; what the service saw, and how it ended.
async fn served(client: impl AsyncFnOnce(&mut Client, &Obedient)) -> CloseReason {
    let service = Arc::new(Obedient::default());
    let (ours, theirs) = duplex(1 << 16);
    let (input, output) = split(theirs);
    let serving = serve(
        Arc::clone(&service),
        clients::Client::local(),
        input,
        output,
        StdioLimits::default(),
    );
    let (output, input) = split(ours);
    let mut ours = Client {
        input,
        output: BufReader::new(output).lines(),
    };
    let client = async {
        client(&mut ours, &service).await;
        ours.input.shutdown().await.unwrap();
        // Whatever is said until the end.
        while ours.output.next_line().await.unwrap().is_some() {}
    };
    let both = async { tokio::join!(serving, client).0 };
    let reason = tokio::time::timeout(Duration::from_secs(60), both)
        .await
        .unwrap();
    tokio::task::yield_now().await;
    assert_eq!(service.running(), 0);
    reason
}

/// G2: on either era; the result is the service's, byte for byte.
#[tokio::test(start_paused = true)]
async fn both_eras_are_served() {
    let reason = served(async |client, service| {
        client.say(INITIALIZE).await;
        assert!(
            client
                .hear()
                .await
                .contains(r#""protocolVersion":"2025-11-25""#)
        );
        client.say(INITIALIZED).await;
        client.call(1, "tools/list").await;
        assert_eq!(
            client.hear().await,
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{RESULT}}}"#)
        );
        client.call(2, "test/ask").await;
        assert!(client.hear().await.contains("roots/list"));
        client
            .say(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#)
            .await;
        assert_eq!(
            client.hear().await,
            r#"{"jsonrpc":"2.0","id":2,"result":{"roots":[]}}"#
        );
        service
            .session()
            .notify("notifications/tools/list_changed", None)
            .unwrap();
        assert!(client.hear().await.contains("list_changed"));
    });
    assert_eq!(reason.await, CloseReason::ClientGone);
    served(async |client, _| {
        for (id, method, heard) in [
            (1, "server/discover", "supportedVersions"),
            (2, "tools/list", RESULT),
            (3, "ping", "-32601"),
        ] {
            client
                .say(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{META}}}"#
                ))
                .await;
            assert!(client.hear().await.contains(heard));
        }
        client.call(4, "tools/list").await;
        assert!(client.hear().await.contains("-32602"));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_is_cancelled_is_dropped() {
    served(async |client, service| {
        client.say(INITIALIZE).await;
        client.hear().await;
        client.call(1, "test/never").await;
        client.call(2, "ping").await;
        client.hear().await;
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(service.running(), 1);
        client
            .say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
            .await;
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(service.running(), 0);
    })
    .await;
}

/// Clients that write all at once and leave get their answers; what takes long is dropped.
#[tokio::test(start_paused = true)]
async fn after_the_end_of_input_what_is_under_way_has_a_moment() {
    let service = Arc::new(Obedient::default());
    let input = format!(
        "{INITIALIZE}\n{INITIALIZED}\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}}\n"
    );
    let mut output = Vec::new();
    let started = tokio::time::Instant::now();
    let reason = serve(
        Arc::clone(&service),
        clients::Client::local(),
        input.as_bytes(),
        &mut output,
        StdioLimits::default(),
    )
    .await;
    assert_eq!(reason, CloseReason::ClientGone);
    assert!(started.elapsed() < Duration::from_millis(100));
    let text = String::from_utf8(output).unwrap();
    assert_eq!(text.lines().count(), 2);
    assert!(text.contains(RESULT));
    let never = input.replace("tools/list", "test/never");
    let mut output = Vec::new();
    serve(
        Arc::clone(&service),
        clients::Client::local(),
        never.as_bytes(),
        &mut output,
        StdioLimits::default(),
    )
    .await;
    assert!(started.elapsed() < Duration::from_secs(2));
}

/// L6: a line without an end.
#[tokio::test]
async fn a_line_past_the_bound_ends_it() {
    let service = Arc::new(Obedient::default());
    let reason = serve(
        service,
        clients::Client::local(),
        tokio::io::repeat(b'x'),
        Vec::new(),
        StdioLimits::default(),
    )
    .await;
    assert_eq!(reason, CloseReason::FrameTooLong { limit: 16 << 20 });
}

/// L6: a client that writes and never reads is not read for ever.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_not_read() {
    let service = Arc::new(Obedient::default());
    let (ours, theirs) = duplex(1 << 10);
    let (input, output) = split(theirs);
    let mut limits = StdioLimits::default();
    limits.session.max_buffered_bytes = 1 << 16;
    let serving = serve(service, clients::Client::local(), input, output, limits);
    let (_unread, mut input) = split(ours);
    let writing = async {
        let pings = r#"{"jsonrpc":"2.0","id":1,"method":"nothing/known/here"}"#.to_owned() + "\n";
        let mut written = 0_usize;
        loop {
            input.write_all(pings.as_bytes()).await.unwrap();
            written += pings.len();
            assert!(written < 1 << 20, "it reads on and on");
        }
    };
    let both = async { tokio::join!(serving, writing) };
    let stuck = tokio::time::timeout(Duration::from_secs(60), both).await;
    assert!(stuck.is_err());
}

//! The listener, over loopback.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Front, HttpLimits, answer, modern};
use crate::http::listen;

async fn until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    let mut buffer = [0; 4_096];
    let read = async {
        while !String::from_utf8_lossy(&text).contains(end) {
            let read = stream.read(&mut buffer).await.unwrap();
            assert!(read > 0, "it ended: {}", String::from_utf8_lossy(&text));
            text.extend_from_slice(&buffer[..read]);
        }
    };
    timeout(Duration::from_secs(10), read).await.unwrap();
    String::from_utf8(text).unwrap()
}

fn request(method: &str) -> String {
    let body = modern(method, "");
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn requests_are_answered_and_who_hangs_up_cancels() {
    let front = Front::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let limits = HttpLimits::default();
    let endpoint = front.endpoint.clone();
    let handler = move |request| {
        let endpoint = endpoint.clone();
        async move { endpoint.handle(request).await }
    };
    let serving = listen(listener, &limits, handler, async {
        let _ = stopped.await;
    });
    let service = Arc::clone(&front.service);
    let client = async move {
        let mut stream = TcpStream::connect(address).await.unwrap();
        for _ in 0..2 {
            stream
                .write_all(request("tools/list").as_bytes())
                .await
                .unwrap();
            let text = until(&mut stream, &answer(1)).await;
            assert!(text.starts_with("HTTP/1.1 200"));
        }
        stream
            .write_all(request("test/never").as_bytes())
            .await
            .unwrap();
        let text = until(&mut stream, "\r\n\r\n").await;
        assert!(text.to_lowercase().contains("text/event-stream"));
        assert_eq!(service.running(), 1);
        drop(stream);
        let gone = async {
            while service.running() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(10), gone).await.unwrap();
        stop.send(()).unwrap();
    };
    let both = async { tokio::join!(serving, client) };
    timeout(Duration::from_secs(30), both).await.unwrap();
}

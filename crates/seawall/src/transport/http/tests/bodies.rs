//! Answers with a body that is not what it should be.

use super::*;

/// T2, O2: a reply as JSON; 4xx and 5xx with HTML, nothing, or JSON.
#[tokio::test]
async fn refusals_tell_their_status_and_their_json() {
    assert_eq!(
        one(vec![HttpAct::json(200, REPLY)]).await,
        ended(&[(200, REPLY)], OK)
    );
    let html = HttpAct::answer(502, &["content-type: text/html"], "<h1>no</h1>");
    assert_eq!(one(vec![html]).await, ended(&[], status(502)));
    assert_eq!(
        one(vec![HttpAct::answer(400, &[], "")]).await,
        ended(&[], status(400))
    );
    assert_eq!(
        one(vec![HttpAct::json(500, "")]).await,
        ended(&[], status(500))
    );
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m"}}"#;
    assert_eq!(
        one(vec![HttpAct::json(400, error)]).await,
        ended(&[(400, error)], status(400))
    );
    let parameters = HttpAct::answer(
        404,
        &["Content-Type: Application/JSON; charset=utf-8"],
        error,
    );
    assert_eq!(
        one(vec![parameters]).await,
        ended(&[(404, error)], status(404))
    );
}

/// O2: a refusal whose body lies about its length still is that refusal.
#[tokio::test]
async fn lying_refusal_is_a_refusal() {
    let lying = vec![
        HttpAct::head(
            503,
            &["content-type: application/json", "content-length: 100"],
        ),
        HttpAct::Send(b"{".to_vec()),
        HttpAct::Close,
    ];
    assert_eq!(one(lying).await, ended(&[], status(503)));
    let long = vec![
        HttpAct::head(
            500,
            &[
                "content-type: application/json",
                "transfer-encoding: chunked",
            ],
        ),
        HttpAct::chunks_forever(vec![b' '; 10_000]),
    ];
    assert_eq!(one(long).await, ended(&[], status(500)));
}

/// O2, T2: 429 and 503 say how long to wait; nothing here sends the request again.
#[tokio::test]
async fn retry_after_is_told_and_not_obeyed() {
    for (header, seconds) in [
        ("retry-after: 7", Some(7)),
        ("retry-after: soon", None),
        ("retry-after: -1", None),
        ("retry-after: 99999999999999999999999", None),
        ("retry-after: Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
        ("retry-after: Sunday, 99-Nov-94 08:49:37 GMT", None),
        ("x: y", None),
    ] {
        for code in [429, 503] {
            let end = End::Status {
                status: code,
                retry_after: seconds.map(Duration::from_secs),
            };
            assert_eq!(
                one(vec![HttpAct::answer(code, &[header], "")]).await,
                ended(&[], end)
            );
        }
    }
}

/// T2: a date that is to come is a wait until then.
#[tokio::test]
async fn retry_after_a_date() {
    let date = std::time::SystemTime::now() + Duration::from_secs(100);
    let header = format!("retry-after: {}", httpdate::fmt_http_date(date));
    let outcome = one(vec![HttpAct::answer(503, &[&header], "")]).await;
    let Some(End::Status {
        retry_after: Some(after),
        ..
    }) = outcome.end
    else {
        panic!("{outcome:?}");
    };
    assert!((80..=100).contains(&after.as_secs()), "{after:?}");
}

/// T2: a successful answer that is neither JSON nor events, or holds nothing, is no reply.
#[tokio::test]
async fn success_of_another_type_is_no_reply() {
    let wrong = || ended(&[], End::Broken(HttpFault::ContentType));
    let html = HttpAct::answer(200, &["content-type: text/html"], "<h1>hi</h1>");
    assert_eq!(one(vec![html]).await, wrong());
    assert_eq!(one(vec![HttpAct::answer(200, &[], REPLY)]).await, wrong());
    let alike = HttpAct::answer(200, &["content-type: application/jsonp"], REPLY);
    assert_eq!(one(vec![alike]).await, wrong());
    let none = || ended(&[], End::Broken(HttpFault::NoReply));
    assert_eq!(one(vec![HttpAct::json(200, "")]).await, none());
    assert_eq!(one(vec![HttpAct::answer(202, &[], "")]).await, none());
}

/// T2: a notification may be answered 200, 202 or 204, whatever the body.
#[tokio::test]
async fn notification_is_complete_with_any_success() {
    for (code, body) in [(200, "<p>"), (202, ""), (200, "{}")] {
        let peer = HttpPeer::start(move |_, _| vec![HttpAct::answer(code, &[], body)]);
        let mut http = StreamableHttp::new(modern(&peer.url("/")));
        http.post(post(1, PostKind::Notification));
        let end = End::Complete { status: code };
        assert_eq!(outcome(&mut http, 1).await, ended(&[], end));
    }
}

/// L1 (maxFrameBytes): a body at the limit passes, one past it does not, with a length and without.
#[tokio::test]
async fn body_bound_is_inclusive() {
    let too_long = || ended(&[], End::TooLong { limit: LIMIT });
    let text = |length| format!("\"{}\"", "x".repeat(length - 2));
    let chunked = |length: usize| {
        let mut acts = vec![HttpAct::head(
            200,
            &[
                "content-type: application/json",
                "transfer-encoding: chunked",
            ],
        )];
        let text = text(length);
        acts.extend(text.as_bytes().chunks(33_333).map(HttpAct::chunk));
        acts.push(HttpAct::last_chunk());
        acts
    };
    let at = text(LIMIT);
    assert_eq!(
        one(vec![HttpAct::json(200, &at)]).await,
        ended(&[(200, &at)], OK)
    );
    assert_eq!(one(chunked(LIMIT)).await, ended(&[(200, &at)], OK));
    assert_eq!(
        one(vec![HttpAct::json(200, &text(LIMIT + 1))]).await,
        too_long()
    );
    assert_eq!(one(chunked(LIMIT + 1)).await, too_long());
}

/// L1, L6: a length that is too long is refused before anything of the body came.
#[tokio::test]
async fn said_length_is_enough_to_refuse() {
    let acts = vec![
        HttpAct::head(
            200,
            &[
                "content-type: application/json",
                "content-length: 999999999999",
            ],
        ),
        HttpAct::Hang,
    ];
    assert_eq!(one(acts).await, ended(&[], End::TooLong { limit: LIMIT }));
}

/// L6: a chunked body that never ends is cut at the bound.
#[tokio::test]
async fn endless_body_is_cut_at_the_bound() {
    let acts = vec![
        HttpAct::head(
            200,
            &[
                "content-type: application/json",
                "transfer-encoding: chunked",
            ],
        ),
        HttpAct::chunks_forever(vec![b' '; 5_000]),
    ];
    assert_eq!(one(acts).await, ended(&[], End::TooLong { limit: LIMIT }));
}

/// 16 MiB of zeroes, in 16 KiB of gzip.
const BOMB: &[u8] = include_bytes!("zeroes.gz");

/// L1, L6: the bound counts after decompression; a bomb is not unpacked past it.
#[tokio::test]
async fn decompression_bomb_is_cut_at_the_bound() {
    for content_type in ["application/json", "text/event-stream"] {
        let content_type = format!("content-type: {content_type}");
        let bomb = HttpAct::answer(200, &[&content_type, "content-encoding: gzip"], BOMB);
        let expected = if content_type.contains("json") {
            ended(&[], End::TooLong { limit: LIMIT })
        } else {
            // Zeroes are an unknown field: skipped, not held.
            ended(&[], End::Broken(HttpFault::EndedEarly))
        };
        assert_eq!(one(vec![bomb]).await, expected);
    }
}

/// What says that it is gzip and is not cannot be read, and is told as that.
#[tokio::test]
async fn false_gzip_is_told() {
    let acts = vec![HttpAct::answer(
        200,
        &["content-type: application/json", "content-encoding: gzip"],
        REPLY,
    )];
    assert_eq!(
        one(acts).await,
        ended(&[], End::Broken(HttpFault::Encoding))
    );
}

/// O2: a server gone in the middle of the body leaves the request unknown, and it is not sent again.
#[tokio::test]
async fn server_gone_in_mid_body_is_broken() {
    for last in [HttpAct::Close, HttpAct::Reset] {
        let acts = vec![
            HttpAct::head(
                200,
                &["content-type: application/json", "content-length: 50"],
            ),
            HttpAct::Send(b"{\"jsonrpc\"".to_vec()),
            HttpAct::Wait(Duration::from_millis(50)),
            last.clone(),
        ];
        assert_eq!(one(acts).await, ended(&[], End::Broken(HttpFault::Lost)));
        assert_eq!(
            one(vec![last]).await,
            ended(&[], End::Broken(HttpFault::Lost))
        );
    }
    let not_http = vec![HttpAct::Send(b"SSH-2.0-x\r\n\r\n".to_vec()), HttpAct::Close];
    assert_eq!(
        one(not_http).await,
        ended(&[], End::Broken(HttpFault::Lost))
    );
}

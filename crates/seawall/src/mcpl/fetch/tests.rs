use std::sync::Arc;

use seawall_proto::Json;
use seawall_testkit::{HttpAct, HttpPeer, TEST_ROOT};

use super::super::content::{Block, Content, Provenance, References};
use super::*;

const WAVE: &[u8] = b"RIFF0000WAVEpayload";
const WAVE_DIGEST: &str = "sha256:uM7OLD5sO8G3SeWw3LirIreZM71523d9_qXxkn8ewpM";
const NOW: SystemTime = SystemTime::UNIX_EPOCH;

/// A reference to `uri` with these members after it.
fn record(uri: &str, rest: &str) -> Record {
    let text = format!(r#"[{{"type":"resource","uri":"{uri}","disposition":"never"{rest}}}]"#);
    let mut content = Content::of(&Json::check(text).expect("JSON")).expect("content");
    let mut references = References::new();
    references.admit(&mut content, Provenance::ToolResult);
    let Some(Block::Reference(reference)) = content.blocks().first() else {
        panic!("no reference");
    };
    let id = reference.id().expect("an id");
    references.record(id.as_str()).expect("a record").clone()
}

fn answering(acts: Vec<HttpAct>) -> HttpPeer {
    HttpPeer::start(move |_, _| acts.clone())
}

fn wave() -> HttpPeer {
    answering(vec![HttpAct::answer(
        200,
        &["content-type: audio/wav"],
        WAVE,
    )])
}

fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

/// The WebSocket beside an HTTP server.
fn dialed(peer: &HttpPeer) -> Url {
    url(&peer.url("/mcpl?token=t").replacen("http", "ws", 1))
}

fn fetcher(peer: &HttpPeer) -> Fetcher {
    let bearer = SecretString::from("fixture-secret");
    let http = HttpClient::new().expect("a client");
    Fetcher::new(http, Some(&dialed(peer)), Some(bearer), None)
}

async fn fetch(peer: &HttpPeer, rest: &str) -> Result<Fetched, FetchError> {
    let record = record(&peer.url("/payload"), rest);
    fetcher(peer).fetch(&record, 128, NOW).await
}

/// RFC-005, sections 6.1 and 7: what is at the server's own origin is fetched with its credential, checked, and named by the
/// host; vectors 3, 13, 14.
#[tokio::test]
async fn a_reference_of_the_own_origin_is_fetched() {
    let peer = wave();
    let rest = format!(
        r#","sizeBytes":19,"digest":"{WAVE_DIGEST}","mimeType":"image/png","name":"../../.ssh/authorized_keys""#
    );
    let fetched = fetch(&peer, &rest).await.expect("fetched");
    assert_eq!(fetched.bytes().as_ref(), WAVE);
    assert_eq!(
        (fetched.digest(), fetched.media_type()),
        (DigestCheck::Matches, "audio/wav")
    );
    assert_eq!(fetched.file_name(), format!("{}.wav", fetched.id()));
    let requests = peer.requests();
    let request = requests.first().expect("a request");
    assert_eq!(
        request.header("authorization"),
        Some("Bearer fixture-secret")
    );
    assert_eq!((request.method.as_str(), requests.len()), ("GET", 1));
    let unsaid = fetch(&peer, "").await.expect("fetched");
    assert_eq!(unsaid.digest(), DigestCheck::Unsaid);
}

/// RFC-005, section 6.1: over TLS too, `wss` is `https`.
#[tokio::test]
async fn a_secure_origin_is_a_secure_one() {
    let peer = HttpPeer::start_tls(|_, _| vec![HttpAct::answer(200, &[], WAVE)]);
    let http = HttpClient::builder()
        .root_certificate(TEST_ROOT)
        .build()
        .expect("a client");
    let fetcher = Fetcher::new(http, Some(&dialed(&peer)), None, None);
    let secure = record(&peer.url("/payload"), "");
    assert!(fetcher.fetch(&secure, 128, NOW).await.is_ok());
    let plain = record(&peer.url("/payload").replacen("https", "http", 1), "");
    assert_eq!(
        fetcher.fetch(&plain, 128, NOW).await.err(),
        Some(FetchError::Scheme)
    );
}

/// RFC-005, vectors 4, 11, 16 and section 6.1: what may not be fetched is not requested: another origin, another scheme, too
/// large a claim, over.
#[tokio::test]
async fn what_may_not_be_fetched_is_not_requested() {
    let (peer, other) = (wave(), wave());
    let fetcher = fetcher(&peer);
    let own = peer.url("/payload");
    let elsewhere = |from: &str, to: &str| own.replacen(from, to, 1);
    let refused = [
        (record(&other.url("/payload"), ""), FetchError::OtherOrigin),
        (
            record(&elsewhere("127.0.0.1", "localhost"), ""),
            FetchError::OtherOrigin,
        ),
        (record(&elsewhere("http", "https"), ""), FetchError::Scheme),
        (record("file:///private/fixture", ""), FetchError::Scheme),
        (record("ftp://127.0.0.1/x", ""), FetchError::Scheme),
        (record("not a url", ""), FetchError::Address),
        (
            record(&elsewhere("http://", "http://user:password@"), ""),
            FetchError::Address,
        ),
        (
            record(&own, r#","expiresAt":"1970-01-01T00:00:00Z""#),
            FetchError::Expired,
        ),
        (
            record(&own, r#","expiresAt":"not-a-date""#),
            FetchError::Expired,
        ),
        (
            record(&own, r#","sizeBytes":129"#),
            FetchError::ClaimTooLarge { limit: 128 },
        ),
    ];
    for (record, why) in refused {
        let uri = record.testimony().uri().to_owned();
        assert_eq!(
            fetcher.fetch(&record, 128, NOW).await.err(),
            Some(why),
            "{uri}"
        );
        assert!(!why.to_string().contains("127.0.0.1"));
    }
    let http = HttpClient::new().expect("a client");
    let stdio = Fetcher::new(http.clone(), None, None, None);
    assert_eq!(
        stdio.fetch(&record(&own, ""), 128, NOW).await.err(),
        Some(FetchError::NoOrigin)
    );
    let denied = HttpClient::builder()
        .egress(Arc::new(|_: &str, _: &str| false))
        .build()
        .expect("a client");
    let denied = Fetcher::new(denied, Some(&dialed(&peer)), None, None);
    assert_eq!(
        denied.fetch(&record(&own, ""), 128, NOW).await.err(),
        Some(FetchError::Egress)
    );
    assert!(peer.requests().is_empty() && other.requests().is_empty());
}

/// RFC-005, vector 5: bytes with another digest are given to nobody.
#[tokio::test]
async fn a_wrong_digest_gives_nothing() {
    let wrong = format!(r#","digest":"sha256:{}""#, "a".repeat(43));
    assert_eq!(fetch(&wave(), &wrong).await.err(), Some(FetchError::Digest));
}

/// RFC-005, vector 10: what goes on beyond the bound is ended there, whatever was claimed.
#[tokio::test]
async fn an_answer_beyond_the_bound_is_ended() {
    let head = HttpAct::head(200, &["transfer-encoding: chunked"]);
    let peer = answering(vec![head, HttpAct::chunks_forever([b'x'; 32])]);
    let ended = fetch(&peer, r#","sizeBytes":1"#).await;
    assert_eq!(ended.err(), Some(FetchError::TooLong { limit: 128 }));
    let exact = answering(vec![HttpAct::answer(200, &[], [b'x'; 128])]);
    assert_eq!(fetch(&exact, "").await.expect("fetched").bytes().len(), 128);
    let over = answering(vec![HttpAct::answer(200, &[], [b'x'; 129])]);
    assert!(fetch(&over, "").await.is_err());
}

/// RFC-005, vector 12: a redirect is not followed, to the own origin neither.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = wave();
    let location = format!("location: {}", other.url("/payload"));
    for location in [location.as_str(), "location: /other"] {
        let peer = answering(vec![HttpAct::answer(302, &[location], "")]);
        assert_eq!(fetch(&peer, "").await.err(), Some(FetchError::Redirect));
        assert_eq!(peer.requests().len(), 1);
    }
    assert!(other.requests().is_empty());
    let missing = answering(vec![HttpAct::answer(404, &[], "secret")]);
    assert_eq!(
        fetch(&missing, "").await.err(),
        Some(FetchError::Status(404))
    );
}

/// RFC-005, vector 19: size and digest are those of the decoded bytes; another coding than is decoded is not read.
#[tokio::test]
async fn codings_are_decoded_or_refused() {
    // `RIFF0000WAVEpayload`, gzipped.
    let gzipped: [u8; 37] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 11, 242, 116, 115, 51, 0, 130, 112, 199, 48, 215, 130,
        196, 202, 156, 252, 196, 20, 0, 186, 230, 76, 222, 19, 0, 0, 0,
    ];
    let peer = answering(vec![HttpAct::answer(
        200,
        &["content-encoding: gzip"],
        gzipped,
    )]);
    let rest = format!(r#","digest":"{WAVE_DIGEST}""#);
    let fetched = fetch(&peer, &rest).await.expect("fetched");
    assert_eq!(fetched.bytes().as_ref(), WAVE);
    let record = record(&peer.url("/payload"), "");
    let ended = fetcher(&peer).fetch(&record, 18, NOW).await;
    assert_eq!(ended.err(), Some(FetchError::TooLong { limit: 18 }));
    let brotli = answering(vec![HttpAct::answer(200, &["content-encoding: br"], WAVE)]);
    assert_eq!(fetch(&brotli, "").await.err(), Some(FetchError::Coding));
}

/// MCPL.md 1.9: all of a server's references together have a bound; what came in vain counts.
#[tokio::test]
async fn the_total_of_a_server_is_bounded() {
    let peer = wave();
    let autofetch = Autofetch {
        max_total_bytes: 40,
        ..Autofetch::default()
    };
    let http = HttpClient::new().expect("a client");
    let fetcher = Fetcher::new(http, Some(&dialed(&peer)), None, Some(autofetch));
    let record = |rest: &str| record(&peer.url("/payload"), rest);
    let wrong = format!(r#","digest":"sha256:{}""#, "a".repeat(43));
    assert_eq!(
        fetcher.fetch(&record(&wrong), 128, NOW).await.err(),
        Some(FetchError::Digest)
    );
    assert!(fetcher.fetch(&record(""), 128, NOW).await.is_ok());
    let claims = fetcher.fetch(&record(r#","sizeBytes":3"#), 128, NOW).await;
    assert_eq!(claims.err(), Some(FetchError::TotalSpent));
    assert_eq!(peer.requests().len(), 2);
    assert_eq!(
        fetcher.fetch(&record(""), 128, NOW).await.err(),
        Some(FetchError::TotalSpent)
    );
}

/// MCPL.md 1.9: only a reference that claims a size within the operator's bound is fetched unasked.
#[tokio::test]
async fn only_small_claims_are_fetched_unasked() {
    let peer = wave();
    let mut autofetch = Autofetch {
        max_bytes: 19,
        ..Autofetch::default()
    };
    let http = HttpClient::new().expect("a client");
    let with = |autofetch| Fetcher::new(http.clone(), Some(&dialed(&peer)), None, autofetch);
    let eager = |fetcher: &Fetcher, record: &Record| fetcher.is_eager(record.testimony(), NOW);
    let own = |rest: &str| record(&peer.url("/payload"), rest);
    let fetcher = with(Some(autofetch));
    assert!(eager(&fetcher, &own(r#","sizeBytes":19"#)));
    assert!(!eager(&fetcher, &own(r#","sizeBytes":20"#)));
    assert!(!eager(&fetcher, &own("")));
    assert!(!eager(&fetcher, &own(r#","sizeBytes":1,"expiresAt":"""#)));
    assert!(!eager(
        &fetcher,
        &record("https://cdn.example/x", r#","sizeBytes":1"#)
    ));
    assert!(!eager(&with(None), &own(r#","sizeBytes":1"#)));
    assert!(peer.requests().is_empty());
    assert!(
        fetcher
            .fetch_eagerly(&own(r#","sizeBytes":19"#), NOW)
            .await
            .is_ok()
    );
    autofetch.max_bytes = 18;
    let lied = with(Some(autofetch))
        .fetch_eagerly(&own(r#","sizeBytes":1"#), NOW)
        .await;
    assert_eq!(lied.err(), Some(FetchError::TooLong { limit: 18 }));
}

/// MCPL.md 1.9: a fetch has its time, and one that breaks off gives nothing.
#[tokio::test]
async fn a_fetch_ends_in_its_time() {
    let head = HttpAct::head(200, &["content-length: 100"]);
    let peer = answering(vec![head.clone(), HttpAct::Hang]);
    let record = record(&peer.url("/payload"), "");
    let late = fetcher(&peer)
        .fetch_within(&record, 128, Duration::from_millis(100), NOW)
        .await;
    assert_eq!(late.err(), Some(FetchError::TimedOut));
    let broken = answering(vec![head, HttpAct::Close]);
    assert_eq!(
        fetch(&broken, "").await.err(),
        Some(FetchError::Unreachable)
    );
}

/// RFC-005, vector 13: bytes are what they begin with, whoever says otherwise.
#[test]
fn bytes_are_what_they_begin_with() {
    let kind = |bytes: &[u8], said| {
        let kind = kind::Kind::of(bytes, said);
        (kind.media_type().to_owned(), kind.extension())
    };
    assert_eq!(
        kind(WAVE, Some("image/png")),
        ("audio/wav".to_owned(), "wav")
    );
    assert_eq!(
        kind(b"\x89PNG\r\n\x1a\n..", None),
        ("image/png".to_owned(), "png")
    );
    assert_eq!(
        kind(b"hello", Some("Text/Plain; charset=utf-8")),
        ("text/plain".to_owned(), "txt")
    );
    assert_eq!(
        kind(b"hello", Some("text/html")),
        ("text/html".to_owned(), "bin")
    );
    for said in [None, Some("nonsense"), Some("a/b c"), Some("a/\u{e9}")] {
        assert_eq!(
            kind(b"", said),
            ("application/octet-stream".to_owned(), "bin")
        );
    }
}

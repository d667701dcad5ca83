use proptest::prelude::*;
use seawall_proto::limits::{DEFAULT_MAX_STDERR_BYTES, MAX_STDERR_LINE_BYTES};

use super::*;

const SECRET: &str = "secret-value";

fn redactor() -> Redactor {
    Redactor::builder().secret(SECRET).build()
}

fn fed(max_bytes: usize, bytes: &[u8]) -> StderrTail {
    let mut tail = StderrTail::new(max_bytes);
    tail.feed(bytes, &redactor());
    tail
}

/// S12: neither Debug nor Display nor serialisation shows remote text.
#[test]
fn hidden_text_shows_itself_only_when_asked() {
    let hidden = Hidden::new("remote");
    assert_eq!(
        format!("{hidden} {hidden:?} {hidden:#?}"),
        "[hidden] [hidden] [hidden]"
    );
    assert_eq!(serde_json::to_string(&hidden).unwrap(), "\"[hidden]\"");
    assert_eq!(hidden.reveal(), "remote");
    let diagnostic = Diagnostic::stderr(&fed(100, b"remote\n"));
    let shown = format!(
        "{diagnostic:?} {:?}",
        fed(100, b"remote\nunfinished remote")
    );
    assert!(!shown.contains("remote"), "{shown}");
}

/// S6, R2: redacted, then cut to 200 characters.
#[test]
fn noise_is_redacted_before_it_is_cut() {
    let noise = |line: &str| match Diagnostic::noise(Noise::NotJson, line.as_bytes(), &redactor()) {
        Diagnostic::Noise { text, .. } => text.reveal().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(noise(&"ä".repeat(200)), "ä".repeat(200));
    assert_eq!(noise(&"ä".repeat(201)), "ä".repeat(200));
    let across = noise(&format!("{}{SECRET}", "x".repeat(195)));
    assert_eq!(across, format!("{}[reda", "x".repeat(195)));
}

/// R1: the message of an error is redacted.
#[test]
fn error_message_is_redacted_and_hidden() {
    let error = ErrorObject::new(-7, format!("no {SECRET}"), None);
    let expected = Hidden::new("no [redacted]");
    assert_eq!(
        Diagnostic::remote_error(&error, &redactor()),
        Diagnostic::RemoteError {
            code: -7,
            message: expected.clone()
        }
    );
    assert_eq!(
        Diagnostic::uncorrelated_error(&error, &redactor()),
        Diagnostic::UncorrelatedError {
            code: -7,
            message: expected
        }
    );
}

/// S12: lines are counted and redacted; an unfinished one waits for its end.
#[test]
fn lines_are_redacted_whole() {
    let mut tail = fed(DEFAULT_MAX_STDERR_BYTES, b"a secret-");
    assert_eq!((tail.text(), tail.lines()), ("", 0));
    tail.feed(b"value b\r\n\nlast \xff", &redactor());
    assert_eq!((tail.text(), tail.lines()), ("a [redacted] b\n\n", 2));
    tail.finish(&redactor());
    tail.finish(&redactor());
    assert_eq!(
        (tail.text(), tail.lines(), tail.withheld()),
        ("a [redacted] b\n\nlast \u{fffd}\n", 3, 0)
    );
}

/// S12: a line of 64 KiB is kept, one byte more and it is withheld whole.
#[test]
fn overlong_line_is_withheld_whole() {
    let limit = MAX_STDERR_LINE_BYTES;
    for (bytes, end, withheld) in [
        (limit, "\n", 0),
        (limit, "\r\n", 0),
        (limit + 1, "\n", 1),
        (limit + 1, "\r\n", 1),
        (3 * limit, "\n", 1),
    ] {
        let line = "x".repeat(bytes);
        let tail = fed(1 << 20, format!("{line}{end}after\n").as_bytes());
        assert_eq!(
            (tail.lines(), tail.withheld()),
            (2, withheld),
            "{bytes} {end:?}"
        );
        let first = if withheld == 0 {
            line.as_str()
        } else {
            WITHHELD_LINE
        };
        assert_eq!(tail.text(), format!("{first}\nafter\n"));
    }
    for (bytes, withheld) in [(limit, 0), (limit + 1, 1), (limit + 2, 1)] {
        let mut tail = fed(1 << 20, "x".repeat(bytes).as_bytes());
        tail.finish(&redactor());
        assert_eq!((tail.lines(), tail.withheld()), (1, withheld), "{bytes}");
    }
}

/// S12: the last `maxStderrBytes` bytes, at the bound and one past it.
#[test]
fn tail_is_cut_at_the_front_to_the_bound() {
    assert_eq!(fed(6, b"12345\n").text(), "12345\n");
    assert_eq!(fed(6, b"123456\n").text(), "23456\n");
    assert_eq!(fed(6, b"1\n2\n3\n4\n").text(), "2\n3\n4\n");
}

/// S12: never inside a character.
#[test]
fn cut_never_falls_into_a_character() {
    assert_eq!(fed(5, "ää\n".as_bytes()).text(), "ää\n");
    assert_eq!(fed(4, "ää\n".as_bytes()).text(), "ä\n");
    assert_eq!(fed(1, "😀\n".as_bytes()).text(), "\n");
    assert_eq!(fed(0, "😀\n".as_bytes()).text(), "");
}

/// S12, R2: redaction before the cap. A secret at the edge of the tail leaves a piece of the marker, never of itself.
#[test]
fn secret_at_the_cut_is_redacted_first() {
    assert_eq!(fed(4, b"x secret-value\n").text(), "ed]\n");
}

/// L6, S12: a flood of stderr is not kept.
#[test]
fn flood_is_not_kept() {
    let redactor = redactor();
    let mut tail = StderrTail::new(DEFAULT_MAX_STDERR_BYTES);
    let chunk = "y".repeat(1 << 16);
    for _ in 0..200 {
        tail.feed(chunk.as_bytes(), &redactor);
        assert!(tail.held_bytes() <= 4 * MAX_STDERR_LINE_BYTES);
    }
    for _ in 0..100_000 {
        tail.feed(b"line\n", &redactor);
        assert!(tail.held_bytes() <= 8 * MAX_STDERR_LINE_BYTES);
    }
    assert_eq!(
        (tail.text().len(), tail.lines(), tail.withheld()),
        (2048, 100_000, 1)
    );
}

fn reference(max_bytes: usize, bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes
        .strip_suffix(b"\n")
        .unwrap_or(bytes)
        .split(|&byte| byte == b'\n')
    {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        text.push_str(&redactor().redact_bytes_lossy(line));
        text.push('\n');
    }
    if bytes.is_empty() {
        text.clear();
    }
    while text.len() > max_bytes {
        text.remove(0);
    }
    text
}

proptest! {
    /// S12: how the bytes come in chunks never matters.
    #[test]
    fn chunking_never_matters(
        pieces in prop::collection::vec(prop_oneof![
            Just(SECRET.as_bytes().to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\r\n".to_vec()),
            "[a-z\u{e4}\u{1f600}]{0,6}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..4),
        ], 0..30),
        cuts in prop::collection::vec(1_usize..20, 1..20),
        max_bytes in 0_usize..60,
    ) {
        let bytes = pieces.concat();
        let redactor = redactor();
        let mut tail = StderrTail::new(max_bytes);
        let mut rest = bytes.as_slice();
        for size in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at((*size).min(rest.len()));
            tail.feed(chunk, &redactor);
            rest = after;
        }
        tail.finish(&redactor);
        let mut whole = fed(max_bytes, &bytes);
        whole.finish(&redactor);
        prop_assert_eq!(tail.text(), whole.text());
        prop_assert_eq!((tail.lines(), tail.withheld()), (whole.lines(), whole.withheld()));
        prop_assert_eq!(tail.text(), reference(max_bytes, &bytes));
    }

    /// S12: nor does it for long lines.
    #[test]
    fn chunking_never_matters_to_a_long_line(extra in 0_usize..4, size in 1_usize..70_000, carriage_return in any::<bool>()) {
        let mut bytes = vec![b'x'; MAX_STDERR_LINE_BYTES - 1 + extra];
        if carriage_return {
            bytes.push(b'\r');
        }
        bytes.push(b'\n');
        let redactor = redactor();
        let mut tail = StderrTail::new(10);
        for chunk in bytes.chunks(size) {
            tail.feed(chunk, &redactor);
        }
        prop_assert_eq!((tail.lines(), tail.withheld()), (1, u64::from(extra > 1)));
    }
}

/// S12's rule for every text: a line of the server's log is redacted before it is cut, and its level is a word of ours.
#[test]
fn a_line_of_the_log_is_redacted_and_bounded() {
    let redactor = Redactor::builder().secret("a-long-secret").build();
    let log = |params: &str| Diagnostic::log(&Json::check(params.to_owned()).unwrap(), &redactor);
    let Diagnostic::Log { level, text } =
        log(r#"{"level":"warning","logger":"db","data":{"key":"a-long-secret"}}"#)
    else {
        panic!("a log line");
    };
    assert_eq!(level, Some(LogLevel::Warning));
    assert_eq!(text.reveal(), r#"db: {"key":"[redacted]"}"#);
    let long = format!(r#"{{"level":"shouting","data":"{}"}}"#, "x".repeat(5_000));
    let Diagnostic::Log { level, text } = log(&long) else {
        panic!("a log line");
    };
    assert_eq!((level, text.reveal().len()), (None, MAX_MESSAGE_CHARS));
    assert_eq!(LogLevel::Emergency.as_str(), "emergency");
}

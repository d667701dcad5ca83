use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

const SECRET: &str = "p/ä\"& 😀~b";

fn knowing(secret: &str) -> Redactor {
    Redactor::builder().secret(secret).build()
}

/// R1: only variables whose names end in a credential word.
#[test]
fn environment_is_chosen_by_name() {
    let names = [
        "GITHUB_TOKEN",
        "API_KEYS",
        "PGPASSWORD",
        "DB_PASS",
        "AUTHORIZATION",
        "SESSION_COOKIE",
        "TOKEN2",
        "api_secret",
    ];
    for name in names {
        let redactor = Redactor::builder()
            .environment([(name, "value-of-it")])
            .build();
        assert_eq!(
            redactor.redact("a value-of-it b"),
            "a [redacted] b",
            "{name}"
        );
    }
    for name in ["HOME", "TOKENIZER", "COMPASS", "LOG_LEVEL"] {
        let redactor = Redactor::builder()
            .environment([(name, "value-of-it")])
            .build();
        assert_eq!(
            redactor.redact("a value-of-it b"),
            "a value-of-it b",
            "{name}"
        );
    }
}

/// R1: maps of text and lists of the system's strings will do.
#[test]
fn environment_comes_in_any_shape() {
    let map = BTreeMap::from([("A_TOKEN".to_owned(), "12345678".to_owned())]);
    let list = vec![(OsString::from("B_TOKEN"), OsString::from("abcdefgh"))];
    let redactor = Redactor::builder()
        .environment(&map)
        .environment(list)
        .build();
    assert_eq!(
        redactor.redact("12345678,abcdefgh"),
        "[redacted],[redacted]"
    );
}

/// R1: raw, JSON-escaped, percent- and form-encoded, in either hex case.
#[test]
fn every_form_is_replaced() {
    let redactor = knowing(SECRET);
    let forms = [
        SECRET,
        r#"p/ä\"& 😀~b"#,
        r#"p\/ä\"& 😀~b"#,
        r#"p/\u00e4\"& \ud83d\ude00~b"#,
        r#"p\/\u00E4\"& \uD83D\uDE00~b"#,
        r#"p/ä\"\u0026 😀~b"#,
        "p%2F%C3%A4%22%26%20%F0%9F%98%80~b",
        "p%2f%c3%a4%22%26%20%f0%9f%98%80~b",
        "p/%C3%A4%22%26%20%F0%9F%98%80~b",
        "p%2F%C3%A4%22%26+%F0%9F%98%80%7Eb",
        "p%2f%c3%a4%22%26+%f0%9f%98%80~b",
        "p/%C3%A4%22&%20%F0%9F%98%80~b",
    ];
    for form in forms {
        assert_eq!(
            redactor.redact(&format!("<{form}>")),
            "<[redacted]>",
            "{form}"
        );
    }
}

/// R1: control characters, as JSON writes them.
#[test]
fn control_characters_are_found_escaped() {
    let redactor = knowing("a\tb\u{1f}cdefgh");
    for form in [
        "a\tb\u{1f}cdefgh",
        r"a\tb\u001fcdefgh",
        r"a\tb\u001Fcdefgh",
        "a%09b%1Fcdefgh",
        "a%09b%1fcdefgh",
    ] {
        assert_eq!(redactor.redact(form), MARKER, "{form:?}");
    }
}

/// R1: what libraries make of a secret is what is looked for.
#[test]
fn encoders_in_use_are_known() {
    let redactor = knowing(SECRET);
    let mut url = Url::parse("https://host/").unwrap();
    url.query_pairs_mut().append_pair("k", SECRET);
    assert_eq!(redactor.redact(url.as_str()), "https://host/?k=[redacted]");
    url.set_query(Some(SECRET));
    assert_eq!(redactor.redact(url.as_str()), "https://host/?[redacted]");
    url.set_query(None);
    url.path_segments_mut().unwrap().push(SECRET);
    assert_eq!(redactor.redact(url.as_str()), "https://host/[redacted]");
    let json = serde_json::to_string(SECRET).unwrap();
    assert_eq!(redactor.redact(&json), "\"[redacted]\"");
}

/// R1: lines of a key file, blanks around a value, and what follows a scheme are secrets of their own.
#[test]
fn parts_of_a_value_are_secrets() {
    let redactor = knowing("-----BEGIN KEY-----\nMIIEvQIBADAN\nshort\n");
    assert_eq!(redactor.redact("MIIEvQIBADAN short"), "[redacted] short");
    assert_eq!(
        knowing(" token-value\n").redact("<token-value>"),
        "<[redacted]>"
    );
    assert_eq!(
        knowing("Bearer abcdefgh").redact("got abcdefgh"),
        "got [redacted]"
    );
}

/// R1: the newest 16 tokens.
#[test]
fn newest_tokens_are_known() {
    let all = (0..=MAX_TOKENS)
        .fold(Redactor::builder(), |builder, n| {
            builder.token(&format!("token-{n:04}"))
        })
        .build();
    assert_eq!(all.redact("token-0000"), "token-0000");
    assert_eq!(all.redact("token-0001"), MARKER);
    assert_eq!(all.redact("token-0016"), MARKER);
}

/// R2: at least 8 characters, not bytes.
#[test]
fn short_value_is_not_replaced() {
    assert_eq!(knowing("1234567").redact("1234567"), "1234567");
    assert_eq!(knowing("äöüäöüä").redact("äöüäöüä"), "äöüäöüä");
    assert_eq!(knowing("12345678").redact("12345678"), MARKER);
}

/// R2: the union, also where a later match begins earlier and where one lies in another.
#[test]
fn overlapping_matches_are_one() {
    let redactor = Redactor::builder()
        .secret("abcdefgh")
        .secret("efghijkl")
        .secret("0abcdefghijklm9")
        .build();
    assert_eq!(redactor.redact("<abcdefghijkl>"), "<[redacted]>");
    assert_eq!(redactor.redact("<0abcdefghijklm9>"), "<[redacted]>");
    assert_eq!(
        redactor.redact("<abcdefgh abcdefgh>"),
        "<[redacted] [redacted]>"
    );
    let nested = Redactor::builder()
        .secret("12345678")
        .secret("0012345678")
        .build();
    assert_eq!(nested.redact("<0012345678>"), "<[redacted]>");
    assert_eq!(knowing("abababab").redact("xababababababx"), "x[redacted]x");
}

/// R3: nested secrets in a text of nothing else cost one step per byte.
#[test]
fn nested_secrets_stay_linear() {
    let longest = "a".repeat(408);
    let nested = (MIN_SECRET_CHARS..longest.len())
        .fold(Redactor::builder(), |builder, n| {
            builder.secret(&longest[..n])
        })
        .build();
    let one = knowing(&longest);
    let text = "a".repeat(1 << 20);
    let time = |redactor: &Redactor| {
        let began = Instant::now();
        assert_eq!(redactor.redact(&text), MARKER);
        began.elapsed()
    };
    let (one, nested) = (time(&one), time(&nested));
    // With one step per match it would be some 400 times as long.
    assert!(
        nested < 20 * one + Duration::from_millis(100),
        "{one:?} for one, {nested:?} for 400"
    );
}

#[test]
fn nothing_known_changes_nothing_and_copies_nothing() {
    assert!(matches!(
        Redactor::default().redact("text"),
        Cow::Borrowed("text")
    ));
    assert!(matches!(
        knowing("secret-value").redact("text"),
        Cow::Borrowed("text")
    ));
}

#[test]
fn secrets_too_large_to_look_for_let_nothing_pass() {
    let redactor = Redactor {
        secrets: Secrets::TooLarge,
        ..Redactor::default()
    };
    assert_eq!(redactor.redact("anything"), MARKER);
}

#[test]
fn debug_shows_no_secret() {
    let builder = Redactor::builder()
        .secret("secret-value")
        .token("token-value");
    assert_eq!(format!("{builder:?}"), "RedactorBuilder { .. }");
    assert_eq!(format!("{:?}", builder.build()), "Redactor { .. }");
}

#[test]
fn bytes_that_are_not_utf8_are_shown_lossy() {
    assert_eq!(
        knowing("secret-value").redact_bytes_lossy(b"\xffsecret-value\xfe"),
        "\u{fffd}[redacted]\u{fffd}"
    );
}

/// Marks each covered byte, then writes: slow and plain.
fn reference(needles: &[Zeroizing<String>], text: &str) -> String {
    let mut covered = vec![false; text.len()];
    for needle in needles {
        for start in 0..text.len() {
            if text.as_bytes()[start..].starts_with(needle.as_bytes()) {
                covered[start..start + needle.len()].fill(true);
            }
        }
    }
    let mut redacted = String::new();
    for (at, character) in text.char_indices() {
        if !covered[at] {
            redacted.push(character);
        } else if at == 0 || !covered[at - 1] {
            redacted.push_str(MARKER);
        }
    }
    redacted
}

proptest! {
    /// R1, R2: as the slow reference does it, with secrets that overlap, nest and are encoded.
    #[test]
    fn redaction_is_as_the_reference(
        secrets in prop::collection::vec("[ab/é\"]{6,14}", 0..6),
        pieces in prop::collection::vec((any::<prop::sample::Index>(), "[ab/é\"%\\\\]{0,9}"), 0..12),
    ) {
        let needles: Vec<_> = secrets.iter().flat_map(|secret| forms::of(secret)).collect();
        let mut text = String::new();
        for (index, between) in &pieces {
            if !needles.is_empty() {
                text.push_str(index.get(needles.as_slice()).as_str());
            }
            text.push_str(between);
        }
        let redactor = secrets.iter().fold(Redactor::builder(), |builder, secret| builder.secret(secret)).build();
        let redacted = redactor.redact(&text).into_owned();
        prop_assert_eq!(&redacted, &reference(&needles, &text));
        prop_assert!(needles.iter().all(|needle| !redacted.contains(needle.as_str())));
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200), secret in any::<String>()) {
        let _ = knowing(&secret).redact_bytes_lossy(&bytes);
    }
}

fn of_address(url: &str) -> Redactor {
    Redactor::builder()
        .address(&Url::parse(url).unwrap())
        .build()
}

/// R1: an address's user information goes, plain, percent-encoded and in its Basic form.
#[test]
fn user_information_and_its_basic_form_are_secrets() {
    let redactor = of_address("wss://alice-the-user:s%40cret-pass@example.com/mcp");
    for text in [
        "s@cret-pass",
        "s%40cret-pass",
        "alice-the-user",
        "Basic YWxpY2UtdGhlLXVzZXI6c0BjcmV0LXBhc3M=",
    ] {
        let said = redactor.redact(text);
        assert!(said.contains(MARKER), "{text}: {said}");
    }
    assert!(
        redactor
            .redact("wss://example.com/mcp")
            .contains("example.com")
    );
}

/// R1: a path segment goes if it has the form of a credential, and stays otherwise.
#[test]
fn path_segments_that_look_like_credentials_are_secrets() {
    let redactor = of_address("https://example.com/v1/sk-live0123456789abcdef/mcp");
    assert_eq!(
        redactor.redact("POST /v1/sk-live0123456789abcdef/mcp failed"),
        "POST /v1/[redacted]/mcp failed"
    );
}

/// R1, R2: a long query value goes wherever it stands, as sent and decoded; a short one only with its name, where no
/// word runs on.
#[test]
fn query_values_are_secrets_short_ones_with_their_names() {
    let redactor = of_address("https://example.com/mcp?v=2&k=long%20enough%2Bvalue&empty=");
    assert_eq!(
        redactor.redact("v=2 dev=2 v=23 v=2;"),
        "[redacted] dev=2 v=23 [redacted];"
    );
    for text in [
        "long enough+value",
        "long%20enough%2Bvalue",
        "long+enough%2bvalue",
    ] {
        assert_eq!(redactor.redact(text), MARKER, "{text}");
    }
    assert_eq!(redactor.redact("empty= 2 v"), "empty= 2 v");

    // A `+` is a blank in a form, and itself to whoever decodes percent signs alone.
    let redactor = of_address("https://example.com/mcp?k=long+enough%2Fvalue");
    for text in [
        "long+enough%2Fvalue",
        "long enough/value",
        "long+enough/value",
    ] {
        assert_eq!(redactor.redact(text), MARKER, "{text}");
    }
}

/// R1: headers that hold a credential by their name or their form.
#[test]
fn credential_headers_are_secrets() {
    let redactor = Redactor::builder()
        .headers([
            ("X-Api-Key", "just-a-long-word"),
            ("X-Team", "blue-and-long"),
            ("X-Other", "ghp_0123456789abcdefghij"),
            ("Authorization", "Bearer the-real-thing"),
        ])
        .build();
    assert_eq!(
        redactor.redact("just-a-long-word blue-and-long ghp_0123456789abcdefghij the-real-thing"),
        "[redacted] blue-and-long [redacted] [redacted]"
    );
}

/// R1: an address is shown without what may be secret in it.
#[test]
fn address_is_shown_without_secrets() {
    for (url, shown) in [
        ("https://h.example/mcp", "https://h.example/mcp"),
        ("https://h.example:8443/", "https://h.example:8443/"),
        ("http://[::1]:80/a%20b/c", "http://[::1]/a%20b/c"),
        (
            "https://u:hunter22@h/sk-0123456789abcdef/mcp?key=hunter22&x#hunter22",
            "https://h/[redacted]/mcp?[redacted]",
        ),
        ("wss://h/?token=hunter22", "wss://h/?[redacted]"),
        ("https://h/sk%2D0123456789abcdef", "https://h/[redacted]"),
        ("mailto:hunter22@h", "mailto:"),
    ] {
        let url = url.parse().expect("a URL");
        assert_eq!(shown_url(&url), shown);
    }
}

/// R1, R3: where a stride ends never matters, whatever the length of the shortest secret.
#[test]
fn secrets_are_found_at_every_place_of_a_stride() {
    for length in [8, 9, 10, 15, 16, 17, 40] {
        let secret: String = ('!'..).take(length).filter(|c| *c != '/').collect();
        let redactor = knowing(&secret);
        for before in 0..40 {
            for after in 0..4 {
                let (before, after) = ("x".repeat(before), "y".repeat(after));
                let text = format!("{before}{secret}{after}");
                let expected = format!("{before}{MARKER}{after}");
                assert_eq!(redactor.redact(&text), expected);
                // What only begins like it stays.
                let text = format!("{before}{}{after}", &secret[..secret.len() - 1]);
                assert_eq!(redactor.redact(&text), text);
            }
        }
    }
}

/// R1: what is taken out is counted, by all redactors of one builder together.
#[test]
fn what_is_taken_out_is_counted() {
    let builder = Redactor::builder().token("secret-token-1");
    let one = builder.clone().build();
    let other = builder.clone().secret("another-secret").build();
    let _ = one.redact("a secret-token-1 b secret-token-1 c");
    let _ = other.redact("another-secret, and nothing else");
    let _ = one.redact("nothing");
    assert_eq!((one.replaced(), other.replaced()), (3, 3));
    assert_eq!(Redactor::builder().build().replaced(), 0);
}

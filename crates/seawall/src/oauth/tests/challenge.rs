use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;

use crate::oauth::challenge::Challenge;
use crate::oauth::scopes::Scopes;

fn read(values: &[&str]) -> Challenge {
    let mut headers = HeaderMap::new();
    for value in values {
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        headers.append(WWW_AUTHENTICATE, value);
    }
    Challenge::read(&headers)
}

/// T5
#[test]
fn everything_that_a_challenge_says_is_read() {
    let challenge = read(&[
        "Bearer error=\"insufficient_scope\", scope=\"a b\",resource_metadata=\"https://x.example/m?a=\\\"1\\\"\", error_description=\"no, not \\\"this\\\"\"",
    ]);
    assert_eq!(
        challenge,
        Challenge {
            resource_metadata: Some("https://x.example/m?a=\"1\"".into()),
            scopes: Some(Scopes::parse("b a")),
            insufficient_scope: true,
            wants_nonce: false,
            dpop: false,
        }
    );
}

/// T5: whatever the language of what is meant for people.
#[test]
fn a_description_in_any_language_hides_nothing() {
    let challenge = read(&[
        "Bearer error_description=\"権限が必要です\", error=\"insufficient_scope\", scope=\"files:write\"",
    ]);
    assert!(challenge.insufficient_scope);
    assert_eq!(challenge.scopes, Some(Scopes::parse("files:write")));
}

#[test]
fn challenges_of_other_schemes_are_passed_over() {
    let challenge = read(&[
        "Negotiate dG9rZW4=, Basic realm=\"scope=wrong\", scope=\"wrong\", bearer scope = right",
        "Digest scope=\"also wrong\"",
    ]);
    assert_eq!(challenge.scopes, Some(Scopes::parse("right")));
    assert!(!challenge.dpop);
}

#[test]
fn a_nonce_is_asked_for_by_dpop() {
    let challenge = read(&["DPoP error=\"use_dpop_nonce\", algs=\"ES256\""]);
    assert!(challenge.dpop && challenge.wants_nonce);
}

#[test]
fn scopes_of_other_characters_are_dropped() {
    let challenge = read(&["Bearer scope=\"good b\\\\d b\\\"d ok\""]);
    assert_eq!(challenge.scopes, Some(Scopes::parse("good ok")));
}

proptest! {
    #[test]
    fn no_header_makes_it_panic(text in "[ -~]{0,200}") {
        read(&[&text]);
    }

    #[test]
    fn no_header_of_other_characters_makes_it_panic(text in "[ -~é権]{0,200}") {
        read(&[&text]);
    }
}

use super::*;

/// RFC-004, section 8.1: the thirteen that resolve.
const GOOD: [(&str, &str); 13] = [
    ("mcpl://example.com", "example.com/"),
    ("mcpl://example.com/path", "example.com/path"),
    ("mcpl://example.com:8443/x", "example.com:8443/x"),
    (
        "mcpl://eidoverse.animalabs.ai?world=abc",
        "eidoverse.animalabs.ai/?world=abc",
    ),
    ("MCPL://Example.COM/x", "example.com/x"),
    (
        "mcpl://EIDOVERSE.Animalabs.AI:443/x",
        "eidoverse.animalabs.ai/x",
    ),
    ("mcpl://ünicode.example/x", "xn--nicode-2ya.example/x"),
    ("mcpl://[2001:DB8::1]:8443/x", "[2001:db8::1]:8443/x"),
    ("mcpl://localhost/x", "localhost/x"),
    ("mcpl://h/p?b=2&a=1", "h/p?b=2&a=1"),
    ("mcpl://h/x?a=1&a=2", "h/x?a=1&a=2"),
    ("mcpl://h/a%2fb", "h/a%2fb"),
    ("mcpl://h/%7Euser", "h/%7Euser"),
];

/// RFC-004, section 8.1: what resolves, resolves so; the address as it was written stays.
#[test]
fn thirteen_vectors_resolve() {
    for (configured, rest) in GOOD {
        let locator: Locator = configured.parse().expect(configured);
        assert_eq!(locator.configured(), configured);
        assert_eq!(locator.canonical(), format!("mcpl://{rest}"));
        assert_eq!(locator.transport().as_str(), format!("wss://{rest}"));
    }
}

/// RFC-004, section 8.2: the seven that are refused.
#[test]
fn seven_vectors_are_refused() {
    let bad = [
        ("mcpl:///x", InvalidLocator::NoHost),
        ("mcpl://u:p@h/x", InvalidLocator::UserInfo),
        ("mcpl://h/x#frag", InvalidLocator::Fragment),
        ("mcpl://h/a/../b", InvalidLocator::DotSegment),
        ("mcpl://h/a/%2e%2e/b", InvalidLocator::DotSegment),
        ("mcpl://h/a/./b", InvalidLocator::DotSegment),
        ("mcpl://h:99999/x", InvalidLocator::Authority),
    ];
    for (text, why) in bad {
        assert_eq!(text.parse::<Locator>().err(), Some(why), "{text}");
    }
}

/// RFC-004, sections 2.1 and 3.2: whatever a parser would drop or replace, so that another place is dialed, is refused.
#[test]
fn nothing_changes_its_meaning_on_the_way() {
    let bad = [
        ("mcpl://", InvalidLocator::NoHost),
        ("mcpl://?x", InvalidLocator::NoHost),
        ("mcpl:////evil/x", InvalidLocator::NoHost),
        (r"mcpl://\evil/x", InvalidLocator::Character),
        (r"mcpl://h/a\..\b", InvalidLocator::Character),
        ("mcpl://h/.\t./b", InvalidLocator::Character),
        ("mcpl://h/x?a=\n1", InvalidLocator::Character),
        ("mcpl://h/x ", InvalidLocator::Character),
        (" mcpl://h/x", InvalidLocator::Scheme),
        ("mcpl://h/..", InvalidLocator::DotSegment),
        ("mcpl://h/a/.%2E", InvalidLocator::DotSegment),
        ("mcpl://u@h", InvalidLocator::UserInfo),
        ("mcpl://@h", InvalidLocator::UserInfo),
        ("mcpl://h#", InvalidLocator::Fragment),
        ("mcpl://:443/x", InvalidLocator::Authority),
        ("mcpl://a b/x", InvalidLocator::Character),
        ("wss://h/x", InvalidLocator::Scheme),
        ("mcpls://h/x", InvalidLocator::Scheme),
        ("mcpl:h", InvalidLocator::Scheme),
        ("", InvalidLocator::Scheme),
    ];
    for (text, why) in bad {
        assert_eq!(text.parse::<Locator>().err(), Some(why), "{text}");
    }
    let fine: Locator = "mcpl://h/...?x=../..&y=@"
        .parse()
        .expect("dots that are no segment");
    assert_eq!(fine.canonical(), "mcpl://h/...?x=../..&y=@");
}

/// RFC-004, section 5: two spellings of one address are the same; Debug hides what may be secret.
#[test]
fn spellings_of_one_address_are_the_same() {
    let one: Locator = "mcpl://EXAMPLE.com:443?token=secret"
        .parse()
        .expect("a locator");
    let two: Locator = "MCPL://example.com/?token=secret"
        .parse()
        .expect("a locator");
    assert_eq!(one, two);
    assert_ne!(
        one,
        "mcpl://example.com/?token=other"
            .parse()
            .expect("a locator")
    );
    assert_eq!(format!("{one:?}"), "Locator { .. }");
}

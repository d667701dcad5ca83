use proptest::prelude::*;

use super::*;

fn capability(text: &str) -> Capability {
    text.parse().unwrap()
}

fn pattern(text: &str) -> Pattern {
    text.parse().unwrap()
}

fn covers(wide: &str, narrow: &str) -> bool {
    let wide = pattern(&format!("fs:read:{wide}"));
    wide.covers(&capability(&format!("fs:read:{narrow}")))
}

/// F2, F4: a bare wildcard parses as nothing; a resource may hold colons.
#[test]
fn a_capability_has_three_parts() {
    let capability: Capability = "net:get:https://a.example:8443/x".parse().unwrap();
    assert_eq!(capability.namespace(), "net");
    assert_eq!(capability.operation(), "get");
    assert_eq!(capability.resource(), "https://a.example:8443/x");
    assert_eq!(capability.to_string(), "net:get:https://a.example:8443/x");
    for wrong in [
        "",
        "*",
        "**",
        "net",
        "net:get",
        "net:get:",
        ":get:x",
        "net::x",
        "::",
        "*:get:x",
        "net:*:x",
        "net:get:a*",
        "net:get:a/***/b",
        "net:get:a/../b",
        "net:get:.",
        "net:get:a\nb",
        "n t:get:x",
    ] {
        assert_eq!(wrong.parse::<Capability>(), Err(InvalidCapability));
    }
    let json = serde_json::to_string(&capability).unwrap();
    assert_eq!(
        serde_json::from_str::<Capability>(&json).unwrap(),
        capability
    );
    assert!(serde_json::from_str::<Capability>("\"*\"").is_err());
}

/// F4: what a pattern may say, and what parses as nothing.
#[test]
fn a_pattern_has_three_parts() {
    for text in [
        "*:*:**",
        "net:*:**",
        "*:read:*",
        "fs:read:/srv/**",
        "net:get:https://a.example/*/b",
    ] {
        assert_eq!(pattern(text).to_string(), text);
        assert_eq!(pattern(text).as_str(), text);
    }
    for wrong in [
        "",
        "*",
        "**",
        "*:*",
        "**:**:**",
        "fs:**:a",
        "f*:read:a",
        "fs:read:",
        "fs:read:a*",
        "fs:read:..",
        "fs:read:a/./b",
        "fs:read:a\u{7}",
    ] {
        assert_eq!(wrong.parse::<Pattern>(), Err(InvalidPattern), "{wrong}");
    }
}

/// F4: a capability with a wildcard is covered only by what matches everything that it could mean.
#[test]
fn patterns_cover_what_they_match_whole() {
    for (wide, narrow) in [
        ("**", "**"),
        ("**", "*"),
        ("**", "/etc/passwd"),
        ("a/**", "a"),
        ("a/**", "a/b/c"),
        ("a/**", "a/*"),
        ("a/**", "a/**"),
        ("a/*", "a/b"),
        ("a/*", "a/*"),
        ("a/*", "a/"),
        ("**/*", "*/**"),
        ("*/**", "**/*"),
        ("*/**", "**/a"),
        ("**/b/**", "a/**/b"),
        ("https://a.example/**", "https://a.example/x/*"),
        ("/**", "/srv/**"),
    ] {
        assert!(covers(wide, narrow), "{wide} covers {narrow}");
    }
    for (wide, narrow) in [
        ("a/**", "**"),
        ("*", "**"),
        ("*/**", "**"),
        ("a", "*"),
        ("a/*", "a"),
        ("a/*", "a/b/c"),
        ("a/*", "a/**"),
        ("a/**", "ab"),
        ("a/b", "a//b"),
        ("a", "A"),
        ("srv/**", "/srv/x"),
        ("*/b", "**/b"),
        ("https://a.example/**", "https://a.example.evil/x"),
    ] {
        assert!(!covers(wide, narrow), "{wide} does not cover {narrow}");
    }
    let refused = |wide: &str, narrow: &str| !pattern(wide).covers(&capability(narrow));
    assert!(refused("fs:read:**", "fs:write:a") && refused("fs:*:**", "net:get:a"));
    assert!(!refused("*:read:**", "secret:read:a") && !refused("fs:*:a", "fs:write:a"));
}

/// F4: what the table of docs/grants.md says is so.
#[test]
fn documented_examples_hold() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grants.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut rows = 0;
    for line in page.lines() {
        let cells: Vec<&str> = line
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        if let ["", wide, narrow, said @ ("yes" | "no"), ..] = cells[..] {
            let covers = pattern(wide).covers(&capability(narrow));
            assert_eq!(if covers { "yes" } else { "no" }, said, "{line}");
            rows += 1;
        }
    }
    assert_eq!(rows, 11);
}

/// F4: an envelope covers by one pattern at a time; what does not parse is covered by none, not even by everything.
#[test]
fn an_envelope_covers_by_one_of_its_patterns() {
    let envelope = Envelope::of(["fs:read:/srv/**", "proc:spawn:*"]).unwrap();
    let declared = ["fs:read:/srv/a", "proc:spawn:x", "fs:write:a", "net:get:b"];
    let declared: Vec<Capability> = declared.into_iter().map(capability).collect();
    assert_eq!(envelope.first_refused(&declared), Some(&declared[2]));
    assert_eq!(envelope.first_refused(&declared[..2]), None);
    assert_eq!(Envelope::everything().first_refused(capabilities()), None);
    assert_eq!(Envelope::everything().first_refused(&declared), None);
    assert_eq!(
        Envelope::nothing().first_refused(&declared),
        Some(&declared[0])
    );
    assert_eq!(Envelope::default(), Envelope::nothing());
    let halves = Envelope::of(["fs:read:a", "fs:read:*"]).unwrap();
    assert!(!halves.covers(&capability("fs:read:**")));
    assert!(envelope.covers_text("fs:read:/srv/a"));
    for wrong in ["*", "**", "fs:read:../a", "fs:read", ""] {
        assert!(!Envelope::everything().covers_text(wrong), "{wrong}");
    }
    assert_eq!(Envelope::of(["fs:read:a", "*"]), Err(InvalidPattern));
    let parsed = ["*", "fs:read:a"]
        .iter()
        .filter_map(|text| text.parse().ok());
    assert!(parsed.collect::<Envelope>().covers_text("fs:read:a"));
}

/// F2, F4: a grant holds actions of a host alone, in their order; by default all of them.
#[test]
fn a_grant_is_a_part_of_the_declaration() {
    let of = |texts: &[&str]| Grant::narrowed(texts.iter().map(|text| capability(text)));
    let all = HostAction::ALL.iter().map(|action| format!("{action}:**"));
    let all: Vec<String> = all.rev().collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(of(&all).unwrap(), Grant::default());
    assert_eq!(of(&[]).unwrap(), Grant::default());
    assert!(!Grant::default().is_narrowed());
    let narrowed = of(&["secret:read:x", "fs:read:b", "fs:read:a", "fs:read:b"]).unwrap();
    assert!(narrowed.is_narrowed());
    let texts: Vec<&str> = narrowed
        .capabilities()
        .iter()
        .map(Capability::as_str)
        .collect();
    assert_eq!(texts, ["fs:read:a", "fs:read:b", "secret:read:x"]);
    assert_eq!(of(&["fs:read:a", "fs:chmod:a"]), Err(NotAHostAction));
    for capability in narrowed.capabilities() {
        let mut ceiling = capabilities().iter();
        assert!(ceiling.any(|whole| pattern(whole.as_str()).covers(capability)));
    }
}

/// Resources of segments out of a few, wildcards among them.
fn resources(most: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut longest = vec![String::new()];
    for length in 0..most {
        let longer = longest.iter().flat_map(|shorter| {
            let separator = if length == 0 { "" } else { "/" };
            ["a", "b", "*", "**"].map(|segment| format!("{shorter}{separator}{segment}"))
        });
        longest = longer.collect();
        all.extend(longest.iter().cloned());
    }
    all
}

/// Whether a resource with wildcards matches segments without, straight from the words of the module's documentation.
fn matches(resource: &[&str], segments: &[&str]) -> bool {
    match (resource.split_first(), segments.split_first()) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some((&"**", rest)), _) => {
            (0..=segments.len()).any(|taken| matches(rest, &segments[taken..]))
        }
        (Some((&"*", rest)), Some((_, left))) => matches(rest, left),
        (Some((literal, rest)), Some((segment, left))) => literal == segment && matches(rest, left),
        (Some(_), None) => false,
    }
}

/// Every list of up to `most` segments, one of them in no pattern.
fn texts(most: usize) -> Vec<Vec<&'static str>> {
    let mut all = vec![Vec::new()];
    let mut longest = vec![Vec::new()];
    for _ in 0..most {
        let longer = longest.iter().flat_map(|shorter: &Vec<&str>| {
            ["a", "b", "other"].map(|segment| [&shorter[..], &[segment]].concat())
        });
        longest = longer.collect();
        all.extend(longest.iter().cloned());
    }
    all
}

/// F4: over every pattern and capability of up to four segments, covering is exactly that every resource which the
/// capability could mean is matched.
#[test]
fn covering_is_matching_all_that_it_could_mean() {
    let texts = texts(6);
    let all = resources(4);
    let matched: Vec<Vec<bool>> = all
        .iter()
        .map(|resource| {
            let resource: Vec<&str> = resource.split('/').collect();
            texts.iter().map(|text| matches(&resource, text)).collect()
        })
        .collect();
    let parsed: Vec<(Pattern, Capability)> = all
        .iter()
        .map(|resource| format!("fs:read:{resource}"))
        .map(|text| (pattern(&text), capability(&text)))
        .collect();
    for (wide, (pattern, _)) in parsed.iter().enumerate() {
        for (narrow, (_, capability)) in parsed.iter().enumerate() {
            let mut both = matched[wide].iter().zip(&matched[narrow]);
            let expected = both.all(|(wide, narrow)| *wide || !narrow);
            assert_eq!(
                pattern.covers(capability),
                expected,
                "{pattern} {capability}"
            );
        }
    }
}

fn any_resource() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "", "*", "**"]), 1..9)
}

proptest! {
    /// F4: a pattern that covers a capability matches whatever the capability matches; and covering hands down.
    #[test]
    fn covering_is_sound(
        wide in any_resource(),
        narrow in any_resource(),
        narrower in any_resource(),
        text in prop::collection::vec(prop::sample::select(vec!["a", "b", "", "other"]), 1..9),
    ) {
        let parse = |resource: &[&str]| {
            let text = format!("fs:read:{}", resource.join("/"));
            (text.parse::<Pattern>(), text.parse::<Capability>())
        };
        let (Ok(one), _) = parse(&wide) else { return Ok(()) };
        let (Ok(two), Ok(second)) = parse(&narrow) else { return Ok(()) };
        prop_assert!(two.covers(&second));
        if one.covers(&second) && matches(&narrow, &text) {
            prop_assert!(matches(&wide, &text));
        }
        if let (_, Ok(third)) = parse(&narrower)
            && one.covers(&second)
            && two.covers(&third)
        {
            prop_assert!(one.covers(&third));
        }
    }

    /// F4: no text makes the parsers panic, and one that parses is written as it was.
    #[test]
    fn any_text_parses_or_does_not(text: String) {
        if let Ok(pattern) = text.parse::<Pattern>() {
            prop_assert_eq!(pattern.to_string(), text.clone());
        }
        if let Ok(capability) = text.parse::<Capability>() {
            prop_assert_eq!(capability.to_string(), text.clone());
            prop_assert!(Envelope::everything().covers(&capability));
        }
    }
}

//! Tags, what they imply, and the rules over them.

use proptest::prelude::*;
use seawall_proto::Json;

use super::{Glob, InvalidTag, MAX_TAG_BYTES, MAX_TAGS, Rule, Rules, Source, Tag, Tags};

fn tags(array: &str) -> Tags {
    Tags::of(Some(&Json::check(array.to_owned()).unwrap()))
}

fn texts(array: &str) -> Vec<String> {
    tags(array).iter().map(ToString::to_string).collect()
}

/// MCPL §16.1: `namespace:value`; a bare word is no tag.
#[test]
fn a_tag_has_a_namespace() {
    for good in ["chat:dm", "urgency:level=high", "discord:a:b", "a:*"] {
        assert_eq!(good.parse::<Tag>().unwrap().as_str(), good);
    }
    assert_eq!("discord:a:b".parse::<Tag>().unwrap().namespace(), "discord");
    for bad in [
        "", "mention", ":", "chat:", ":dm", "chat:é", "chat: dm", "chat:a\n",
    ] {
        assert_eq!(bad.parse::<Tag>(), Err(InvalidTag), "{bad}");
    }
    let long = |length: usize| format!("a:{}", "x".repeat(length - 2)).parse::<Tag>();
    assert!(long(MAX_TAG_BYTES).is_ok() && long(MAX_TAG_BYTES + 1).is_err());
}

/// MCPL §16.1: a set; what is no tag is ignored, and the event is not.
#[test]
fn tags_are_a_set_and_bounded() {
    assert_eq!(texts(r#"["b:x","a:x","b:x"]"#), ["a:x", "b:x"]);
    let read = tags(r#"["a:x","mention",1,null,"é:x"]"#);
    assert_eq!((read.iter().count(), read.ignored()), (1, 4));
    for (odd, ignored) in [("null", 0), (r#""a:x""#, 1), (r#"{"a:x":1}"#, 1), ("[]", 0)] {
        assert_eq!(
            (tags(odd).iter().count(), tags(odd).ignored()),
            (0, ignored)
        );
    }
    assert_eq!(Tags::of(None), Tags::default());
    let many: Vec<String> = (0..=MAX_TAGS).map(|at| format!(r#""a:{at}""#)).collect();
    let read = tags(&format!("[{}]", many.join(",")));
    assert_eq!((read.iter().count(), read.ignored()), (MAX_TAGS, 1));
}

/// MCPL §16.3: the specification's own implications, and no others.
#[test]
fn core_tags_imply_what_the_specification_says() {
    assert_eq!(
        texts(r#"["chat:mention"]"#),
        ["chat:addressed", "chat:mention"]
    );
    assert_eq!(texts(r#"["chat:reply"]"#), ["chat:addressed", "chat:reply"]);
    assert_eq!(
        texts(r#"["chat:dm"]"#),
        ["chat:addressed", "chat:dm", "chat:private"]
    );
    assert_eq!(texts(r#"["chat:broadcast"]"#), ["chat:broadcast"]);
    assert_eq!(texts(r#"["vendor:mention"]"#), ["vendor:mention"]);
}

/// MCPL §16.3: addressed and ambient exclude each other, and ambient goes.
#[test]
fn what_is_addressed_is_not_ambient() {
    assert_eq!(texts(r#"["chat:ambient"]"#), ["chat:ambient"]);
    assert_eq!(
        texts(r#"["chat:ambient","chat:addressed"]"#),
        ["chat:addressed"]
    );
    let dm = tags(r#"["chat:ambient","chat:dm"]"#);
    assert!(dm.is_addressed() && dm.has("chat:private") && !dm.has("chat:ambient"));
}

/// MCPL §16.7: the first rule that matches decides; no rule leaves it to the host.
#[test]
fn the_first_rule_that_matches_decides() {
    let globs = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| Glob::new(*text))
            .collect::<Vec<_>>()
    };
    let mut wake_own = Rule::always("wake");
    wake_own.tags_all = globs(&["chat:reaction", "chat:to-self"]);
    let mut mute = Rule::always("mute");
    mute.tags_any = globs(&["chat:reaction*", "chat:deleted"]);
    let mut quiet = Rule::always("quiet");
    quiet.tags_none = globs(&["chat:addressed"]);
    quiet.server = Some(Glob::new("discord"));
    quiet.channel = Some(Glob::new("discord:acme/*"));
    let rules = Rules::new([wake_own, mute, quiet]);
    let acme = Source::new("discord", Some("discord:acme/general"));
    let treat = |source, array: &str| rules.treat(&source, &tags(array)).copied();
    assert_eq!(
        treat(acme, r#"["chat:reaction","chat:to-self"]"#),
        Some("wake")
    );
    assert_eq!(
        treat(acme, r#"["chat:reaction-remove","chat:to-self"]"#),
        Some("mute")
    );
    assert_eq!(treat(acme, r#"["chat:ambient"]"#), Some("quiet"));
    assert_eq!(treat(acme, r#"["chat:dm","chat:ambient"]"#), None);
    assert_eq!(treat(Source::new("discord", None), "[]"), None);
    assert_eq!(
        treat(Source::new("x", Some("discord:acme/general")), "[]"),
        None
    );
    let named: Vec<String> = rules.named().into_iter().collect();
    assert_eq!(
        named,
        [
            "chat:addressed",
            "chat:deleted",
            "chat:reaction",
            "chat:to-self"
        ]
    );
    assert_eq!(Rules::<()>::default().treat(&acme, &Tags::default()), None);
}

/// MCPL §16.7: a glob matches whole texts.
#[test]
fn a_glob_matches_whole_texts() {
    for (glob, text) in [
        ("", ""),
        ("*", ""),
        ("*", "abc"),
        ("a*", "a"),
        ("*c", "abc"),
        ("a*c", "ac"),
        ("a*b*c", "aXbXbc"),
        ("**", "x"),
        ("é*", "éa"),
    ] {
        assert!(Glob::new(glob).matches(text), "{glob} {text}");
    }
    for (glob, text) in [
        ("", "a"),
        ("a", "A"),
        ("a*", "ba"),
        ("*c", "cb"),
        ("a*a", "a"),
        ("a*b*c", "acb"),
        ("ab*bc", "abc"),
        ("?", "a"),
    ] {
        assert!(!Glob::new(glob).matches(text), "{glob} {text}");
    }
    assert!(!Glob::new("*a".repeat(2_000)).matches(&"a".repeat(1_999)));
}

/// What a glob matches, written the slow way.
fn slow(glob: &[u8], text: &[u8]) -> bool {
    match (glob.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            slow(rest, text) || text.split_first().is_some_and(|(_, text)| slow(glob, text))
        }
        (Some((own, glob)), Some((other, text))) => own == other && slow(glob, text),
        _ => false,
    }
}

proptest! {
    /// MCPL §16.7: the fast way and the slow way agree.
    #[test]
    fn globs_match_as_their_definition_says(glob in "[ab*]{0,6}", text in "[ab]{0,8}") {
        prop_assert_eq!(Glob::new(&*glob).matches(&text), slow(glob.as_bytes(), text.as_bytes()));
    }

    /// MCPL §16.3: to close tags twice changes nothing.
    #[test]
    fn closing_is_done_once(picked in proptest::collection::vec(0_usize..7, 0..7)) {
        let all = ["chat:dm", "chat:mention", "chat:reply", "chat:ambient", "chat:addressed", "chat:private", "a:b"];
        let picked = picked.iter().map(|at| all[*at].parse::<Tag>().unwrap());
        let once = Tags::closed(picked);
        prop_assert_eq!(Tags::closed(once.iter().cloned()), once);
    }
}

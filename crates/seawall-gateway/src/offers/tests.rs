use seawall_proto::Json;

use super::follow::is_part_of;
use super::kind::Kind;
use super::notice::{Notice, Notices};
use super::shown;
use super::template::closeness;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).expect("JSON")
}

/// G1: a URI is of a template that makes it (RFC 6570), and of none that does not; generously read ones come after.
#[test]
fn templates_make_uris() {
    let exact = [
        ("test://template/{id}/data", "test://template/123/data"),
        ("test://{a}{b}", "test://ab"),
        ("x:{+rest}", "x:a/b?c#d"),
        ("x:{#rest}", "x:#d"),
        ("x:{/a,b}", "x:/a/b"),
        ("x:y{?q,r}", "x:y?q=1&r=2"),
        ("x:y{?q}", "x:y"),
        ("x:aab{v}b", "x:aababb"),
        ("x:{v}aa{w}", "x:aaaa"),
        ("plain:uri", "plain:uri"),
        ("x:{v}", "x:"),
        ("x:é{v}", "x:éß"),
    ];
    for (template, uri) in exact {
        let generous = closeness("file:///{path}", "file:///a/b");
        let found = closeness(template, uri);
        assert!(found.is_some() && found > generous, "{template} {uri}");
    }
    assert!(closeness("file:///{path}", "file:///a/b").is_some());
    let none = [
        ("test://template/{id}/data", "test://template/1/other"),
        ("test://template/{id}/data", "test://template/1/data/more"),
        ("x:{a}", "y:a"),
        ("x:{a}", "x:a?b"),
        ("x:{a", "x:1"),
        ("x:a}", "x:a}"),
        ("plain:uri", "plain:uris"),
        ("", "x"),
    ];
    for (template, uri) in none {
        assert_eq!(closeness(template, uri), None, "{template} {uri}");
    }
    let closer = closeness("x:a/{v}", "x:a/b");
    assert!(closer > closeness("x:{+v}", "x:a/b"));
}

/// L6: a template past its bounds makes nothing, and one within them costs little, however it repeats itself.
#[test]
fn templates_are_bounded() {
    let literal = "a".repeat(1_024 - 3);
    let uri = "a".repeat(8_192);
    assert!(closeness(&format!("{literal}{{v}}"), &uri).is_some());
    assert_eq!(closeness(&format!("{literal}a{{v}}"), &uri), None);
    assert!(closeness(&"a{v}".repeat(16), &uri).is_some());
    assert_eq!(closeness(&"a{v}".repeat(17), &uri), None);
}

/// G5, G4: hidden characters of what people and models read are made visible, a prompt has the gateway's name, and every
/// other byte is the server's.
#[test]
fn entries_are_the_servers_own() {
    let prompt = r#"{ "x":1.0,"name":"p\u200b","title":"\u202e","arguments":[ {"name":"a\u200b","description":"\u2066"}],"description":"d"}"#;
    let expected = r#"{ "x":1.0,"name":"s__p","title":"\\u{202e}","arguments":[{"name":"a\u200b","description":"\\u{2066}"}],"description":"d"}"#;
    let shown_prompt = shown::entry(Kind::Prompts, &json(prompt), "s__p");
    assert_eq!(shown_prompt.as_str(), expected);
    let plain = r#"{"name":"p","arguments":[ {"name":"a"} ]}"#;
    let shown_plain = shown::entry(Kind::Prompts, &json(plain), "p");
    assert_eq!(shown_plain.as_str(), plain);
    let resource = r#"{"uri":"x:\u200b","name":"\u200b","description":"\u202e","size":1e2}"#;
    let expected = r#"{"uri":"x:\u200b","name":"\\u{200b}","description":"\\u{202e}","size":1e2}"#;
    let shown_resource = shown::entry(Kind::Resources, &json(resource), "x");
    assert_eq!(shown_resource.as_str(), expected);
}

/// H7: a part of what is followed is told of, and what only begins alike is not.
#[test]
fn parts_of_what_is_followed() {
    for (changed, followed) in [
        ("x://a", "x://a"),
        ("x://a/b", "x://a"),
        ("x://a#b", "x://a"),
        ("x://a/b", "x://a/"),
    ] {
        assert!(is_part_of(changed, followed), "{changed} {followed}");
    }
    for (changed, followed) in [("x://ab", "x://a"), ("x://a", "x://a/b"), ("y", "x")] {
        assert!(!is_part_of(changed, followed), "{changed} {followed}");
    }
}

/// L6: what waits to be told is bounded, and names that meet are told of once.
#[test]
fn notices_are_bounded() {
    let notices = Notices::default();
    let meet = |number: usize| Notice::UrisMeet {
        uri: format!("x:{number}"),
        servers: vec!["a".to_owned(), "b".to_owned()],
    };
    notices.tell(meet(0));
    notices.tell(meet(0));
    assert_eq!(notices.take(), [meet(0)]);
    (0..1_000).for_each(|number| notices.tell(meet(number)));
    assert_eq!(notices.take().len(), 64);
    (0..1_000).for_each(|number| notices.tell(meet(number)));
    assert!(notices.take().is_empty());
    assert_eq!(
        meet(1).to_string(),
        "\"x:1\" is offered by a, b: the first of them is asked for it"
    );
}

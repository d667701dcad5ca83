use super::Client;

#[test]
fn nothing_bounds_a_local_client() {
    let local = Client::local();
    assert_eq!((local.name(), local.subject()), ("local", None));
    assert!(local.may_see("any", "thing") && local.may_see_server("any"));
}

/// F4: what is excluded is so whatever is included, and a part of a server is not the server.
#[test]
fn a_client_sees_what_is_included_and_not_excluded() {
    let client = Client::named("a")
        .including(["files", "wiki/search", "wiki/read"])
        .excluding(["files/delete", "wiki/read"]);
    for (server, name, is_seen) in [
        ("files", "read", true),
        ("files", "delete", false),
        ("wiki", "search", true),
        ("wiki", "read", false),
        ("wiki", "other", false),
        ("other", "search", false),
        // Names are exact.
        ("Files", "read", false),
        ("file", "s", false),
    ] {
        assert_eq!(client.may_see(server, name), is_seen, "{server} {name}");
    }
    assert!(client.may_see_server("files"));
    assert!(!client.may_see_server("wiki"));
    let but_one = Client::named("b").excluding(["files"]);
    assert!(!but_one.may_see("files", "read") && !but_one.may_see_server("files"));
    assert!(but_one.may_see("wiki", "read") && but_one.may_see_server("wiki"));
    let nobody = Client::named("c").including::<&str>([]);
    assert!(!nobody.may_see("files", "read") && !nobody.may_see_server("files"));
}

#[test]
fn two_subjects_are_two_clients() {
    let client = Client::named("a");
    let (one, two) = (
        client.clone().on_behalf_of("1"),
        client.clone().on_behalf_of("2"),
    );
    assert!(one.is_same(&one.clone()) && client.is_same(&client.clone()));
    assert!(!one.is_same(&two) && !one.is_same(&client));
    assert!(!client.is_same(&Client::named("b")));
}

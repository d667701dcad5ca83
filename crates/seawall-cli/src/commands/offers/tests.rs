use seawall::Json;

use super::with_server;

/// What a server sent is kept byte for byte, and no entry passes for another server's.
#[test]
fn server_is_added_and_nothing_else_changes() {
    for (entry, whole) in [
        (r#"{}"#, r#"{"server":"a\"b"}"#),
        (
            r#"{ "n": 1.0e2 , "x":"\ud800" }"#,
            r#"{ "n": 1.0e2 , "x":"\ud800","server":"a\"b"}"#,
        ),
        (
            r#"{"server":"other","n":10000000000000000001}"#,
            r#"{"n":10000000000000000001,"server":"a\"b"}"#,
        ),
        (r#"{"server":"other"}"#, r#"{"server":"a\"b"}"#),
    ] {
        let entry = Json::check(entry).expect("JSON");
        assert_eq!(with_server(&entry, "a\"b"), whole);
    }
}

//! Where to dial (T6).

use url::Url;

use super::super::address::dialed;

fn dialed_text(url: &str, token: Option<&str>) -> String {
    dialed(&Url::parse(url).expect("a URL"), token).to_string()
}

/// T6: the token is one more parameter of the query, percent-encoded; the rest of the query stays byte for byte.
#[test]
fn the_token_is_a_parameter_and_nothing_else_changes() {
    for (url, token, dialed) in [
        ("ws://h/p", "abc", "http://h/p?token=abc"),
        ("wss://h/p?", "abc", "https://h/p?token=abc"),
        ("wss://h:444/p?a=1", "abc", "https://h:444/p?a=1&token=abc"),
        (
            "wss://h/p?a=%20+%2f&b=~x!&&c",
            "t+/=&#%é ",
            "https://h/p?a=%20+%2f&b=~x!&&c&token=t%2B%2F%3D%26%23%25%C3%A9%20",
        ),
        (
            "ws://h/?token=old&a=1&token=older",
            "new",
            "http://h/?token=new&a=1",
        ),
        (
            "ws://h/?a=1&tok%65n=old&tokens=2",
            "new",
            "http://h/?a=1&token=new&tokens=2",
        ),
        ("ws://u:p@h/?token", "new", "http://u:p@h/?token=new"),
        ("ws://h/p#token=x", "abc", "http://h/p?token=abc"),
    ] {
        assert_eq!(dialed_text(url, Some(token)), dialed);
    }
}

/// T6: without a token the query is the configured one.
#[test]
fn without_a_token_the_query_stays() {
    assert_eq!(
        dialed_text("ws://h/p?token=a%2fb+c", None),
        "http://h/p?token=a%2fb+c"
    );
    assert_eq!(dialed_text("wss://h", None), "https://h/");
}

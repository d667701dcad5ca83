//! Pages are opened with a yes, and never without.

use std::cell::RefCell;

use seawall::Json;
use seawall::inputs::{Consent, Page};
use serde_json::json;

use super::{Opened, visit};
use crate::inputs::tests::Played;

fn page(url: &str) -> Page {
    let params = json!({"mode": "url", "message": "Log in\nOpen it? yes", "url": url});
    Page::parse(&Json::of(&params).unwrap()).unwrap()
}

async fn visited(url: &str, lines: &[&str], opened: Opened) -> (Consent, Vec<String>, String) {
    let mut console = Played::of(lines);
    let seen = RefCell::new(Vec::new());
    let open = |url| {
        seen.borrow_mut().push(url);
        std::future::ready(opened)
    };
    let consent = visit(&mut console, "github", &page(url), open).await;
    (consent, seen.into_inner(), console.shown)
}

#[tokio::test]
async fn a_page_is_shown_whole_and_opened_on_a_yes() {
    let url = "https://mcp.example.com:8443/ui/key?state=1#x";
    let (consent, opened, shown) = visited(url, &["", "maybe", "YES"], Opened::Yes).await;
    assert_eq!((consent, opened), (Consent::Accept, vec![url.to_owned()]));
    insta::assert_snapshot!(shown);
}

#[tokio::test]
async fn nothing_is_opened_without_a_yes() {
    for (lines, expected) in [
        (&["no"][..], Consent::Decline),
        (&["edit", "decline"], Consent::Decline),
        (&["/cancel"], Consent::Cancel),
        (&[], Consent::Cancel),
    ] {
        let (consent, opened, _) = visited("https://a.example/", lines, Opened::Yes).await;
        assert_eq!((consent, opened), (expected, Vec::new()));
    }
}

#[tokio::test]
async fn a_browser_that_does_not_start_is_told_of() {
    for (lines, expected) in [
        (&["y", "y"][..], Consent::Accept),
        (&["y", "n"], Consent::Decline),
        (&["y"], Consent::Cancel),
    ] {
        let (consent, _, shown) = visited("https://a.example/", lines, Opened::No).await;
        assert_eq!(consent, expected);
        assert!(shown.contains("Open the address above yourself"));
    }
}

#[tokio::test]
async fn a_name_beyond_ascii_is_warned_of() {
    let (_, _, shown) = visited("https://www.\u{430}pple.com/", &["n"], Opened::Yes).await;
    assert!(shown.contains("https://www.xn--pple-43d.com"));
    assert!(shown.contains("warning: this host's name holds characters beyond ASCII"));
}

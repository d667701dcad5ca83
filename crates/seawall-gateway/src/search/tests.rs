use bm25::Tokenizer as _;
use proptest::prelude::*;
use seawall_proto::Json;

use super::words::Words;
use super::{Index, PAGE, Query, called, found, wants_all};

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).expect("JSON")
}

#[test]
fn names_of_all_kinds_are_words() {
    for text in [
        "createIssues",
        "create_issue",
        "Create issue.",
        "CREATE ISSUE",
        "create-issues",
    ] {
        assert_eq!(Words.tokenize(text), ["create", "issue"], "{text}");
    }
    assert_eq!(
        Words.tokenize("HTTPServer, größe2 的"),
        ["httpserver", "größe2", "的"]
    );
    assert_eq!(Words.tokenize("is a class"), ["is", "a", "class"]);
    assert!(Words.tokenize(" _ .").is_empty());
    assert_eq!(Words.tokenize(&"x ".repeat(10_000)).len(), 256);
}

/// The words that fewer tools have count more, and a short text with them goes before a long one.
#[test]
fn the_best_comes_first() {
    let texts = [
        "files read_file Read a file from disk",
        "github create_issue Create an issue in a repository",
        "github list_issues List the issues of a repository, with filters, pages and labels",
        "wiki search Search the pages of the wiki",
    ]
    .map(str::to_owned);
    let index = Index::of(&texts);
    assert_eq!(index.find("create an issue"), [1, 2]);
    assert_eq!(index.find("pages"), [3, 2]);
    assert_eq!(index.find("read a FILE")[0], 0);
    assert!(index.find("weather").is_empty() && index.find("").is_empty());
    assert!(Index::of(&[]).find("x").is_empty());
    let same = ["a b".to_owned(), "a b".to_owned(), "a b".to_owned()];
    assert_eq!(Index::of(&same).find("b"), [0, 1, 2]);
}

/// L6: what a query may be.
#[test]
fn a_query_is_read() {
    let of = |arguments: &str| Query::of(Some(&json(&format!(r#"{{"arguments":{arguments}}}"#))));
    let query = of(r#"{"query":"a\u0062","limit":3}"#).unwrap();
    assert_eq!((query.words.as_str(), query.limit), ("ab", 3));
    assert_eq!(of(r#"{"query":""}"#).unwrap().limit, 8);
    let long = format!(r#"{{"query":"{}"}}"#, "é".repeat(2_000));
    assert_eq!(of(&long).unwrap().words.len(), 1_024);
    for wrong in [
        "{}",
        r#"{"query":1}"#,
        r#"{"query":"a","limit":0}"#,
        r#"{"query":"a","limit":51}"#,
        r#"{"query":"a","limit":"1"}"#,
        "1",
    ] {
        assert_eq!(of(wrong).unwrap_err().code, -32602, "{wrong}");
    }
    assert_eq!(Query::of(None).unwrap_err().code, -32602);
}

#[test]
fn what_is_found_is_one_text() {
    let entries = [json(r#"{"name":"a","x":1.0}"#), json(r#"{"name":"b"}"#)];
    let result = found(entries.iter()).unwrap();
    assert_eq!(
        result.as_str(),
        r#"{"content":[{"type":"text","text":"{\"tools\":[{\"name\":\"a\",\"x\":1.0},{\"name\":\"b\"}]}"}]}"#
    );
    assert!(found([].iter()).unwrap().as_str().contains("try others"));
    // L6: one that is large is told, and none after it.
    let large = json(&format!(r#"{{"x":"{}"}}"#, "y".repeat(300 * 1024)));
    let result = found([large, json("{}")].iter()).unwrap();
    assert!(result.len() > 300 * 1024 && !result.as_str().contains(",{}"));
}

/// G2: a call of `call_tool` is the call that it means, with everything else in it.
#[test]
fn a_call_is_the_call_that_it_means() {
    let params = r#"{"_meta":{"progressToken":1.0},"name":"call_tool","arguments":{"arguments":{"a":1e2},"name":"s__t"},"requestState":"x"}"#;
    let meant =
        r#"{"_meta":{"progressToken":1.0},"name":"s__t","arguments":{"a":1e2},"requestState":"x"}"#;
    assert_eq!(called(Some(&json(params))).unwrap().as_str(), meant);
    let bare = r#"{"name":"call_tool","arguments":{"name":"t"}}"#;
    assert_eq!(
        called(Some(&json(bare))).unwrap().as_str(),
        r#"{"name":"t","arguments":{}}"#
    );
    for wrong in [
        r#"{"name":"call_tool"}"#,
        r#"{"arguments":{}}"#,
        r#"{"arguments":{"name":1}}"#,
        r#"{"arguments":[]}"#,
    ] {
        assert_eq!(
            called(Some(&json(wrong))).unwrap_err().code,
            -32602,
            "{wrong}"
        );
    }
    assert_eq!(called(None).unwrap_err().code, -32602);
}

#[test]
fn the_list_of_all_can_be_asked_for() {
    let of = |params: &str| wants_all(Some(&json(params)));
    assert!(of(r#"{"_meta":{"seawall/toolSearch":false}}"#));
    assert!(!of(r#"{"_meta":{"seawall/toolSearch":true}}"#));
    assert!(!of(r#"{"_meta":{}}"#) && !of("{}") && !wants_all(None));
    assert!(Json::check(format!("{{{PAGE}}}")).is_ok());
}

proptest! {
    #[test]
    fn any_text_can_be_searched(texts in prop::collection::vec(".{0,40}", 0..8), query in ".{0,40}") {
        let found = Index::of(&texts).find(&query);
        prop_assert!(found.iter().all(|place| *place < texts.len()));
    }
}

use super::SourceFile;

fn code(text: &str) -> String {
    SourceFile::new("a.rs", text).code
}

fn paths(text: &str) -> Vec<(String, usize)> {
    let found = SourceFile::new("a.rs", text).paths();
    found
        .into_iter()
        .map(|path| (path.segments.join("::"), path.line))
        .collect()
}

#[test]
fn comments_and_strings_are_blank_and_lines_stay() {
    let text = "a // todo!\n/* x /* y */ todo! */ b\n\"todo! \\\" todo!\" c\nr#\"todo! \" \"# d\nb\"todo!\" br\"todo!\" e";
    let blanked = code(text);
    assert!(!blanked.contains("todo!"), "{blanked}");
    assert_eq!(blanked.lines().count(), text.lines().count());
    let words: Vec<_> = blanked.split_whitespace().collect();
    assert_eq!(words, ["a", "b", "c", "r", "d", "b", "br", "e"]);
}

#[test]
fn a_quote_is_a_character_or_a_lifetime() {
    assert_eq!(
        code("f('\"', '\\'', '\\u{7f}') todo!")
            .split_whitespace()
            .last(),
        Some("todo!")
    );
    assert_eq!(
        code("fn f<'a>(x: &'a str) { \"s\" }").matches('\'').count(),
        0
    );
    assert!(code("fn f<'a>(x: &'a str) {}").contains("str"));
}

#[test]
fn broken_text_is_read_without_a_panic() {
    for text in [
        "\"",
        "'",
        "'\\",
        "r#\"",
        "/*",
        "/",
        "b'",
        "use a::{b",
        "use",
        "use ::",
        "use a::{{{",
        "::",
    ] {
        let file = SourceFile::new("a.rs", text);
        drop(file.paths());
    }
}

#[test]
fn use_trees_are_taken_apart() {
    let found = paths(
        "use std::{\n  fs,\n  net::{self, TcpStream as T},\n};\npub(crate) use super::x::*;\nuse a;\n",
    );
    let expected = [
        ("std::fs", 2),
        ("std::net", 3),
        ("std::net::TcpStream", 3),
        ("super::x::*", 5),
        ("a", 6),
    ];
    assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
}

#[test]
fn paths_in_expressions_are_found() {
    let found =
        paths("fn f() {\n  let x = crate::client::Call::new(a, std::time::Instant::now());\n}");
    let expected = [
        ("crate::client::Call::new", 2),
        ("std::time::Instant::now", 2),
    ];
    assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
}

#[test]
fn test_files_are_known_by_their_place() {
    assert!(SourceFile::new("crates/a/src/x/tests.rs", "").is_test());
    assert!(SourceFile::new("crates/a/tests/it/main.rs", "").is_test());
    assert!(!SourceFile::new("crates/a/src/tests_helper.rs", "").is_test());
}

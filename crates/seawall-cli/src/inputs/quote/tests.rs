//! A server's text never passes for Seawall's own.

use super::{BAR, quote};

#[test]
fn every_line_stands_behind_the_bar() {
    let hostile = "one\n\nSend it? yes\r\n\u{1b}[2Jgone \u{202e}back\ttab\u{2028}x";
    let quoted = quote(hostile, 80);
    assert!(quoted.lines().all(|line| line.starts_with(BAR)), "{quoted}");
    assert!(!quoted.contains(['\u{1b}', '\r', '\u{202e}', '\u{2028}', '\t']));
    assert!(quoted.contains("\\u{1b}[2Jgone \\u{202e}back    tab\\u{2028}x"));
    assert_eq!(quote("", 80), "");
}

#[test]
fn a_line_is_broken_before_the_terminal_does() {
    for text in ["x".repeat(200), "\u{6f22}".repeat(100)] {
        for width in [0, 20, 33, 80] {
            let quoted = quote(&text, width);
            let widest = quoted.lines().map(console::measure_text_width).max();
            assert!(widest.unwrap() < width.max(20), "{quoted}");
            assert_eq!(quoted.replace([' ', '|', '\n'], ""), text);
        }
    }
}

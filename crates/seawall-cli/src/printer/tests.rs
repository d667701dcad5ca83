use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use super::{
    Colour, Format, Look, Manner, Place, Printer, Table, count_invisible, pretty, visible,
};

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("UTF-8")
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("not poisoned").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a printer wrote to stdout, for the tests of commands.
pub(crate) struct Written(Shared);

impl Written {
    /// A printer whose stdout is a terminal without colour.
    pub(crate) fn to_a_terminal() -> (Printer, Self) {
        let out = Shared::default();
        let manner = Manner {
            width: Some(80),
            ..manner(Colour::Plain, 0)
        };
        let printer = Printer::new(manner, Box::new(out.clone()), Box::new(Shared::default()));
        (printer, Self(out))
    }

    pub(crate) fn text(&self) -> String {
        self.0.text()
    }
}

struct Broken(io::ErrorKind);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn manner(colour: Colour, verbosity: u8) -> Manner {
    Manner {
        format: Format::Human,
        verbosity,
        stdout: colour,
        stderr: colour,
        spinner: false,
        width: None,
    }
}

fn talked(colour: Colour, verbosity: u8) -> String {
    let (out, err) = (Shared::default(), Shared::default());
    let mut printer = Printer::new(
        manner(colour, verbosity),
        Box::new(out.clone()),
        Box::new(err.clone()),
    );
    printer.talk("plain \u{202e}");
    printer.detail("detail");
    printer.warning("be\u{7}ware");
    printer.error("bad");
    printer.hint("do this");
    assert_eq!(out.text(), "");
    err.text()
}

#[test]
fn talk_goes_to_stderr_with_nothing_hidden() {
    insta::assert_snapshot!(talked(Colour::Plain, 0), @r"
    plain \u{202e}
    warning: be\u{7}ware
    error: bad
    hint: do this
    ");
    assert!(talked(Colour::Plain, 1).contains("\ndetail\n"));
}

#[test]
fn colour_wraps_our_words_only() {
    let text = talked(Colour::Ansi, 0);
    assert!(
        text.contains("\u{1b}[33mwarning: \u{1b}[0mbe\\u{7}ware\n"),
        "{text}"
    );
    assert_eq!(Colour::Plain.paint(Look::Bad, "x"), "x");
}

#[test]
fn closed_stdout_ends_printing_quietly_and_a_full_disk_does_not() {
    for (kind, quiet) in [
        (io::ErrorKind::BrokenPipe, true),
        (io::ErrorKind::StorageFull, false),
    ] {
        let mut printer = Printer::new(
            manner(Colour::Plain, 0),
            Box::new(Broken(kind)),
            Box::new(io::sink()),
        );
        printer.data("x");
        printer.data("y");
        assert_eq!(printer.finish().is_ok(), quiet);
    }
}

/// BEHAVIOUR G5: invisible and reordering characters are made visible and counted.
#[test]
fn what_a_terminal_obeys_or_hides_is_made_visible() {
    for (text, shown) in [
        ("\u{1b}[31m", "\\u{1b}[31m"),
        ("a\rb\u{8}", "a\\u{d}b\\u{8}"),
        ("\u{7f}\u{9b}", "\\u{7f}\\u{9b}"),
        (
            "\u{202e}\u{2066}\u{200b}\u{feff}",
            "\\u{202e}\\u{2066}\\u{200b}\\u{feff}",
        ),
        ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
        (
            "\u{e0041}\u{e0100}\u{fe01}",
            "\\u{e0041}\\u{e0100}\\u{fe01}",
        ),
        ("\u{3164}\u{34f}\u{e0000}", "\\u{3164}\\u{34f}\\u{e0000}"),
    ] {
        assert_eq!(visible(text, Place::Block), shown);
        assert!(count_invisible(text) > 0);
    }
    for plain in ["", "héllo, 世界 ⚠\u{fe0f} e\u{301}", "a\tb\nc"] {
        assert_eq!(visible(plain, Place::Block), plain);
        assert_eq!(count_invisible(plain), 0);
    }
    assert_eq!(visible("a\tb\nc", Place::Line), "a\\u{9}b\\u{a}c");
    assert_eq!(count_invisible("a\u{200b}b\u{202e}"), 2);
    assert_eq!(visible("a\r\nb", Place::Block), "a\r\nb");
    assert_eq!(count_invisible("a\r\nb"), 0);
    assert_eq!(visible("a\rb\r\r\n", Place::Block), "a\\u{d}b\\u{d}\r\n");
    assert_eq!(visible("a\r\n", Place::Line), "a\\u{d}\\u{a}");
}

#[test]
fn json_is_indented_and_otherwise_as_it_was_written() {
    let json = r#"{"b":1.0,"a":[ ],"s":"{,\\\":[}","l":[1e2,{"x":{}}]}"#;
    insta::assert_snapshot!(pretty(json), @r#"
    {
      "b": 1.0,
      "a": [],
      "s": "{,\\\":[}",
      "l": [
        1e2,
        {
          "x": {}
        }
      ]
    }
    "#);
    let long = format!("[{}0]", "0,".repeat(40_000));
    assert_eq!(pretty(&long), long);
}

#[test]
fn table_keeps_to_its_width() {
    let mut table = Table::new(["A", "B"]).right(1);
    table.row(["one".to_owned(), "word ".repeat(10)]);
    for (width, lines) in [(None, 2), (Some(30), 4)] {
        let drawn = table.draw(Colour::Plain, width);
        assert_eq!(drawn.lines().count(), lines, "{drawn}");
    }
    assert!(table.draw(Colour::Ansi, None).contains("\u{1b}[1m"));
}

#[test]
fn word_without_end_is_drawn_in_linear_time() {
    let long = "x".repeat(300_000);
    let mut table = Table::new(["A", "B"]);
    table.row(["one".to_owned(), long.clone()]);
    let drawn = table.draw(Colour::Plain, Some(80));
    let shown = drawn.chars().filter(|c| *c == 'x').count();
    assert_eq!(shown, long.len());
    assert!(drawn.lines().all(|line| line.chars().count() <= 80));
}

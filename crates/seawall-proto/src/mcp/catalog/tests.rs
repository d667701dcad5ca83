//! Every rule of an entry, a page and a whole list.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::{Catalog, CatalogBuilder, CatalogFault, Quarantined, ToolFault, is_forbidden_in_name};
use crate::json::Json;
use crate::limits::{InvalidTools, Limits};

const SCHEMA: &str = r#"{"type":"object"}"#;

fn json(text: &str) -> Json {
    Json::check(text.to_owned()).unwrap()
}

/// The catalog of these pages; each is a whole result of `tools/list`.
fn list(limits: &Limits, pages: &[String]) -> Result<Catalog, CatalogFault> {
    let mut builder = CatalogBuilder::default();
    for (at, page) in pages.iter().enumerate() {
        let more = builder.page(&json(page), limits)?.is_some();
        assert_eq!(
            more,
            at + 1 < pages.len(),
            "page {at} of the test says whether another follows"
        );
    }
    Ok(builder.finish())
}

fn page(entries: &[String]) -> String {
    format!(r#"{{"tools":[{}]}}"#, entries.join(","))
}

fn page_to(entries: &[String], cursor: &str) -> String {
    format!(
        r#"{{"tools":[{}],"nextCursor":{cursor}}}"#,
        entries.join(",")
    )
}

/// An entry named by this JSON text.
fn named(name: &str) -> String {
    format!(r#"{{"name":{name},"inputSchema":{SCHEMA}}}"#)
}

fn entry_fault(entry: &str) -> Option<ToolFault> {
    match list(
        &Limits::default(),
        &[page(&[named("\"first\""), entry.to_owned()])],
    ) {
        Ok(catalog) => {
            assert_eq!(catalog.tools().len(), 2);
            None
        }
        Err(CatalogFault::Tool { index, fault }) => {
            assert_eq!(index, 1, "the index is named");
            Some(fault)
        }
        Err(other) => panic!("{entry}: {other:?}"),
    }
}

/// S9: each character class that a name may not hold, raw and escaped.
#[test]
fn forbidden_characters_in_a_name() {
    for character in [
        '/',
        '\u{1f}',
        '\u{7f}',
        '\u{85}',
        '\u{9f}', // Cc
        '\u{ad}',
        '\u{200b}',
        '\u{200e}',
        '\u{202e}',
        '\u{2066}',
        '\u{feff}',
        '\u{e0001}',
        '\u{e0041}', // Cf
        '\u{2028}',
        '\u{2029}',
    ] {
        assert!(is_forbidden_in_name(character), "{character:?}");
        let mut escaped = String::new();
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(escaped, "\\u{unit:04x}").unwrap();
        }
        let mut spellings = vec![format!("\"a{escaped}b\"")];
        if character >= ' ' {
            spellings.push(format!("\"a{character}b\""));
        }
        for name in spellings {
            assert_eq!(
                entry_fault(&named(&name)),
                Some(ToolFault::ForbiddenCharacter),
                "{name}"
            );
        }
    }
    for name in [r#""a\ud800b""#, r#""\udc00""#, r#""\ude00\ud83d""#] {
        assert_eq!(
            entry_fault(&named(name)),
            Some(ToolFault::ForbiddenCharacter),
            "{name}"
        );
    }
    assert_eq!(
        entry_fault(&named(r#""\n""#)),
        Some(ToolFault::ForbiddenCharacter)
    );
}

/// S9: what a name may hold: more than the revisions recommend.
#[test]
fn other_characters_in_a_name() {
    for name in [
        "a",
        "A-z_0.9",
        "two words",
        "...",
        ".a",
        "é😀",
        "\u{fffd}",
        "a\\\\b",
        "\\ud83d\\ude00",
        "a:b",
        "~",
    ] {
        assert_eq!(entry_fault(&named(&format!("\"{name}\""))), None, "{name}");
    }
}

/// S9: each fault of an entry.
#[test]
fn each_fault_of_an_entry() {
    let with = |rest: &str| format!(r#"{{"name":"x",{rest}}}"#);
    for (entry, fault) in [
        (String::from("1"), ToolFault::NotAnObject),
        (String::from("null"), ToolFault::NotAnObject),
        (String::from("[]"), ToolFault::NotAnObject),
        (String::from("\"x\""), ToolFault::NotAnObject),
        (format!(r#"{{"inputSchema":{SCHEMA}}}"#), ToolFault::NoName),
        (named("\"\""), ToolFault::NoName),
        (named("null"), ToolFault::NoName),
        (named("7"), ToolFault::NoName),
        (named("[\"x\"]"), ToolFault::NoName),
        (named("\".\""), ToolFault::DotName),
        (named("\"..\""), ToolFault::DotName),
        (named(r#""\u002e\u002e""#), ToolFault::DotName),
        (named("\"first\""), ToolFault::DuplicateName),
        (named(r#""\u0066irst""#), ToolFault::DuplicateName),
        (String::from(r#"{"name":"x"}"#), ToolFault::InputSchema),
        (with(r#""inputSchema":null"#), ToolFault::InputSchema),
        (with(r#""inputSchema":true"#), ToolFault::InputSchema),
        (with(r#""inputSchema":"object""#), ToolFault::InputSchema),
        (
            with(r#""inputSchema":[{"type":"object"}]"#),
            ToolFault::InputSchema,
        ),
        (with(r#""inputSchema":{}"#), ToolFault::InputSchema),
        (
            with(r#""inputSchema":{"type":"array"}"#),
            ToolFault::InputSchema,
        ),
        (
            with(r#""inputSchema":{"type":"Object"}"#),
            ToolFault::InputSchema,
        ),
        (
            with(r#""inputSchema":{"type":["object"]}"#),
            ToolFault::InputSchema,
        ),
        (
            with(r#""inputSchema":{"type":null}"#),
            ToolFault::InputSchema,
        ),
        (
            with(r#""inputSchema":{"properties":{"type":"object"}}"#),
            ToolFault::InputSchema,
        ),
        (
            with(r#""inputSchema":{"type":"object","type":"object"}"#),
            ToolFault::InputSchema,
        ),
        (
            with(r#""inputSchema":{"type":"object"},"outputSchema":1"#),
            ToolFault::OutputSchema,
        ),
        (
            with(r#""inputSchema":{"type":"object"},"outputSchema":null"#),
            ToolFault::OutputSchema,
        ),
        (
            with(r#""inputSchema":{"type":"object"},"outputSchema":[]"#),
            ToolFault::OutputSchema,
        ),
        (
            with(r#""inputSchema":{"type":"object"},"outputSchema":true"#),
            ToolFault::OutputSchema,
        ),
        (
            with(r#""inputSchema":{"type":"object"},"description":1"#),
            ToolFault::Text,
        ),
        (
            with(r#""inputSchema":{"type":"object"},"title":{}"#),
            ToolFault::Text,
        ),
        (
            with(r#""inputSchema":{"type":"object"},"name":"y""#),
            ToolFault::DuplicateKey,
        ),
        (
            with(r#""inputSchema":{"type":"object"},"input\u0053chema":{"type":"object"}"#),
            ToolFault::DuplicateKey,
        ),
    ] {
        assert_eq!(entry_fault(&entry), Some(fault), "{entry}");
    }
    for entry in [
        with(r#""inputSchema":{"properties":{},"type":"object"},"outputSchema":{}"#),
        with(r#""inputSchema":{"type":"\u006fbject"},"outputSchema":{"type":"array"}"#),
        with(r#""inputSchema":{"type":"object"},"annotations":5,"annotations":6,"icons":null"#),
        with(r#""inputSchema":{"type":"object"},"description":"","title":null"#),
    ] {
        assert_eq!(entry_fault(&entry), None, "{entry}");
    }
}

/// S9, O1: a fault names the index and never repeats the name or any other text of the server.
#[test]
fn fault_names_the_index_and_never_the_name() {
    for entry in [
        named("\"MARKER/\""),
        named("\"MARKER\""),
        named(&format!("\"MARKER{}\"", "x".repeat(200))),
        r#"{"name":"MARKER"}"#.to_owned(),
        r#"{"name":"MARKER","inputSchema":{"type":"MARKER"}}"#.to_owned(),
        r#"{"name":"MARKER","inputSchema":{"type":"object"},"outputSchema":"MARKER"}"#.to_owned(),
        r#"{"name":"MARKER","inputSchema":{"type":"object"},"title":["MARKER"]}"#.to_owned(),
        r#"{"MARKER":1,"name":"a","name":"MARKER"}"#.to_owned(),
    ] {
        let fault = list(
            &Limits::default(),
            &[page(&[named("\"ok\""), named("\"MARKER\""), entry.clone()])],
        )
        .unwrap_err();
        assert!(
            matches!(fault, CatalogFault::Tool { index: 2, .. }),
            "{entry}: {fault:?}"
        );
        assert!(fault.to_string().contains("tool 2 "), "{fault}");
        assert!(!format!("{fault} {fault:?}").contains("MARKER"), "{fault}");
    }
}

/// L1 (maxToolNameBytes): at the limit passes, one byte past it does not; bytes of the decoded name count.
#[test]
fn name_at_the_limit_and_one_past_it() {
    let limit = ToolFault::NameTooLong { limit: 128 };
    assert_eq!(
        entry_fault(&named(&format!("\"{}\"", "n".repeat(128)))),
        None
    );
    assert_eq!(
        entry_fault(&named(&format!("\"{}\"", "n".repeat(129)))),
        Some(limit)
    );
    assert_eq!(
        entry_fault(&named(&format!("\"{}\"", "é".repeat(64)))),
        None
    );
    assert_eq!(
        entry_fault(&named(&format!("\"{}x\"", "é".repeat(64)))),
        Some(limit)
    );
    assert_eq!(
        entry_fault(&named(&format!("\"{}\"", r"\u006e".repeat(128)))),
        None
    );
}

/// L1 (maxToolDocumentBytes): description plus the JSON of inputSchema, at the limit and one past it.
#[test]
fn document_at_the_limit_and_one_past_it() {
    let entry = |description: usize, schema: usize| {
        let padding = schema - r#"{"type":"object","x":""}"#.len();
        format!(
            r#"{{"name":"x","title":"not counted","description":"{}","inputSchema":{{"type":"object","x":"{}"}},"outputSchema":{{"not":"counted"}}}}"#,
            "d".repeat(description),
            "s".repeat(padding)
        )
    };
    let fault = Some(ToolFault::DocumentTooLarge { limit: 65_536 });
    for (description, schema) in [(65_000, 536), (0, 65_536), (65_536 - 24, 24)] {
        assert_eq!(entry_fault(&entry(description, schema)), None);
        assert_eq!(entry_fault(&entry(description + 1, schema)), fault);
        assert_eq!(entry_fault(&entry(description, schema + 1)), fault);
    }
}

fn many(from: usize, count: usize) -> Vec<String> {
    (from..from + count)
        .map(|at| named(&format!("\"t{at}\"")))
        .collect()
}

/// L1, L5 (maxTools): counted across pages; past it the list fails, it is never truncated.
#[test]
fn tools_across_pages_at_the_limit_and_one_past_it() {
    let limits = Limits::default();
    let full = [page_to(&many(0, 200), "\"c\""), page(&many(200, 56))];
    assert_eq!(list(&limits, &full).unwrap().tools().len(), 256);
    let over = [page_to(&many(0, 200), "\"c\""), page(&many(200, 57))];
    let fault = CatalogFault::TooManyTools { limit: 256 };
    assert_eq!(list(&limits, &over).unwrap_err(), fault);
    let quarantine = Limits {
        invalid_tools: InvalidTools::Quarantine,
        ..Limits::default()
    };
    assert_eq!(
        list(&quarantine, &over).unwrap_err(),
        fault,
        "totals always fail"
    );
    assert_eq!(
        list(&quarantine, &[page(&vec![String::from("1"); 257])]).unwrap_err(),
        fault,
        "entries that are left out count"
    );
}

/// L1, L5 (maxCatalogPages): as many pages pass, a cursor to one more fails.
#[test]
fn pages_at_the_limit_and_one_past_it() {
    let limits = Limits::default();
    let mut pages: Vec<String> = (0..31)
        .map(|at| page_to(&many(at, 1), &format!("\"c{at}\"")))
        .collect();
    let mut over = pages.clone();
    pages.push(page(&many(31, 1)));
    let catalog = list(&limits, &pages).unwrap();
    assert_eq!((catalog.pages(), catalog.tools().len()), (32, 32));
    assert_eq!(
        catalog.bytes(),
        pages.iter().map(String::len).sum::<usize>()
    );
    over.push(page_to(&many(31, 1), "\"c31\""));
    over.push(page(&[]));
    assert_eq!(
        list(&limits, &over).unwrap_err(),
        CatalogFault::TooManyPages { limit: 32 }
    );
}

/// L5: null and missing end the list; an empty, repeated or odd cursor fails it on the revisions with a handshake.
#[test]
fn cursors() {
    let limits = Limits::default();
    let cursor = |cursor: &str| {
        CatalogBuilder::default()
            .page(&json(&page_to(&[], cursor)), &limits)
            .map(|next| next.map(|next| next.as_str().to_owned()))
    };
    assert_eq!(cursor("null"), Ok(None));
    assert_eq!(
        CatalogBuilder::default().page(&json(&page(&[])), &limits),
        Ok(None)
    );
    assert_eq!(cursor("\"\""), Err(CatalogFault::Cursor));
    for odd in ["0", "1", "false", "true", "{}", "[\"c\"]"] {
        assert_eq!(cursor(odd), Err(CatalogFault::Cursor), "{odd}");
    }
    for text in ["\"c\"", "\" \"", r#""\u0000\"""#, "\"0\""] {
        assert_eq!(
            cursor(text),
            Ok(Some(text.to_owned())),
            "followed exactly as it came"
        );
    }
    for sequence in [
        &["\"a\"", "\"a\""][..],
        &["\"a\"", "\"b\"", "\"a\""],
        &["\"a\"", r#""\u0061""#],
    ] {
        let mut builder = CatalogBuilder::default();
        let (last, before) = sequence.split_last().unwrap();
        for cursor in before {
            assert!(
                builder
                    .page(&json(&page_to(&[], cursor)), &limits)
                    .unwrap()
                    .is_some()
            );
        }
        assert_eq!(
            builder.page(&json(&page_to(&[], last)), &limits),
            Err(CatalogFault::RepeatedCursor),
            "{sequence:?}"
        );
    }
}

#[test]
fn page_needs_a_tools_array() {
    for text in [
        "1",
        "[]",
        "{}",
        r#"{"tools":null}"#,
        r#"{"tools":{}}"#,
        r#"{"tools":"x"}"#,
    ] {
        assert_eq!(
            list(&Limits::default(), &[text.to_owned()]).unwrap_err(),
            CatalogFault::Page,
            "{text}"
        );
    }
    assert!(
        list(&Limits::default(), &[page(&[])])
            .unwrap()
            .tools()
            .is_empty()
    );
}

/// L7: quarantined entries are left out and listed with index and reason, across pages; the others are served.
#[test]
fn quarantine_leaves_out_and_lists() {
    let limits = Limits {
        invalid_tools: InvalidTools::Quarantine,
        ..Limits::default()
    };
    let pages = [
        page_to(
            &[named("\"a\""), String::from("7"), named("\"b\"")],
            "\"c\"",
        ),
        page(&[named("\"a\""), named("\"x/y\""), named("\"d\"")]),
    ];
    let catalog = list(&limits, &pages).unwrap();
    let names: Vec<_> = catalog
        .tools()
        .iter()
        .map(|tool| (tool.index(), tool.name()))
        .collect();
    assert_eq!(names, [(0, "a"), (2, "b"), (5, "d")]);
    assert_eq!(
        catalog.quarantined(),
        [
            Quarantined {
                index: 1,
                name: None,
                fault: ToolFault::NotAnObject
            },
            Quarantined {
                index: 3,
                name: Some("a".to_owned()),
                fault: ToolFault::DuplicateName
            },
            Quarantined {
                index: 4,
                name: None,
                fault: ToolFault::ForbiddenCharacter
            },
        ]
    );
    assert_eq!(
        list(&Limits::default(), &pages[..1])
            .map(|_| ())
            .unwrap_err(),
        CatalogFault::Tool {
            index: 1,
            fault: ToolFault::NotAnObject
        },
        "refused by default"
    );
    let repeated = [page_to(&[], "\"\"")];
    assert_eq!(
        list(&limits, &repeated).unwrap_err(),
        CatalogFault::Cursor,
        "cursors always fail"
    );
}

/// S9, O5: a tool keeps what the server wrote, byte for byte.
#[test]
fn tool_keeps_what_the_server_wrote() {
    let raw = r#"{ "title":"T", "x-own":[1.0], "name":"\u0061 b","description":"d\n","inputSchema":{"type":"object", "n":1.50},"outputSchema":{"y":1E2} }"#;
    let catalog = list(&Limits::default(), &[page(&[raw.to_owned()])]).unwrap();
    let tool = catalog.get("a b").unwrap();
    assert_eq!(tool.raw().as_str(), raw);
    assert_eq!(tool.name_json().as_str(), r#""\u0061 b""#);
    assert_eq!((tool.title(), tool.description()), (Some("T"), Some("d\n")));
    assert_eq!(
        tool.input_schema().as_str(),
        r#"{"type":"object", "n":1.50}"#
    );
    assert_eq!(tool.output_schema().unwrap().as_str(), r#"{"y":1E2}"#);
    assert_eq!(tool.document_bytes(), 2 + 27);
    assert!(catalog.get("a").is_none());
}

proptest! {
    /// S9: whatever passes keeps the rules, whatever they are broken by.
    #[test]
    fn accepted_names_keep_the_rules(name in "\\PC{0,6}|[\\x00-\\x7f]{0,6}|[./a\u{ad}\u{200b}\u{2028}\u{e0041}]{0,3}") {
        let text = serde_json::to_string(&name).unwrap();
        if let Ok(catalog) = list(&Limits::default(), &[page(&[named(&text)])]) {
            let tool = &catalog.tools()[0];
            prop_assert_eq!(tool.name(), &name);
            prop_assert!(!name.is_empty() && name != "." && name != ".." && !name.contains('/'));
            prop_assert!(!name.chars().any(char::is_control));
            let hidden = ['\u{ad}', '\u{200b}', '\u{2028}', '\u{2029}', '\u{e0041}'];
            prop_assert!(!name.contains(hidden));
        }
    }
}

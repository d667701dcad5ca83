use serde_json::json;

use super::tables::Layers;
use super::{Finding, dependencies, folders, imports, licences, rules, sources};
use crate::tree::SourceFile;

fn lines(findings: &[Finding]) -> Vec<(&str, Option<usize>)> {
    findings
        .iter()
        .map(|finding| (finding.path.as_str(), finding.line))
        .collect()
}

#[test]
fn a_finding_names_file_line_and_remedy() {
    let finding = Finding::new("a/b.rs", 7, "a `todo!`", "build it");
    assert_eq!(finding.to_string(), "a/b.rs:7: a `todo!`\n    build it");
    assert_eq!(
        Finding::new("a", None, "what", "how").to_string(),
        "a: what\n    how"
    );
}

#[test]
fn a_file_has_fewer_than_500_lines_unless_it_is_tests() {
    let files = [
        SourceFile::new("a/at.rs", "x\n".repeat(499)),
        SourceFile::new("a/past.rs", "x\n".repeat(500)),
        SourceFile::new("a/tests.rs", "x\n".repeat(900)),
        SourceFile::new("a/tests/it/main.rs", "x\n".repeat(900)),
    ];
    assert_eq!(lines(&sources::check(&files)), [("a/past.rs", None)]);
}

#[test]
fn words_that_do_not_belong_are_found_in_code_only() {
    let text = "// #[allow(x)]\n#[ allow (dead_code)]\nfn f() { todo!(\"later\") }\nconst A: &str = \"todo!\";\n#![allow(x)]";
    let findings = sources::check(&[SourceFile::new("a.rs", text)]);
    assert_eq!(
        lines(&findings),
        [("a.rs", Some(2)), ("a.rs", Some(3)), ("a.rs", Some(5))]
    );
}

#[test]
fn the_pure_crate_names_no_clock_and_no_system() {
    let text = "use std::time::{Duration, Instant};\nfn f() { Instant::now(); }\nuse std::{fs, fmt};\n\
                fn g() -> std::time::SystemTime { g() }\nuse std::io::Read;\nfn h() { std::env::var(\"X\"); }";
    let inside = SourceFile::new("crates/seawall-proto/src/a.rs", text);
    let findings = sources::check(&[inside]);
    let numbers: Vec<_> = findings.iter().filter_map(|finding| finding.line).collect();
    assert_eq!(numbers, [2, 3, 4, 6]);
    assert!(sources::check(&[SourceFile::new("crates/seawall/src/a.rs", text)]).is_empty());
    assert!(
        sources::check(&[SourceFile::new("crates/seawall-proto/src/a/tests.rs", text)]).is_empty()
    );
}

const LAYERS: Layers = Layers {
    folder: "c/src",
    arrows: &[
        ("client", &["config", "transport"]),
        ("config", &[]),
        ("transport", &["config"]),
    ],
};

fn imports(path: &str, text: &str) -> Vec<String> {
    let files = [
        SourceFile::new(
            "c/src/lib.rs",
            "mod client;\npub use client::Client;\npub use crate::config::{Entry};",
        ),
        SourceFile::new(
            "c/src/client/mod.rs",
            "use crate::transport::Pipe; use super::config::Entry;",
        ),
        SourceFile::new("c/src/config/mod.rs", ""),
        SourceFile::new("c/src/transport/mod.rs", ""),
        SourceFile::new(path, text),
    ];
    imports::check_layers(&LAYERS, &files)
        .into_iter()
        .map(|finding| finding.to_string())
        .collect()
}

#[test]
fn an_import_against_the_arrows_is_found_however_it_is_written() {
    for text in [
        "use crate::client::Client;",
        "use crate::{config::Entry, client};",
        "fn f() { crate::client::call(); }",
        "use super::super::client::Client;",
        "use crate::Client;",
    ] {
        let found = imports("c/src/transport/stdio.rs", text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(
            found[0].starts_with("c/src/transport/stdio.rs:1: `transport` may not import `client`"),
            "{}",
            found[0]
        );
    }
}

#[test]
fn an_import_along_the_arrows_is_fine() {
    for text in [
        "use crate::config::Entry; use crate::Entry;",
        "use super::Pipe; use super::super::config::Entry;",
        "use tokio::client::Client; use self::x::Y;",
        "use crate::limits::Limits;",
    ] {
        assert_eq!(imports("c/src/transport/stdio.rs", text), [""; 0], "{text}");
    }
    assert_eq!(
        imports("c/src/transport/tests.rs", "use crate::client::Client;"),
        [""; 0]
    );
}

#[test]
fn a_module_without_a_row_is_found() {
    let found = imports("c/src/new.rs", "");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains("no row of allowed imports for `new`"),
        "{}",
        found[0]
    );
}

#[test]
fn the_arrows_go_one_way() {
    for layers in super::tables::LAYERS {
        let mut left = layers.arrows.to_vec();
        while let Some(at) = left
            .iter()
            .position(|(_, to)| to.iter().all(|to| left.iter().all(|(name, _)| name != to)))
        {
            left.remove(at);
        }
        assert!(left.is_empty(), "a circle in {left:?}");
    }
}

#[test]
fn folders_are_held_to_the_table() {
    let page = "| other |\n| --- |\n| `x` |\n\n| folder | what |\n| --- | --- |\n| `a/src` | it |\n| `fuzz/` | all |\n\ntext `b`";
    let rows = folders::rows(page);
    assert_eq!(
        rows.iter()
            .map(|row| (row.folder, row.line))
            .collect::<Vec<_>>(),
        [("a/src", 7), ("fuzz/", 8)]
    );
    let files = [
        "a/src/lib.rs",
        "a/src/deep/mod.rs",
        "a/tests/it/main.rs",
        "a/line/tests.rs",
        "fuzz/targets/x.rs",
        "fuzzy/x.rs",
    ];
    let findings = folders::unnamed(&rows, &files.map(|path| SourceFile::new(path, "")));
    assert_eq!(lines(&findings), [("a/src/deep", None), ("fuzzy", None)]);
}

#[test]
fn a_row_without_its_folder_is_found() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("ARCHITECTURE.md"),
        "| folder |\n| --- |\n| `gone/` |\n| `here` |\n",
    )
    .unwrap();
    std::fs::create_dir(folder.path().join("here")).unwrap();
    assert_eq!(
        lines(&folders::check(folder.path(), &[])),
        [("ARCHITECTURE.md", Some(3))]
    );
}

#[test]
fn a_rule_is_named_by_the_doc_comment_of_a_test() {
    let text = "/// K1, and L2: a fact.\n#[test]\nfn a() {}\n\n/// S5\n#[tokio::test(start_paused = true)]\nasync fn b() {}\n\
                /// O1 of no test\nfn c() {}\n// T1\n#[test]\nfn d() { let x = \"F1\"; }\n    /// R1\n\n    #[test]\n    fn e() {}";
    let named = rules::named(text);
    for rule in ["K1", "L2", "S5", "R1"] {
        assert!(named.contains(&rule), "{rule}");
    }
    for rule in ["O1", "T1", "F1"] {
        assert!(!named.contains(&rule), "{rule}");
    }
}

#[test]
fn rules_without_a_test_are_each_reported() {
    let finding = rules::check(&[SourceFile::new(
        "a.rs",
        "/// K1
#[test]
fn a() {}",
    )])
    .unwrap();
    assert!(
        finding
            .what
            .starts_with("no test's doc comment names K2, K3, "),
        "{finding}"
    );
    let all = super::tables::RULES.join(" ");
    assert_eq!(
        rules::check(&[SourceFile::new(
            "a.rs",
            format!(
                "/// {all}
#[test]
fn a() {{}}"
            )
        )]),
        None
    );
}

#[test]
fn the_pure_crate_is_built_from_its_list_only() {
    let node = |id: &str, deps: &[(&str, Option<&str>)]| {
        let deps: Vec<_> = deps
            .iter()
            .map(|(pkg, kind)| json!({ "pkg": pkg, "dep_kinds": [{ "kind": kind }] }))
            .collect();
        json!({ "id": id, "deps": deps })
    };
    let package = |id: &str, name: &str| json!({ "id": id, "name": name });
    let metadata = json!({
        "packages": [package("p", "seawall-proto"), package("b", "bytes"), package("t", "tokio"), package("q", "proptest")],
        "resolve": { "nodes": [
            node("p", &[("b", None), ("q", Some("dev"))]), node("b", &[("t", None)]), node("t", &[]), node("q", &[("t", None)]),
        ] },
    });
    let findings = dependencies::purity(&metadata);
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0]
            .what
            .contains("`tokio` (seawall-proto → bytes → tokio)"),
        "{}",
        findings[0]
    );
}

#[test]
fn a_published_crate_needs_the_test_crate_in_tests_only() {
    let package = |name: &str, publish: serde_json::Value, kind: Option<&str>| {
        let dependencies = json!([{ "name": "seawall-testkit", "kind": kind }]);
        json!({ "name": name, "source": null, "publish": publish, "dependencies": dependencies })
    };
    let metadata = json!({ "packages": [
        package("bad", json!(null), None),
        package("good", json!(null), Some("dev")),
        package("unpublished", json!([]), None),
    ] });
    assert_eq!(
        lines(&dependencies::testkit(&metadata)),
        [("crates/bad/Cargo.toml", None)]
    );
}

#[test]
fn licences_are_read_from_the_page() {
    let page = "[graph]\nallow = [\"No\"]\n[licenses]\n# why\nallow = [\n    \"MIT\", # the usual\n    \"ISC\",\n]\n[bans]\nallow = [\"x\"]\n";
    assert_eq!(licences::allowed(page), ["MIT", "ISC"]);
}

#[test]
fn a_licence_expression_is_met_or_not() {
    let allowed = ["MIT".to_owned(), "ISC".to_owned(), "A WITH E".to_owned()];
    for fine in [
        "MIT",
        "MIT OR GPL-3.0",
        "GPL-3.0/MIT",
        "(GPL-3.0 OR MIT) AND ISC",
        "A WITH E",
        "X AND Y OR MIT",
    ] {
        assert!(licences::fits(fine, &allowed), "{fine}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "A",
        "MIT OR",
        "(MIT",
        "MIT)",
        "A WITH F",
        "(",
        "WITH",
        "MIT WITH",
    ] {
        assert!(!licences::fits(bad, &allowed), "{bad}");
    }
}

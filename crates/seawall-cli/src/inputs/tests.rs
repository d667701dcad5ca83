//! What a run supplies, and a console that is played.

use std::collections::VecDeque;

use seawall::mcp::InputMethod;
use serde_json::{Value, json};

use super::console::Console;
use super::{Inputs, folders};
use crate::asker::Asker;
use crate::printer::Colour;

/// Lines that are there already, and all that was shown.
#[derive(Default)]
pub(super) struct Played {
    pub(super) lines: VecDeque<String>,
    pub(super) shown: String,
}

impl Played {
    pub(super) fn of(lines: &[&str]) -> Self {
        Self {
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            shown: String::new(),
        }
    }
}

impl Console for Played {
    fn show(&mut self, text: &str) {
        self.shown.push_str(text);
    }

    async fn line(&mut self) -> Option<String> {
        let line = self.lines.pop_front()?;
        // As a terminal echoes it.
        self.shown.push_str(&format!("{line}\n"));
        Some(line)
    }

    fn width(&self) -> usize {
        60
    }

    fn colour(&self) -> Colour {
        Colour::Plain
    }
}

/// S2: nobody at a terminal and no folder: nothing is declared; folders alone: roots alone.
#[tokio::test]
async fn what_is_there_is_declared() {
    let none = Inputs {
        roots: Vec::new(),
        asker: Asker::Nobody,
    };
    assert_eq!(none.of_a_look().capabilities().to_json(), "{}");

    let folder = tempfile::tempdir().unwrap();
    let named = folder.path().join("a b");
    std::fs::create_dir(&named).unwrap();
    let paths = [named.clone(), named.join("..").join("a b")];
    let roots = folders::resolve(&paths).unwrap();
    let some = Inputs {
        roots,
        asker: Asker::Terminal,
    };
    let suppliers = some.of_a_look();
    assert_eq!(suppliers.capabilities().to_json(), r#"{"roots":{}}"#);
    let answer = suppliers.supply("s", InputMethod::ListRoots, None).await;
    let answer: Value = answer.unwrap().parse().unwrap();
    let uri = answer["roots"][0]["uri"].as_str().unwrap();
    assert!(
        uri.starts_with("file:///") && uri.ends_with("/a%20b"),
        "{uri}"
    );
    assert_eq!(answer, json!({"roots": [{"uri": uri, "name": "a b"}]}));
}

#[test]
fn a_root_is_a_folder() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let below = file.path().join("folder");
    for path in [file.path().to_owned(), below] {
        let refused = folders::resolve(&[path]).unwrap_err().to_string();
        assert!(refused.starts_with("--root: "), "{refused}");
    }
}

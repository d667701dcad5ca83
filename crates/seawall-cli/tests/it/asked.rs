//! `${input:ID}`, asked at a terminal before anything is started.

use std::process::Command;
use std::time::Duration;

use seawall_testkit::{Script, wait_until};
use serde_json::json;

use crate::support::{Config, run};
use crate::terminal::{Terminal, finish};

/// A server whose environment is asked for.
fn asking(input: &serde_json::Value) -> Config {
    let mut entry = Script::plain().server().entry();
    entry["env"] = json!({"WORD": "${input:word}"});
    Config::text(&json!({"inputs": [input], "mcpServers": {"s": entry}}).to_string())
}

fn hidden() -> Config {
    asking(&json!({"id": "word", "description": "the word", "password": true}))
}

#[track_caller]
fn wait_until_hidden(terminal: &Terminal) {
    terminal.wait_for("the word: ");
    assert!(wait_until(Duration::from_secs(20), || !terminal.is_sane()));
}

/// K1: what is typed in answer to a hidden question is not shown, and is the value.
#[test]
fn a_hidden_answer_is_not_shown() {
    let config = hidden();
    let mut terminal = Terminal::open();
    for args in [&["check"][..], &["tools", "--json"]] {
        let child = terminal.run(&config, args, None);
        wait_until_hidden(&terminal);
        terminal.answer("the word: ", "s3same");
        finish(child).exits(0);
        assert!(terminal.is_sane());
        assert!(
            !terminal.screen().contains("s3same"),
            "{}",
            terminal.screen()
        );
    }
}

/// K1: a signal at a question ends the program with a word and a status, and the terminal is as it was before.
#[test]
fn a_signal_at_a_hidden_question_leaves_the_terminal_as_it_was() {
    let config = hidden();
    for signal in ["INT", "TERM"] {
        for args in [
            &["check", "--json"][..],
            &["call", "mcp/s/t", "--json"],
            &["run", "--json"],
        ] {
            let terminal = Terminal::open();
            let child = terminal.run(&config, args, None);
            wait_until_hidden(&terminal);
            let pid = child.id().to_string();
            let sent = Command::new("kill").args(["-s", signal, &pid]).status();
            assert!(sent.expect("kill runs").success());
            let ran = finish(child).exits(3);
            assert!(terminal.is_sane(), "{signal} {args:?}");
            let json = ran.json();
            assert_eq!(json["error"]["outcome"], "not_sent", "{json}");
            let message = json["error"]["message"].as_str().unwrap_or_default();
            assert!(message.starts_with("interrupted"), "{json}");
        }
    }
}

/// K1: the end of the input is no answer, so the input is needed; an empty line is one, or the default.
#[test]
fn the_end_of_the_input_is_no_answer() {
    let visible = json!({"id": "word", "description": "the word", "default": "plain"});
    for config in [hidden(), asking(&visible)] {
        let mut terminal = Terminal::open();
        let child = terminal.run(&config, &["check"], None);
        terminal.wait_for("the word");
        terminal.press("\u{4}");
        finish(child).exits(2);
        terminal.wait_for("needs the input");
        assert!(terminal.is_sane());
        let mut terminal = Terminal::open();
        let child = terminal.run(&config, &["check"], None);
        terminal.answer("the word", "");
        finish(child).exits(0);
    }
}

/// K1: where nobody can be asked, the input is needed.
#[test]
fn nobody_is_asked_without_a_terminal() {
    let path = hidden();
    let ran = run(&["check", "--mcp-config", &path.path()]).exits(2);
    assert!(ran.stderr.contains("needs the input"), "{ran:?}");
}

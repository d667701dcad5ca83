//! What the binary says of itself.

use crate::support::run;

#[test]
fn help_teaches() {
    let help = run(&["--help"]);
    assert_eq!(help.status, Some(0));
    insta::assert_snapshot!(help.stdout);
}

#[test]
fn help_of_call_teaches() {
    let help = run(&["call", "--help"]);
    assert_eq!(help.status, Some(0));
    insta::assert_snapshot!(help.stdout);
}

#[test]
fn usage_error_is_status_2_and_json_if_asked() {
    let plain = run(&["cal"]);
    assert_eq!(plain.status, Some(2));
    assert_eq!(plain.stdout, "");
    assert!(plain.stderr.contains("call"), "{}", plain.stderr);
    let json = run(&["tools", "--json", "--nope"]);
    assert_eq!(json.status, Some(2));
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("stdout is JSON");
    assert_eq!(value["error"]["code"], "configuration");
    assert_eq!(value["error"]["outcome"], "not_sent");
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completions", shell]);
        assert_eq!(script.status, Some(0));
        assert!(script.stdout.contains("demo-server"), "{shell}");
        assert_eq!(script.stderr, "");
    }
}

//! `seawall prompts` and `seawall prompt`.

use seawall_testkit::{Script, Serve};

use crate::support::Config;

const RESULT: &str = r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"Review\u001b it"}},{"role":"assistant","content":{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}}],"x":1.0e1}"#;

fn prompter() -> Config {
    let script = Script::new().serve(
        Serve::new()
            .capabilities(r#"{"prompts":{}}"#)
            .answers(
                "prompts/list",
                r#"{"prompts":[{"name":"review","description":"Reviews.","arguments":[{"name":"number","required":true},{"name":"style"}]},{"name":"a/b"}]}"#,
            )
            .answers("prompts/get", RESULT),
    );
    Config::scripted(&script)
}

#[test]
fn prompts_are_listed_for_people() {
    let ran = prompter().run(&["prompts"]).exits(0);
    assert_eq!(ran.stderr, "");
    insta::assert_snapshot!(ran.stdout);
    let json = prompter().run(&["prompts", "--json"]).exits(0).json();
    assert_eq!(json[0]["arguments"][0]["required"], true);
    assert_eq!(json[0]["server"], "s");
}

/// BEHAVIOUR O5: with `--json` a prompt is the server's own bytes; to people nothing in it is hidden.
#[test]
fn prompt_is_shown_message_by_message() {
    let config = prompter();
    let ran = config.run(&["prompt", "s/review", "number=7"]).exits(0);
    insta::assert_snapshot!(ran.stdout, @r"
    [user]
    Review\u{1b} it
    [assistant]
    [image image/png, 5 bytes; --json has it]
    ");
    let json = config
        .run(&[
            "prompt",
            "review",
            "number=7",
            "style=a=b",
            "--server",
            "s",
            "--json",
        ])
        .exits(0);
    assert_eq!(json.stdout, format!("{RESULT}\n"));
    // The only server need not be named, and a name may hold a slash.
    config.run(&["prompt", "a/b", "anything=goes"]).exits(0);
}

/// Arguments that are null are no list, and not an empty one: any go.
#[test]
fn null_is_no_list_of_arguments() {
    let list = r#"{"prompts":[{"name":"p","arguments":null},{"name":"none","arguments":[]}]}"#;
    let script = Script::new().serve(
        Serve::new()
            .capabilities(r#"{"prompts":{}}"#)
            .answers("prompts/list", list)
            .answers("prompts/get", RESULT),
    );
    let config = Config::scripted(&script);
    config.run(&["prompt", "p", "anything=goes"]).exits(0);
    config.run(&["prompt", "none", "anything=goes"]).exits(2);
}

#[test]
fn what_cannot_be_meant_is_status_2() {
    let config = prompter();
    for (args, words) in [
        (&["prompt", "s/reviw"][..], "did you mean `review`?"),
        (&["prompt", "s/review"], "the prompt needs `number`"),
        (
            &["prompt", "s/review", "numer=7"],
            "no argument `numer`; did you mean `number`?",
        ),
        (
            &["prompt", "s/review", "number=7", "number=8"],
            "`number` is given twice",
        ),
        (&["prompt", "s/review", "number"], "is not key=value"),
        (
            &["prompt", "review", "--server", "t"],
            "there is no server `t`",
        ),
    ] {
        let ran = config.run(args).exits(2);
        assert!(ran.stderr.contains(words), "{words}: {ran:?}");
        assert_eq!(ran.stdout, "");
        // O1: the server's own names are for people.
        let error = config.run(&[args, &["--json"]].concat()).exits(2).json();
        let message = error["error"]["message"].as_str().expect("a message");
        let of_the_list = ["did you mean `review`", "did you mean `number`", "needs `"];
        assert!(
            !of_the_list.iter().any(|it| message.contains(it)),
            "{message}"
        );
    }
    let two = Config::of(&[
        ("a", Script::plain().server().entry()),
        ("b", Script::plain().server().entry()),
    ]);
    let ran = two.run(&["prompt", "review"]).exits(2);
    assert!(ran.stderr.contains("SERVER/NAME"), "{ran:?}");
    let ran = two.run(&["prompt", "c/review"]).exits(2);
    assert!(ran.stderr.contains("there is no server `c`"), "{ran:?}");
    let ran = two.run(&["prompt", "a/review", "--json"]).exits(3);
    assert_eq!(ran.json()["error"]["outcome"], "not_sent");
    assert_eq!(
        ran.json()["error"]["message"],
        "it offers no prompts; nothing was asked of it"
    );
}

/// BEHAVIOUR O2: a prompt that is refused is told as any refusal.
#[test]
fn refusal_is_status_4() {
    let script = Script::new().serve(
        Serve::new()
            .capabilities(r#"{"prompts":{}}"#)
            .answers("prompts/list", r#"{"prompts":[{"name":"p"}]}"#),
    );
    let config = Config::scripted(&script);
    let ran = config.run(&["prompt", "s/p", "--json"]).exits(4);
    assert_eq!(ran.json()["error"]["jsonRpcCode"], -32601);
    let odd = Script::new().serve(
        Serve::new()
            .capabilities(r#"{"prompts":{}}"#)
            .answers("prompts/list", r#"{"prompts":[{"name":"p"}]}"#)
            .answers("prompts/get", "{}"),
    );
    let ran = Config::scripted(&odd).run(&["prompt", "s/p"]).exits(5);
    assert!(ran.stderr.contains("holds no messages"), "{ran:?}");
}

use super::*;

const ALL: &str = r#"[{"match":{},"input":true}]"#;

fn everything() -> Narrowing {
    Narrowing::default()
}

/// RFC-007, section 3: the members of each phase; vector 27: none of them is for a result.
#[test]
fn phases_have_their_members() {
    let mut observer = observer(everything(), classes(&["shell"]), ALL);
    let call = shell(r#"{"a":1}"#);
    let id = call.id.as_str();
    let head = format!(
        r#"{{"toolCallId":"{id}","inferenceId":"inf_1","conversationId":"conv_1","tool":"x--run","class":["shell"],"serverId":"x","serverTool":"run""#
    );
    let granted = Granted::ObserveAndInputs;
    let text = |told: Option<Json>| told.expect("told").as_str().to_owned();
    assert_eq!(
        text(observer.pending(&call, granted)),
        format!(r#"{head},"phase":"pending"}}"#)
    );
    assert_eq!(
        text(observer.started(&call, granted)),
        format!(r#"{head},"phase":"started","input":{{"a":1}}}}"#)
    );
    assert_eq!(
        text(observer.ended(&call, CallEnd::CompletedWithError, ran(), granted)),
        format!(r#"{head},"phase":"completed","isError":true,"durationMs":380}}"#)
    );
    let own = own(&[]);
    let started = text(observer.started(&own, granted));
    assert!(
        started.contains(r#""tool":"say","class":[],"phase":"started""#),
        "{started}"
    );
    let failed = text(observer.ended(&own, CallEnd::Failed, None, granted));
    assert!(failed.ends_with(r#""phase":"failed"}"#), "{failed}");
}

/// RFC-007, section 5.1 and vectors 1, 2, 38: without a filter there are no arguments, and no word of any.
#[test]
fn without_a_filter_no_argument_is_told() {
    let mut observer = observer(everything(), classes(&["shell"]), "");
    assert_eq!(started(&mut observer, &shell(r#"{"a":1}"#)), metadata());
    set(&mut observer, ALL);
    assert_eq!(
        started(&mut observer, &shell(r#"{"a":1}"#)),
        input(r#"{"a":1}"#)
    );
    set(&mut observer, "null");
    assert_eq!(started(&mut observer, &shell(r#"{"a":1}"#)), metadata());
}

/// RFC-007, section 4.3 and vectors 4, 5, 9, 35: arguments outside the narrowing are withheld, and without a narrowing all are.
#[test]
fn arguments_outside_the_narrowing_are_withheld() {
    let cases = [
        (tools(&["y--*"]), withheld()),
        (tools(&["y--*", "x--*"]), input(r#"{"a":1}"#)),
        (tools(&[]), withheld()),
        (classes(&["computer"]), withheld()),
        (classes(&["computer", "shell"]), input(r#"{"a":1}"#)),
        (classes(&DEFAULT_TOOL_CLASSES), input(r#"{"a":1}"#)),
        (classes(&["quantum"]), withheld()),
        (everything(), withheld()),
    ];
    for (narrowing, expected) in cases {
        let mut observer = observer(everything(), narrowing.clone(), ALL);
        assert_eq!(
            started(&mut observer, &shell(r#"{"a":1}"#)),
            expected,
            "{narrowing:?}"
        );
    }
    let mut conversations = everything();
    conversations.conversations = words(&["*"]);
    let mut observer = observer(everything(), conversations, ALL);
    assert_eq!(
        started(&mut observer, &shell("{}")),
        withheld(),
        "no tools and no classes are named"
    );
}

/// RFC-007, vectors 36 and 37: who may not have arguments, or did not ask, is told nothing of them.
#[test]
fn nothing_is_withheld_from_who_may_not_have_it() {
    let mut observer = observer(everything(), classes(&["shell"]), ALL);
    let told = observer
        .started(&shell(r#"{"a":1}"#), Granted::Observe)
        .expect("told");
    assert!(told.member("input").is_none() && told.member("inputWithheld").is_none());
    set(&mut observer, r#"[{"match":{}}]"#);
    assert_eq!(started(&mut observer, &shell(r#"{"a":1}"#)), metadata());
}

/// RFC-007, section 4.3 and vectors 12, 13, 14: tools that deal with other people, and unclassed ones, tell no arguments
/// whatever the narrowing says.
#[test]
fn comms_and_unclassed_tools_tell_no_arguments() {
    let mut observer = observer(everything(), tools(&["*"]), ALL);
    for classes in [
        &[ToolClass::Comms][..],
        &[ToolClass::Files, ToolClass::Comms],
        &[],
    ] {
        let call = call("send", classes, r#"{"to":"alice"}"#);
        assert_eq!(started(&mut observer, &call), withheld(), "{classes:?}");
    }
    let notes = call("write", &[ToolClass::Notes], "{}");
    assert_eq!(started(&mut observer, &notes), input("{}"));
}

/// RFC-007, vectors 6, 7, 10, 15, 43: who may not know of a call is told nothing at all, and of its own calls neither.
#[test]
fn a_call_outside_the_grant_is_not_told() {
    let mut narrowed = observer(tools(&["y--*"]), everything(), "");
    assert_eq!(started(&mut narrowed, &shell("{}")), None);
    let mut conversation = everything();
    conversation.conversations = words(&["conv_2"]);
    let mut narrowed = observer(conversation, everything(), "");
    assert_eq!(started(&mut narrowed, &shell("{}")), None);
    let mut other = shell("{}");
    other.conversation_id = "conv_2".to_owned();
    assert_eq!(started(&mut narrowed, &other), metadata());
    let mut open = observer(everything(), everything(), "");
    let call = shell("{}");
    assert!(open.pending(&call, Granted::Nothing).is_none());
    assert!(open.started(&call, Granted::Nothing).is_none());
    let mut own = Observer::new("x", Narrowings::of(&policy_of_everything()));
    assert!(own.started(&call, Granted::Observe).is_none());
    let mut closed = Observer::new("s", Narrowings::of(&ToolLifecycle::default()));
    assert!(
        closed.started(&call, Granted::Observe).is_none(),
        "nothing is the default"
    );
}

fn policy_of_everything() -> ToolLifecycle {
    ToolLifecycle {
        observe: Some(everything()),
        ..ToolLifecycle::default()
    }
}

/// RFC-007, section 6.1 and vectors 28 to 32, 39, 41, 42: the first rule that matches decides; what none matches is not told.
#[test]
fn the_first_matching_rule_decides() {
    let told = |rules: &str, call: &ToolCall| {
        let mut observer = observer(everything(), classes(&["shell", "web"]), rules);
        started(&mut observer, call)
    };
    let (run, web) = (
        shell(r#"{"a":1,"b":2}"#),
        call("go", &[ToolClass::Web], "{}"),
    );
    assert_eq!(told(r#"[{"match":{"tool":"y--*"}}]"#, &run), None);
    assert_eq!(told(r#"[{"match":{"tool":"x--*"}}]"#, &run), metadata());
    assert_eq!(told(r#"[{"match":{"class":"shell"}}]"#, &web), None);
    assert_eq!(
        told(r#"[{"match":{"conversationId":"conv_2"}}]"#, &run),
        None
    );
    assert_eq!(
        told(r#"[{"match":{"serverId":"x","serverTool":"r*n"}}]"#, &run),
        metadata()
    );
    assert_eq!(
        told(
            r#"[{"match":{"class":"shell"},"report":false},{"match":{}}]"#,
            &run
        ),
        None
    );
    assert_eq!(
        told(
            r#"[{"match":{"class":"shell"},"report":false,"input":true},{"match":{}}]"#,
            &web
        ),
        metadata()
    );
    let first = r#"[{"match":{"tool":"x--r*"},"input":["a"]},{"match":{},"input":true}]"#;
    assert_eq!(told(first, &run), input(r#"{"a":1}"#));
    assert_eq!(told(first, &web), input("{}"));
    assert_eq!(told("[]", &run), None);
    let (own_tool, unclassed) = (own(&[ToolClass::Body]), own(&[]));
    assert_eq!(told(r#"[{"match":{"serverTool":"*"}}]"#, &own_tool), None);
    assert_eq!(
        told(r#"[{"match":{"class":"body"}}]"#, &own_tool),
        metadata()
    );
    assert_eq!(told(r#"[{"match":{"class":"body"}}]"#, &unclassed), None);
}

/// RFC-007, section 6.3 and vectors 33, 34: fields keep their place; what is not there selects nothing.
#[test]
fn fields_keep_their_place() {
    let select = |paths: &str, arguments: &str| {
        let rules = format!(r#"[{{"match":{{}},"input":{paths}}}]"#);
        let mut observer = observer(everything(), classes(&["shell"]), &rules);
        started(&mut observer, &shell(arguments))
    };
    let nested =
        r#"{"target":{"window_id":3,"kind":"w"},"x":1.50,"list":[1,{"x":2}],"target.y":9}"#;
    assert_eq!(
        select(r#"["target.window_id"]"#, nested),
        input(r#"{"target":{"window_id":3}}"#)
    );
    assert_eq!(
        select(r#"["x","target.kind","target.window_id"]"#, nested),
        input(r#"{"target":{"window_id":3,"kind":"w"},"x":1.50}"#)
    );
    assert_eq!(
        select(r#"["target.kind","target","list"]"#, nested),
        input(r#"{"target":{"window_id":3,"kind":"w"},"list":[1,{"x":2}]}"#)
    );
    for nothing in [
        r#"["z"]"#,
        r#"["x.y"]"#,
        r#"["list.0"]"#,
        r#"["target.y"]"#,
        r#"["target.window_id.z"]"#,
        "[]",
    ] {
        assert_eq!(select(nothing, nested), input("{}"), "{nothing}");
    }
    assert_eq!(select(r#"["a"]"#, "null"), input("{}"));
}

/// RFC-007, section 5.2 and vector 25: what is told of arguments is an object within the bound, and says that it was cut.
#[test]
fn arguments_are_cut_to_the_bound() {
    let mut policy = policy_of_everything();
    policy.inputs = Some(classes(&["shell"]));
    let bounded = |max_bytes: u64, arguments: &str| {
        let mut policy = policy.clone();
        policy.max_input_bytes = max_bytes;
        let mut observer = Observer::new("s", Narrowings::of(&policy));
        set(&mut observer, ALL);
        started(&mut observer, &shell(arguments))
    };
    let altered = |text: &str| Some([Some(text.to_owned()), Some("true".to_owned()), None]);
    let arguments = r#"{"code":"abcdef","n":[1,2],"m":3}"#;
    assert_eq!(bounded(33, arguments), input(arguments));
    assert_eq!(
        bounded(32, arguments),
        altered(r#"{"code":"abcdef","n":[1,2]}"#)
    );
    assert_eq!(
        bounded(23, arguments),
        altered(r#"{"code":"abcdef","m":3}"#)
    );
    assert_eq!(bounded(13, arguments), altered(r#"{"code":"ab"}"#));
    assert_eq!(
        bounded(11, arguments),
        altered(r#"{"n":[1,2]}"#),
        "an empty text says nothing"
    );
    assert_eq!(bounded(7, arguments), altered(r#"{"m":3}"#));
    assert_eq!(bounded(2, arguments), altered("{}"));
    assert_eq!(bounded(1, arguments), withheld());
    assert_eq!(
        bounded(13, r#"{"code":"\n\n\u0001x"}"#),
        altered(r#"{"code":"\n"}"#)
    );
    assert_eq!(bounded(13, r#"{"code":"aéé"}"#), altered(r#"{"code":"a"}"#));
    let large = format!(r#"{{"code":"{}"}}"#, "x".repeat(200 * 1024));
    let [told, was_altered, _] = bounded(16 * 1024, &large).expect("told");
    assert_eq!(
        (told.map(|told| told.len()), was_altered.as_deref()),
        (Some(16 * 1024), Some("true"))
    );
}

/// RFC-007, sections 6.5 and 7.3 and vectors 21, 23, 24, 40: one end for each call that was told of, whatever the filter says
/// by then, and none for others.
#[test]
fn one_end_for_each_beginning() {
    let mut observer = observer(everything(), everything(), "");
    let (call, granted) = (shell("{}"), Granted::Observe);
    assert!(
        observer
            .ended(&call, CallEnd::Completed, ran(), granted)
            .is_none()
    );
    assert!(observer.started(&call, granted).is_some());
    set(&mut observer, "[]");
    assert!(
        observer
            .ended(&call, CallEnd::Aborted, ran(), granted)
            .is_some()
    );
    assert!(
        observer
            .ended(&call, CallEnd::Completed, ran(), granted)
            .is_none()
    );
    assert!(observer.started(&shell("{}"), granted).is_none());
    set(&mut observer, "null");
    let refused = shell("{}");
    assert!(observer.pending(&refused, granted).is_some());
    let aborted = observer
        .ended(&refused, CallEnd::Aborted, None, granted)
        .expect("told");
    assert!(aborted.member("durationMs").is_none());
}

/// RFC-007, section 4.5 and vectors 46, 47, 48: what is taken away is taken away under way too, and the filter with it.
#[test]
fn nothing_is_told_after_a_revocation() {
    let mut observer = observer(everything(), classes(&["shell"]), ALL);
    let (one, two, three) = (shell("{}"), shell("{}"), shell("{}"));
    for call in [&one, &two, &three] {
        assert!(observer.started(call, Granted::ObserveAndInputs).is_some());
    }
    assert!(
        observer
            .ended(&one, CallEnd::Completed, ran(), Granted::Observe)
            .is_some()
    );
    assert!(
        observer
            .ended(&two, CallEnd::Completed, ran(), Granted::Nothing)
            .is_none()
    );
    observer.revoke();
    assert!(
        observer
            .ended(&three, CallEnd::Completed, ran(), Granted::Observe)
            .is_none()
    );
    assert!(observer.filter().is_none());
    assert_eq!(started(&mut observer, &shell(r#"{"a":1}"#)), metadata());
}

/// RFC-007, section 6.6 and vectors 44, 54: a filter that is refused leaves the one before in force.
#[test]
fn a_refused_filter_changes_nothing() {
    let mut observer = observer(everything(), everything(), "[]");
    assert!(observer.observe(Some(&json(r#"{"ruless":[]}"#))).is_err());
    assert!(observer.observe(Some(&json("null"))).is_err());
    assert_eq!(started(&mut observer, &shell("{}")), None);
    let cleared = observer.observe(None).expect("cleared");
    assert_eq!(cleared.as_str(), "{}");
    assert_eq!(started(&mut observer, &shell("{}")), metadata());
}

/// RFC-007, section 3 and vector 18: no two calls share an id; section 7.4: of too many calls under way no more are told.
#[test]
fn calls_under_way_are_bounded() {
    let mut observer = observer(everything(), everything(), "");
    let calls: Vec<ToolCall> = (0..MAX_OPEN_CALLS).map(|_| shell("{}")).collect();
    for call in &calls {
        assert!(observer.started(call, Granted::Observe).is_some());
    }
    let more = shell("{}");
    assert!(observer.started(&more, Granted::Observe).is_none());
    assert!(
        observer
            .ended(&more, CallEnd::Completed, ran(), Granted::Observe)
            .is_none()
    );
    let first = calls.first().expect("a call");
    assert!(
        observer
            .ended(first, CallEnd::Completed, ran(), Granted::Observe)
            .is_some()
    );
    assert!(observer.started(&more, Granted::Observe).is_some());
}

/// RFC-007, section 4.3: a permission that can tell no argument is worth a diagnostic.
#[test]
fn an_open_permission_for_arguments_admits_none() {
    let admits = |inputs: Option<Narrowing>| {
        let mut policy = policy_of_everything();
        policy.inputs = inputs;
        Narrowings::of(&policy).admits_some_input()
    };
    assert!(!admits(None));
    assert!(!admits(Some(everything())));
    assert!(admits(Some(tools(&["x--*"]))));
}

use super::*;

fn declared(meta: &str) -> (Vec<ToolClass>, Vec<ClassRemark>) {
    let entry = json(&format!(r#"{{"name":"run","_meta":{meta}}}"#));
    let declared = Classes::declared(&entry);
    (declared.classes.iter().collect(), declared.remarks)
}

/// RFC-008, vectors 1 to 5, 10 and 11: what is declared, what is ignored, and what is worth a diagnostic.
#[test]
fn classes_are_read_from_the_entry() {
    use ToolClass::{Comms, Files, Shell};
    assert_eq!(
        declared(r#"{"mcpl/class":["shell"]}"#),
        (vec![Shell], vec![])
    );
    assert_eq!(
        declared(r#"{"mcpl/class":["files","comms","files"]}"#),
        (vec![Comms, Files], vec![])
    );
    let unknown = vec![ClassRemark::UnknownClass];
    assert_eq!(
        declared(r#"{"mcpl/class":["quantum",3]}"#),
        (vec![], unknown.clone())
    );
    assert_eq!(
        declared(r#"{"mcpl/class":["shell","quantum"]}"#),
        (vec![Shell], unknown)
    );
    assert_eq!(
        declared(r#"{"mcpl/class":"shell"}"#),
        (vec![], vec![ClassRemark::NotAList])
    );
    assert_eq!(
        declared(r#"{"mcpl/priority":"high","mcpl/x":1,"mcp/class":1,"mcpl/class":["shell"]}"#),
        (vec![Shell], vec![ClassRemark::UnknownMember])
    );
    for nothing in ["{}", "null", "[]", r#"{"mcpl/class":[]}"#] {
        assert_eq!(declared(nothing), (vec![], vec![]), "{nothing}");
    }
    assert!(
        Classes::declared(&json(r#"{"name":"go"}"#))
            .classes
            .is_empty()
    );
}

/// RFC-008, vectors 6 and 7: the first source that names a class wins whole.
#[test]
fn the_first_source_wins_whole() {
    let one = |class: ToolClass| [class].into_iter().collect::<Classes>();
    let (body, comms, shell) = (
        one(ToolClass::Body),
        one(ToolClass::Comms),
        one(ToolClass::Shell),
    );
    let none = Classes::NONE;
    let cases = [
        (comms, none, body, comms, Some(ClassSource::Operator)),
        (none, comms, none, comms, Some(ClassSource::Host)),
        (none, none, shell, shell, Some(ClassSource::Server)),
        (none, none, none, none, None),
    ];
    for (operator, host, server, classes, source) in cases {
        let found = effective(operator, host, server);
        assert_eq!((found.classes, found.source), (classes, source));
    }
}

/// RFC-008, section 4: there are ten classes.
#[test]
fn every_class_has_its_word() {
    for class in ToolClass::ALL {
        assert_eq!(class.as_str().parse(), Ok(class));
        assert_eq!(
            [class]
                .into_iter()
                .collect::<Classes>()
                .iter()
                .collect::<Vec<_>>(),
            [class]
        );
    }
    assert_eq!("Shell".parse::<ToolClass>(), Err(UnknownClass));
    assert_eq!(ToolClass::ALL.map(ToolClass::as_str), TOOL_CLASSES);
}

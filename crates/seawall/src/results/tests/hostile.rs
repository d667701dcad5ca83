//! S11, bounded work: schemas and values made to take long. Each ends within the patience of a debug build.

use std::fmt::Write as _;

use super::*;

/// Generous for a debug build on a busy machine; each of these takes for ever without its bound.
const PATIENCE: Duration = Duration::from_secs(10);

/// What became of a schema and a value, in time.
fn outcome(schema: &str, value: &str) -> Result<Result<(), ResultFault>, UnusableSchema> {
    let (schema, value) = (json(schema), json(value));
    let (send, receive) = std::sync::mpsc::channel();
    // Half of what a thread of an async runtime has.
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let began = Instant::now();
    small
        .spawn(move || {
            let outcome = OutputValidator::compile(&schema).map(|schema| schema.check(&value));
            let _ = send.send(outcome);
        })
        .unwrap();
    let outcome = receive
        .recv_timeout(PATIENCE)
        .expect("ended in time, without a panic");
    println!("{:?} {outcome:?}", began.elapsed());
    outcome
}

fn nested(open: &str, close: &str, depth: usize) -> String {
    format!("{}1{}", open.repeat(depth), close.repeat(depth))
}

/// `$defs` `n0` to `n<levels>`, each made of two references to the next by `join`.
fn ladder(levels: usize, join: impl Fn(&str) -> String) -> String {
    let mut defs = String::new();
    for level in 0..levels {
        let next = format!(r##"{{"$ref":"#/$defs/n{}"}}"##, level + 1);
        let _ = write!(defs, r#""n{level}":{},"#, join(&next));
    }
    format!(r##"{{"$ref":"#/$defs/n0","$defs":{{{defs}"n{levels}":{{"type":"integer"}}}}}}"##)
}

#[test]
fn ladders_of_references_on_one_value() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let schema = ladder(60, |next| format!(r#"{{"{keyword}":[{next},{next}]}}"#));
        assert_eq!(outcome(&schema, "1"), Err(UnusableSchema::TooComplex));
        let small = ladder(10, |next| {
            format!(r#"{{"{keyword}":[{next},{next}],"unevaluatedProperties":false}}"#)
        });
        assert_eq!(outcome(&small, "1"), Err(UnusableSchema::TooComplex));
        let small = ladder(12, |next| format!(r#"{{"{keyword}":[{next},{next}]}}"#));
        outcome(&small, "1").unwrap().ok();
    }
    let schema = ladder(60, |next| {
        format!(r#"{{"if":{next},"then":{next},"else":{next}}}"#)
    });
    assert_eq!(outcome(&schema, "1"), Err(UnusableSchema::TooComplex));
    let schema = ladder(60, |next| {
        format!(r#"{{"not":{next},"dependentSchemas":{{"a":{next}}}}}"#)
    });
    assert_eq!(outcome(&schema, "1"), Err(UnusableSchema::TooComplex));
}

/// S11: a reference that the library follows elsewhere than the count of its work does is refused.
#[test]
fn references_that_two_readers_follow_apart() {
    let bomb = ladder(40, |next| {
        format!(r#"{{"items":{next},"contains":{next}}}"#)
    });
    let defs = bomb.split_once(r#""$defs":{"#).unwrap().1;
    for (reference, harmless, hidden) in [
        ("#/$defs/~~1", "~/", "~~1"),
        ("#/$defs/~~0", "~~", "~~0"),
        ("#/$defs/%7E~1", "~/", "~~1"),
        ("#/$defs/%+1", "\\u0001", "%+1"),
    ] {
        let schema = format!(
            r##"{{"$ref":"{reference}","$defs":{{"{harmless}":{{}},"{hidden}":{{"$ref":"#/$defs/n0"}},{defs}"##
        );
        let outcome = outcome(&schema, &nested("[", "]", 40));
        assert_eq!(outcome, Err(UnusableSchema::Reference), "{reference}");
    }
    for keyword in ["unknown", "contains", "default"] {
        let schema = format!(
            r##"{{"$ref":"#/{keyword}/a/b","{keyword}":{{"a":{{"$id":"http://b.example/","b":{{"$ref":"#/$defs/n0"}},"$defs":{{"n0":{{}}}}}}}},"$defs":{{{defs}"##
        );
        let outcome = outcome(&schema, &nested("[", "]", 40));
        assert_eq!(outcome, Err(UnusableSchema::Reference), "{keyword}");
    }
    // Whatever it says, it means the root.
    let schema = format!(
        r##"{{"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{{"a":{{"$recursiveRef":"#/$defs/h"}}}},"items":{{"$ref":"#/$defs/n0"}},"$defs":{{"h":{{}},{defs}"##
    );
    let value = format!(r#"{{"a":{}}}"#, nested("[", "]", 40));
    assert_eq!(outcome(&schema, &value), Ok(Err(Unchecked)));
    for (harmless, hidden, reference) in [
        ("http://a.example/x", "http:x", "http:x"),
        ("foo://A/x", "foo://a/x", "foo://A/x"),
    ] {
        let schema = format!(
            r##"{{"$id":"http://a.example/","$ref":"{reference}","$defs":{{"x":{{"$id":"{harmless}"}},"y":{{"$id":"urn:b","$defs":{{"z":{{"$id":"{hidden}","$ref":"http://a.example/#/$defs/n0"}}}}}},{defs}"##
        );
        let outcome = outcome(&schema, &nested("[", "]", 40));
        assert!(
            matches!(outcome, Err(_) | Ok(Err(Unchecked))),
            "{reference}"
        );
    }
    let schema = format!(
        r###"{{"$schema":"http://json-schema.org/draft-07/schema#","$id":"http://a.example/r","allOf":[{{"$ref":"r##/$defs/n0"}}],"definitions":{{"x":{{"$id":"##/$defs/n0"}}}},"$defs":{{{defs}"###
    );
    let outcome = outcome(&schema, &nested("[", "]", 40));
    assert_eq!(outcome, Err(UnusableSchema::Reference));
}

#[test]
fn ladders_of_references_down_a_value() {
    let schema = ladder(60, |next| {
        format!(r#"{{"items":{next},"contains":{next}}}"#)
    });
    assert_eq!(outcome(&schema, &nested("[", "]", 60)), Ok(Err(Unchecked)));
    assert_eq!(outcome(&schema, &nested("[", "]", 8)), Ok(Ok(())));
    let schema = ladder(60, |next| {
        format!(r#"{{"properties":{{"a":{next}}},"patternProperties":{{"^a":{next}}}}}"#)
    });
    assert_eq!(
        outcome(&schema, &nested(r#"{"a":"#, "}", 60)),
        Ok(Err(Unchecked))
    );
}

#[test]
fn doubling_recursion_on_a_deep_value() {
    for schema in [
        r##"{"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}"##,
        r##"{"oneOf":[{"items":{"$ref":"#"}},{"type":"array","items":{"$ref":"#"}},{"type":"integer"}]}"##,
        r##"{"$dynamicAnchor":"x","anyOf":[{"items":{"$dynamicRef":"#x"}},{"items":{"$ref":"#"}}],"unevaluatedItems":false}"##,
    ] {
        assert_eq!(outcome(schema, &nested("[", "]", 100)), Ok(Err(Unchecked)));
    }
}

#[test]
fn honest_recursion_on_a_deep_value_is_checked() {
    let schema = r##"{"anyOf":[{"type":"array","items":{"$ref":"#"}},{"type":"integer"}]}"##;
    assert_eq!(outcome(schema, &nested("[", "]", 60)), Ok(Ok(())));
    assert_eq!(
        outcome(schema, &nested("[", "]", 60).replace('1', "null")),
        Ok(Err(Structured))
    );
    // Past the path bound, no answer rather than a stack overflow.
    assert_eq!(outcome(schema, &nested("[", "]", 120)), Ok(Err(Unchecked)));
}

#[test]
fn the_longest_chains_that_pass_fit_the_stack() {
    // Each link is so many schemas long; all but the longest chain under the bound are refused.
    for (link, schemas) in [
        (r#"{"allOf":[NEXT]}"#, 2),
        (r#"{"if":NEXT}"#, 2),
        (r#"{"anyOf":[false,{"oneOf":[{"not":{"not":NEXT}}]}]}"#, 5),
        (r#"{"dependentSchemas":{"a":NEXT}}"#, 2),
    ] {
        let fits = (MAX_SCHEMA_PATH - 2) / schemas;
        let chain = |levels| ladder(levels, |next| link.replace("NEXT", next));
        outcome(&chain(fits), r#"{"a":1}"#).unwrap().err();
        assert_eq!(
            outcome(&chain(fits + 3), r#"{"a":1}"#),
            Err(UnusableSchema::TooComplex)
        );
    }
    for link in [
        r#"{"properties":{"a":{"allOf":[NEXT]}}}"#,
        r#"{"additionalProperties":{"not":{"not":NEXT}}}"#,
        r#"{"patternProperties":{"a":NEXT},"unevaluatedProperties":{"not":NEXT}}"#,
    ] {
        let chain = ladder(60, |next| link.replace("NEXT", next));
        let value = nested(r#"{"a":"#, "}", 45);
        outcome(&chain, &value).unwrap().err();
    }
    let chain = ladder(60, |next| {
        format!(r#"{{"properties":{{"a":{{"allOf":[{next}]}}}}}}"#)
    });
    assert_eq!(outcome(&chain, &nested(r#"{"a":"#, "}", 60)), Ok(Ok(())));
    // Long, but never under way at one time: a value that ends early.
    let chain = ladder(800, |next| format!(r#"{{"properties":{{"a":{next}}}}}"#));
    assert_eq!(outcome(&chain, "{}"), Ok(Ok(())));
}

/// Resources that each refer to every other, by their keyword, on the members of a value.
fn resources(count: usize, keyword: &str) -> String {
    let mut defs = String::new();
    for one in 0..count {
        let mut members = String::new();
        for other in 0..count {
            let _ = write!(members, r#""p{other}":{{"{keyword}":"r{other}"}},"#);
        }
        let _ = write!(
            defs,
            r##""r{one}":{{"$id":"r{one}","$dynamicAnchor":"x","properties":{{{members}"r":{{"$dynamicRef":"#x"}}}}}},"##
        );
    }
    format!(r##"{{"$ref":"r0","$defs":{{{defs}"z":{{}}}}}}"##)
}

/// The library compiles a schema once for each way of resources that leads to it.
#[test]
fn resources_that_multiply_dynamic_scopes() {
    for keyword in ["$ref", "$dynamicRef"] {
        assert_eq!(
            outcome(&resources(3, keyword), r#"{"p1":{"p2":{"r":{}}}}"#),
            Ok(Ok(()))
        );
        outcome(&resources(5, keyword), "{}").unwrap().unwrap();
        for many in [6, 7, 24] {
            assert_eq!(
                outcome(&resources(many, keyword), "{}"),
                Err(UnusableSchema::TooComplex)
            );
        }
    }
    let mut defs = String::new();
    for level in 0..24 {
        for side in ["a", "b"] {
            let _ = write!(
                defs,
                r#""{side}{level}":{{"$id":"{side}{level}","properties":{{"p":{{"$ref":"a{next}"}},"q":{{"$ref":"b{next}"}}}}}},"#,
                next = level + 1,
            );
        }
    }
    let schema =
        format!(r#"{{"$ref":"a0","$defs":{{{defs}"a24":{{"$id":"a24"}},"b24":{{"$id":"b24"}}}}}}"#);
    assert_eq!(outcome(&schema, "{}"), Err(UnusableSchema::TooComplex));
}

#[test]
fn patterns_are_linear_and_bounded() {
    let long = format!("\"{}!\"", "a".repeat(20_000));
    for pattern in [
        "^(a+)+$",
        "^(a|a)*$",
        "^(a|aa)+$",
        "(.*)*(.*)*(.*)*x$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
    ] {
        assert_eq!(
            outcome(&format!(r#"{{"pattern":"{pattern}"}}"#), &long),
            Ok(Err(Structured))
        );
    }
    for pattern in [
        "((a{1000}){1000}){1000}",
        "(\\\\p{L}{500}){500}",
        "(?:a?){100000}",
        "[^a]{1000000}",
    ] {
        let _ = outcome(&format!(r#"{{"pattern":"{pattern}"}}"#), &long);
    }
    let slow = r#"{"pattern":"[ab]*a[ab]{900}c"}"#;
    assert_eq!(
        outcome(slow, &format!("\"{}\"", "ab".repeat(400_000))),
        Ok(Err(Unchecked))
    );
    let fits = format!("\"{}\"", "abbabaab".repeat(1_500));
    outcome(slow, &fits).unwrap().ok();
    let many: Vec<String> = (0..1_000)
        .map(|index| format!(r#""x[a-z]{{3}}{index}(a|b)*":{{}}"#))
        .collect();
    let schema = format!(r#"{{"patternProperties":{{{}}}}}"#, many.join(","));
    let _ = outcome(&schema, r#"{"a":1,"b":2}"#);
    let names: Vec<String> = (0..60_000)
        .map(|index| format!(r#""n{index}":1"#))
        .collect();
    let _ = outcome(&schema, &format!("{{{}}}", names.join(",")));
}

#[test]
fn a_megabyte_is_checked() {
    let numbers = format!("[{}]", vec!["1"; 500_000].join(","));
    assert_eq!(
        outcome(r#"{"items":{"type":"integer"}}"#, &numbers),
        Ok(Ok(()))
    );
    assert_eq!(
        outcome(r#"{"items":{"type":"string"}}"#, &numbers),
        Ok(Err(Structured))
    );
    let row = r#"{"id":"6f1c2b9a-0000-4000-8000-123456789abc","n":12345,"tags":["a","b"]}"#;
    let rows = format!("[{}]", vec![row; 14_000].join(","));
    let schema = r##"{"type":"array","items":{"$ref":"#/$defs/row"},"$defs":{"row":{"type":"object","required":["id","n"],"additionalProperties":false,
        "properties":{"id":{"type":"string","minLength":1},"n":{"type":"integer","minimum":0},"tags":{"type":"array","items":{"type":"string"}}}}}}"##;
    assert_eq!(outcome(schema, &rows), Ok(Ok(())));
    let few = format!("[{}]", vec![row; 4_000].join(","));
    let uuid = schema.replace(
        r#""minLength":1"#,
        r#""pattern":"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$""#,
    );
    assert_eq!(outcome(&uuid, &few), Ok(Ok(())));
    let text = format!("\"{}\"", "x".repeat(1_000_000));
    assert_eq!(
        outcome(r#"{"type":"string","maxLength":2000000}"#, &text),
        Ok(Ok(()))
    );
}

#[test]
fn values_that_are_compared_with_each_other_or_with_many() {
    let strings: Vec<String> = (0..80_000).map(|index| format!("\"s{index}\"")).collect();
    assert_eq!(
        outcome(
            r#"{"uniqueItems":true}"#,
            &format!("[{}]", strings.join(","))
        ),
        Ok(Ok(()))
    );
    let twins: Vec<String> = (0..40_000_u64)
        .map(|index| (u64::MAX - index).to_string())
        .collect();
    assert_eq!(
        outcome(r#"{"uniqueItems":true}"#, &format!("[{}]", twins.join(","))),
        Ok(Err(Unchecked))
    );
    // Brackets alone, in ever new orders: all of one hash.
    let nested: Vec<String> = (0..1_u32 << 15)
        .map(|shape| {
            let inner = (0..15).map(|bit| if shape >> bit & 1 == 1 { "[[]]" } else { "[]" });
            format!("[{}]", inner.collect::<Vec<_>>().join(","))
        })
        .collect();
    assert_eq!(
        outcome(
            r#"{"uniqueItems":true}"#,
            &format!("[{}]", nested.join(","))
        ),
        Ok(Err(Unchecked))
    );
    let choices: Vec<String> = (0..5_000).map(|index| format!("[{index}]")).collect();
    let schema = format!(r#"{{"items":{{"enum":[{}]}}}}"#, choices.join(","));
    assert_eq!(
        outcome(&schema, &format!("[{}]", vec!["[9999]"; 100_000].join(","))),
        Ok(Err(Unchecked))
    );
    let required: Vec<String> = (0..5_000).map(|index| format!("\"k{index}\"")).collect();
    let schema = format!(r#"{{"items":{{"required":[{}]}}}}"#, required.join(","));
    let _ = outcome(&schema, &format!("[{}]", vec!["{}"; 300_000].join(",")));
}

#[test]
fn schemas_at_and_past_their_size() {
    let pad = MAX_SCHEMA_BYTES - r#"{"title":""}"#.len();
    assert_eq!(
        outcome(&format!(r#"{{"title":"{}"}}"#, "x".repeat(pad)), "1"),
        Ok(Ok(()))
    );
    assert_eq!(
        outcome(&format!(r#"{{"title":"{}"}}"#, "x".repeat(pad + 1)), "1"),
        Err(UnusableSchema::TooComplex)
    );
    let branches = |count: usize| format!(r#"{{"anyOf":[{}]}}"#, vec!["{}"; count].join(","));
    assert_eq!(outcome(&branches(MAX_SUBSCHEMAS - 1), "1"), Ok(Ok(())));
    assert_eq!(
        outcome(&branches(MAX_SUBSCHEMAS), "1"),
        Err(UnusableSchema::TooComplex)
    );
    let deep = format!("{}{}{}", r#"{"not":"#.repeat(120), "{}", "}".repeat(120));
    assert_eq!(outcome(&deep, "1"), Ok(Ok(())));
}

/// S11: a name is hashed whole each time that it is looked up.
#[test]
fn long_names_that_are_looked_up_often() {
    let many: String = (0..60).map(|n| format!(r#""p{n}":{{}},"#)).collect();
    let many = many.trim_end_matches(',');
    let schema = ladder(10, |next| {
        format!(
            r#"{{"allOf":[{next},{next}],"properties":{{{many}}},"additionalProperties":{{"type":"integer"}}}}"#
        )
    });
    let value = format!(r#"{{"{}":1}}"#, "x".repeat(1 << 20));
    assert_eq!(outcome(&schema, &value), Ok(Err(Unchecked)));
}

/// From three branches on the library makes a table of what tells them apart: values times branches.
#[test]
fn unions_whose_branches_list_many_values() {
    let union = |branches: usize, branch: &str, defs: &str| {
        let branches = vec![branch; branches].join(",");
        format!(r#"{{"anyOf":[{branches}],"$defs":{{{defs}}}}}"#)
    };
    let list = |values: usize| {
        let values: Vec<String> = (0..values).map(|value| value.to_string()).collect();
        values.join(",")
    };
    // One list for all branches, as it is or negated; one schema for all branches; and where the member is two steps away.
    let member = r##"{"properties":{"k":{"$ref":"#/$defs/e"}},"required":["k"]}"##;
    let shared = r##"{"$ref":"#/$defs/b"}"##;
    for (branch, defs) in [
        (member, format!(r#""e":{{"enum":[{}]}}"#, list(4_000))),
        (
            member,
            format!(r#""e":{{"not":{{"enum":[{}]}}}}"#, list(4_000)),
        ),
        (
            shared,
            format!(r#""b":{member},"e":{{"enum":[{}]}}"#, list(4_000)),
        ),
        (
            shared,
            format!(
                r#""b":{{"allOf":[{member},{member}]}},"e":{{"not":{{"enum":[{}]}}}}"#,
                list(1_000)
            ),
        ),
    ] {
        let schema = union(600, branch, &defs);
        assert_eq!(
            outcome(&schema, r#"{"k":1}"#),
            Err(UnusableSchema::TooComplex),
            "{branch}"
        );
        outcome(&union(2, branch, &defs), r#"{"k":1}"#)
            .unwrap()
            .ok();
    }
    // Branches that say nothing are in each list too.
    let anything = vec!["true"; 8_000].join(",");
    let schema = union(
        2,
        &format!("{member},{anything}"),
        &format!(r#""e":{{"enum":[{}]}}"#, list(1_000)),
    );
    assert_eq!(
        outcome(&schema, r#"{"k":1}"#),
        Err(UnusableSchema::TooComplex)
    );
    // Names that are looked up in many schemas.
    let names: String = (0..3_000)
        .map(|name| format!(r#""n{name}":true,"#))
        .collect();
    let defs = format!(
        r##""b":{{"properties":{{{names}"z":true}}}},"c":{{"allOf":[{}]}}"##,
        vec!["{}"; 3_000].join(",")
    );
    let branches = format!(
        r##"{shared},{shared},{}"##,
        [r##"{"$ref":"#/$defs/c"}"##; 10].join(",")
    );
    let schema = format!(r#"{{"oneOf":[{branches}],"$defs":{{{defs}}}}}"#);
    assert_eq!(outcome(&schema, "{}"), Err(UnusableSchema::TooComplex));
}

/// S11: what people write is far from those bounds.
#[test]
fn a_large_union_of_events_is_checked() {
    let mut branches = String::new();
    for kind in 0..120 {
        let _ = write!(
            branches,
            r#"{{"type":"object","properties":{{"kind":{{"const":"k{kind}"}},"level":{{"enum":["a","b","c","d"]}},"{kind}a":{{"type":"string"}},"{kind}b":{{"not":{{"const":0}}}},"note":{{"type":"string"}}}},"required":["kind","level"]}},"#
        );
    }
    let schema = format!(r#"{{"oneOf":[{branches}false]}}"#);
    let good = r#"{"kind":"k7","level":"b","7b":1}"#;
    assert_eq!(outcome(&schema, good), Ok(Ok(())));
    let bad = r#"{"kind":"k7","level":"e"}"#;
    assert_eq!(outcome(&schema, bad), Ok(Err(Structured)));
}

/// S11: what a backtracking engine takes for ever for is matched by the linear one, within the same bounds.
#[test]
fn look_around_is_bounded_like_any_pattern() {
    let text = format!("\"{}!\"", "a".repeat(2_000));
    for pattern in ["^(?!(a+)+$)(?=(a|a)*)(a*)*b$", "^(?:a?){20}(?<!(a|aa)+)$"] {
        let schema = format!(r#"{{"pattern":"{pattern}"}}"#);
        assert_eq!(outcome(&schema, &text), Ok(Err(Structured)), "{pattern}");
    }
    // A text and a pattern that are too much for one check; more look-around than is taken.
    let large = r#"{"pattern":"^(?!(?:[a-z]{40}){40}!)a"}"#;
    let long = format!("\"{}\"", "a".repeat(2_000_000));
    assert_eq!(outcome(large, &long), Ok(Err(Unchecked)));
    let larger = r#"{"pattern":"^(?!(?:[a-z]{400}){400}!)a"}"#;
    assert_eq!(outcome(larger, &text), Err(UnusableSchema::Pattern));
    let many = format!(r#"{{"pattern":"^{}a"}}"#, "(?!b)".repeat(9_000));
    assert_eq!(outcome(&many, &text), Err(UnusableSchema::Pattern));
    let objects: Vec<String> = (0..900)
        .map(|at| format!(r#"{{"pattern":"^(?!{at})a"}}"#))
        .collect();
    let many = format!(r#"{{"anyOf":[{}]}}"#, objects.join(","));
    assert_eq!(outcome(&many, &text), Err(UnusableSchema::Pattern));
}

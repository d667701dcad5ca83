use seawall::Json;

use super::show;
use crate::failure::{Failure, Status};
use crate::printer::Written;

/// BEHAVIOUR G5: on a terminal nothing is obeyed and nothing is hidden; what no terminal can show is refused with the
/// remedy.
#[test]
fn terminal_gets_visible_text_and_no_binary() {
    let (mut printer, written) = Written::to_a_terminal();
    let text = Json::check(r#"{"contents":[{"text":"a\u001b[2J\n\u202eb\n"}]}"#).expect("JSON");
    show(&text, "s", None, &mut printer).expect("is shown");
    assert_eq!(written.text(), "a\\u{1b}[2J\n\\u{202e}b\n");
    let binary = Json::check(r#"{"contents":[{"text":"x"},{"blob":"AAA="}]}"#).expect("JSON");
    let refused: Failure = show(&binary, "s", None, &mut printer).expect_err("is refused");
    assert_eq!(refused.status(), Status::Usage);
    assert!(refused.to_string().contains("--output FILE"), "{refused}");
    assert_eq!(written.text(), "a\\u{1b}[2J\n\\u{202e}b\n");
}

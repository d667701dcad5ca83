//! What a name may hold: ids, prefixes, variables, headers.

use std::borrow::Cow;

use unicode_general_category::{GeneralCategory, get_general_category};

/// Whether a text can be a server's id: one part of a flow's name.
pub(super) fn is_server_id(text: &str) -> bool {
    is_part(text)
}

/// The id that a server of another host's file goes by: the same, with `-` for each character that no id may hold. Galleries
/// give ids such as `owner/name`. What is no id for another reason stays as it is.
#[must_use]
pub fn id_of_foreign(id: &str) -> Cow<'_, str> {
    let may_hold = |character| character != '/' && is_visible(character);
    if id.chars().all(may_hold) {
        return Cow::Borrowed(id);
    }
    let held = |character| if may_hold(character) { character } else { '-' };
    Cow::Owned(id.chars().map(held).collect())
}

/// Whether a text can stand before `/<tool>`: parts joined by `/`.
pub(super) fn is_name_prefix(text: &str) -> bool {
    text.split('/').all(is_part)
}

/// Whether a text can name an environment variable on every system.
pub(super) fn is_variable_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(['=', '\0'])
}

/// Whether a text is a variable's name as `${NAME}` takes it.
pub(super) fn is_plain_variable_name(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && text
            .bytes()
            .next()
            .is_some_and(|byte| !byte.is_ascii_digit())
}

/// Whether a text is a token of RFC 9110, which a header's name is.
pub(super) fn is_header_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Headers that say where a message ends or which connection it is on: they are HTTP's own, and one from elsewhere would
/// garble it.
const FRAMING_HEADERS: [&str; 7] = [
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "expect",
    "te",
    "trailer",
];

/// Whether a header belongs to HTTP itself, so that no entry may say it.
pub(super) fn is_framing_header(name: &str) -> bool {
    FRAMING_HEADERS
        .iter()
        .any(|framing| name.eq_ignore_ascii_case(framing))
}

/// Whether a text can be a header's value: visible ASCII, blanks and tabs inside.
pub(super) fn is_header_value(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
}

fn is_part(text: &str) -> bool {
    !matches!(text, "" | "." | "..")
        && text
            .chars()
            .all(|character| character != '/' && is_visible(character))
}

fn is_visible(character: char) -> bool {
    !matches!(
        get_general_category(character),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    )
}

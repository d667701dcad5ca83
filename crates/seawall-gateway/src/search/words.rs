//! The words of a text, as they are compared.

use bm25::Tokenizer;

/// So many words of a text count. Fixed.
const MAX_WORDS: usize = 256;

/// At most so many bytes of a text's beginning, whole characters.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Cuts texts into words: at whatever is no letter and no digit, and where a name goes on with a capital. `createIssue`,
/// `create_issue` and `Create issues` are the same two words.
#[derive(Debug, Default)]
pub(super) struct Words;

impl Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        let mut word = String::new();
        let mut before = None;
        for each in text.chars() {
            let goes_on = before.is_some_and(char::is_lowercase) && each.is_uppercase();
            if goes_on || !each.is_alphanumeric() {
                take(&mut word, &mut words);
                if words.len() >= MAX_WORDS {
                    return words;
                }
            }
            if each.is_alphanumeric() {
                word.extend(each.to_lowercase());
            }
            before = Some(each);
        }
        take(&mut word, &mut words);
        words
    }
}

/// Takes a word that is over, without the ending of a plural.
fn take(word: &mut String, words: &mut Vec<String>) {
    let mut whole = std::mem::take(word);
    if whole.len() > 3 && whole.ends_with('s') && !whole.ends_with("ss") {
        whole.pop();
    }
    if !whole.is_empty() {
        words.push(whole);
    }
}

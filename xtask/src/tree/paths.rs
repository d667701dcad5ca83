//! The paths that blanked Rust code names (`crate::client::Call`), with `use` trees taken apart.

use super::code::is_word;

/// One path in code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CodePath {
    /// `["crate", "client", "Call"]`; a glob ends in `*`.
    pub(crate) segments: Vec<String>,
    /// The line that its last segment stands on, from 1.
    pub(crate) line: usize,
}

/// Every path of two segments or more, and every single one that a `use` names.
pub(super) fn of(code: &str) -> Vec<CodePath> {
    let mut reader = Reader {
        tokens: tokens(code),
        at: 0,
        found: Vec::new(),
    };
    while let Some(token) = reader.tokens.get(reader.at) {
        match token.text.as_str() {
            "use" => {
                reader.at += 1;
                reader.tree(&[]);
            }
            text if text.starts_with(is_word) => reader.path(),
            _ => reader.at += 1,
        }
    }
    reader.found
}

struct Token {
    text: String,
    line: usize,
}

fn tokens(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            let (text, after) = rest.split_at(length);
            tokens.push(Token {
                text: text.to_owned(),
                line: number + 1,
            });
            rest = after.trim_start();
        }
    }
    tokens
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    found: Vec<CodePath>,
}

impl Reader {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    /// Reads `a::b::c` outside a `use`.
    fn path(&mut self) {
        let mut segments = vec![self.text(self.at).to_owned()];
        while self.text(self.at + 1) == "::" && self.text(self.at + 2).starts_with(is_word) {
            self.at += 2;
            segments.push(self.text(self.at).to_owned());
        }
        if segments.len() > 1 {
            let line = self.tokens[self.at].line;
            self.found.push(CodePath { segments, line });
        }
        self.at += 1;
    }

    /// Reads one tree of a `use` whose path so far is `prefix`; stops behind it.
    fn tree(&mut self, prefix: &[String]) {
        let mut segments = prefix.to_vec();
        while let Some(token) = self.tokens.get(self.at) {
            let line = token.line;
            match token.text.as_str() {
                "::" => self.at += 1,
                "{" => {
                    self.at += 1;
                    while !matches!(self.text(self.at), "}" | ";" | "") {
                        if self.text(self.at) == "," {
                            self.at += 1;
                        } else {
                            self.tree(&segments);
                        }
                    }
                    if self.text(self.at) == "}" {
                        self.at += 1;
                    }
                    return;
                }
                "as" => self.at += 2,
                text if text.starts_with(is_word) || text == "*" => {
                    if text != "self" || segments.is_empty() {
                        segments.push(text.to_owned());
                    }
                    self.at += 1;
                    if self.text(self.at) != "::" {
                        self.found.push(CodePath {
                            segments: segments.clone(),
                            line,
                        });
                    }
                }
                "," | "}" | ";" => return,
                _ => {
                    self.at += 1;
                    return;
                }
            }
        }
    }
}

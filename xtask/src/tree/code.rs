//! Rust text with comments and the insides of strings blanked, so that a search finds code only.

/// Replaces comments, string contents and character literals with blanks; lines stay where they are.
///
/// Text that is not Rust comes out somehow, never as a panic.
pub(super) fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&here) = chars.get(at) {
        let end = match here {
            '/' if chars.get(at + 1) == Some(&'/') => line_comment(&chars, at),
            '/' if chars.get(at + 1) == Some(&'*') => block_comment(&chars, at),
            '"' => string(&chars, at),
            '\'' => char_literal(&chars, at).unwrap_or(at + 1),
            _ if is_word(here) => {
                let end = word(&chars, at);
                out.extend(&chars[at..end]);
                at = end;
                if let Some(end) = raw_string(&chars, at, &out) {
                    blanks(&mut out, &chars[at..end]);
                    at = end;
                }
                continue;
            }
            _ => {
                out.push(here);
                at += 1;
                continue;
            }
        };
        blanks(&mut out, &chars[at..end]);
        at = end;
    }
    out
}

/// Whether `c` can be part of an identifier or number.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn blanks(out: &mut String, chars: &[char]) {
    out.extend(chars.iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
}

fn word(chars: &[char], from: usize) -> usize {
    chars[from..]
        .iter()
        .position(|&c| !is_word(c))
        .map_or(chars.len(), |length| from + length)
}

fn line_comment(chars: &[char], from: usize) -> usize {
    chars[from..]
        .iter()
        .position(|&c| c == '\n')
        .map_or(chars.len(), |length| from + length)
}

fn block_comment(chars: &[char], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0_usize);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (at, depth) = (at + 2, depth + 1),
            ('*', Some('/')) if depth == 1 => return at + 2,
            ('*', Some('/')) => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    chars.len()
}

fn string(chars: &[char], from: usize) -> usize {
    let mut at = from + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// The end of a character literal; `None` if this quote begins a lifetime.
fn char_literal(chars: &[char], from: usize) -> Option<usize> {
    match (chars.get(from + 1)?, chars.get(from + 2)) {
        ('\\', _) => chars
            .get(from + 3..)?
            .iter()
            .position(|&c| c == '\'')
            .map(|length| from + 4 + length),
        (_, Some('\'')) => Some(from + 3),
        _ => None,
    }
}

/// The end of a raw string whose prefix (`r`, `br`, `cr`) is the last word of `out` and whose hashes begin at `from`.
fn raw_string(chars: &[char], from: usize, out: &str) -> Option<usize> {
    let prefix = out.rsplit(|c| !is_word(c)).next()?;
    if !matches!(prefix, "r" | "br" | "cr") {
        return None;
    }
    let hashes = chars[from..].iter().take_while(|&&c| c == '#').count();
    if chars.get(from + hashes) != Some(&'"') {
        return None;
    }
    let mut at = from + hashes + 1;
    while at < chars.len() {
        let tail = &chars[at + 1..];
        if chars[at] == '"' && tail.len() >= hashes && tail[..hashes].iter().all(|&c| c == '#') {
            return Some(at + 1 + hashes);
        }
        at += 1;
    }
    Some(chars.len())
}

//! JSON for people: indented, otherwise as it was written.

/// Longer texts are shown as they are: deep nesting can make indentation a hundred times the text.
const MAX_INDENTED_BYTES: usize = 64 * 1024;

/// Indents checked JSON text without decoding it, so that numbers and escapes stay as they were.
pub(crate) fn pretty(json: &str) -> String {
    if json.len() > MAX_INDENTED_BYTES {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len() + json.len() / 2);
    let mut depth = 0_usize;
    let mut inside_string = false;
    let mut escaped = false;
    // A container's first token is what decides whether it is empty.
    let mut opened = false;
    for c in json.chars() {
        if inside_string {
            out.push(c);
            inside_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        if c.is_ascii_whitespace() {
            continue;
        }
        let closes = matches!(c, '}' | ']');
        if closes {
            depth = depth.saturating_sub(1);
        }
        if opened != closes {
            break_line(&mut out, depth);
        }
        opened = false;
        out.push(c);
        match c {
            '{' | '[' => {
                depth += 1;
                opened = true;
            }
            ',' => break_line(&mut out, depth),
            ':' => out.push(' '),
            '"' => inside_string = true,
            _ => {}
        }
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

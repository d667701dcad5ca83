//! A server's text, set apart: every line behind a bar, broken before the terminal would break it.

use console::measure_text_width;

use crate::printer::{Place, visible};

#[cfg(test)]
mod tests;

/// What stands before each line of a server's.
const BAR: &str = "  | ";
/// No terminal is taken to be narrower.
const MIN_WIDTH: usize = 20;

/// The text on lines of its own, each ended.
pub(super) fn quote(text: &str, width: usize) -> String {
    let room = width.max(MIN_WIDTH) - BAR.len() - 1;
    let text = visible(text, Place::Block).replace('\t', "    ");
    let mut quoted = String::new();
    for line in text.trim_end().lines() {
        quoted.push_str(BAR);
        let mut used = 0;
        for character in line.chars() {
            let wide = measure_text_width(character.encode_utf8(&mut [0; 4]));
            if used + wide > room {
                quoted.push('\n');
                quoted.push_str(BAR);
                used = 0;
            }
            quoted.push(character);
            used += wide;
        }
        quoted.push('\n');
    }
    quoted
}

//! Canonical JSON out of a checked text: RFC 8785 where that loses nothing, exact where it would (see [`super::Digest`]).
//!
//! Own code, because canonicalisers over serde read numbers as doubles, keep one of two equal keys and refuse a lone
//! surrogate, so that different schemas of a hostile server would share a digest, or have none.
//!
//! **Invariant:** texts that differ in more than white space, key order, escapes or the spelling of equal numbers have
//! different canonical texts. Work is linear in the text, times its depth (at most 128).

use seawall_proto::Json;

mod number;
mod string;
#[cfg(test)]
mod tests;

/// The canonical text.
pub(crate) fn text(json: &Json) -> String {
    let mut out = String::with_capacity(json.len());
    let mut reader = Reader {
        text: json.as_str(),
        at: 0,
    };
    reader.value(&mut out);
    out
}

/// Writes a string in canonical form.
pub(crate) fn push_string(out: &mut String, text: &str) {
    let units: Vec<u16> = text.encode_utf16().collect();
    string::push(out, &units);
}

/// Walks a text that is known to be JSON; it recurses as deep as that nests, which `Json` bounds.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, out: &mut String) {
        match self.peek() {
            Some(b'{') => self.object(out),
            Some(b'[') => self.array(out),
            Some(b'"') => {
                let units = string::units(self.string());
                string::push(out, &units);
            }
            Some(b'-' | b'0'..=b'9') => number::push(out, self.token()),
            _ => out.push_str(self.token()),
        }
    }

    fn object(&mut self, out: &mut String) {
        let mut members: Vec<(Vec<u16>, String)> = Vec::new();
        self.at += 1;
        while self.peek() == Some(b'"') {
            let key = string::units(self.string());
            self.skip(b':');
            let mut value = String::new();
            self.value(&mut value);
            members.push((key, value));
            self.skip(b',');
        }
        self.skip(b'}');
        // Stable: of equal keys, the earlier stays the earlier.
        members.sort_by(|one, other| one.0.cmp(&other.0));
        out.push('{');
        for (index, (key, value)) in members.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            string::push(out, key);
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
    }

    fn array(&mut self, out: &mut String) {
        self.at += 1;
        out.push('[');
        let mut first = true;
        while !matches!(self.peek(), Some(b']') | None) {
            if !first {
                out.push(',');
            }
            first = false;
            self.value(out);
            self.skip(b',');
        }
        self.skip(b']');
        out.push(']');
    }

    /// The inside of the string that starts here.
    fn string(&mut self) -> &'a str {
        let start = self.at + 1;
        let mut end = start;
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        self.text.get(start..end).unwrap_or_default()
    }

    /// The number or literal that starts here.
    fn token(&mut self) -> &'a str {
        let start = self.at;
        let rest = self.text.get(start..).unwrap_or_default();
        let ends = |byte: u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
        let length = rest.bytes().position(ends).unwrap_or(rest.len());
        // At least one byte, so that every loop here ends whatever the text.
        self.at += length.max(1);
        rest.get(..length).unwrap_or_default()
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn skip(&mut self, expected: u8) {
        if self.peek() == Some(expected) {
            self.at += 1;
        }
    }
}

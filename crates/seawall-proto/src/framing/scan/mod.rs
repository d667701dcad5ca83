//! One pass over one JSON text: is it JSON, how deep, and where do the parts of an envelope stand.
//!
//! Grammar: RFC 8259. The text may nest to any depth that its own length allows; the depth is reported, and refused by
//! the caller, so that an over-deep text is told apart from one that is no JSON at all. Nothing is decoded or copied.

use std::ops::Range;

#[cfg(test)]
mod tests;

/// The kind of a JSON value, as its first byte tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`
    Null,
}

/// What one pass found out about a whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scan {
    /// The kind of the root value.
    pub root: Kind,
    /// The deepest nesting of containers; a scalar has 0, `{}` has 1.
    pub depth: usize,
    /// Whether every number is finite as an IEEE 754 double.
    pub finite: bool,
}

/// A member or an element of a container at level 1 (the root) or level 2 (a member of the root object).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Child {
    /// 1 for a child of the root, 2 for a grandchild through an object. A child is told after its own children.
    pub level: u8,
    /// Where the key stands, quotes excluded; `None` for an array's element.
    pub key: Option<Range<usize>>,
    /// Where the value stands, white space around it excluded.
    pub value: Range<usize>,
    /// The value's kind.
    pub kind: Kind,
}

/// The text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {at}")]
pub struct NotJson {
    /// The first byte that no JSON text could have there.
    pub at: usize,
}

/// Checks `text` and tells each child of the root, and of the root object's members, to `visit`.
///
/// Iterative, one pass. It allocates only for texts nested deeper than 128.
///
/// # Errors
/// [`NotJson`] with the offset where the grammar broke; `visit` may have been called before.
pub fn scan(text: &str, mut visit: impl FnMut(&Child)) -> Result<Scan, NotJson> {
    Scanner {
        bytes: text.as_bytes(),
        at: 0,
        stack: Stack::default(),
        deepest: 0,
        finite: true,
        open: [None, None],
    }
    .run(&mut visit)
}

/// Whether each open container is an object; the innermost 128 need no allocation.
#[derive(Default)]
struct Stack {
    top: u128,
    depth: usize,
    spilled: Vec<u128>,
}

impl Stack {
    fn push(&mut self, object: bool) {
        if self.depth != 0 && self.depth.is_multiple_of(128) {
            self.spilled.push(self.top);
        }
        self.top = (self.top << 1) | u128::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.top >>= 1;
        if self.depth != 0 && self.depth.is_multiple_of(128) {
            self.top = self.spilled.pop().unwrap_or(0);
        }
    }

    fn in_object(&self) -> bool {
        self.top & 1 == 1
    }
}

/// A child whose value has begun.
#[derive(Clone)]
struct Open {
    key: Option<Range<usize>>,
    start: usize,
    kind: Kind,
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Stack,
    deepest: usize,
    finite: bool,
    /// The children under way at levels 1 and 2.
    open: [Option<Open>; 2],
}

impl Scanner<'_> {
    fn run(mut self, visit: &mut impl FnMut(&Child)) -> Result<Scan, NotJson> {
        self.skip_space();
        let root = self.kind()?;
        let mut key = None;
        loop {
            // A value stands here.
            let depth = self.stack.depth;
            let kind = self.kind()?;
            // Taken whether or not anyone is told, so that it never reaches an element that stands later.
            let own_key = key.take();
            if depth == 1 || (depth == 2 && self.watches_grandchildren()) {
                self.open[depth - 1] = Some(Open {
                    key: own_key,
                    start: self.at,
                    kind,
                });
            }
            match kind {
                Kind::Object | Kind::Array => {
                    let object = kind == Kind::Object;
                    self.at += 1;
                    self.stack.push(object);
                    self.deepest = self.deepest.max(self.stack.depth);
                    self.skip_space();
                    if self.peek() != Some(if object { b'}' } else { b']' }) {
                        if object {
                            key = Some(self.key()?);
                        }
                        continue;
                    }
                    self.at += 1;
                    self.stack.pop();
                }
                Kind::String => {
                    self.string()?;
                }
                Kind::Number => self.number()?,
                Kind::Bool => self.literal(if self.peek() == Some(b't') {
                    b"true"
                } else {
                    b"false"
                })?,
                Kind::Null => self.literal(b"null")?,
            }
            // A value ended here; close what ends with it.
            loop {
                self.ended(visit);
                self.skip_space();
                if self.stack.depth == 0 {
                    return if self.at == self.bytes.len() {
                        Ok(Scan {
                            root,
                            depth: self.deepest,
                            finite: self.finite,
                        })
                    } else {
                        Err(self.wrong())
                    };
                }
                let object = self.stack.in_object();
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        self.skip_space();
                        if object {
                            key = Some(self.key()?);
                        }
                        break;
                    }
                    Some(b'}') if object => self.at += 1,
                    Some(b']') if !object => self.at += 1,
                    _ => return Err(self.wrong()),
                }
                self.stack.pop();
            }
        }
    }

    /// Grandchildren are told of the root object's container members only.
    fn watches_grandchildren(&self) -> bool {
        matches!(&self.open[0], Some(open) if open.key.is_some() && open.kind == Kind::Object)
    }

    fn ended(&mut self, visit: &mut impl FnMut(&Child)) {
        let depth = self.stack.depth;
        let Some(level @ (1 | 2)) = u8::try_from(depth).ok() else {
            return;
        };
        if let Some(open) = self.open.get_mut(depth - 1).and_then(Option::take) {
            visit(&Child {
                level,
                key: open.key,
                value: open.start..self.at,
                kind: open.kind,
            });
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn wrong(&self) -> NotJson {
        NotJson { at: self.at }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn kind(&self) -> Result<Kind, NotJson> {
        Ok(match self.peek() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => return Err(self.wrong()),
        })
    }

    /// A key, its colon, and the space up to the value.
    fn key(&mut self) -> Result<Range<usize>, NotJson> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong());
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.wrong());
        }
        self.at += 1;
        self.skip_space();
        Ok(key)
    }

    /// A string from its opening quote; yields where its inside stands.
    fn string(&mut self) -> Result<Range<usize>, NotJson> {
        self.at += 1;
        let start = self.at;
        loop {
            self.at += plain_run(self.bytes.get(self.at..).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(start..self.at - 1);
                }
                Some(b'\\') => self.escape()?,
                _ => return Err(self.wrong()),
            }
        }
    }

    fn escape(&mut self) -> Result<(), NotJson> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.wrong());
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.wrong()),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), NotJson> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let whole = if self.peek() == Some(b'0') {
            self.at += 1;
            1
        } else {
            self.digits()?
        };
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        let mut exponent = 0;
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            exponent = self.digits()?;
        }
        // Only a number this long can pass the largest double (1.8e308), so only such a number is evaluated.
        if whole > 300 || exponent > 0 {
            let text = self.bytes.get(start..self.at).unwrap_or_default();
            let value = std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.parse::<f64>().ok());
            self.finite &= value.is_none_or(f64::is_finite);
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<usize, NotJson> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.wrong());
        }
        Ok(self.at - start)
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), NotJson> {
        for expected in word {
            if self.peek() != Some(*expected) {
                return Err(self.wrong());
            }
            self.at += 1;
        }
        Ok(())
    }
}

/// How many bytes from the start need no look: neither a quote, nor a backslash, nor a control character.
fn plain_run(bytes: &[u8]) -> usize {
    /// Keys and short strings end within so many bytes, a word at a time; blocks pay for long ones.
    const HEAD: usize = 32;
    const BLOCK: usize = 32;
    let mut at = 0;
    let (words, _) = bytes.as_chunks::<8>();
    for word in words.iter().take(HEAD / 8) {
        let stops = stops_in_word(u64::from_le_bytes(*word));
        if stops != 0 {
            // The lowest mark is exact, and it stands in the top bit of its byte.
            return at + stops.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    if at == HEAD {
        let (blocks, _) = bytes.get(at..).unwrap_or_default().as_chunks::<BLOCK>();
        for block in blocks {
            // In bytes and without a branch, so that the compiler makes vector comparisons of it (measured: 15 times
            // faster than the same with booleans).
            let stop = block.iter().fold(0_u8, |stop, byte| {
                stop | u8::from(*byte == b'"') | u8::from(*byte == b'\\') | u8::from(*byte < 0x20)
            });
            if stop != 0 {
                break;
            }
            at += BLOCK;
        }
    }
    let tail = bytes.get(at..).unwrap_or_default();
    let stop = tail
        .iter()
        .position(|byte| matches!(*byte, b'"' | b'\\' | ..0x20));
    at + stop.unwrap_or(tail.len())
}

/// Marks, in the top bit of its byte, the first byte that stops a run; bytes above it may be marked falsely.
fn stops_in_word(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    let below = |word: u64, bound: u8| word.wrapping_sub(ONES * u64::from(bound)) & !word & TOPS;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x20) | equal(b'"') | equal(b'\\')
}

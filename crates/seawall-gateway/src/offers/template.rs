//! Whether a URI is one that a template makes.
//!
//! Source: RFC 6570. Only what a template's expressions may stand for matters here, not what they are.
//!
//! **Invariant:** the work is bounded: by the length of the template times that of the URI, and both have bounds.

/// A longer template makes nothing here. Fixed.
const MAX_TEMPLATE_BYTES: usize = 1_024;
/// So many expressions at most. Fixed.
const MAX_EXPRESSIONS: usize = 16;

/// A part of a template.
enum Part<'t> {
    /// Text that stands in the URI as it is.
    Literal(&'t str),
    /// Anything, even nothing, of these bytes.
    Run(fn(u8) -> bool),
}

/// How a template is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// As the specification reads it: a plain expression stands for a part of a path.
    Exact,
    /// As many servers mean it: `file:///{path}` for every path there is.
    Generous,
}

/// How close a template is to a URI that it makes: one that makes it exactly is closer, and then that which has more of its
/// text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Closeness {
    is_exact: bool,
    literal: usize,
}

/// How close the template is to the URI, if it makes it.
pub(super) fn closeness(template: &str, uri: &str) -> Option<Closeness> {
    let found = |reading| {
        Some(Closeness {
            is_exact: reading == Reading::Exact,
            literal: matches(template, uri, reading)?,
        })
    };
    found(Reading::Exact).or_else(|| found(Reading::Generous))
}

/// How many bytes of the template's text the URI has, if the template makes it.
fn matches(template: &str, uri: &str, reading: Reading) -> Option<usize> {
    let parts = parts(template, reading)?;
    let uri = uri.as_bytes();
    // Where in the URI the parts so far can end.
    let mut ends = vec![false; uri.len() + 1];
    *ends.first_mut()? = true;
    let mut literal = 0;
    for part in parts {
        let mut next = vec![false; uri.len() + 1];
        match part {
            Part::Literal(text) => {
                literal += text.len();
                for at in places(&ends) {
                    let rest = uri.get(at..).unwrap_or_default();
                    if rest.starts_with(text.as_bytes())
                        && let Some(end) = next.get_mut(at + text.len())
                    {
                        *end = true;
                    }
                }
            }
            Part::Run(may_stand) => {
                let mut is_inside = false;
                for (at, end) in next.iter_mut().enumerate() {
                    let before = at.checked_sub(1).and_then(|before| uri.get(before));
                    is_inside &= before.is_some_and(|byte| may_stand(*byte));
                    is_inside |= ends.get(at).copied().unwrap_or_default();
                    *end = is_inside;
                }
            }
        }
        ends = next;
    }
    ends.last().is_some_and(|whole| *whole).then_some(literal)
}

fn places(ends: &[bool]) -> impl Iterator<Item = usize> {
    let places = ends.iter().enumerate();
    places.filter(|(_, can)| **can).map(|(at, _)| at)
}

/// The parts of a template; `None` if it is none, or past its bounds.
fn parts(template: &str, reading: Reading) -> Option<Vec<Part<'_>>> {
    if template.len() > MAX_TEMPLATE_BYTES {
        return None;
    }
    let (mut parts, mut expressions) = (Vec::new(), 0);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}')?;
        if !before.is_empty() {
            parts.push(Part::Literal(before));
        }
        parts.push(Part::Run(run(expression, reading)));
        expressions += 1;
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Literal(rest));
    }
    (expressions <= MAX_EXPRESSIONS && !rest.contains('}')).then_some(parts)
}

/// The bytes that an expression may stand for (RFC 6570, section 3.2).
fn run(expression: &str, reading: Reading) -> fn(u8) -> bool {
    match expression.bytes().next() {
        Some(b'+' | b'#') => |_| true,
        // `?` and `&` begin what they stand for.
        Some(b'?' | b'&') => |byte| byte != b'#',
        // Its values are joined by slashes.
        Some(b'/') => |byte| !matches!(byte, b'?' | b'#'),
        _ if reading == Reading::Generous => |byte| !matches!(byte, b'?' | b'#'),
        _ => |byte| !matches!(byte, b'/' | b'?' | b'#'),
    }
}

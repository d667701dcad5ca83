//! A pattern of capabilities, and whether it covers one.

use std::fmt;
use std::str::FromStr;

use super::Capability;
use super::capability::{is_name, is_resource, parts};

/// `namespace:operation:resource`, where each of the first two may be `*`, which is any, and the resource may hold `*` and
/// `**` as segments ([`policy`](super)). So `fs:read:/srv/**`, `net:*:**`, `*:*:**`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern {
    text: String,
    namespace: Name,
    operation: Name,
    resource: Vec<Element>,
}

/// The text is not a pattern. One that does not parse authorises nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a pattern of the form namespace:operation:resource, where * and ** stand alone between \":\" and \"/\""
)]
pub struct InvalidPattern;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    Any,
    Is(String),
}

/// A part of a resource. Wildcards that stand side by side are one part: in which order does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Element {
    Literal(String),
    /// So many segments.
    Exactly(usize),
    /// So many segments or more.
    AtLeast(usize),
}

impl Pattern {
    /// Whether the pattern matches everything that the capability could mean: `fs:read:**` is covered by `fs:read:**` and
    /// by `*:*:**`, and by no pattern that names a folder.
    #[must_use]
    pub fn covers(&self, capability: &Capability) -> bool {
        self.namespace.is(capability.namespace())
            && self.operation.is(capability.operation())
            && covers(&self.resource, capability.resource())
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        let (namespace, operation, resource) = parts(text).ok_or(InvalidPattern)?;
        if !is_resource(resource) {
            return Err(InvalidPattern);
        }
        Ok(Self {
            namespace: Name::parse(namespace)?,
            operation: Name::parse(operation)?,
            resource: elements(resource),
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Name {
    fn parse(text: &str) -> Result<Self, InvalidPattern> {
        match text {
            "*" => Ok(Self::Any),
            name if is_name(name) => Ok(Self::Is(name.to_owned())),
            _ => Err(InvalidPattern),
        }
    }

    fn is(&self, other: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(name) => name == other,
        }
    }
}

fn elements(resource: &str) -> Vec<Element> {
    let mut elements = Vec::new();
    for segment in resource.split('/') {
        let (more, open) = match segment {
            "*" => (1, false),
            "**" => (0, true),
            literal => {
                elements.push(Element::Literal(literal.to_owned()));
                continue;
            }
        };
        let element = match elements.pop() {
            Some(Element::Exactly(least)) if !open => Element::Exactly(least + more),
            Some(Element::Exactly(least) | Element::AtLeast(least)) => {
                Element::AtLeast(least + more)
            }
            before => {
                elements.extend(before);
                if open {
                    Element::AtLeast(more)
                } else {
                    Element::Exactly(more)
                }
            }
        };
        elements.push(element);
    }
    elements
}

/// Whether `pattern` matches every resource that `resource`, whose wildcards stand for anything, could mean.
///
/// The segments of the resource are read as letters: a literal is matched by itself, a `*` by one segment of a wildcard, and
/// a `**` only by a wildcard that is open, of whose least number it is none. Work: the product of the two lengths.
fn covers(pattern: &[Element], resource: &str) -> bool {
    let segments: Vec<&str> = resource.split('/').collect();
    let is_open = |segment: &&str| **segment == *"**";
    // `reached[n]`: what was read of the pattern so far can cover the first n segments.
    let mut reached = vec![false; segments.len() + 1];
    if let Some(nothing) = reached.first_mut() {
        *nothing = true;
    }
    for element in pattern {
        let mut next = vec![false; reached.len()];
        let from = reached.iter().enumerate().filter(|(_, reached)| **reached);
        for (start, _) in from {
            let rest = segments.get(start..).unwrap_or_default();
            let ends = match element {
                Element::Literal(text) => {
                    let is_it = rest.first().is_some_and(|segment| segment == text);
                    is_it.then_some((1, 1))
                }
                Element::Exactly(count) => rest
                    .get(..*count)
                    .filter(|taken| !taken.iter().any(is_open))
                    .map(|_| (*count, *count)),
                Element::AtLeast(count) => least_prefix(rest, *count).map(|end| (end, rest.len())),
            };
            if let Some((first, last)) = ends
                && let Some(covered) = next.get_mut(start + first..=start + last)
            {
                covered.fill(true);
            }
            if matches!(element, Element::AtLeast(_)) && ends.is_some() {
                // Whatever a later start could cover, this one does.
                break;
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

/// The length of the shortest beginning of `segments` that holds `count` of them that are surely there.
fn least_prefix(segments: &[&str], count: usize) -> Option<usize> {
    if count == 0 {
        return Some(0);
    }
    let sure = segments
        .iter()
        .enumerate()
        .filter(|(_, segment)| **segment != "**");
    sure.map(|(at, _)| at + 1).nth(count - 1)
}

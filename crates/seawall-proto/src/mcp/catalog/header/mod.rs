//! `x-mcp-header`: arguments that a server wants to see in a header too.
//!
//! Source: 2026-07-28, `basic/transports/streamable-http`, "Custom Headers from Tool Parameters".
//!
//! **Invariant:** what is kept of a schema is linear in its size: a key on the way to many annotated arguments stands
//! here once. Arguments are read once per level that leads to one.

use std::collections::{HashMap, HashSet};

use crate::framing::Kind;
use crate::json::{Json, decode_string};

#[cfg(test)]
mod tests;

const ANNOTATION: &str = "x-mcp-header";
/// Keywords whose value is one schema that no argument's path leads through.
const ASIDE: [&str; 12] = [
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];
/// Keywords whose value is an array, or an object, of such schemas.
const ASIDE_MANY: [&str; 10] = [
    "allOf",
    "anyOf",
    "oneOf",
    "prefixItems",
    "items",
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
];
/// The largest integer that a header may carry: 2^53 - 1.
const MAX_INTEGER: f64 = 9_007_199_254_740_991.0;

/// The arguments of a tool that go into headers `Mcp-Param-*` too.
#[derive(Debug, Clone, Default)]
pub struct HeaderParams {
    /// The objects on the way to them, the arguments as a whole first: what each of their keys leads to.
    steps: Vec<HashMap<String, Step>>,
    names: usize,
}

/// What a key of an object on the way leads to. A schema may annotate an argument and its parts too.
#[derive(Debug, Clone, Default)]
struct Step {
    /// What stands behind `Mcp-Param-`: a token of RFC 9110.
    name: Option<String>,
    /// The object that it is, of [`HeaderParams::steps`].
    into: Option<usize>,
}

/// A use of `x-mcp-header` that the revision forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an x-mcp-header stands where it may not, names no header, or names one twice")]
pub struct BadHeaderParam;

/// A property on the way from the root of a schema, and the one that holds it.
struct Property {
    key: String,
    within: Option<usize>,
}

/// Which arguments a schema describes.
#[derive(Clone, Copy)]
enum Place {
    Root,
    Property(usize),
    /// None that a path of properties leads to.
    Aside,
}

impl HeaderParams {
    /// The annotated arguments of an input schema.
    ///
    /// # Errors
    /// [`BadHeaderParam`] if an annotation is one that the revision forbids.
    pub fn of(schema: &Json) -> Result<Self, BadHeaderParam> {
        let mut params = Self::default();
        if memchr::memmem::find(schema.as_bytes(), b"x-mcp-").is_none()
            && memchr::memchr(b'\\', schema.as_bytes()).is_none()
        {
            return Ok(params);
        }
        let mut properties: Vec<Property> = Vec::new();
        let mut taken = HashSet::new();
        // The place in `steps` of each object on the way to an annotated one, by its property; the root has none.
        let mut objects = HashMap::from([(None, 0)]);
        params.steps.push(HashMap::new());
        let mut open = vec![(schema.clone(), Place::Root)];
        while let Some((schema, place)) = open.pop() {
            let mut kind = None;
            let mut annotation = None;
            for (key, value) in schema.members() {
                match key.as_str() {
                    ANNOTATION => annotation = Some(value),
                    "type" => kind = value.string().map(|kind| kind.into_owned()),
                    "properties" => {
                        for (key, property) in value.members() {
                            let within = match place {
                                Place::Root => None,
                                Place::Property(at) => Some(at),
                                Place::Aside => {
                                    open.push((property, Place::Aside));
                                    continue;
                                }
                            };
                            open.push((property, Place::Property(properties.len())));
                            properties.push(Property { key, within });
                        }
                    }
                    key if ASIDE.contains(&key) && value.kind() == Kind::Object => {
                        open.push((value, Place::Aside));
                    }
                    key if ASIDE_MANY.contains(&key) => {
                        let elements = value.elements().into_iter();
                        let members = value.members().into_iter().map(|(_, schema)| schema);
                        open.extend(elements.chain(members).map(|one| (one, Place::Aside)));
                    }
                    _ => {}
                }
            }
            let Some(annotation) = annotation else {
                continue;
            };
            let name = annotation.string().ok_or(BadHeaderParam)?.into_owned();
            let Place::Property(at) = place else {
                return Err(BadHeaderParam);
            };
            let plain = matches!(kind.as_deref(), Some("string" | "integer" | "boolean"));
            let fits = !name.is_empty() && name.bytes().all(is_token);
            if !plain || !fits || !taken.insert(name.to_ascii_lowercase()) {
                return Err(BadHeaderParam);
            }
            params.names += 1;
            params.lead_to(&properties, &mut objects, at, name);
        }
        Ok(params)
    }

    /// Notes the way to the property `at`, as far as it is not noted yet.
    fn lead_to(
        &mut self,
        properties: &[Property],
        objects: &mut HashMap<Option<usize>, usize>,
        at: usize,
        name: String,
    ) {
        let mut name = Some(name);
        let mut into = None;
        let mut next = Some(at);
        while let Some(property) = next.and_then(|at| properties.get(at)) {
            let known = objects.get(&property.within).copied();
            let object = known.unwrap_or(self.steps.len());
            if known.is_none() {
                objects.insert(property.within, object);
                self.steps.push(HashMap::new());
            }
            if let Some(object) = self.steps.get_mut(object) {
                let step = object.entry(property.key.clone()).or_default();
                step.name = name.take().or(step.name.take());
                step.into = into.or(step.into);
            }
            if known.is_some() {
                return;
            }
            into = Some(object);
            next = property.within;
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names == 0
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names
    }

    /// What stands behind `Mcp-Param-` in the header of each.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let steps = self.steps.iter().flat_map(HashMap::values);
        steps.filter_map(|step| step.name.as_deref())
    }

    /// What stands behind `Mcp-Param-` in each header for these arguments, and its value, not yet encoded. An argument
    /// that is missing, null, or neither a string, an integer nor a boolean has none.
    #[must_use]
    pub fn values(&self, arguments: &Json) -> Vec<(String, String)> {
        let mut values = Vec::new();
        let mut open = vec![(arguments.clone(), 0)];
        while let Some((object, at)) = open.pop() {
            let Some(steps) = self.steps.get(at) else {
                continue;
            };
            object.children(|key, value| {
                let step = key.and_then(|key| steps.get(&*decode_string(key).text));
                if let Some(into) = step.and_then(|step| step.into) {
                    open.push((value.clone(), into));
                }
                if let Some(name) = step.and_then(|step| step.name.clone())
                    && let Some(value) = header_value(&value)
                {
                    values.push((name, value));
                }
            });
        }
        // Of a key that stands twice the last counts, as for most that read JSON.
        values.reverse();
        values.sort_by(|(one, _), (other, _)| one.cmp(other));
        values.dedup_by(|later, earlier| later.0 == earlier.0);
        values
    }
}

/// RFC 9110, section 5.6.2: `tchar`.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn header_value(value: &Json) -> Option<String> {
    match value.kind() {
        Kind::String => Some(value.string()?.into_owned()),
        Kind::Bool => Some(value.as_str().to_owned()),
        Kind::Number => {
            let number: f64 = value.as_str().parse().ok()?;
            // Plus zero: a negative zero is written as 0.
            (number.fract() == 0.0 && number.abs() <= MAX_INTEGER)
                .then(|| format!("{:.0}", number + 0.0))
        }
        _ => None,
    }
}

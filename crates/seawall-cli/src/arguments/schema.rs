//! A place in a tool's input schema: just enough of JSON Schema to know what a key may hold.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// How many parts of a schema one question may visit: a schema that refers to itself is finite work.
const MAX_VISITS: usize = 1_000;
/// How many values one question may copy out of a schema, those within others and long texts' parts included. More than one
/// list of choices can hold, so that only lists that are referred to again and again come to it.
const MAX_VALUES: usize = 50_000;
/// Of a text, so many bytes count as one more value.
const BYTES_A_VALUE: usize = 64;
/// How deep alternatives may nest.
const MAX_NESTING: usize = 16;

/// A schema and the document that its references point into; `None` where nothing is said.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    document: &'a Value,
    place: Option<&'a Value>,
}

/// What applies at one place together: it itself, and what its reference leads to, in that order.
#[derive(Default)]
struct Applied<'a> {
    places: Vec<&'a Value>,
    /// Whether a reference leads nowhere that could be read.
    dangles: bool,
}

/// The schema allows only these names.
#[derive(Debug)]
pub(super) struct Closed {
    pub(super) names: Vec<String>,
}

/// What is left to do for one question, however many places of the schema it leads to.
pub(super) struct Budget {
    visits: Cell<usize>,
    values: Cell<usize>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            visits: Cell::new(MAX_VISITS),
            values: Cell::new(MAX_VALUES),
        }
    }

    fn spend(&self) -> bool {
        take(&self.visits, 1)
    }

    /// Whether these values of the schema may be copied, with all that they hold. It recurses as deep as they nest, which
    /// their parser bounds.
    pub(super) fn copies(&self, values: &[Value]) -> bool {
        values.iter().all(|value| match value {
            Value::Array(items) => take(&self.values, 1) && self.copies(items),
            Value::Object(members) => members.iter().all(|(name, member)| {
                take(&self.values, 1 + name.len() / BYTES_A_VALUE)
                    && self.copies(std::slice::from_ref(member))
            }),
            Value::String(text) => take(&self.values, 1 + text.len() / BYTES_A_VALUE),
            _ => take(&self.values, 1),
        })
    }
}

fn take(left: &Cell<usize>, wanted: usize) -> bool {
    let rest = left.get().checked_sub(wanted);
    left.set(rest.unwrap_or(0));
    rest.is_some()
}

/// The places that one walk has come through: many references may lead to one.
#[derive(Default)]
struct Seen(RefCell<HashSet<*const Value>>);

impl Seen {
    fn is_new(&self, place: &Value) -> bool {
        self.0.borrow_mut().insert(std::ptr::from_ref(place))
    }
}

impl<'a> Schema<'a> {
    pub(super) fn root(document: &'a Value) -> Self {
        Self {
            document,
            place: Some(document),
        }
    }

    fn at(self, place: Option<&'a Value>) -> Self {
        Self { place, ..self }
    }

    /// The schemas that together say what this place holds, in order: itself, or its alternatives.
    pub(super) fn alternatives(self, budget: &Budget) -> Vec<&'a Value> {
        let mut found = Vec::new();
        self.collect_alternatives(0, budget, &Seen::default(), &mut found);
        found
    }

    /// Whether this place says something, now or before.
    fn collect_alternatives(
        self,
        nesting: usize,
        budget: &Budget,
        seen: &Seen,
        found: &mut Vec<&'a Value>,
    ) -> bool {
        if nesting > MAX_NESTING || !budget.spend() {
            return false;
        }
        let applied = self.applied();
        for place in &applied.places {
            if !seen.is_new(place) {
                return true;
            }
            if says(place, &["type", "enum", "const"]) {
                found.push(place);
                return true;
            }
            for key in ["anyOf", "oneOf", "allOf"] {
                let mut says = false;
                for branch in branches(place, key) {
                    says |= self.at(Some(branch)).collect_alternatives(
                        nesting + 1,
                        budget,
                        seen,
                        found,
                    );
                }
                if says {
                    return true;
                }
            }
        }
        let mut places = applied.places.iter();
        let of_shape = places.find(|place| says(place, &["properties", "items"]));
        let last = applied.places.last().filter(|_| !applied.dangles);
        let Some(place) = of_shape.or(last) else {
            return false;
        };
        found.push(place);
        true
    }

    /// The schema of an array's items.
    pub(super) fn items_of(self, array: &'a Value) -> Self {
        let applied = self.at(Some(array)).applied();
        let mut items = applied.places.iter().filter_map(|place| place.get("items"));
        self.at(items.find(|items| items.is_object()))
    }

    /// Splits a dotted key into a member's name and the rest: a declared name with dots in it wins.
    pub(super) fn split_key(self, key: &str) -> (&str, Option<&str>) {
        if !key.contains('.') || self.property(key).is_some() {
            return (key, None);
        }
        let dots: Vec<usize> = key
            .match_indices('.')
            .map(|(at, _)| at)
            .take(super::MAX_DEPTH)
            .collect();
        let declared = dots
            .iter()
            .rev()
            .find(|at| self.property(&key[..**at]).is_some());
        match declared.or_else(|| dots.first()) {
            Some(&at) if at > 0 && at + 1 < key.len() => (&key[..at], Some(&key[at + 1..])),
            _ => (key, None),
        }
    }

    /// The schema of the member `name`; unknown members are allowed unless the schema is closed.
    pub(super) fn member(self, name: &str) -> Result<Self, Closed> {
        if let Some(property) = self.property(name) {
            return Ok(self.at(Some(property)));
        }
        let Applied { places, .. } = self.applied();
        let has = |key: &str, value: &Value| places.iter().any(|at| at.get(key) == Some(value));
        let closed = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|key| has(key, &Value::Bool(false)));
        if closed
            && !places
                .iter()
                .any(|place| says(place, &["patternProperties"]))
        {
            let mut names = BTreeSet::new();
            self.each_properties(|properties| {
                names.extend(properties.keys());
                None
            });
            let names = names.into_iter().cloned().collect();
            return Err(Closed { names });
        }
        let mut others = places
            .iter()
            .filter_map(|at| at.get("additionalProperties"));
        Ok(self.at(others.find(|schema| schema.is_object())))
    }

    fn property(self, name: &str) -> Option<&'a Value> {
        self.each_properties(|properties| properties.get(name))
    }

    /// Shows each `properties` that applies here to `visit` until it finds something.
    fn each_properties(
        self,
        mut visit: impl FnMut(&'a serde_json::Map<String, Value>) -> Option<&'a Value>,
    ) -> Option<&'a Value> {
        self.visit_properties(0, &Budget::new(), &Seen::default(), &mut visit)
    }

    fn visit_properties(
        self,
        nesting: usize,
        budget: &Budget,
        seen: &Seen,
        visit: &mut dyn FnMut(&'a serde_json::Map<String, Value>) -> Option<&'a Value>,
    ) -> Option<&'a Value> {
        if nesting > MAX_NESTING || !budget.spend() {
            return None;
        }
        self.applied().places.into_iter().find_map(|place| {
            if !seen.is_new(place) {
                return None;
            }
            let own = place.get("properties").and_then(Value::as_object);
            if let Some(found) = own.and_then(&mut *visit) {
                return Some(found);
            }
            ["allOf", "anyOf", "oneOf"]
                .iter()
                .flat_map(|key| branches(place, key))
                .find_map(|branch| {
                    self.at(Some(branch))
                        .visit_properties(nesting + 1, budget, seen, visit)
                })
        })
    }

    /// The place and, reference by reference, what it refers to; only references into the same document are followed.
    fn applied(self) -> Applied<'a> {
        let mut applied = Applied::default();
        let mut next = self.place;
        while let Some(place) = next.take_if(|_| applied.places.len() < MAX_NESTING) {
            let reference = place.get("$ref").and_then(Value::as_str);
            next = reference.and_then(|reference| self.target(reference));
            applied.dangles = reference.is_some() && next.is_none();
            // What stands beside a reference counts, but for drafts in which it does not.
            if next.is_none() || !self.reference_stands_alone() {
                applied.places.push(place);
            }
        }
        applied.dangles |= next.is_some();
        applied
    }

    fn target(self, reference: &str) -> Option<&'a Value> {
        // A pointer in a URI's fragment is percent-encoded (RFC 6901, section 6).
        let pointer = percent_decode_str(reference.strip_prefix('#')?);
        self.document.pointer(&pointer.decode_utf8().ok()?)
    }

    /// Whether the document is of a draft before 2019-09.
    fn reference_stands_alone(self) -> bool {
        let dialect = self.document.get("$schema").and_then(Value::as_str);
        dialect.is_some_and(|dialect| {
            ["draft-03", "draft-04", "draft-06", "draft-07"]
                .iter()
                .any(|draft| dialect.contains(draft))
        })
    }
}

fn says(place: &Value, keys: &[&str]) -> bool {
    keys.iter().any(|key| place.get(key).is_some())
}

fn branches<'a>(place: &'a Value, key: &str) -> &'a [Value] {
    place
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

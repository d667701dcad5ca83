//! A place in a tool's input schema: just enough of JSON Schema to know what a key may hold.

use std::cell::Cell;

use serde_json::Value;

/// How many parts of a schema one question may visit: a schema that refers to itself is finite work.
const MAX_VISITS: usize = 1_000;
/// How deep alternatives may nest.
const MAX_NESTING: usize = 16;

/// A schema and the document that its references point into; `None` where nothing is said.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    document: &'a Value,
    place: Option<&'a Value>,
}

/// The schema allows only these names.
#[derive(Debug)]
pub(super) struct Closed {
    pub(super) names: Vec<String>,
}

/// What is left to visit.
struct Budget(Cell<usize>);

impl Budget {
    fn new() -> Self {
        Self(Cell::new(MAX_VISITS))
    }

    fn spend(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
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
    pub(super) fn alternatives(self) -> Vec<&'a Value> {
        let mut found = Vec::new();
        self.collect_alternatives(0, &Budget::new(), &mut found);
        found
    }

    fn collect_alternatives(self, nesting: usize, budget: &Budget, found: &mut Vec<&'a Value>) {
        let Some(place) = self.resolved() else {
            return;
        };
        if nesting > MAX_NESTING || !budget.spend() {
            return;
        }
        let says_itself = ["type", "enum", "const"]
            .iter()
            .any(|key| place.get(key).is_some());
        if !says_itself {
            for key in ["anyOf", "oneOf", "allOf"] {
                let before = found.len();
                for branch in branches(place, key) {
                    self.at(Some(branch))
                        .collect_alternatives(nesting + 1, budget, found);
                }
                if found.len() > before {
                    return;
                }
            }
        }
        found.push(place);
    }

    /// The schema of an array's items.
    pub(super) fn items_of(self, array: &'a Value) -> Self {
        let items = array.get("items").filter(|items| items.is_object());
        self.at(items)
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
        let Some(place) = self.resolved() else {
            return Ok(self.at(None));
        };
        let closed = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|key| place.get(key) == Some(&Value::Bool(false)));
        if closed && place.get("patternProperties").is_none() {
            let mut names = Vec::new();
            self.visit_properties(0, &Budget::new(), &mut |properties| {
                names.extend(properties.keys().cloned());
                None
            });
            return Err(Closed { names });
        }
        Ok(self.at(place
            .get("additionalProperties")
            .filter(|schema| schema.is_object())))
    }

    fn property(self, name: &str) -> Option<&'a Value> {
        self.visit_properties(0, &Budget::new(), &mut |properties| properties.get(name))
    }

    /// Shows each `properties` that applies here to `visit` until it finds something.
    fn visit_properties(
        self,
        nesting: usize,
        budget: &Budget,
        visit: &mut dyn FnMut(&'a serde_json::Map<String, Value>) -> Option<&'a Value>,
    ) -> Option<&'a Value> {
        let place = self.resolved()?;
        if nesting > MAX_NESTING || !budget.spend() {
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
                    .visit_properties(nesting + 1, budget, visit)
            })
    }

    /// The place with references followed; only those into the same document are.
    fn resolved(self) -> Option<&'a Value> {
        let mut place = self.place?;
        for _ in 0..MAX_NESTING {
            let Some(reference) = place.get("$ref").and_then(Value::as_str) else {
                return Some(place);
            };
            place = self.document.pointer(reference.strip_prefix('#')?)?;
        }
        None
    }
}

fn branches<'a>(place: &'a Value, key: &str) -> &'a [Value] {
    place
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

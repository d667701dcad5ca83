//! What of a schema applies to what of a value: the graph that the work of a check is counted on.
//!
//! It may hold edges that the schema library does not follow (a keyword of another dialect, an anchor of the same name);
//! it must hold every edge that the library may follow, or counting would promise too much. A reference that this module
//! cannot resolve is therefore refused.

use std::collections::HashMap;

use jsonschema::{Draft, Uri};
use serde_json::{Map, Value};

use super::pattern::{Objects, parts};
use super::{MAX_COMPILED, MAX_PATTERN_BYTES, MAX_SUBSCHEMAS, UnusableSchema, options};

/// How the names of JSON Schema's own schemas begin.
const META_SCHEMAS: [&str; 2] = [
    "https://json-schema.org/draft/",
    "http://json-schema.org/draft-",
];

/// The index of a [`Node`].
pub(super) type NodeId = usize;

/// All subschemas that can be reached from the root, which is node 0.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// How often, at most, the library compiles each of them.
    pub(super) ways: usize,
}

/// One schema object.
#[derive(Default)]
pub(super) struct Node {
    /// Steps that it takes on any value beside its subschemas: its keywords, the values that they list.
    pub(super) weight: usize,
    /// Schemas on the same value.
    pub(super) in_place: Vec<NodeId>,
    /// Schemas on one member. A name without a schema (`true`) is here too: it is no additional member.
    pub(super) members: HashMap<String, Option<NodeId>>,
    /// Schemas on every member.
    pub(super) every_member: Vec<NodeId>,
    /// Schemas on members that `members` does not name.
    pub(super) other_members: Vec<NodeId>,
    /// Schemas on the names of members.
    pub(super) names: Vec<NodeId>,
    /// Schemas on the elements by place; those without a schema are here too.
    pub(super) elements: Vec<Option<NodeId>>,
    /// Schemas on every element.
    pub(super) every_element: Vec<NodeId>,
    /// Schemas on elements past `elements`.
    pub(super) other_elements: Vec<NodeId>,
    /// Bytes of the compiled `pattern`.
    pub(super) pattern_bytes: usize,
    /// Bytes of the compiled patterns of `patternProperties`.
    pub(super) name_pattern_bytes: usize,
    /// Whether every byte of a string is looked at.
    pub(super) reads_strings: bool,
    /// Whether members that are strings are hashed, to find the alternatives that they select.
    pub(super) reads_members: bool,
    /// Each `anyOf` and `oneOf`.
    pub(super) unions: Vec<Union>,
    /// Values that `enum` and `const` list.
    pub(super) listed: usize,
    /// Names that `properties` and `required` list, long ones for several.
    pub(super) named: usize,
    /// `not`
    pub(super) negates: bool,
    /// `uniqueItems`
    pub(super) unique: bool,
    /// `unevaluatedProperties` or `unevaluatedItems`: what applied to the value is applied again to find out.
    pub(super) applies_again: bool,
}

/// An `anyOf` or a `oneOf`.
pub(super) struct Union {
    /// How many branches it has.
    pub(super) size: usize,
    /// Those that are objects.
    pub(super) branches: Vec<NodeId>,
}

impl Graph {
    /// The graph of a schema, and the objects in it whose `pattern` has to be [divided](super::pattern::divide) first.
    pub(super) fn of(root: &Value, draft: Draft) -> Result<(Self, Objects), UnusableSchema> {
        let mut builder = Builder {
            places: Places::of(root, draft)?,
            ids: HashMap::new(),
            waiting: Vec::new(),
            patterns: HashMap::new(),
            pattern_bytes: 0,
            divisible: Objects::new(),
        };
        let mut nodes: Vec<Node> = Vec::new();
        builder.id(root)?;
        while let Some(schema) = builder.waiting.get(nodes.len()).copied() {
            nodes.push(builder.node(schema)?);
        }
        let ways = builder.places.ways();
        if ways.saturating_mul(nodes.len()) > MAX_COMPILED {
            return Err(UnusableSchema::TooComplex);
        }
        Ok((Self { nodes, ways }, builder.divisible))
    }
}

struct Builder<'a> {
    places: Places<'a>,
    ids: HashMap<*const Map<String, Value>, NodeId>,
    /// The object of each id given out so far.
    waiting: Vec<&'a Map<String, Value>>,
    patterns: HashMap<&'a str, usize>,
    pattern_bytes: usize,
    divisible: Objects,
}

impl<'a> Builder<'a> {
    /// The id of a schema; `None` for `true` and `false`, which take no work.
    fn id(&mut self, schema: &'a Value) -> Result<Option<NodeId>, UnusableSchema> {
        let Value::Object(schema) = schema else {
            return Ok(None);
        };
        if let Some(id) = self.ids.get(&std::ptr::from_ref(schema)) {
            return Ok(Some(*id));
        }
        let id = self.waiting.len();
        if id == MAX_SUBSCHEMAS {
            return Err(UnusableSchema::TooComplex);
        }
        self.ids.insert(std::ptr::from_ref(schema), id);
        self.waiting.push(schema);
        Ok(Some(id))
    }

    fn node(&mut self, schema: &'a Map<String, Value>) -> Result<Node, UnusableSchema> {
        let mut node = Node {
            weight: 1 + schema.len(),
            ..Node::default()
        };
        for (key, value) in schema {
            match key.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    if let Value::String(reference) = value {
                        // Whatever a recursive one says, the library reads it as the only one that is allowed.
                        let reference = if key == "$recursiveRef" {
                            "#"
                        } else {
                            reference
                        };
                        for target in self.places.resolve(schema, reference)? {
                            node.in_place.extend(self.id(target)?);
                        }
                    }
                }
                "allOf" => self.each(value, &mut node.in_place)?,
                "anyOf" | "oneOf" => {
                    node.reads_members = true;
                    let mut branches = Vec::new();
                    self.each(value, &mut branches)?;
                    node.in_place.extend(&branches);
                    let size = value.as_array().map_or(0, Vec::len);
                    node.unions.push(Union { size, branches });
                }
                "not" | "if" | "then" | "else" => {
                    node.negates |= key == "not";
                    node.in_place.extend(self.id(value)?);
                }
                "dependentSchemas" | "dependencies" => {
                    node.weight += values(value);
                    for value in value.as_object().into_iter().flat_map(Map::values) {
                        node.in_place.extend(self.id(value)?);
                    }
                }
                "properties" => {
                    for (name, value) in value.as_object().into_iter().flatten() {
                        let id = self.id(value)?;
                        node.members.insert(name.clone(), id);
                        node.weight += 1;
                        node.named += 1 + name.len() / 64;
                    }
                }
                "patternProperties" => {
                    for (pattern, value) in value.as_object().into_iter().flatten() {
                        node.every_member.extend(self.id(value)?);
                        node.name_pattern_bytes += self.pattern(pattern)?;
                    }
                }
                "additionalProperties" | "unevaluatedProperties" => {
                    node.other_members.extend(self.id(value)?);
                }
                "propertyNames" => node.names.extend(self.id(value)?),
                "prefixItems" => self.places_of(value, &mut node.elements)?,
                "items" if value.is_array() => self.places_of(value, &mut node.elements)?,
                "items" | "additionalItems" | "unevaluatedItems" => {
                    node.other_elements.extend(self.id(value)?);
                }
                "contains" => node.every_element.extend(self.id(value)?),
                "pattern" => {
                    if let Value::String(pattern) = value {
                        node.pattern_bytes = self.own_pattern(schema, pattern)?;
                    }
                }
                "const" | "enum" | "required" | "dependentRequired" => {
                    let values = values(value);
                    node.weight += values;
                    match key.as_str() {
                        "enum" | "const" => node.listed += values,
                        "required" => node.named += values,
                        _ => {}
                    }
                    // A string is looked for among those of an enum by its hash.
                    node.reads_strings |= key == "enum";
                }
                "minLength" | "maxLength" | "contentEncoding" | "contentMediaType" => {
                    node.reads_strings = true;
                }
                "uniqueItems" => node.unique = true,
                _ => {}
            }
            node.applies_again |= key.starts_with("unevaluated");
        }
        Ok(node)
    }

    fn each(&mut self, list: &'a Value, into: &mut Vec<NodeId>) -> Result<(), UnusableSchema> {
        for schema in list.as_array().into_iter().flatten() {
            into.extend(self.id(schema)?);
        }
        Ok(())
    }

    fn places_of(
        &mut self,
        list: &'a Value,
        into: &mut Vec<Option<NodeId>>,
    ) -> Result<(), UnusableSchema> {
        for schema in list.as_array().into_iter().flatten() {
            into.push(self.id(schema)?);
        }
        Ok(())
    }

    /// Bytes of a compiled `pattern`; none if it is to be divided.
    fn own_pattern(
        &mut self,
        schema: &'a Map<String, Value>,
        pattern: &'a str,
    ) -> Result<usize, UnusableSchema> {
        let address = std::ptr::from_ref(schema);
        // Data that a reference made a schema stays as it is.
        if self.places.bases.contains_key(&address) && parts(pattern).is_some() {
            self.divisible.insert(address);
            return Ok(0);
        }
        self.pattern(pattern)
    }

    /// Bytes of a compiled pattern, to the next power of two: the smallest bound under which the library compiles it.
    fn pattern(&mut self, pattern: &'a str) -> Result<usize, UnusableSchema> {
        if let Some(bytes) = self.patterns.get(pattern) {
            return Ok(*bytes);
        }
        let schema = Value::Object(Map::from_iter([(
            "pattern".to_owned(),
            Value::String(pattern.to_owned()),
        )]));
        let mut bytes = 1 << 10;
        while options(bytes).build(&schema).is_err() {
            bytes *= 2;
            if bytes > MAX_PATTERN_BYTES {
                return Err(UnusableSchema::Pattern);
            }
        }
        self.pattern_bytes += bytes;
        if self.pattern_bytes > MAX_PATTERN_BYTES {
            return Err(UnusableSchema::Pattern);
        }
        self.patterns.insert(pattern, bytes);
        Ok(bytes)
    }
}

/// How many values a value holds, itself included.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        Value::String(text) => text.len() / 64,
        _ => 0,
    }
}

/// Where references can lead: every object of the schema that is no mere data, by its resource and its anchors.
struct Places<'a> {
    /// The resource that each object belongs to.
    bases: HashMap<*const Map<String, Value>, usize>,
    uris: Vec<Uri<String>>,
    roots: HashMap<String, &'a Value>,
    anchors: HashMap<&'a str, Vec<&'a Value>>,
}

/// What a part of a schema is.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Schema,
    /// A list of schemas, or an object of them by name.
    Schemas,
    /// What no keyword says, or one that not every dialect has. An `$id` may have no meaning there.
    Doubtful,
}

impl Part {
    /// What a keyword's value is; `None` for data.
    fn of(keyword: &str, value: &Value, draft: Draft) -> Option<Self> {
        let old = matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
        Some(match keyword {
            "const" | "enum" | "default" | "examples" => return None,
            "not" | "additionalProperties" => Self::Schema,
            "items" if value.is_object() => Self::Schema,
            "allOf" | "anyOf" | "oneOf" if value.is_array() => Self::Schemas,
            "properties" | "patternProperties" => Self::Schemas,
            "definitions" if old => Self::Schemas,
            "$defs" if !old => Self::Schemas,
            _ => Self::Doubtful,
        })
    }
}

impl<'a> Places<'a> {
    fn of(root: &'a Value, draft: Draft) -> Result<Self, UnusableSchema> {
        let default =
            jsonschema::uri::from_str("json-schema:///").map_err(|_| UnusableSchema::Reference)?;
        let mut places = Self {
            bases: HashMap::new(),
            roots: HashMap::from([(default.as_str().to_owned(), root)]),
            uris: vec![default],
            anchors: HashMap::new(),
        };
        places.visit(root, 0, Part::Schema, draft)?;
        Ok(places)
    }

    /// It recurses as deep as the value nests, which its parser bounds.
    fn visit(
        &mut self,
        value: &'a Value,
        base: usize,
        part: Part,
        draft: Draft,
    ) -> Result<(), UnusableSchema> {
        let of_schemas = if part == Part::Schemas {
            Part::Schema
        } else {
            Part::Doubtful
        };
        let object = match value {
            Value::Array(elements) => {
                return elements
                    .iter()
                    .try_for_each(|element| self.visit(element, base, of_schemas, draft));
            }
            Value::Object(object) => object,
            _ => return Ok(()),
        };
        // A part in another dialect would be read by other rules than these.
        if draft.detect(value) != draft {
            return Err(UnusableSchema::Dialect);
        }
        let mut base = base;
        let id_key = if draft == Draft::Draft4 { "id" } else { "$id" };
        if let Some(Value::String(id)) = object.get(id_key) {
            let (id, fragment) = id.split_once('#').unwrap_or((id, ""));
            if !fragment.is_empty() {
                self.anchors.entry(fragment).or_default().push(value);
            }
            if !id.is_empty() {
                // In the older dialects a reference silences its siblings, and so an id; nobody needs both.
                let old = matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
                if part != Part::Schema || (old && object.contains_key("$ref")) {
                    return Err(UnusableSchema::Reference);
                }
                let uri = self.join(base, id)?;
                // The library knows these by heart, whatever the schema says under their names.
                let known = META_SCHEMAS
                    .iter()
                    .any(|prefix| uri.as_str().starts_with(prefix));
                if known {
                    return Err(UnusableSchema::Reference);
                }
                // Which of two resources of one URI a reference means, no two readers agree on.
                if self.roots.insert(uri.as_str().to_owned(), value).is_some() {
                    return Err(UnusableSchema::Reference);
                }
                base = self.uris.len();
                self.uris.push(uri);
            }
        }
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(name)) = object.get(key) {
                self.anchors.entry(name).or_default().push(value);
            }
        }
        if object.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.anchors.entry("").or_default().push(value);
        }
        self.bases.insert(std::ptr::from_ref(object), base);
        object.iter().try_for_each(|(key, member)| {
            let inner = match part {
                Part::Schema => Part::of(key, member, draft),
                Part::Schemas | Part::Doubtful => Some(of_schemas),
            };
            inner.map_or(Ok(()), |inner| self.visit(member, base, inner, draft))
        })
    }

    /// In how many ways references can lead from the root resource through others without coming twice to one. The
    /// library compiles a subschema once for each way to it, since a dynamic reference depends on that.
    fn ways(&self) -> usize {
        // The default URI and that of a root with an id are the same resource; counted as two, it is the safe side.
        let others = self.uris.len() - 1;
        let mut ways = 1_usize;
        let mut longer = 1_usize;
        for left in (1..=others).rev() {
            longer = longer.saturating_mul(left);
            ways = ways.saturating_add(longer);
        }
        ways
    }

    /// Every place that a reference may mean: the one by its URI, and for a name each anchor of that name, since a
    /// dynamic one is chosen by the way that led to it.
    fn resolve(
        &self,
        from: &Map<String, Value>,
        reference: &str,
    ) -> Result<Vec<&'a Value>, UnusableSchema> {
        // Data that a reference made a schema has none.
        let base = self.bases.get(&std::ptr::from_ref(from)).copied();
        let base = base.ok_or(UnusableSchema::Reference)?;
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if fragment.contains('#') {
            return Err(UnusableSchema::Reference);
        }
        let uri = self.join(base, uri)?;
        let mut targets = Vec::new();
        if fragment.is_empty() || fragment.starts_with('/') {
            let pointer = pointer(fragment)?;
            let root = self.roots.get(uri.as_str());
            targets.extend(root.and_then(|root| root.pointer(&pointer)));
        }
        if !fragment.starts_with('/') {
            targets.extend(self.anchors.get(fragment).into_iter().flatten());
        }
        if targets.is_empty() {
            return Err(UnusableSchema::Reference);
        }
        Ok(targets)
    }

    /// As the library joins them, so that both read them one way.
    fn join(&self, base: usize, reference: &str) -> Result<Uri<String>, UnusableSchema> {
        let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'%' | b'\\');
        if !reference.bytes().all(plain) {
            return Err(UnusableSchema::Reference);
        }
        let base = self.uris.get(base).ok_or(UnusableSchema::Reference)?;
        if reference.is_empty() {
            return Ok(base.clone());
        }
        jsonschema::uri::resolve_against(&base.borrow(), reference)
            .map_err(|_| UnusableSchema::Reference)
    }
}

/// The JSON Pointer of a fragment. Readers agree on well-formed ones (RFC 6901, sections 3 and 6); what only looks like an
/// escape each reads in its own way, and is refused.
fn pointer(fragment: &str) -> Result<String, UnusableSchema> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let hex = after
            .get(..2)
            .filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .ok_or(UnusableSchema::Reference)?;
        bytes.push(u8::from_str_radix(hex, 16).map_err(|_| UnusableSchema::Reference)?);
        rest = after.get(2..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    let pointer = String::from_utf8(bytes).map_err(|_| UnusableSchema::Reference)?;
    let mut after_tildes = pointer.split('~').skip(1);
    if after_tildes.all(|after| after.starts_with(['0', '1'])) {
        Ok(pointer)
    } else {
        Err(UnusableSchema::Reference)
    }
}

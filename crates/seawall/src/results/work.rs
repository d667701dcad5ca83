//! How much work a check would be, counted on the graph of its schema, never past the bound.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::graph::{Graph, Node, NodeId, Union};
use super::{MAX_CHECK_STEPS, MAX_DISPATCH, MAX_SCHEMA_PATH, MAX_UNFOLDED};

/// Bytes of text that are looked at in one step.
const BYTES_A_STEP: usize = 64;
/// Bytes of text times bytes of a compiled pattern that take one step.
const PATTERN_BYTES_A_STEP: usize = 512;
/// Integers up to here are told apart by their nearest double.
const EXACT_INTEGER: u64 = 1 << 53;

/// How many branches a union has at least for which the library makes a table.
const DISPATCHED_BRANCHES: usize = 3;

/// The check would pass a bound.
#[derive(Debug)]
pub(super) struct TooMuchWork;

/// Whether a validator that applies each subschema wherever it could apply ends within the bounds on this value.
///
/// The count is that walk itself: it ends within the bounds, and recurses no deeper than [`MAX_SCHEMA_PATH`].
pub(super) fn fits(graph: &Graph, value: &Value) -> Result<(), TooMuchWork> {
    let mut walk = Walk {
        graph,
        left: MAX_CHECK_STEPS,
    };
    walk.visit(0, On::Value(value), Purpose::Validity, 0)
}

/// Whether the combinators and references of every subschema, without any value's members, end within the bound on
/// compiling. One that refers to itself on the same value does not.
pub(super) fn unfolds(graph: &Graph) -> Result<(), TooMuchWork> {
    let mut walk = Walk {
        graph,
        left: MAX_UNFOLDED,
    };
    (0..graph.nodes.len())
        .try_for_each(|node| walk.visit(node, On::Value(&Value::Null), Purpose::Validity, 0))
}

/// Whether finding out what tells the branches of each union apart ends within its bound, for a schema that
/// [unfolds](unfolds()).
///
/// The library looks, in each branch, for members that `enum` or `const` fix, and makes a table: for each value of one such
/// member the branches that may hold it.
pub(super) fn dispatches(graph: &Graph) -> Result<(), TooMuchWork> {
    let mut walk = Walk {
        graph,
        left: MAX_DISPATCH / graph.ways.max(1),
    };
    graph
        .nodes
        .iter()
        .flat_map(|node| &node.unions)
        .try_for_each(|union| walk.union(union))
}

/// What the branches of a union say of an object's members.
#[derive(Default)]
struct Said<'a> {
    /// Schemas that may have `properties`.
    schemas: usize,
    /// Names that they list.
    names: usize,
    members: HashMap<&'a str, Fixed>,
}

/// What may fix one member.
#[derive(Default)]
struct Fixed {
    /// Values that it is fixed to, or may not have.
    values: usize,
    /// Of these, the ones that it may not have.
    rejected: usize,
    /// How often values are rejected.
    rejections: usize,
}

/// What a schema is on: a value, or a member's name.
#[derive(Clone, Copy)]
enum On<'a> {
    Value(&'a Value),
    Name(&'a str),
}

/// What a schema is applied for.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    /// To learn whether the value is valid.
    Validity,
    /// To learn, besides, which members and elements were evaluated, for an `unevaluated…` keyword further up.
    Evaluated,
}

struct Walk<'a> {
    graph: &'a Graph,
    left: usize,
}

impl<'g> Walk<'g> {
    fn spend(&mut self, steps: usize) -> Result<(), TooMuchWork> {
        self.left = self.left.checked_sub(steps).ok_or(TooMuchWork)?;
        Ok(())
    }

    fn visit(
        &mut self,
        node: NodeId,
        on: On<'_>,
        purpose: Purpose,
        path: usize,
    ) -> Result<(), TooMuchWork> {
        if path > MAX_SCHEMA_PATH {
            return Err(TooMuchWork);
        }
        let graph = self.graph;
        let Some(node) = graph.nodes.get(node) else {
            return Ok(());
        };
        let path = path + 1;
        self.spend(1 + node.weight / 8)?;
        for inner in &node.in_place {
            self.visit(*inner, on, Purpose::Validity, path)?;
            if purpose == Purpose::Evaluated || node.applies_again {
                // Whether it applies is asked once more, and then what it evaluated.
                self.visit(*inner, on, Purpose::Validity, path)?;
                self.visit(*inner, on, Purpose::Evaluated, path)?;
            }
        }
        match on {
            On::Name(text) => self.text(node, text),
            On::Value(Value::String(text)) => self.text(node, text),
            On::Value(Value::Array(elements)) => self.elements(node, elements, path),
            On::Value(Value::Object(members)) => self.members(node, members, path),
            On::Value(_) => Ok(()),
        }
    }

    fn union(&mut self, union: &Union) -> Result<(), TooMuchWork> {
        if union.size < DISPATCHED_BRANCHES {
            return Ok(());
        }
        let mut said = Said::default();
        for branch in &union.branches {
            self.branch(*branch, &mut said)?;
        }
        // Each name is looked up in each schema.
        self.spend(said.names.saturating_mul(said.schemas) / 8)?;
        // Each value of one member gets a list of branches, for which those that reject values are gone through.
        let table = |member: &Fixed| {
            let rejections = member.rejections.min(union.size);
            let listed = union.size.saturating_mul(1 + rejections);
            member
                .values
                .saturating_mul(listed.saturating_add(member.rejected))
        };
        self.spend(said.members.values().map(table).max().unwrap_or(0))
    }

    fn branch(&mut self, node: NodeId, said: &mut Said<'g>) -> Result<(), TooMuchWork> {
        let graph = self.graph;
        let Some(node) = graph.nodes.get(node) else {
            return Ok(());
        };
        self.spend(1 + node.weight / 8)?;
        said.schemas += 1;
        said.names = said.names.saturating_add(node.named);
        for inner in &node.in_place {
            self.branch(*inner, said)?;
        }
        for (name, member) in &node.members {
            if let Some(member) = member {
                self.fixed(*member, said.members.entry(name).or_default())?;
            }
        }
        Ok(())
    }

    fn fixed(&mut self, node: NodeId, member: &mut Fixed) -> Result<(), TooMuchWork> {
        let graph = self.graph;
        let Some(node) = graph.nodes.get(node) else {
            return Ok(());
        };
        self.spend(1 + node.listed / 8)?;
        let before = member.values;
        member.values = member.values.saturating_add(node.listed);
        for inner in &node.in_place {
            self.fixed(*inner, member)?;
        }
        if node.negates {
            member.rejections += 1;
            member.rejected = member.rejected.saturating_add(member.values - before);
        }
        Ok(())
    }

    fn text(&mut self, node: &Node, text: &str) -> Result<(), TooMuchWork> {
        if node.reads_strings {
            self.spend(text.len() / BYTES_A_STEP)?;
        }
        self.pattern(text, node.pattern_bytes)
    }

    fn pattern(&mut self, text: &str, pattern_bytes: usize) -> Result<(), TooMuchWork> {
        self.spend(text.len().saturating_mul(pattern_bytes) / PATTERN_BYTES_A_STEP)
    }

    fn elements(
        &mut self,
        node: &Node,
        elements: &[Value],
        path: usize,
    ) -> Result<(), TooMuchWork> {
        if node.unique {
            self.unique(elements)?;
        }
        for (index, element) in elements.iter().enumerate() {
            let (placed, others) = match node.elements.get(index) {
                Some(placed) => (placed.as_ref(), &[][..]),
                None => (None, &node.other_elements[..]),
            };
            let inner = placed.into_iter().chain(others).chain(&node.every_element);
            for inner in inner {
                self.visit(*inner, On::Value(element), Purpose::Validity, path)?;
            }
        }
        Ok(())
    }

    fn members(
        &mut self,
        node: &Node,
        members: &Map<String, Value>,
        path: usize,
    ) -> Result<(), TooMuchWork> {
        let looked_up = node.members.len() + node.other_members.len() + node.every_member.len();
        let looks_up = looked_up > 0 || !node.names.is_empty() || node.name_pattern_bytes > 0;
        if !looks_up && !node.reads_members {
            return Ok(());
        }
        self.spend(members.len() / 8)?;
        for (name, member) in members {
            let read = if node.reads_members {
                member.as_str().map_or(0, str::len)
            } else {
                0
            };
            self.spend((name.len() + read) / BYTES_A_STEP)?;
            // Once to find the schema, once more to know whether the member is an additional one.
            self.pattern(name, node.name_pattern_bytes.saturating_mul(2))?;
            let (named, others) = match node.members.get(name) {
                Some(named) => (named.as_ref(), &[][..]),
                None => (None, &node.other_members[..]),
            };
            for inner in named.into_iter().chain(others).chain(&node.every_member) {
                self.visit(*inner, On::Value(member), Purpose::Validity, path)?;
            }
            for inner in &node.names {
                self.visit(*inner, On::Name(name), Purpose::Validity, path)?;
            }
        }
        Ok(())
    }

    /// Elements are told apart by hash. Strings hash under a random key; the hash of an object, of nested arrays, and of
    /// integers that share a double, can be made equal on purpose, and then each is compared with each.
    fn unique(&mut self, elements: &[Value]) -> Result<(), TooMuchWork> {
        let mut size = 0_usize;
        let mut collide = elements.len() <= 16;
        for element in elements {
            self.measure(element, &mut size, &mut collide)?;
        }
        if collide {
            self.spend(size.saturating_mul(elements.len()) / 8)?;
        }
        Ok(())
    }

    /// Spends the size of a value while adding it up. It recurses as deep as that nests, which its parser bounds.
    fn measure(
        &mut self,
        value: &Value,
        size: &mut usize,
        collide: &mut bool,
    ) -> Result<(), TooMuchWork> {
        let own = match value {
            Value::String(text) => 1 + text.len() / BYTES_A_STEP,
            _ => 1,
        };
        *size = size.saturating_add(own);
        self.spend(own)?;
        match value {
            Value::Array(elements) => {
                // The library hashes an array as its elements, without brackets: `[[1],2]` and `[1,[2]]` are one.
                *collide = true;
                elements
                    .iter()
                    .try_for_each(|element| self.measure(element, size, collide))
            }
            Value::Object(members) => {
                *collide = true;
                members
                    .values()
                    .try_for_each(|member| self.measure(member, size, collide))
            }
            Value::Number(number) => {
                let magnitude = number
                    .as_u64()
                    .or_else(|| number.as_i64().map(i64::unsigned_abs));
                *collide |= magnitude.is_some_and(|magnitude| magnitude > EXACT_INTEGER);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

//! Checks of a tool's structured result against the `outputSchema` that its server declared (S11).
//!
//! Both sides of the check are the server's: the schema and the value. So nothing remote is fetched, patterns run on a
//! linear engine, and the work of a check is bounded before it starts: see [`OutputValidator`]. A fault never carries
//! a value, a path or a word of the schema.
//!
//! **Invariant:** no schema and no value makes a check panic, fetch, recurse past [`MAX_SCHEMA_PATH`] schemas or take more
//! than [`MAX_CHECK_STEPS`] steps.

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions};
use seawall_proto::Json;
use seawall_proto::mcp::ResultFault;
use serde_json::Value;

mod graph;
mod pattern;
mod work;

#[cfg(test)]
mod tests;

use graph::Graph;

/// The longest `outputSchema` that is compiled, in bytes of its text.
pub const MAX_SCHEMA_BYTES: usize = 65_536;
/// The most subschemas that one `outputSchema` may reach, each counted once.
pub const MAX_SUBSCHEMAS: usize = 4_096;
/// The most schemas that all subschemas of one `outputSchema` together apply to one and the same value, through references
/// and combinators, as often as each is applied.
pub const MAX_UNFOLDED: usize = 200_000;
/// The longest chain of schemas that is under way at one time in a check: through references, combinators, members and
/// elements. A recursive schema on a deep value, or one that refers to itself on the same value, ends here.
pub const MAX_SCHEMA_PATH: usize = 192;
/// The most steps of one check. A step is one schema on one value, one member looked up or compared, or the time that
/// such a step would take in a pattern: its bytes, by the size of the pattern.
pub const MAX_CHECK_STEPS: usize = 2_000_000;
/// The sum of all compiled patterns of one schema, in bytes of their automata, each rounded up to a power of two.
pub const MAX_PATTERN_BYTES: usize = 1 << 18;
/// The most subschemas that the library compiles for one `outputSchema`: those that it reaches, times the ways through its
/// embedded resources (`$id`). With four such, about 250 subschemas; without any, [`MAX_SUBSCHEMAS`] is the bound.
pub const MAX_COMPILED: usize = 16_384;

/// The most steps of compiling what tells the branches of the `anyOf` and `oneOf` of one `outputSchema` apart. A step is one
/// value that a member of a branch is fixed to, for one branch.
pub const MAX_DISPATCH: usize = 2_000_000;

/// What one pattern may remember while it matches, in bytes.
const PATTERN_CACHE_BYTES: usize = 1 << 17;

/// An `outputSchema`, compiled. Clones share it.
///
/// Dialect: what `$schema` names (draft 4 to 2020-12), by default 2020-12. `format` is an annotation in every dialect.
/// References resolve inside the schema only.
///
/// Patterns are ECMA-262's as far as a linear engine has them. Look-ahead at the start (`^(?!…)(?=…)…`, also after single
/// characters) and look-behind at the very end (`…(?<!…)$`) are checked as patterns of their own, in `pattern`. Look-around
/// anywhere else, any in `patternProperties`, and back-references make a schema unusable.
///
/// Numbers are read as `i64`, `u64` or the nearest double. So an integer beyond 64 bits, or a fraction of more than 17
/// digits, counts as its nearest double in comparisons; `type` is decided on that too, so `1e30` is an integer. Of two
/// equal keys the last counts. A lone surrogate counts as U+FFFD.
///
/// **Bound:** before the library validates, the same walk is counted over a graph of the schema: every subschema that
/// could apply to every part of the value, as often as a validator without any memory of its own would apply it. Only if
/// that ends within [`MAX_CHECK_STEPS`] and [`MAX_SCHEMA_PATH`] does the validation run. So the cost of a refused check is
/// bounded too, and exponential ladders of `$ref`, `allOf` or recursion are refused by what they do to this value, not by
/// how they look.
#[derive(Clone)]
pub struct OutputValidator(Arc<Compiled>);

struct Compiled {
    graph: Graph,
    validator: jsonschema::Validator,
}

/// Why an `outputSchema` cannot be used. A result of its tool that needs the check is [`ResultFault::Unchecked`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableSchema {
    /// Longer than [`MAX_SCHEMA_BYTES`], more than [`MAX_SUBSCHEMAS`], or referring to itself without end on one value.
    #[error("the outputSchema is too large or refers to itself without end")]
    TooComplex,
    /// `$schema` names none of the known dialects, or a part names another one than the whole.
    #[error("the outputSchema is written in an unknown dialect or in several")]
    Dialect,
    /// A reference leads out of the schema, or to nothing in it.
    #[error("the outputSchema has a reference that does not resolve inside it")]
    Reference,
    /// A pattern is no regular expression, needs backtracking (see [`OutputValidator`]), or is too large.
    #[error("the outputSchema has a pattern that is too large, or no linear engine can match")]
    Pattern,
    /// It is not a schema of its dialect.
    #[error("the outputSchema is not a JSON Schema")]
    Invalid,
}

impl From<UnusableSchema> for ResultFault {
    fn from(_: UnusableSchema) -> Self {
        Self::Unchecked
    }
}

impl OutputValidator {
    /// Compiles a schema. It does not block on anything but the processor.
    ///
    /// # Errors
    /// [`UnusableSchema`] names the first reason found.
    pub fn compile(schema: &Json) -> Result<Self, UnusableSchema> {
        if schema.len() > MAX_SCHEMA_BYTES {
            return Err(UnusableSchema::TooComplex);
        }
        let mut schema: Value = schema
            .parse_replacing()
            .map_err(|_| UnusableSchema::Invalid)?;
        let draft = Draft::Draft202012.detect(&schema);
        if draft == Draft::Unknown {
            return Err(UnusableSchema::Dialect);
        }
        let (mut graph, divisible) = Graph::of(&schema, draft)?;
        if !divisible.is_empty() {
            pattern::divide(&mut schema, &divisible);
            let (divided, indivisible) = Graph::of(&schema, draft)?;
            if !indivisible.is_empty() {
                return Err(UnusableSchema::Pattern);
            }
            graph = divided;
        }
        work::unfolds(&graph)
            .and_then(|()| work::dispatches(&graph))
            .map_err(|_| UnusableSchema::TooComplex)?;
        let options = options(MAX_PATTERN_BYTES).with_draft(draft);
        let validator = unless_it_panics(|| options.build(&schema).ok())
            .flatten()
            .ok_or(UnusableSchema::Invalid)?;
        Ok(Self(Arc::new(Compiled { graph, validator })))
    }

    /// Checks one `structuredContent`. The result of a tool that failed needs no check: it is the tool's data, whatever its
    /// shape.
    ///
    /// # Errors
    /// [`ResultFault::Structured`] if the value breaks the schema; [`ResultFault::Unchecked`] if finding out would pass a
    /// bound.
    pub fn check(&self, structured: &Json) -> Result<(), ResultFault> {
        // Past serde's depth of 127 there is none.
        let value: Value = structured
            .parse_replacing()
            .map_err(|_| ResultFault::Unchecked)?;
        work::fits(&self.0.graph, &value).map_err(|_| ResultFault::Unchecked)?;
        match unless_it_panics(|| self.0.validator.is_valid(&value)) {
            Some(true) => Ok(()),
            Some(false) => Err(ResultFault::Structured),
            None => Err(ResultFault::Unchecked),
        }
    }
}

impl std::fmt::Debug for OutputValidator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutputValidator").finish_non_exhaustive()
    }
}

/// What the library yields; `None` if it panics, as it did on some hostile schemas. A server must not be able to take its
/// host down with one more of these.
fn unless_it_panics<T>(run: impl FnOnce() -> T) -> Option<T> {
    // What a panic left half done is dropped here, or read only by calls that each begin anew.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).ok()
}

/// The library's options that every schema and every pattern is compiled with.
fn options(pattern_bytes: usize) -> jsonschema::ValidationOptions<'static> {
    jsonschema::options()
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(pattern_bytes)
                .dfa_size_limit(PATTERN_CACHE_BYTES),
        )
}

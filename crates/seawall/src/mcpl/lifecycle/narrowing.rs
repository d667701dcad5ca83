//! What the operator lets a server know of, ready to be asked call by call (RFC-007, section 4.3).

use super::call::ToolCall;
use super::class::{Classes, ToolClass};
use crate::mcpl::policy::{Narrowing, ToolLifecycle};
use crate::mcpl::tags::Glob;

/// The operator's narrowings for one server.
#[derive(Debug, Clone)]
pub struct Narrowings {
    observe: Option<Terms>,
    inputs: Option<Terms>,
    pub(super) max_input_bytes: usize,
}

#[derive(Debug, Clone)]
struct Terms {
    tools: Option<Vec<Glob>>,
    classes: Option<Classes>,
    conversations: Option<Vec<Glob>>,
}

impl Narrowings {
    /// Those of an entry's `toolLifecycle`. A word that is no class admits nothing.
    #[must_use]
    pub fn of(policy: &ToolLifecycle) -> Self {
        let terms = |narrowing: &Option<Narrowing>| narrowing.as_ref().map(Terms::of);
        Self {
            observe: terms(&policy.observe),
            // Without a word on tools or classes arguments of everything would be told, which nobody selected.
            inputs: terms(&policy.inputs)
                .filter(|terms| terms.tools.is_some() || terms.classes.is_some()),
            max_input_bytes: usize::try_from(policy.max_input_bytes).unwrap_or(usize::MAX),
        }
    }

    /// Whether the arguments of some call could be told: if not, granting them gives nothing, and is worth a diagnostic.
    #[must_use]
    pub fn admits_some_input(&self) -> bool {
        self.inputs.is_some()
    }

    pub(super) fn observes(&self, call: &ToolCall) -> bool {
        self.observe.as_ref().is_some_and(|terms| terms.admit(call))
    }

    /// No narrowing reaches the arguments of a tool that deals with other people, or of one that is unclassed.
    pub(super) fn admits_input(&self, call: &ToolCall) -> bool {
        !call.classes.is_empty()
            && !call.classes.contains(ToolClass::Comms)
            && self.inputs.as_ref().is_some_and(|terms| terms.admit(call))
    }
}

impl Terms {
    fn of(narrowing: &Narrowing) -> Self {
        let globs = |patterns: &Option<Vec<String>>| {
            let patterns = patterns.as_ref()?;
            Some(patterns.iter().map(Glob::new).collect())
        };
        let classes = narrowing.classes.as_ref().map(|words| {
            let known = words
                .iter()
                .filter_map(|word| word.parse::<ToolClass>().ok());
            known.collect()
        });
        Self {
            tools: globs(&narrowing.tools),
            classes,
            conversations: globs(&narrowing.conversations),
        }
    }

    fn admit(&self, call: &ToolCall) -> bool {
        let any = |globs: &Option<Vec<Glob>>, text: &str| {
            globs
                .as_ref()
                .is_none_or(|globs| globs.iter().any(|glob| glob.matches(text)))
        };
        any(&self.tools, &call.tool)
            && any(&self.conversations, &call.conversation_id)
            && self
                .classes
                .is_none_or(|classes| classes.meets(call.classes))
    }
}

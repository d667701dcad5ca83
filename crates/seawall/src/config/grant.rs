//! What `grant` and `onConflict` say, checked (F4).

use super::findings::Findings;
use super::keys;
use super::problem::ProblemKind;
use super::value::Reader;
use crate::policy::{Capability, Grant, HostAction, OnConflict};

/// The two as they were written.
#[derive(Clone, Default)]
pub(super) struct Said {
    pub(super) capabilities: Vec<String>,
    pub(super) on_conflict: OnConflict,
}

impl Said {
    pub(super) fn read_capabilities(&mut self, reader: Reader<'_>) -> Option<()> {
        let Reader {
            field,
            value,
            findings,
        } = reader;
        let reader = Reader {
            field,
            value,
            findings: &mut *findings,
        };
        self.capabilities = reader.texts()?;
        if self.capabilities.is_empty() {
            // Read as "may do nothing" by one, it would mean "needs nothing, so that everybody may call it" to another.
            findings.problem(field.to_owned(), ProblemKind::EmptyGrant);
        }
        Some(())
    }

    pub(super) fn read_on_conflict(&mut self, reader: Reader<'_>) -> Option<()> {
        let choices = [
            ("serialize", OnConflict::Serialize),
            ("allow", OnConflict::Allow),
        ];
        self.on_conflict = reader.choice(&choices, "\"serialize\", \"allow\"")?;
        Some(())
    }

    /// What they mean; what is wrong is in `findings`, each with its index.
    pub(super) fn settle(&self, findings: &mut Findings) -> Grant {
        let mut capabilities = Vec::new();
        for (at, text) in self.capabilities.iter().enumerate() {
            match check(text) {
                Ok(capability) => capabilities.push(capability),
                Err(problem) => findings.problem(format!("grant[{at}]"), problem),
            }
        }
        let grant = Grant::narrowed(capabilities).unwrap_or_default();
        grant.on_conflict_of(self.on_conflict)
    }
}

fn check(text: &str) -> Result<Capability, ProblemKind> {
    let capability: Capability = text.parse().map_err(|_| ProblemKind::Capability)?;
    if HostAction::of(&capability).is_none() {
        let actions: Vec<&str> = HostAction::ALL.iter().map(|each| each.as_str()).collect();
        let written = format!("{}:{}", capability.namespace(), capability.operation());
        let nearest = keys::nearest_of(&actions, &written);
        return Err(ProblemKind::HostAction { nearest });
    }
    Ok(capability)
}

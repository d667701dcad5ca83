//! What one listing offers: the tools as flows, and how each one's output is checked.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use seawall_proto::mcp::{Catalog, Quarantined, ToolFault};

use crate::config::ServerConfig;
use crate::flows::{Flow, ProjectError, project_in_turns};
use crate::results::{OutputValidator, UnusableSchema};

/// One listing, projected. Never changes; a list that is read again is another offer.
#[derive(Default)]
pub(super) struct Offer {
    pub(super) catalog: Arc<Catalog>,
    pub(super) flows: Vec<Flow>,
    /// Where the flow of each published tool stands, by the tool's name.
    published: HashMap<String, usize>,
    /// The validator of each flow's output, compiled when a call first needs it (S11).
    validators: Vec<OnceLock<Result<Option<OutputValidator>, UnusableSchema>>>,
}

/// Why nothing can be called by a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum NoFlow {
    /// There is nothing of this name, or it is excluded.
    Unknown,
    /// The tool breaks a rule (L7, T2).
    LeftOut(ToolFault),
}

impl Offer {
    /// What `config` lets through of a catalog. Dropping it keeps nothing.
    pub(super) async fn of(
        catalog: Arc<Catalog>,
        server: &Arc<str>,
        config: &ServerConfig,
    ) -> Result<Self, ProjectError> {
        let flows = project_in_turns(
            &catalog,
            server,
            config.name_prefix(),
            config.include(),
            config.exclude(),
            config.grant(),
        )
        .await?;
        let published = flows
            .iter()
            .enumerate()
            .map(|(position, flow)| (flow.tool().to_owned(), position))
            .collect();
        let validators = flows.iter().map(|_| OnceLock::new()).collect();
        Ok(Self {
            catalog,
            flows,
            published,
            validators,
        })
    }

    /// Where the tool or the flow of this name stands.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        let by_tool = self.published.get(name).copied();
        by_tool.or_else(|| self.flows.iter().position(|flow| flow.name() == name))
    }

    /// As [`position`](Self::position), for a call: where there is none, whether it was left out of the list of a server whose
    /// flows begin with `prefix`.
    pub(super) fn find(&self, name: &str, prefix: &str) -> Result<usize, NoFlow> {
        if let Some(position) = self.position(name) {
            return Ok(position);
        }
        let of_flow = name
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_prefix('/'));
        let is_it = |tool: &&Quarantined| {
            tool.name
                .as_deref()
                .is_some_and(|known| known == name || Some(known) == of_flow)
        };
        // What is there by this name and not published was excluded, whatever else was left out.
        let known = self.catalog.get(of_flow.unwrap_or(name)).is_some();
        let left_out = self.catalog.quarantined().iter().find(is_it);
        Err(match left_out.filter(|_| !known) {
            Some(tool) => NoFlow::LeftOut(tool.fault),
            None => NoFlow::Unknown,
        })
    }

    /// The validator of a flow's output, if the tool declares a schema.
    pub(super) fn output_validator(
        &self,
        position: usize,
    ) -> Result<Option<&OutputValidator>, UnusableSchema> {
        let (Some(flow), Some(kept)) = (self.flows.get(position), self.validators.get(position))
        else {
            return Ok(None);
        };
        let schema = flow.output_document();
        let compiled = kept.get_or_init(|| schema.map(OutputValidator::compile).transpose());
        match compiled {
            Ok(validator) => Ok(validator.as_ref()),
            Err(unusable) => Err(*unusable),
        }
    }
}

//! What is offered at one moment: every published tool under its name, in pages.

use std::collections::HashMap;
use std::sync::Arc;

use seawall::Flow;
use seawall::host::Snapshot;
use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;
use seawall_proto::mcp::catalog::HeaderParams;

use super::entry::entry_of;
use super::failure::{internal, invalid};
use crate::clients::Client;
use crate::names::Names;

/// A page of the list has at most so many bytes, unless it is one tool: less than what hosts take by default, and more than
/// most lists have, since there are clients that read the first page only.
const PAGE_BYTES: usize = 768 * 1024;

/// Tools that would have one name: none of them is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Meeting {
    /// The name: a server's text.
    pub name: String,
    /// The servers whose tools they are, each as often as it has one.
    pub servers: Vec<String>,
}

/// The tools of one snapshot. Never changes.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    tools: Vec<Arc<Tool>>,
    by_name: HashMap<String, usize>,
    meetings: Vec<Meeting>,
}

#[derive(Debug)]
pub(crate) struct Tool {
    name: String,
    flow: Flow,
    entry: Json,
}

impl Offered {
    pub(crate) fn of(snapshot: &Snapshot, names: Names) -> Self {
        Self::of_flows(snapshot.flows(), names)
    }

    pub(super) fn of_flows<'f>(flows: impl Iterator<Item = &'f Flow>, names: Names) -> Self {
        let named: Vec<(String, &Flow)> = flows
            .map(|flow| (names.of(flow.server(), flow.tool()), flow))
            .collect();
        let mut having: HashMap<&str, Vec<&str>> = HashMap::with_capacity(named.len());
        for (name, flow) in &named {
            having.entry(name).or_default().push(flow.server());
        }
        let mut meetings: Vec<Meeting> = having
            .iter()
            .filter(|(_, servers)| servers.len() > 1)
            .map(|(name, servers)| Meeting {
                name: (*name).to_owned(),
                servers: servers.iter().map(|server| (*server).to_owned()).collect(),
            })
            .collect();
        meetings.sort_by(|one, other| one.name.cmp(&other.name));
        let alone = |name: &str| having.get(name).is_some_and(|servers| servers.len() == 1);
        let tools: Vec<Arc<Tool>> = named
            .iter()
            .filter(|(name, _)| alone(name))
            .map(|(name, flow)| {
                Arc::new(Tool {
                    name: name.clone(),
                    flow: (*flow).clone(),
                    entry: entry_of(flow.entry(), name),
                })
            })
            .collect();
        Self::listing(tools, meetings)
    }

    fn listing(tools: Vec<Arc<Tool>>, meetings: Vec<Meeting>) -> Self {
        let places = tools.iter().enumerate();
        Self {
            by_name: places.map(|(at, tool)| (tool.name.clone(), at)).collect(),
            tools,
            meetings,
        }
    }

    /// What of it is offered to this client.
    pub(crate) fn to(&self, client: &Client) -> Self {
        let tools = self.tools.iter().filter(|tool| client.may_call(&tool.flow));
        Self::listing(tools.cloned().collect(), Vec::new())
    }

    /// Whether clients are shown the same.
    #[expect(dead_code, reason = "for whoever tells clients of changes")]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (own, others) = (self.tools.iter(), other.tools.iter());
        let shown = |tool: &Arc<Tool>| (tool.name.clone(), tool.entry.clone());
        own.map(shown).eq(others.map(shown))
    }

    pub(crate) fn meetings(&self) -> &[Meeting] {
        &self.meetings
    }

    /// The flow of the tool of this name.
    pub(crate) fn flow(&self, name: &str) -> Option<&Flow> {
        let tool = self.tools.get(*self.by_name.get(name)?)?;
        Some(&tool.flow)
    }

    /// Which of its arguments a client mirrors in headers.
    pub(crate) fn header_params(&self, name: &str) -> Option<HeaderParams> {
        HeaderParams::of(self.flow(name)?.input_document()).ok()
    }

    /// One page: the tools after the one whose name is the cursor, as the members of a result.
    ///
    /// # Errors
    /// -32602 if the cursor is the name of none; its tool may have gone, and the client lists anew.
    pub(crate) fn page(&self, cursor: Option<&Json>) -> Result<String, ErrorObject> {
        let begin = match cursor {
            None => 0,
            Some(cursor) => {
                let name = cursor.string();
                let at = name.and_then(|name| self.by_name.get(&*name));
                at.ok_or_else(|| invalid("no such cursor; list the tools from the beginning"))? + 1
            }
        };
        let mut members = String::from("\"tools\":[");
        let mut last = None;
        let rest = self.tools.iter().skip(begin);
        for (at, tool) in rest.enumerate() {
            if at > 0 {
                if members.len() + tool.entry.len() > PAGE_BYTES {
                    let cursor = last
                        .map(Json::of)
                        .and_then(Result::ok)
                        .ok_or_else(internal)?;
                    members.push_str("],\"nextCursor\":");
                    members.push_str(cursor.as_str());
                    return Ok(members);
                }
                members.push(',');
            }
            members.push_str(tool.entry.as_str());
            last = Some(&tool.name);
        }
        members.push(']');
        Ok(members)
    }
}

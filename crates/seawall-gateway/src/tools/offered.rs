//! What is offered at one moment: every published tool under its name, in pages.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use seawall::Flow;
use seawall::host::Snapshot;
use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;
use seawall_proto::mcp::catalog::HeaderParams;

use super::entry::entry_of;
use super::failure::{internal, invalid};
use crate::clients::Client;
use crate::names::Names;
use crate::search::{self, Index, Query};

/// A page of the list has at most so many bytes, unless it is one tool: less than what hosts take by default, and more than
/// most lists have, since there are clients that read the first page only.
const PAGE_BYTES: usize = 768 * 1024;

/// So many bytes of a description, and names of arguments, are searched.
const MAX_TEXT: usize = 2_048;
const MAX_ARGUMENTS: usize = 64;

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
    /// Made for the first who searches.
    index: OnceLock<Index>,
}

#[derive(Debug)]
pub(crate) struct Tool {
    name: String,
    flow: Flow,
    /// Made for the first who lists: whoever calls does not wait for the entries of all servers.
    entry: OnceLock<Json>,
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
                    entry: OnceLock::new(),
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
            index: OnceLock::new(),
        }
    }

    /// What of it is offered to this client.
    pub(crate) fn to(&self, client: &Client) -> Self {
        let tools = self.tools.iter().filter(|tool| client.may_call(&tool.flow));
        Self::listing(tools.cloned().collect(), Vec::new())
    }

    /// How many tools' entries are made.
    #[cfg(test)]
    pub(super) fn entries_made(&self) -> usize {
        let made = self.tools.iter().filter(|tool| tool.entry.get().is_some());
        made.count()
    }

    pub(crate) fn meetings(&self) -> &[Meeting] {
        &self.meetings
    }

    /// The tools that fit a query best, as `search_tools` answers.
    ///
    /// # Errors
    /// -32602: there is no query.
    pub(crate) fn search(&self, params: Option<&Json>) -> Result<Json, ErrorObject> {
        let query = Query::of(params)?;
        let index = self.index.get_or_init(|| {
            let texts: Vec<String> = self.tools.iter().map(|tool| tool.text()).collect();
            Index::of(&texts)
        });
        let places = index.find(&query.words).into_iter().take(query.limit);
        let tools = places.filter_map(|place| self.tools.get(place));
        search::found(tools.map(|tool| tool.entry()))
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
                if members.len() + tool.entry().len() > PAGE_BYTES {
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
            members.push_str(tool.entry().as_str());
            last = Some(&tool.name);
        }
        members.push(']');
        Ok(members)
    }
}

impl Tool {
    /// The tool as clients see it.
    fn entry(&self) -> &Json {
        self.entry
            .get_or_init(|| entry_of(self.flow.entry(), &self.name))
    }

    /// What is searched: the names, which count twice, the description and the names of the arguments.
    fn text(&self) -> String {
        let (server, name) = (self.flow.server(), self.flow.tool());
        let mut text = format!("{server} {name} {name}");
        for key in ["title", "description"] {
            let said = self.entry().member(key);
            if let Some(said) = said.as_ref().and_then(Json::string) {
                text.push(' ');
                text.push_str(search::beginning(&said, MAX_TEXT));
            }
        }
        if let Some(arguments) = self.flow.input_document().member("properties") {
            for (argument, _) in arguments.members().into_iter().take(MAX_ARGUMENTS) {
                text.push(' ');
                text.push_str(&argument);
            }
        }
        text
    }
}

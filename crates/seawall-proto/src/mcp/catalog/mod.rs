//! The tools of a session: an immutable snapshot, gathered page by page and bounded whole (S9, L5, L7).

use std::collections::{HashMap, HashSet};

use crate::framing::Kind;
use crate::json::Json;
use crate::limits::{InvalidTools, Limits};

mod header;
mod tool;

#[cfg(test)]
mod tests;

pub use header::{BadHeaderParam, HeaderParams};
pub use tool::{Tool, ToolFault, is_forbidden_in_name};

/// All tools that a server listed, each checked. Never changes; a new listing is a new catalog.
#[derive(Debug, Default)]
pub struct Catalog {
    tools: Vec<Tool>,
    by_name: HashMap<String, usize>,
    quarantined: Vec<Quarantined>,
    pages: usize,
    bytes: usize,
}

/// A tool that was left out (L7).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quarantined {
    /// Its place among all entries of all pages, from 0.
    pub index: usize,
    /// Its name, if that is one that a tool may have: the server's text.
    pub name: Option<String>,
    /// The rule that it breaks.
    pub fault: ToolFault,
}

/// Why a catalog was refused; `invalid_response`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogFault {
    /// A page is not an object with an array `tools`.
    #[error("a page of its tool list has no `tools` array")]
    Page,
    /// A page is a wish for another round, or of another kind that is not final (2026-07-28).
    #[error("a page of its tool list is of a kind of result that it may not be")]
    ResultType,
    /// `tools` or `nextCursor` stands twice in a page.
    #[error("a page of its tool list has the same key twice")]
    DuplicateKey,
    /// `nextCursor` is neither a string nor null, or an empty one.
    #[error("`nextCursor` of its tool list is not a non-empty string")]
    Cursor,
    /// A cursor came back that had been followed before.
    #[error("its tool list repeats a cursor")]
    RepeatedCursor,
    /// More pages than `maxCatalogPages`.
    #[error("its tool list has more than {limit} pages (maxCatalogPages)")]
    TooManyPages {
        /// The bound.
        limit: usize,
    },
    /// More tools than `maxTools`.
    #[error("it lists more than {limit} tools (maxTools)")]
    TooManyTools {
        /// The bound.
        limit: usize,
    },
    /// One entry breaks a rule, and entries are not quarantined.
    #[error("tool {index} of its list {fault}")]
    Tool {
        /// Its place among all entries of all pages, from 0.
        index: usize,
        /// The rule that it breaks.
        fault: ToolFault,
    },
}

impl CatalogFault {
    /// The option whose bound was passed, if that is why.
    #[must_use]
    pub fn limit(&self) -> Option<&'static str> {
        match self {
            Self::TooManyPages { .. } => Some("maxCatalogPages"),
            Self::TooManyTools { .. } => Some("maxTools"),
            Self::Tool { fault, .. } => match fault {
                ToolFault::NameTooLong { .. } => Some("maxToolNameBytes"),
                ToolFault::DocumentTooLarge { .. } => Some("maxToolDocumentBytes"),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Catalog {
    /// The tools, in the order of the list.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).and_then(|at| self.tools.get(*at))
    }

    /// What was left out (L7, T2); over stdio empty unless the entry says `quarantine`.
    #[must_use]
    pub fn quarantined(&self) -> &[Quarantined] {
        &self.quarantined
    }

    /// How many pages the list had.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Bytes of all pages' results.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// What a revision and its transport ask of a list.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    /// Whether `x-mcp-header` is obeyed, and a tool with an invalid one left out: 2026-07-28 over HTTP (T2).
    pub(crate) header_params: bool,
    /// Whether an empty cursor is one: 2026-07-28 (L5).
    pub(crate) empty_cursor: bool,
}

/// A catalog under way.
#[derive(Debug, Default)]
pub(crate) struct CatalogBuilder {
    rules: Rules,
    catalog: Catalog,
    seen_cursors: HashSet<String>,
    entries: usize,
}

impl CatalogBuilder {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// Takes one page; yields the cursor to follow, as its JSON text, or `None` at the end.
    pub(crate) fn page(
        &mut self,
        result: &Json,
        limits: &Limits,
    ) -> Result<Option<Json>, CatalogFault> {
        self.catalog.pages += 1;
        self.catalog.bytes += result.len();
        let [tools, cursor] = result
            .pick(["tools", "nextCursor"])
            .map_err(|_| CatalogFault::DuplicateKey)?;
        let tools = tools
            .filter(|tools| tools.kind() == Kind::Array)
            .ok_or(CatalogFault::Page)?;
        let mut fault = None;
        tools.children(|_, raw| {
            if fault.is_none() {
                fault = self.entry(raw, limits).err();
            }
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        let Some(cursor) = cursor else {
            return Ok(None);
        };
        match cursor.kind() {
            Kind::Null => return Ok(None),
            Kind::String if cursor.len() > 2 || self.rules.empty_cursor => {}
            _ => return Err(CatalogFault::Cursor),
        }
        let text = cursor.string().unwrap_or_default().into_owned();
        if !self.seen_cursors.insert(text) {
            return Err(CatalogFault::RepeatedCursor);
        }
        if self.catalog.pages >= limits.max_catalog_pages {
            return Err(CatalogFault::TooManyPages {
                limit: limits.max_catalog_pages,
            });
        }
        Ok(Some(cursor))
    }

    fn entry(&mut self, raw: Json, limits: &Limits) -> Result<(), CatalogFault> {
        let index = self.entries;
        self.entries += 1;
        if self.entries > limits.max_tools {
            return Err(CatalogFault::TooManyTools {
                limit: limits.max_tools,
            });
        }
        let unchecked = raw.clone();
        let checked = Tool::check(raw, index, limits, self.rules).and_then(|tool| {
            if self.catalog.by_name.contains_key(tool.name()) {
                Err(ToolFault::DuplicateName)
            } else {
                Ok(tool)
            }
        });
        match checked {
            Ok(tool) => {
                self.catalog
                    .by_name
                    .insert(tool.name().to_owned(), self.catalog.tools.len());
                self.catalog.tools.push(tool);
                Ok(())
            }
            Err(fault)
                if fault == ToolFault::HeaderParam
                    || limits.invalid_tools == InvalidTools::Quarantine =>
            {
                let name = tool::name_of(&unchecked, limits);
                self.catalog
                    .quarantined
                    .push(Quarantined { index, name, fault });
                Ok(())
            }
            Err(fault) => Err(CatalogFault::Tool { index, fault }),
        }
    }

    pub(crate) fn finish(self) -> Catalog {
        self.catalog
    }
}

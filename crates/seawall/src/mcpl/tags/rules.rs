//! How events are treated: the first rule that matches.

use std::collections::BTreeSet;

use super::set::Tags;

/// A text in which `*` stands for any run of characters, and everything else for itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Glob(String);

impl Glob {
    /// Every text is one.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether it matches the whole text. The work is at most the product of both lengths.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
            return false;
        };
        let Some(last) = parts.next_back() else {
            return rest.is_empty();
        };
        // The leftmost place of each part leaves the most for those after it, so that nothing is tried twice.
        for part in parts {
            match rest.find(part).and_then(|at| rest.get(at + part.len()..)) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        rest.ends_with(last)
    }

    /// The text, if nothing in it stands for others.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        (!self.0.contains('*')).then_some(self.0.as_str())
    }
}

/// Where an event is from, by what the host knows: the id of the server, and the channel that was registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source<'a> {
    /// The server.
    pub server: &'a str,
    /// The channel, of a message in one.
    pub channel: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// A server, and a channel of it.
    #[must_use]
    pub fn new(server: &'a str, channel: Option<&'a str>) -> Self {
        Self { server, channel }
    }
}

/// What to do with events that carry certain tags. What is empty or `None` asks for nothing.
///
/// Source: MCP Live 0.5.0-draft §16.7.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule<T> {
    /// One of these matches a tag.
    pub tags_any: Vec<Glob>,
    /// Each of these matches a tag.
    pub tags_all: Vec<Glob>,
    /// None of these matches a tag.
    pub tags_none: Vec<Glob>,
    /// The server's id matches.
    pub server: Option<Glob>,
    /// The channel's id matches; no event without a channel does.
    pub channel: Option<Glob>,
    /// What to do.
    pub treatment: T,
}

impl<T> Rule<T> {
    /// A rule that matches everything.
    #[must_use]
    pub fn always(treatment: T) -> Self {
        Self {
            tags_any: Vec::new(),
            tags_all: Vec::new(),
            tags_none: Vec::new(),
            server: None,
            channel: None,
            treatment,
        }
    }

    /// Whether it matches.
    #[must_use]
    pub fn matches(&self, source: &Source<'_>, tags: &Tags) -> bool {
        let on = |glob: &Glob| tags.iter().any(|tag| glob.matches(tag.as_str()));
        let of = |glob: &Option<Glob>, text: Option<&str>| match (glob, text) {
            (Some(glob), Some(text)) => glob.matches(text),
            (Some(_), None) => false,
            (None, _) => true,
        };
        of(&self.server, Some(source.server))
            && of(&self.channel, source.channel)
            && (self.tags_any.is_empty() || self.tags_any.iter().any(on))
            && self.tags_all.iter().all(on)
            && !self.tags_none.iter().any(on)
    }
}

/// Rules in their order: the first that matches decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules<T>(Vec<Rule<T>>);

impl<T> Rules<T> {
    /// These rules, in this order.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = Rule<T>>) -> Self {
        Self(rules.into_iter().collect())
    }

    /// What the first rule that matches says; `None` if none does, so that the host's default holds.
    #[must_use]
    pub fn treat(&self, source: &Source<'_>, tags: &Tags) -> Option<&T> {
        let rule = self.0.iter().find(|rule| rule.matches(source, tags))?;
        Some(&rule.treatment)
    }

    /// The tags that the rules name without a `*`.
    #[must_use]
    pub fn named(&self) -> BTreeSet<String> {
        let lists = |rule: &'_ Rule<T>| {
            [&rule.tags_any, &rule.tags_all, &rule.tags_none]
                .into_iter()
                .flatten()
                .filter_map(Glob::literal)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        self.0.iter().flat_map(lists).collect()
    }
}

impl<T> Default for Rules<T> {
    /// No rule.
    fn default() -> Self {
        Self(Vec::new())
    }
}

//! What a server wants to be told: the parameters of `tools/observe` (RFC-007, section 6).

use seawall_proto::Json;
use seawall_proto::framing::Kind;

use super::call::ToolCall;
use super::class::ToolClass;
use super::select::Fields;
use crate::mcpl::tags::Glob;
use crate::mcpl::wire::{self, Fault, Invalid};

/// So many rules may one filter have.
pub const MAX_RULES: usize = 256;
/// So many field paths may one rule have.
pub const MAX_PATHS: usize = 256;
/// The longest pattern and the longest path, in code points.
pub const MAX_PATTERN_CHARS: usize = 256;

/// A server's filter: the first rule that matches a call decides; a call that none matches is not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    pattern: Match,
    wants: Wants,
}

/// What a server wants of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wants {
    /// Not to know of it.
    Nothing,
    /// That it happens.
    Metadata,
    /// All of its arguments too.
    All,
    /// Some of its arguments too.
    Fields(Fields),
}

/// Every one that is there has to match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Match {
    tool: Option<Glob>,
    server_tool: Option<Glob>,
    server_id: Option<Glob>,
    conversation_id: Option<Glob>,
    class: Option<ToolClass>,
}

impl Filter {
    /// Reads the parameters of `tools/observe`; `None` clears the filter: `rules` is `null` or absent, or there are no
    /// parameters. No rules at all is a filter that wants nothing.
    ///
    /// # Errors
    /// A member is not known anywhere in it, is not what it has to be, or passes its bound: ignoring one would make a rule
    /// match more than its author wrote. The filter before stays.
    pub fn parse(params: Option<&Json>) -> Result<Option<Self>, Invalid> {
        let Some(params) = params else {
            return Ok(None);
        };
        let [rules, meta] = only(params, "params", ["rules", "_meta"])?;
        if meta.is_some_and(|meta| meta.kind() != Kind::Object) {
            return Err(Invalid::new("_meta", Fault::Kind));
        }
        let Some(rules) = wire::present(rules) else {
            return Ok(None);
        };
        let rules = wire::elements("rules", &rules, MAX_RULES)?;
        let rules = rules.iter().map(Rule::parse).collect::<Result<_, _>>()?;
        Ok(Some(Self { rules }))
    }

    pub(super) fn wants(&self, call: &ToolCall) -> &Wants {
        let rule = self.rules.iter().find(|rule| rule.pattern.matches(call));
        rule.map_or(&Wants::Nothing, |rule| &rule.wants)
    }
}

impl Rule {
    fn parse(json: &Json) -> Result<Self, Invalid> {
        let [pattern, report, input] = only(json, "rules[]", ["match", "report", "input"])?;
        let field = "rules[].match";
        let pattern = Match::parse(&pattern.ok_or(Invalid::new(field, Fault::Missing))?)?;
        let kind = |field| Invalid::new(field, Fault::Kind);
        let report = report.map_or(Ok(true), |report| {
            wire::boolean(&report).ok_or(kind("rules[].report"))
        })?;
        let field = "rules[].input";
        let wants = match input {
            None => Wants::Metadata,
            Some(input) if input.kind() == Kind::Array => Wants::Fields(fields(&input)?),
            Some(input) => match wire::boolean(&input).ok_or(kind(field))? {
                true => Wants::All,
                false => Wants::Metadata,
            },
        };
        let wants = if report { wants } else { Wants::Nothing };
        Ok(Self { pattern, wants })
    }
}

impl Match {
    fn parse(json: &Json) -> Result<Self, Invalid> {
        let names = ["tool", "serverTool", "serverId", "conversationId", "class"];
        let [tool, server_tool, server_id, conversation_id, class] =
            only(json, "rules[].match", names)?;
        let glob = |field, member: Option<Json>| match member {
            None => Ok(None),
            Some(member) => text(field, &member).map(|text| Some(Glob::new(text))),
        };
        let field = "rules[].match.class";
        let class = class.map(|class| {
            let class = class.string().and_then(|class| class.parse().ok());
            class.ok_or(Invalid::new(field, Fault::Kind))
        });
        Ok(Self {
            tool: glob("rules[].match.tool", tool)?,
            server_tool: glob("rules[].match.serverTool", server_tool)?,
            server_id: glob("rules[].match.serverId", server_id)?,
            conversation_id: glob("rules[].match.conversationId", conversation_id)?,
            class: class.transpose()?,
        })
    }

    /// A tool of the host's own has no server; an unclassed one no class.
    fn matches(&self, call: &ToolCall) -> bool {
        let provider = call.provider.as_ref();
        let server_id = provider.map(|provider| provider.server_id.as_str());
        let server_tool = provider.map(|provider| provider.server_tool.as_str());
        fits(self.tool.as_ref(), Some(&call.tool))
            && fits(self.conversation_id.as_ref(), Some(&call.conversation_id))
            && fits(self.server_id.as_ref(), server_id)
            && fits(self.server_tool.as_ref(), server_tool)
            && self.class.is_none_or(|class| call.classes.contains(class))
    }
}

fn fits(glob: Option<&Glob>, text: Option<&str>) -> bool {
    glob.is_none_or(|glob| text.is_some_and(|text| glob.matches(text)))
}

fn fields(input: &Json) -> Result<Fields, Invalid> {
    let field = "rules[].input";
    let mut fields = Fields::default();
    for path in wire::elements(field, input, MAX_PATHS)? {
        let path = text(field, &path)?;
        if path.is_empty() {
            return Err(Invalid::new(field, Fault::Empty));
        }
        fields.add(&path);
    }
    Ok(fields)
}

fn text(field: &'static str, json: &Json) -> Result<String, Invalid> {
    let text = json.string().ok_or(Invalid::new(field, Fault::Kind))?;
    if wire::is_longer(&text, MAX_PATTERN_CHARS) {
        return Err(Invalid::new(field, Fault::TooLong));
    }
    Ok(text.into_owned())
}

/// The members with these names, where no others may stand.
fn only<const N: usize>(
    object: &Json,
    field: &'static str,
    names: [&str; N],
) -> Result<[Option<Json>; N], Invalid> {
    let found = wire::members(object, field, names)?;
    let stranger = |(key, _): &(String, Json)| !names.contains(&key.as_str());
    if object.members().iter().any(stranger) {
        return Err(Invalid::new(field, Fault::Unknown));
    }
    Ok(found)
}

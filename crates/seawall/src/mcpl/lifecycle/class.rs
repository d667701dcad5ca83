//! What a tool is for, in ten words (RFC-008). A hint: it narrows what is told of a tool, and gives nobody anything.

use std::fmt;
use std::str::FromStr;

use seawall_proto::Json;
use seawall_proto::framing::Kind;

/// The member of a tool's `_meta`.
const KEY: &str = "mcpl/class";
/// Begins the members that only the specification may define (RFC-008, section 3).
const RESERVED: &str = "mcpl/";

/// One class of tools (RFC-008, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ToolClass {
    /// Sends to other people, or reads from them.
    Comms,
    /// The agent's own recall.
    Memory,
    /// Documents that the agent writes.
    Notes,
    /// A file system.
    Files,
    /// Executes commands or code.
    Shell,
    /// The public network.
    Web,
    /// Drives a screen, a pointer, a keyboard.
    Computer,
    /// Makes or plays images, sound, video.
    Media,
    /// The agent's presence.
    Body,
    /// Settings of the host and the agent.
    Control,
}

/// A set of classes. The empty one is *unclassed*, the strictest of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Classes(u16);

/// What a server says of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Declared {
    /// The classes that are known.
    pub classes: Classes,
    /// What is worth a diagnostic; each kind once.
    pub remarks: Vec<ClassRemark>,
}

/// What is wrong with what a server says of a tool. It is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ClassRemark {
    /// `mcpl/class` is no array.
    #[error("its classes are no list, so the tool has none")]
    NotAList,
    /// An element is no class.
    #[error("it names a class that is not known")]
    UnknownClass,
    /// Another member begins with `mcpl/`.
    #[error("it has a member beginning with mcpl/ that is not known")]
    UnknownMember,
}

/// The classes of a tool, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Effective {
    /// The classes; none: the tool is unclassed.
    pub classes: Classes,
    /// Whose word it is; `None`: nobody's.
    pub source: Option<ClassSource>,
}

/// Whose word a tool's classes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClassSource {
    /// The operator's.
    Operator,
    /// The host's own knowledge of a tool of its own.
    Host,
    /// The server's.
    Server,
}

/// The first of the three that names a class is the only one that counts (RFC-008, section 5.1).
#[must_use]
pub fn effective(operator: Classes, host: Classes, server: Classes) -> Effective {
    let sources = [
        (operator, ClassSource::Operator),
        (host, ClassSource::Host),
        (server, ClassSource::Server),
    ];
    let first = sources.into_iter().find(|(classes, _)| !classes.is_empty());
    Effective {
        classes: first.map_or(Classes::NONE, |(classes, _)| classes),
        source: first.map(|(_, source)| source),
    }
}

impl ToolClass {
    /// All of them, in the specification's order.
    pub const ALL: [Self; 10] = [
        Self::Comms,
        Self::Memory,
        Self::Notes,
        Self::Files,
        Self::Shell,
        Self::Web,
        Self::Computer,
        Self::Media,
        Self::Body,
        Self::Control,
    ];

    /// The class as the wire has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Comms => "comms",
            Self::Memory => "memory",
            Self::Notes => "notes",
            Self::Files => "files",
            Self::Shell => "shell",
            Self::Web => "web",
            Self::Computer => "computer",
            Self::Media => "media",
            Self::Body => "body",
            Self::Control => "control",
        }
    }
}

/// The text names no class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a class of tools")]
pub struct UnknownClass;

impl FromStr for ToolClass {
    type Err = UnknownClass;

    fn from_str(text: &str) -> Result<Self, UnknownClass> {
        Self::ALL
            .into_iter()
            .find(|class| class.as_str() == text)
            .ok_or(UnknownClass)
    }
}

impl fmt::Display for ToolClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Classes {
    /// No class: unclassed.
    pub const NONE: Self = Self(0);

    /// What a server says in the `_meta` of an entry of its tool list. What cannot be read is not said.
    #[must_use]
    pub fn declared(entry: &Json) -> Declared {
        let mut declared = Declared::default();
        let meta = entry.member("_meta");
        for (key, value) in meta.iter().flat_map(Json::members) {
            let remark = match key.as_str() {
                KEY if value.kind() != Kind::Array => Some(ClassRemark::NotAList),
                KEY => {
                    let classes = value.elements();
                    let read = classes.iter().map(|class| class.string()?.parse().ok());
                    let known: Vec<Option<ToolClass>> = read.collect();
                    declared.classes.extend(known.iter().flatten().copied());
                    known.contains(&None).then_some(ClassRemark::UnknownClass)
                }
                other => other
                    .starts_with(RESERVED)
                    .then_some(ClassRemark::UnknownMember),
            };
            if let Some(remark) = remark.filter(|remark| !declared.remarks.contains(remark)) {
                declared.remarks.push(remark);
            }
        }
        declared
    }

    /// Whether the class is one of them.
    #[must_use]
    pub fn contains(self, class: ToolClass) -> bool {
        self.0 & Self::bit(class) != 0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether they have one in common.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The classes, in the specification's order.
    pub fn iter(self) -> impl Iterator<Item = ToolClass> {
        ToolClass::ALL
            .into_iter()
            .filter(move |class| self.contains(*class))
    }

    fn bit(class: ToolClass) -> u16 {
        1 << (class as u16)
    }
}

impl Extend<ToolClass> for Classes {
    fn extend<I: IntoIterator<Item = ToolClass>>(&mut self, classes: I) {
        for class in classes {
            self.0 |= Self::bit(class);
        }
    }
}

impl FromIterator<ToolClass> for Classes {
    fn from_iter<I: IntoIterator<Item = ToolClass>>(classes: I) -> Self {
        let mut all = Self::NONE;
        all.extend(classes);
        all
    }
}

//! What a client declares that it can be asked for: exactly what its host supplies (S2).

use crate::framing::Kind;
use crate::json::Json;

/// What the host supplies when a server asks. The default is nothing.
///
/// Source: 2025-11-25, `basic/lifecycle`, "Capability Negotiation"; 2026-07-28, `basic/index`, `_meta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Forms for a person to fill in: `elicitation.form`.
    pub elicitation_form: bool,
    /// Pages for a person to visit: `elicitation.url`.
    pub elicitation_url: bool,
    /// A model to ask: `sampling`.
    pub sampling: bool,
    /// A model that may be given tools: `sampling.tools`.
    pub sampling_tools: bool,
    /// A model that is given what its client knows of servers, where that is asked for: `sampling.context`.
    pub sampling_context: bool,
    /// Folders to work in: `roots`.
    pub roots: bool,
}

/// What a server may ask of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InputMethod {
    /// `elicitation/create` in form mode.
    ElicitForm,
    /// `elicitation/create` in URL mode.
    ElicitUrl,
    /// `sampling/createMessage`.
    Sample,
    /// `roots/list`.
    ListRoots,
}

impl ClientCapabilities {
    /// Everything that there is.
    #[must_use]
    pub fn all() -> Self {
        Self {
            elicitation_form: true,
            elicitation_url: true,
            sampling: true,
            sampling_tools: true,
            sampling_context: true,
            roots: true,
        }
    }

    /// What a client declares in `initialize` or in `_meta`: an object. What is not known is passed over.
    ///
    /// Source: 2026-07-28 and 2025-11-25, `client/elicitation`, "Capabilities": no mode is form mode.
    #[must_use]
    pub fn of(declared: &Json) -> Self {
        let object = |json: Option<Json>| json.filter(|json| json.kind() == Kind::Object);
        let elicitation = object(declared.member("elicitation"));
        let sampling = object(declared.member("sampling"));
        let has = |json: &Option<Json>, name| {
            let json = json.as_ref();
            object(json.and_then(|json| json.member(name))).is_some()
        };
        let url = has(&elicitation, "url");
        Self {
            elicitation_form: elicitation.is_some() && (has(&elicitation, "form") || !url),
            elicitation_url: url,
            sampling_tools: has(&sampling, "tools"),
            sampling_context: has(&sampling, "context"),
            sampling: sampling.is_some(),
            roots: object(declared.member("roots")).is_some(),
        }
    }

    /// What one of the two supplies.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            elicitation_form: self.elicitation_form || other.elicitation_form,
            elicitation_url: self.elicitation_url || other.elicitation_url,
            sampling: self.sampling || other.sampling,
            sampling_tools: self.sampling_tools || other.sampling_tools,
            sampling_context: self.sampling_context || other.sampling_context,
            roots: self.roots || other.roots,
        }
    }

    /// As it stands in `initialize` and in `_meta`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut members = Vec::new();
        if self.roots {
            members.push(String::from("\"roots\":{}"));
        }
        if self.sampling {
            let parts = supplied([
                (self.sampling_tools, "\"tools\":{}"),
                (self.sampling_context, "\"context\":{}"),
            ]);
            members.push(format!("\"sampling\":{{{parts}}}"));
        }
        let modes = supplied([
            (self.elicitation_form, "\"form\":{}"),
            (self.elicitation_url, "\"url\":{}"),
        ]);
        if !modes.is_empty() {
            members.push(format!("\"elicitation\":{{{modes}}}"));
        }
        format!("{{{}}}", members.join(","))
    }

    /// Whether `method` is supplied.
    #[must_use]
    pub fn supplies(&self, method: InputMethod) -> bool {
        match method {
            InputMethod::ElicitForm => self.elicitation_form,
            InputMethod::ElicitUrl => self.elicitation_url,
            InputMethod::Sample => self.sampling,
            InputMethod::ListRoots => self.roots,
        }
    }
}

/// The members that are supplied, as they stand in an object.
fn supplied(members: [(bool, &str); 2]) -> String {
    let supplied = members.into_iter().filter(|(supplied, _)| *supplied);
    let supplied: Vec<&str> = supplied.map(|(_, member)| member).collect();
    supplied.join(",")
}

impl InputMethod {
    /// The method's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ElicitForm | Self::ElicitUrl => "elicitation/create",
            Self::Sample => "sampling/createMessage",
            Self::ListRoots => "roots/list",
        }
    }

    /// What `method` with `params` asks for; `None` for any other method and for an unknown mode.
    #[must_use]
    pub fn of(method: &str, params: Option<&Json>) -> Option<Self> {
        match method {
            "sampling/createMessage" => Some(Self::Sample),
            "roots/list" => Some(Self::ListRoots),
            "elicitation/create" => {
                let mode = params.and_then(|params| params.member("mode"));
                // Servers that serialise an absent value write null.
                let mode = mode.filter(|mode| mode.kind() != Kind::Null);
                match mode.as_ref().map(Json::string) {
                    // No mode is form mode (2025-11-25, `client/elicitation`).
                    None => Some(Self::ElicitForm),
                    Some(Some(mode)) if mode == "form" => Some(Self::ElicitForm),
                    Some(Some(mode)) if mode == "url" => Some(Self::ElicitUrl),
                    Some(_) => None,
                }
            }
            _ => None,
        }
    }
}

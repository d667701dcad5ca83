//! What a client declares that it can be asked for: exactly what its host supplies (S2).

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
    /// As it stands in `initialize` and in `_meta`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut members = Vec::new();
        if self.roots {
            members.push(String::from("\"roots\":{}"));
        }
        if self.sampling {
            let tools = if self.sampling_tools {
                "\"tools\":{}"
            } else {
                ""
            };
            members.push(format!("\"sampling\":{{{tools}}}"));
        }
        let modes: Vec<&str> = [
            (self.elicitation_form, "\"form\":{}"),
            (self.elicitation_url, "\"url\":{}"),
        ]
        .into_iter()
        .filter_map(|(supplied, mode)| supplied.then_some(mode))
        .collect();
        if !modes.is_empty() {
            members.push(format!("\"elicitation\":{{{}}}", modes.join(",")));
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

impl InputMethod {
    /// What `method` with `params` asks for; `None` for any other method and for an unknown mode.
    #[must_use]
    pub fn of(method: &str, params: Option<&Json>) -> Option<Self> {
        match method {
            "sampling/createMessage" => Some(Self::Sample),
            "roots/list" => Some(Self::ListRoots),
            "elicitation/create" => {
                let mode = params.and_then(|params| params.member("mode"));
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

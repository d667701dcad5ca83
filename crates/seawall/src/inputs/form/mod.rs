//! A form that a server wants filled in: typed fields out of its restricted JSON Schema, and the check of an answer.

mod check;
mod parse;

use std::fmt;
use std::sync::Arc;

use seawall_proto::Json;
use seawall_proto::framing::Kind;

pub use check::{Fault, FieldProblem};
pub use parse::FormError;

#[cfg(test)]
mod tests;

/// A form that a server wants a person to fill in. Every text in it is the server's.
///
/// A form that exists can be shown whole and answered: its fields are of known kinds, within the bounds of this module,
/// named once each.
///
/// Source: 2026-07-28, `client/elicitation`, "Form Mode Elicitation Requests"; schema `ElicitRequestFormParams`.
#[derive(Clone)]
pub struct Form {
    message: String,
    fields: Vec<Field>,
}

/// One field of a form.
#[derive(Clone)]
pub struct Field {
    name: String,
    title: Option<String>,
    description: Option<String>,
    kind: FieldKind,
    required: bool,
    default: Option<Json>,
}

/// What a field takes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FieldKind {
    /// A string.
    Text {
        /// What kind of text.
        format: Option<TextFormat>,
        /// The fewest characters.
        min_length: Option<u64>,
        /// The most characters.
        max_length: Option<u64>,
        /// What it must match; `None` too where the server alone checks that.
        pattern: Option<Pattern>,
    },
    /// A number.
    Number {
        /// Whether it must be whole.
        kind: NumberKind,
        /// The smallest.
        minimum: Option<f64>,
        /// The largest.
        maximum: Option<f64>,
    },
    /// `true` or `false`.
    Boolean,
    /// One of some strings.
    Choice {
        /// At least one.
        options: Vec<Choice>,
    },
    /// Some of some strings: an array.
    Choices {
        /// At least one.
        options: Vec<Choice>,
        /// The fewest to choose.
        min_items: Option<u64>,
        /// The most to choose.
        max_items: Option<u64>,
    },
}

/// Which numbers a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    /// Any: `number`.
    Any,
    /// Whole ones: `integer`.
    Whole,
}

/// What kind of text a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextFormat {
    /// An email address.
    Email,
    /// An absolute URI.
    Uri,
    /// A date, as `2026-07-28`.
    Date,
    /// A date and a time, as `2026-07-28T09:30:00Z`.
    DateTime,
}

/// A regular expression that a text must match, in linear time.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    validator: Arc<jsonschema::Validator>,
}

/// One option of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What is shown with it, if the server gave a title.
    pub title: Option<String>,
}

impl Form {
    /// Reads the params of an `elicitation/create` in form mode.
    ///
    /// # Errors
    /// Why the form cannot be shown.
    pub fn parse(params: &Json) -> Result<Self, FormError> {
        parse::form(params)
    }

    /// Why the server asks, in its words.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The fields, in the server's order. There may be none: then only consent is asked for.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// `content` with the default of every field that it lacks and that has one.
    ///
    /// Anything but an object stays as it is.
    #[must_use]
    pub fn with_defaults(&self, content: &Json) -> Json {
        if content.kind() != Kind::Object {
            return content.clone();
        }
        let mut members = content.members();
        for field in &self.fields {
            if let Some(default) = &field.default
                && !members.iter().any(|(name, _)| *name == field.name)
            {
                members.push((field.name.clone(), default.clone()));
            }
        }
        Self::content(&members).unwrap_or_else(|| content.clone())
    }

    /// The object with these members, in this order.
    #[must_use]
    pub fn content(members: &[(String, Json)]) -> Option<Json> {
        let mut text = String::from("{");
        for (at, (name, value)) in members.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            text.push_str(&serde_json::to_string(name).ok()?);
            text.push(':');
            text.push_str(value.as_str());
        }
        text.push('}');
        Json::check(text).ok()
    }

    /// Everything in `content` that does not satisfy the form; nothing if it does.
    #[must_use]
    pub fn check(&self, content: &Json) -> Vec<FieldProblem> {
        check::content(self, content)
    }
}

impl Field {
    /// The name that its value is sent under.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its title, else its name.
    #[must_use]
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Its title.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What the server says about it.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// What it takes.
    #[must_use]
    pub fn kind(&self) -> &FieldKind {
        &self.kind
    }

    /// Whether it must be filled in.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// The value to begin with. It satisfies the field.
    #[must_use]
    pub fn default(&self) -> Option<&Json> {
        self.default.as_ref()
    }

    /// What is wrong with a value for this field, if anything is.
    #[must_use]
    pub fn check(&self, value: &Json) -> Option<Fault> {
        check::value(&self.kind, value)
    }
}

impl Pattern {
    /// The expression.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Choice {
    /// Its title, else its value.
    #[must_use]
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }
}

impl TextFormat {
    /// As JSON Schema calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    /// As people call it, with an example where one helps.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Email => "an email address",
            Self::Uri => "an address such as https://example.com/",
            Self::Date => "a date such as 2026-07-28",
            Self::DateTime => "a date and time such as 2026-07-28T09:30:00Z",
        }
    }
}

impl fmt::Debug for Form {
    /// The size only: the texts are a server's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Form({} fields)", self.fields.len())
    }
}

impl fmt::Debug for Field {
    /// The kind of its kind only: the texts are a server's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            FieldKind::Text { .. } => "text",
            FieldKind::Number { .. } => "number",
            FieldKind::Boolean => "boolean",
            FieldKind::Choice { .. } => "choice",
            FieldKind::Choices { .. } => "choices",
        };
        write!(f, "Field({kind})")
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({} bytes)", self.text.len())
    }
}

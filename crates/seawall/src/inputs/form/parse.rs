//! A form out of the params of a request: the restricted schema of the specification, bounded, and nothing else.

use std::sync::Arc;

use jsonschema::{Draft, PatternOptions};
use seawall_proto::Json;
use seawall_proto::framing::Kind;
use serde::Deserialize;

use super::{Choice, Field, FieldKind, Form, NumberKind, Pattern, TextFormat, check};
use crate::inputs::limits::{
    MAX_DEFAULT_BYTES, MAX_DESCRIPTION_BYTES, MAX_FIELDS, MAX_LABEL_BYTES, MAX_MESSAGE_BYTES,
    MAX_NAME_BYTES, MAX_OPTIONS, MAX_PATTERN_BYTES, MAX_PATTERNS, MAX_PATTERNS_BYTES,
};

/// How large a compiled pattern may get, in bytes.
const MAX_COMPILED_PATTERN_BYTES: usize = 1 << 16;

/// Why a form is not shown to anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// The request lacks its message or its schema, or they are of the wrong type.
    #[error("the request is malformed")]
    Malformed,
    /// The message is longer than [`MAX_MESSAGE_BYTES`].
    #[error("the message is too long")]
    MessageTooLong,
    /// More than [`MAX_FIELDS`] fields.
    #[error("more than {MAX_FIELDS} fields")]
    TooManyFields,
    /// A field is of a kind that forms do not have, or its keywords are of wrong types or contradict each other.
    #[error("field {index} is of no kind that forms have")]
    Field {
        /// Which, from 0.
        index: usize,
    },
    /// A text of a field is too long, or it has too many options.
    #[error("field {index} is too large")]
    FieldTooLarge {
        /// Which, from 0.
        index: usize,
    },
    /// Two fields have one name.
    #[error("field {index} has the name of another")]
    Repeated {
        /// Which is the second, from 0.
        index: usize,
    },
    /// A field that is not there is required.
    #[error("a field that is not there is required")]
    Required,
}

#[derive(Deserialize)]
struct Params {
    message: String,
}

/// The keywords of one field; others are passed over.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Keywords {
    r#type: Option<String>,
    title: Option<String>,
    description: Option<String>,
    format: Option<String>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    pattern: Option<String>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    r#enum: Option<Vec<String>>,
    enum_names: Option<Vec<String>>,
    one_of: Option<Vec<Titled>>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    items: Option<Items>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Items {
    r#enum: Option<Vec<String>>,
    any_of: Option<Vec<Titled>>,
}

#[derive(Deserialize)]
struct Titled {
    r#const: String,
    title: Option<String>,
}

pub(super) fn form(params: &Json) -> Result<Form, FormError> {
    let Params { message } = params.parse().map_err(|_| FormError::Malformed)?;
    if message.len() > MAX_MESSAGE_BYTES {
        return Err(FormError::MessageTooLong);
    }
    let schema = params
        .member("requestedSchema")
        .ok_or(FormError::Malformed)?;
    let is_object = schema
        .member("type")
        .and_then(|kind| kind.string().map(|kind| kind == "object"));
    let properties = schema
        .member("properties")
        .filter(|properties| properties.kind() == Kind::Object)
        .ok_or(FormError::Malformed)?;
    if is_object != Some(true) {
        return Err(FormError::Malformed);
    }
    let required: Vec<String> = match schema.member("required") {
        Some(required) => required.parse().map_err(|_| FormError::Malformed)?,
        None => Vec::new(),
    };
    let properties = properties.members();
    if properties.len() > MAX_FIELDS {
        return Err(FormError::TooManyFields);
    }
    let mut fields: Vec<Field> = Vec::with_capacity(properties.len());
    let mut budget = Budget {
        patterns: MAX_PATTERNS,
        bytes: MAX_PATTERNS_BYTES,
    };
    for (index, (name, schema)) in properties.into_iter().enumerate() {
        if fields.iter().any(|field| field.name == name) {
            return Err(FormError::Repeated { index });
        }
        fields.push(field(name, &schema, &mut budget).map_err(|refusal| refusal.at(index))?);
    }
    for name in required {
        let mut known = fields.iter_mut();
        let field = known.find(|field| field.name == name);
        field.ok_or(FormError::Required)?.required = true;
    }
    Ok(Form { message, fields })
}

/// What may still be spent on the patterns of a form.
struct Budget {
    patterns: usize,
    bytes: usize,
}

impl Budget {
    /// The pattern, if there is enough left for it.
    fn pattern(&mut self, text: String) -> Option<Pattern> {
        self.patterns = self.patterns.checked_sub(1)?;
        self.bytes = self.bytes.checked_sub(text.len())?;
        pattern(text)
    }
}

/// Why a field is refused.
enum Refusal {
    Kind,
    Size,
}

impl Refusal {
    fn at(self, index: usize) -> FormError {
        match self {
            Self::Kind => FormError::Field { index },
            Self::Size => FormError::FieldTooLarge { index },
        }
    }
}

fn field(name: String, schema: &Json, budget: &mut Budget) -> Result<Field, Refusal> {
    // A lone surrogate in a name was replaced, so that it could not be sent back as it was.
    if name.contains(char::REPLACEMENT_CHARACTER) || schema.kind() != Kind::Object {
        return Err(Refusal::Kind);
    }
    let inner = or_null(schema);
    let keywords: Keywords = inner.parse().map_err(|_| Refusal::Kind)?;
    let outer: Keywords = schema.parse().map_err(|_| Refusal::Kind)?;
    let title = outer.title.or_else(|| keywords.title.clone());
    let description = outer.description.or_else(|| keywords.description.clone());
    let is_long = |text: &Option<String>, limit| text.as_ref().is_some_and(|t| t.len() > limit);
    if name.len() > MAX_NAME_BYTES
        || is_long(&title, MAX_LABEL_BYTES)
        || is_long(&description, MAX_DESCRIPTION_BYTES)
        || is_long(&keywords.pattern, MAX_PATTERN_BYTES)
    {
        return Err(Refusal::Size);
    }
    let kind = kind(keywords, budget)?;
    let default = schema.member("default");
    if default
        .as_ref()
        .is_some_and(|default| default.len() > MAX_DEFAULT_BYTES)
    {
        return Err(Refusal::Size);
    }
    // A default that its own field refuses is none.
    let default = default.filter(|default| check::value(&kind, default).is_none());
    Ok(Field {
        name,
        title,
        description,
        kind,
        required: false,
        default,
    })
}

/// What stands beside `null` in an `anyOf` of two, as generators write an optional field; else the schema itself.
fn or_null(schema: &Json) -> Json {
    let is_null = |schema: &Json| {
        schema
            .member("type")
            .is_some_and(|kind| kind.string().is_some_and(|kind| kind == "null"))
    };
    let mut either = schema
        .member("anyOf")
        .map(|schemas| schemas.elements())
        .unwrap_or_default();
    let others = either.len();
    either.retain(|schema| !is_null(schema));
    match either.pop() {
        Some(other) if others == 2 && either.is_empty() => other,
        _ => schema.clone(),
    }
}

fn kind(keywords: Keywords, budget: &mut Budget) -> Result<FieldKind, Refusal> {
    let kind = keywords.r#type.as_deref();
    match (kind, keywords.r#enum, keywords.one_of, keywords.items) {
        (None | Some("string"), Some(values), None, None) => Ok(FieldKind::Choice {
            options: plain(values, keywords.enum_names)?,
        }),
        (None | Some("string"), None, Some(titled), None) => Ok(FieldKind::Choice {
            options: options(titled)?,
        }),
        (Some("array"), None, None, Some(items)) => {
            let options = match (items.r#enum, items.any_of) {
                (Some(values), None) => plain(values, None)?,
                (None, Some(titled)) => options(titled)?,
                _ => return Err(Refusal::Kind),
            };
            let (min_items, max_items) = (keywords.min_items, keywords.max_items);
            let most = max_items.unwrap_or(u64::MAX).min(options.len() as u64);
            if min_items.is_some_and(|least| least > most) {
                return Err(Refusal::Kind);
            }
            Ok(FieldKind::Choices {
                options,
                min_items,
                max_items,
            })
        }
        (Some("boolean"), None, None, None) => Ok(FieldKind::Boolean),
        (Some(kind @ ("number" | "integer")), None, None, None) => {
            let (minimum, maximum) = (keywords.minimum, keywords.maximum);
            ordered(minimum, maximum)?;
            let kind = match kind {
                "integer" => NumberKind::Whole,
                _ => NumberKind::Any,
            };
            Ok(FieldKind::Number {
                kind,
                minimum,
                maximum,
            })
        }
        (Some("string"), None, None, None) => {
            let (min_length, max_length) = (keywords.min_length, keywords.max_length);
            ordered(min_length, max_length)?;
            let format = keywords.format.and_then(|name| {
                [
                    TextFormat::Email,
                    TextFormat::Uri,
                    TextFormat::Date,
                    TextFormat::DateTime,
                ]
                .into_iter()
                .find(|format| format.name() == name)
            });
            Ok(FieldKind::Text {
                format,
                min_length,
                max_length,
                pattern: keywords.pattern.and_then(|text| budget.pattern(text)),
            })
        }
        _ => Err(Refusal::Kind),
    }
}

/// Refuses bounds that leave nothing between them.
fn ordered<T: PartialOrd>(least: Option<T>, most: Option<T>) -> Result<(), Refusal> {
    match (least, most) {
        (Some(least), Some(most)) if least > most => Err(Refusal::Kind),
        _ => Ok(()),
    }
}

/// Options without titles, or with the titles that `enumNames` lists.
fn plain(values: Vec<String>, names: Option<Vec<String>>) -> Result<Vec<Choice>, Refusal> {
    // Names that do not fit one to one would be shown with the wrong values.
    let names = names.filter(|names| names.len() == values.len());
    let mut names = names.unwrap_or_default().into_iter();
    options(
        values
            .into_iter()
            .map(|value| Titled {
                r#const: value,
                title: names.next(),
            })
            .collect(),
    )
}

fn options(titled: Vec<Titled>) -> Result<Vec<Choice>, Refusal> {
    if titled.len() > MAX_OPTIONS {
        return Err(Refusal::Size);
    }
    let mut options: Vec<Choice> = Vec::with_capacity(titled.len());
    for Titled {
        r#const: value,
        title,
    } in titled
    {
        let longest = title.as_deref().map_or(0, str::len).max(value.len());
        if longest > MAX_LABEL_BYTES {
            return Err(Refusal::Size);
        }
        if options.iter().any(|option| option.value == value) {
            return Err(Refusal::Kind);
        }
        options.push(Choice { value, title });
    }
    if options.is_empty() {
        return Err(Refusal::Kind);
    }
    Ok(options)
}

/// The pattern, compiled to run in linear time; `None` if it cannot be: then the server alone checks it.
fn pattern(text: String) -> Option<Pattern> {
    let schema = serde_json::json!({ "type": "string", "pattern": text });
    let validator = jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(MAX_COMPILED_PATTERN_BYTES)
                .dfa_size_limit(MAX_COMPILED_PATTERN_BYTES),
        )
        .build(&schema)
        .ok()?;
    Some(Pattern {
        text,
        validator: Arc::new(validator),
    })
}

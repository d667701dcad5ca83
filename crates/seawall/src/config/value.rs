//! Reading a value of the file as a type, or saying what it had to be.

use std::time::Duration;

use jsonc_parser::ast::{Array, Object, Value};
use seawall_proto::limits::{MAX_LIMIT, MAX_TIMEOUT_MS};

use super::findings::Findings;
use super::problem::{Expected, ProblemKind};

/// One value and the path of its field.
pub(super) struct Reader<'r> {
    pub(super) field: &'r str,
    pub(super) value: &'r Value<'r>,
    pub(super) findings: &'r mut Findings,
}

impl<'r> Reader<'r> {
    pub(super) fn boolean(self) -> Option<bool> {
        let value = self.value.as_boolean_lit().map(|literal| literal.value);
        self.or_problem(value, Expected::Boolean)
    }

    pub(super) fn non_empty(self) -> Option<&'r str> {
        let value = self
            .value
            .as_string_lit()
            .map(|literal| literal.value.as_ref());
        self.or_problem(
            value.filter(|text| !text.is_empty()),
            Expected::NonEmptyText,
        )
    }

    /// One of the words of `choices`, or a problem that lists `words`.
    pub(super) fn choice<T: Copy>(self, choices: &[(&str, T)], words: &'static str) -> Option<T> {
        let text = self
            .value
            .as_string_lit()
            .map(|literal| literal.value.as_ref());
        let choice = text.and_then(|text| choices.iter().find(|(word, _)| *word == text));
        self.or_problem(choice.map(|(_, value)| *value), Expected::OneOf(words))
    }

    pub(super) fn object(self) -> Option<&'r Object<'r>> {
        let object = self.value.as_object();
        self.or_problem(object, Expected::Object)
    }

    pub(super) fn texts(self) -> Option<Vec<String>> {
        let texts = self.value.as_array().and_then(strings);
        self.or_problem(texts, Expected::TextArray)
    }

    /// A whole number from 1 to 2^53 - 1 (K9).
    pub(super) fn limit(self) -> Option<u64> {
        let number = self.whole_number(MAX_LIMIT);
        self.or_problem(number, Expected::Limit)
    }

    /// A whole number of milliseconds from 1 to 2^31 - 1 (K9).
    pub(super) fn timeout(self) -> Option<Duration> {
        let number = self.whole_number(MAX_TIMEOUT_MS);
        self.or_problem(number.map(Duration::from_millis), Expected::Timeout)
    }

    /// The number of a port.
    pub(super) fn port(self) -> Option<u16> {
        let number = self.whole_number(u16::MAX.into());
        let port = number.and_then(|number| u16::try_from(number).ok());
        self.or_problem(port, Expected::Port)
    }

    /// A whole number however it is written: `1000`, `1e3`, `1000.0`.
    fn whole_number(&self, most: u64) -> Option<u64> {
        let text = self.value.as_number_lit()?.value;
        let number = text.parse().ok().or_else(|| {
            let float: f64 = text.parse().ok()?;
            // Every whole number up to 2^53 prints exactly.
            (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0)
                .then(|| format!("{float:.0}").parse().ok())?
        })?;
        (1..=most).contains(&number).then_some(number)
    }

    fn or_problem<T>(self, value: Option<T>, expected: Expected) -> Option<T> {
        if value.is_none() {
            self.findings
                .problem(self.field.to_owned(), ProblemKind::Expected { expected });
        }
        value
    }
}

fn strings(array: &Array<'_>) -> Option<Vec<String>> {
    let text = |value: &Value<'_>| Some(value.as_string_lit()?.value.to_string());
    array.elements.iter().map(text).collect()
}

//! A form on the terminal: field by field, with a way back, then a review before anything is sent.

mod value;

use seawall::Json;
use seawall::inputs::{Answer, Field, FieldKind, Form};

use super::console::{Console, Word, strong};
use super::quote::quote;
use crate::printer::Look;

#[cfg(test)]
mod tests;

const HOW: &str = "\
An empty line keeps the value that is there now, or leaves an optional one out; /skip leaves it out in any case.
/back goes one value back, /decline tells the server no, /cancel gives it no answer.\n";

/// What was typed at a field.
enum Typed<'a> {
    Value(&'a str),
    Keep,
    Skip,
    Back,
    Decline,
    Cancel,
}

/// Where the dialogue goes on.
enum Next {
    Field(usize),
    Review,
    End(Answer),
}

/// Asks for every field, shows what would be sent, and asks whether to send it.
pub(super) async fn fill(console: &mut impl Console, server: &str, form: &Form) -> Answer {
    let mut values: Vec<Option<Json>> =
        form.fields().iter().map(|f| f.default().cloned()).collect();
    introduce(console, server, form);
    let mut next = match form.fields() {
        [] => Next::Review,
        _ => Next::Field(0),
    };
    loop {
        next = match next {
            Next::End(answer) => return answer,
            Next::Review => review(console, server, form, &values).await,
            Next::Field(at) => match (form.fields().get(at), values.get_mut(at)) {
                (Some(field), Some(value)) => {
                    let place = (at, form.fields().len());
                    ask(console, field, value, place).await
                }
                _ => Next::Review,
            },
        };
    }
}

fn introduce(console: &mut impl Console, server: &str, form: &Form) {
    let name = strong(console, server);
    let said = quote(form.message(), console.width());
    let asks = match form.fields().len() {
        0 => "asks for your consent".to_owned(),
        1 => "asks you for a value".to_owned(),
        many => format!("asks you for {many} values"),
    };
    console.show(&format!("\nThe server {name} {asks}. It says:\n{said}"));
    if !form.fields().is_empty() {
        let how = console.colour().paint(Look::Faint, HOW.trim_end());
        console.show(&format!("{how}\n"));
    }
}

/// Asks for one field until there is an answer that satisfies it.
async fn ask(
    console: &mut impl Console,
    field: &Field,
    value: &mut Option<Json>,
    (at, many): (usize, usize),
) -> Next {
    let need = match field.is_required() {
        true => "needed",
        false => "optional",
    };
    let title = quote(field.label(), console.width());
    let takes = value::takes(field.kind());
    console.show(&format!(
        "\nValue {} of {many}, {need}: {takes}\n{title}",
        at + 1
    ));
    if let Some(description) = field.description() {
        let described = quote(description, console.width());
        console.show(&described);
    }
    if let FieldKind::Choice { options } | FieldKind::Choices { options, .. } = field.kind() {
        for (at, option) in options.iter().enumerate() {
            let listed = format!("{}) {}", at + 1, value::option(option));
            let listed = quote(&listed, console.width());
            console.show(&listed);
        }
    }
    if let FieldKind::Text {
        pattern: Some(pattern),
        ..
    } = field.kind()
    {
        let pattern = quote(&format!("must match {}", pattern.as_str()), console.width());
        console.show(&pattern);
    }
    loop {
        if let Some(value) = value {
            let now = quote(&format!("now: {}", value::sent(value)), console.width());
            console.show(&now);
        }
        console.show("> ");
        let Some(line) = console.line().await else {
            console.show("\n");
            return Next::End(Answer::Cancel);
        };
        let fault = match typed(&line) {
            Typed::Decline => return Next::End(Answer::Decline),
            Typed::Cancel => return Next::End(Answer::Cancel),
            Typed::Back => return Next::Field(at.saturating_sub(1)),
            Typed::Keep if value.is_some() => return Next::Field(at + 1),
            Typed::Keep | Typed::Skip if !field.is_required() => {
                *value = None;
                return Next::Field(at + 1);
            }
            Typed::Keep | Typed::Skip => "a value is needed".to_owned(),
            Typed::Value(text) => match value::read(field, text) {
                Ok(read) => {
                    *value = Some(read);
                    return Next::Field(at + 1);
                }
                Err(fault) => fault.to_string(),
            },
        };
        let fault = console.colour().paint(Look::Warning, &fault);
        console.show(&format!("{fault}; once more\n"));
    }
}

fn typed(line: &str) -> Typed<'_> {
    match line.trim() {
        "" => Typed::Keep,
        "/skip" => Typed::Skip,
        "/back" => Typed::Back,
        "/decline" => Typed::Decline,
        "/cancel" => Typed::Cancel,
        // One of these words as a value is written with two strokes.
        "//skip" | "//back" | "//decline" | "//cancel" => {
            Typed::Value(line.trim().strip_prefix('/').unwrap_or(line))
        }
        _ => Typed::Value(line),
    }
}

/// Shows what would be sent and asks.
async fn review(
    console: &mut impl Console,
    server: &str,
    form: &Form,
    values: &[Option<Json>],
) -> Next {
    let name = strong(console, server);
    let question = if form.fields().is_empty() {
        format!("Tell {name} yes, decline (tells it no) or cancel (gives it no answer): ")
    } else {
        console.show(&format!("\nThis would be sent to {name}:\n"));
        for (field, value) in form.fields().iter().zip(values) {
            let value = match value {
                Some(value) => value::sent(value),
                None => "(left out)".to_owned(),
            };
            let line = format!("{}: {value}", field.name()).replace(['\n', '\t'], " ");
            let line = quote(&line, console.width());
            console.show(&line);
        }
        "Send it? yes, edit, decline (tells the server no) or cancel (gives it no answer): "
            .to_owned()
    };
    loop {
        console.show(&question);
        let Some(line) = console.line().await else {
            console.show("\n");
            return Next::End(Answer::Cancel);
        };
        match Word::of(&line) {
            Some(Word::Yes) => return Next::End(accept(form, values)),
            Some(Word::Edit) if !form.fields().is_empty() => return Next::Field(0),
            Some(Word::Decline) => return Next::End(Answer::Decline),
            Some(Word::Cancel) => return Next::End(Answer::Cancel),
            Some(Word::Edit) | None => {}
        }
    }
}

fn accept(form: &Form, values: &[Option<Json>]) -> Answer {
    let members: Vec<(String, Json)> = form
        .fields()
        .iter()
        .zip(values)
        .filter_map(|(field, value)| Some((field.name().to_owned(), value.clone()?)))
        .collect();
    Form::content(&members).map_or(Answer::Cancel, Answer::Accept)
}

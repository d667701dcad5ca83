//! The demo server's tools: what they declare and what they do.

use serde_json::{Value, json};

/// The longest that `sleep` sleeps: ten minutes.
const MAX_SLEEP_MS: u64 = 600_000;
/// A picture of 16 by 16 points: a wall, and the sea before it.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQBAMAAADt3eJSAAAAD1BMVEULKkovhsHo8feKemZeUkT1GyftAAAAQklEQVR42mNgAAEWYxMGXAwXFwiD2cQYSDIpgBkKDIoCYIYAk6AQgwpQjZCioKCSCFCXIAhgYQDVgBnCQF04GEA1AKmpC0HhlB7FAAAAAElFTkSuQmCC";

/// What a call leads to.
pub(super) enum Answer {
    /// The result.
    Now(Value),
    /// The result comes after so many milliseconds.
    After(u64),
}

/// The tools as `tools/list` shows them; `structured` says whether the revision has structured results.
pub(super) fn declarations(structured: bool) -> Value {
    let stats = json!({
        "name": "structured",
        "description": "Count the characters and words of a text; the answer is structured.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "The text to count"}},
            "required": ["text"],
        },
    });
    let mut tools = json!([
        {
            "name": "echo",
            "description": "Give a text back.",
            "inputSchema": {
                "type": "object",
                "properties": {"text": {"type": "string", "description": "The text to give back"}},
                "required": ["text"],
            },
        },
        {
            "name": "add",
            "description": "Add two numbers.",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                "required": ["a", "b"],
                "additionalProperties": false,
            },
        },
        {
            "name": "sleep",
            "description": "Answer after a while; tells its progress and can be cancelled.",
            "inputSchema": {
                "type": "object",
                "properties": {"ms": {
                    "type": "integer", "minimum": 0, "maximum": MAX_SLEEP_MS,
                    "description": "How long, in milliseconds",
                }},
                "required": ["ms"],
            },
        },
        {
            "name": "fail",
            "description": "Fail, as a tool does: with a result that says so.",
            "inputSchema": {
                "type": "object",
                "properties": {"message": {"type": "string", "description": "What to fail with"}},
            },
        },
        {
            "name": "image",
            "description": "Give a small PNG picture.",
            "inputSchema": {"type": "object", "properties": {}},
        },
        stats,
    ]);
    if structured && let Some(stats) = tools.as_array_mut().and_then(|tools| tools.last_mut()) {
        stats["outputSchema"] = json!({
            "type": "object",
            "properties": {
                "characters": {"type": "integer"},
                "words": {"type": "integer"},
            },
            "required": ["characters", "words"],
        });
    }
    tools
}

/// Calls the tool `name`; `None` if there is no such tool.
pub(super) fn call(name: &str, arguments: &Value, structured: bool) -> Option<Answer> {
    let result = match name {
        "echo" => with_text(arguments, text_result),
        "add" => add(arguments),
        "sleep" => match arguments.get("ms").and_then(Value::as_u64) {
            Some(milliseconds @ 0..=MAX_SLEEP_MS) => return Some(Answer::After(milliseconds)),
            _ => failure(&format!("ms is not an integer from 0 to {MAX_SLEEP_MS}")),
        },
        "fail" => {
            let message = arguments.get("message").and_then(Value::as_str);
            failure(message.unwrap_or("it failed, as it was asked to"))
        }
        "image" => json!({
            "content": [{"type": "image", "data": PICTURE, "mimeType": "image/png"}],
            "isError": false,
        }),
        "structured" => with_text(arguments, |text| count(text, structured)),
        _ => return None,
    };
    Some(Answer::Now(result))
}

/// A result of one text block.
pub(super) fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": false})
}

fn failure(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

fn with_text(arguments: &Value, result: impl FnOnce(&str) -> Value) -> Value {
    match arguments.get("text").and_then(Value::as_str) {
        Some(text) => result(text),
        None => failure("text is not a string"),
    }
}

fn add(arguments: &Value) -> Value {
    let number = |name| arguments.get(name).filter(|value| value.is_number());
    let (Some(a), Some(b)) = (number("a"), number("b")) else {
        return failure("a and b are not both numbers");
    };
    // Integers add up exactly; two of at most 64 bits always fit in 128.
    if let (Some(a), Some(b)) = (integer(a), integer(b)) {
        return text_result(&(a + b).to_string());
    }
    match a.as_f64().zip(b.as_f64()).map(|(a, b)| a + b) {
        Some(sum) if sum.is_finite() => text_result(&sum.to_string()),
        _ => failure("the sum is too large"),
    }
}

fn integer(value: &Value) -> Option<i128> {
    let signed = value.as_i64().map(i128::from);
    signed.or_else(|| value.as_u64().map(i128::from))
}

fn count(text: &str, structured: bool) -> Value {
    let counts = json!({
        "characters": text.chars().count(),
        "words": text.split_whitespace().count(),
    });
    let mut result = text_result(&counts.to_string());
    if structured {
        result["structuredContent"] = counts;
    }
    result
}

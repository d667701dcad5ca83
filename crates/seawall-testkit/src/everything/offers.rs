//! What there is beside tools: resources, prompts, completions.

use serde_json::{Value, json};

use crate::asking::Want;
use crate::call::{Call, Done, error, invalid};
use crate::service::Everything;
use crate::tools::field;

/// One red pixel, a PNG.
pub(crate) const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// No sound, a WAV.
pub(crate) const SOUND: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// Of the revisions with a handshake; 2026-07-28 has -32602 for it (`server/resources`, "Error Handling").
const RESOURCE_NOT_FOUND: i64 = -32002;
const TEMPLATE: (&str, &str) = ("test://template/", "/data");
/// What completes anything.
const WORDS: [&str; 4] = ["paris", "park", "party", "testing"];

impl Everything {
    pub(crate) fn read(call: &Call) -> Done {
        let uri = call.needs("/uri")?;
        let templated = uri
            .strip_prefix(TEMPLATE.0)
            .and_then(|rest| rest.strip_suffix(TEMPLATE.1))
            .filter(|id| !id.is_empty() && !id.contains('/'));
        let content = match (uri, templated) {
            ("test://static-text", _) => json!({
                "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."
            }),
            ("test://static-binary", _) => {
                json!({"uri": uri, "mimeType": "image/png", "blob": IMAGE})
            }
            ("test://watched-resource", _) => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "Watched resource content"})
            }
            (_, Some(id)) => {
                let data =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
            }
            _ => {
                let data = json!({"uri": uri});
                let message = "Resource not found";
                return Err(if call.is_modern() {
                    invalid(message, Some(&data))
                } else {
                    error(RESOURCE_NOT_FOUND, message, Some(&data))
                });
            }
        };
        Ok(json!({"contents": [content]}))
    }

    pub(crate) async fn prompt(&self, call: &Call) -> Done {
        let user = |content: Value| json!({"role": "user", "content": content});
        let say = |text: String| user(json!({"type": "text", "text": text}));
        let messages = match call.needs("/name")? {
            "test_simple_prompt" => vec![say("This is a simple prompt for testing.".to_owned())],
            "test_prompt_with_arguments" => {
                let (one, two) = (
                    call.needs("/arguments/arg1")?,
                    call.needs("/arguments/arg2")?,
                );
                vec![say(format!(
                    "Prompt with arguments: arg1='{one}', arg2='{two}'"
                ))]
            }
            "test_prompt_with_embedded_resource" => {
                let uri = call.needs("/arguments/resourceUri")?;
                let text = "Embedded resource content for testing.";
                let resource = json!({"uri": uri, "mimeType": "text/plain", "text": text});
                vec![
                    user(json!({"type": "resource", "resource": resource})),
                    say("Please process the embedded resource above.".to_owned()),
                ]
            }
            "test_prompt_with_image" => vec![
                user(json!({"type": "image", "data": IMAGE, "mimeType": "image/png"})),
                say("Please analyze the image above.".to_owned()),
            ],
            "test_input_required_result_prompt" => {
                let question = "What context should the prompt use?";
                let want = Want::form("user_context", question, "context", "string");
                let inputs = self.inputs(call, &[want], None).await?;
                let context = inputs.first().map(|answer| field(answer, "context"));
                vec![say(format!(
                    "Prompt with context: {}",
                    context.unwrap_or_default()
                ))]
            }
            _ => return Err(invalid("Unknown prompt", None)),
        };
        Ok(json!({"messages": messages}))
    }

    pub(crate) fn complete(call: &Call) -> Done {
        let begun = call.needs("/argument/value")?;
        let values: Vec<&str> = WORDS
            .into_iter()
            .filter(|word| word.starts_with(begun))
            .collect();
        Ok(json!({"completion": {"values": values, "total": values.len(), "hasMore": false}}))
    }
}

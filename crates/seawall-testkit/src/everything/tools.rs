//! The tools.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::asking::Want;
use crate::call::{Call, Done, invalid, text};
use crate::changes::Change;
use crate::offers::{IMAGE, SOUND};
use crate::service::Everything;

const FORMS: &str = include_str!("forms.json");
/// Between two things that a tool tells.
const STEP: Duration = Duration::from_millis(50);
/// How long a client is waited for that was hung up on.
const AWAY: Duration = Duration::from_millis(100);
/// At most so long a tool is slow.
const SLOWEST_MS: u64 = 60_000;

impl Everything {
    pub(crate) async fn call(&self, call: &Call) -> Done {
        let name = call.needs("/name")?;
        match name {
            "test_simple_text" => Ok(text("This is a simple text response for testing.")),
            "test_image_content" => Ok(json!({"content": [image()]})),
            "test_audio_content" => Ok(json!({
                "content": [{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]
            })),
            "test_embedded_resource" => {
                let resource = resource(
                    "test://embedded-resource",
                    "text/plain",
                    "An embedded resource.",
                );
                Ok(json!({"content": [resource]}))
            }
            "test_multiple_content_types" => Ok(json!({"content": [
                {"type": "text", "text": "Multiple content types test:"},
                image(),
                resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ]})),
            "test_structured_content" => {
                let mut result = text(r#"{"sum":3}"#);
                result["structuredContent"] = json!({"sum": 3});
                Ok(result)
            }
            "test_error_handling" => {
                let mut result = text("This tool intentionally returns an error for testing");
                result["isError"] = json!(true);
                Ok(result)
            }
            "json_schema_2020_12_tool" | "test_mirrored_header" => {
                Ok(text(call.params["arguments"].to_string()))
            }
            "test_slow" => {
                let ms = call.params["arguments"]["ms"].as_u64().unwrap_or_default();
                sleep(Duration::from_millis(ms.min(SLOWEST_MS))).await;
                Ok(text("slow"))
            }
            "test_reconnection" => {
                call.exchange.hang_up();
                sleep(AWAY).await;
                Ok(text("The client came back."))
            }
            "test_trigger_tool_change" => Ok(self.change(&Change::Tools)),
            "test_trigger_prompt_change" => Ok(self.change(&Change::Prompts)),
            "test_trigger_resource_change" => Ok(self.change(&match call.text("/arguments/uri") {
                None => Change::Resources,
                Some(uri) => Change::Resource(uri.to_owned()),
            })),
            "test_tool_with_progress" | "test_streaming_elicitation" => {
                for progress in [0, 50, 100] {
                    call.progress(progress).await;
                    sleep(STEP).await;
                }
                Ok(text("done"))
            }
            "test_tool_with_logging" | "test_logging_tool" => {
                for line in [
                    "Tool execution started",
                    "Tool processing data",
                    "Tool execution completed",
                ] {
                    self.log(call, "info", line).await;
                    sleep(STEP).await;
                }
                Ok(text("logged"))
            }
            _ => self.asking(call, name).await,
        }
    }

    /// The tools that ask.
    async fn asking(&self, call: &Call, name: &str) -> Done {
        let state = self.state(call)?;
        let one = |want: Want, state: Option<Value>| async move {
            let inputs = self.inputs(call, &[want], state).await?;
            Ok::<_, crate::call::Stop>(inputs.into_iter().next().unwrap_or_default())
        };
        let name_form = || Want::form("user_name", "What is your name?", "name", "string");
        match name {
            "test_missing_capability" => {
                // It needs to be possible to ask; nothing is asked.
                if call.can("sampling") {
                    return Ok(text("the client has sampling"));
                }
                self.inputs(call, &[Want::sample("sample", "")], None)
                    .await?;
                Ok(text(""))
            }
            "test_sampling" => {
                let prompt = call.needs("/arguments/prompt")?;
                let sample = one(Want::sample("sample", prompt), None).await?;
                Ok(text(format!("LLM response: {}", sampled(&sample))))
            }
            "test_elicitation" => {
                let message = call.needs("/arguments/message")?;
                let answer =
                    one(Want::form("response", message, "response", "string"), None).await?;
                Ok(told(&answer))
            }
            "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums" => {
                let forms: Value = serde_json::from_str(FORMS).unwrap_or_default();
                let which = if name.ends_with("defaults") {
                    "defaults"
                } else {
                    "enums"
                };
                let want =
                    Want::form_of("form", "Please review and update the form", &forms[which]);
                Ok(told(&one(want, None).await?))
            }
            "test_input_required_result_elicitation" => {
                let answer = one(name_form(), None).await?;
                Ok(text(format!("Hello, {}!", field(&answer, "name"))))
            }
            "test_input_required_result_sampling" => {
                let want = Want::sample("sample_request", "What is the capital of France?");
                let sample = one(want, None).await?;
                Ok(text(format!("Sampling result: {}", sampled(&sample))))
            }
            "test_input_required_result_list_roots" => {
                let answer = one(Want::roots("roots_request"), None).await?;
                Ok(text(format!("Found {} root(s)", roots(&answer))))
            }
            "test_input_required_result_request_state"
            | "test_input_required_result_tampered_state" => {
                let want = Want::form("confirm", "Please confirm", "ok", "boolean");
                one(want, Some(json!({"asked": "confirm"}))).await?;
                if call.is_modern() && state != Some(json!({"asked": "confirm"})) {
                    return Err(invalid("the requestState is missing", None));
                }
                Ok(text("state-ok: the requestState is the one that was given"))
            }
            "test_input_required_result_multiple_inputs" => {
                let wants = [
                    name_form(),
                    Want::sample("greeting", "Generate a greeting"),
                    Want::roots("client_roots"),
                ];
                let inputs = self
                    .inputs(call, &wants, Some(json!({"asked": "all"})))
                    .await?;
                let [name, greeting, listed] = &inputs[..] else {
                    return Ok(text(""));
                };
                let (name, greeting) = (field(name, "name"), sampled(greeting));
                Ok(text(format!(
                    "Name: {name}; Greeting: {greeting}; Roots: {}",
                    roots(listed)
                )))
            }
            "test_input_required_result_multi_round" => self.rounds(call, state).await,
            "test_input_required_result_capabilities" => {
                let form = Want::form("elicit_input", "Elicitation input", "value", "string");
                let wants: Vec<Want> = [form, Want::sample("sample_input", "Sample request")]
                    .into_iter()
                    .filter(|want| call.can(want.capability()))
                    .collect();
                self.inputs(call, &wants, Some(json!({"asked": "capabilities"})))
                    .await?;
                Ok(text(format!("capabilities-ok: {} inputs", wants.len())))
            }
            _ => Err(invalid("Unknown tool", None)),
        }
    }

    /// Two rounds; the first one's answer is in the second one's state.
    async fn rounds(&self, call: &Call, state: Option<Value>) -> Done {
        let known = state.as_ref().and_then(|state| state["name"].as_str());
        let name = match known {
            Some(name) => name.to_owned(),
            None => {
                let want = Want::form("step1", "Step 1: What is your name?", "name", "string");
                let inputs = self
                    .inputs(call, &[want], Some(json!({"round": 1})))
                    .await?;
                field(inputs.first().unwrap_or(&Value::Null), "name")
            }
        };
        let want = Want::form(
            "step2",
            "Step 2: What is your favorite color?",
            "color",
            "string",
        );
        let state = json!({"round": 2, "name": name});
        let inputs = self.inputs(call, &[want], Some(state)).await?;
        let color = field(inputs.first().unwrap_or(&Value::Null), "color");
        Ok(text(format!(
            "Multi-round complete for {name} who likes {color}"
        )))
    }
}

fn image() -> Value {
    json!({"type": "image", "data": IMAGE, "mimeType": "image/png"})
}

fn resource(uri: &str, mime: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}})
}

/// What an answered form says, and how.
fn told(answer: &Value) -> Value {
    let action = answer["action"].as_str().unwrap_or_default();
    text(format!(
        "User response: action={action}, content={}",
        answer["content"]
    ))
}

pub(crate) fn field(answer: &Value, name: &str) -> String {
    let value = answer["content"][name].as_str();
    value.unwrap_or("unknown").to_owned()
}

fn sampled(sample: &Value) -> &str {
    sample["content"]["text"].as_str().unwrap_or("no response")
}

fn roots(answer: &Value) -> usize {
    answer["roots"].as_array().map_or(0, Vec::len)
}

//! What a tool asks of the client, on either era: a request of ours, or a result that asks and is asked again.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use seawall_gateway::AskError;
use seawall_proto::Json;
use seawall_proto::jsonrpc::{INTERNAL_ERROR, MISSING_CLIENT_CAPABILITY};
use serde_json::{Map, Value, json};

use crate::call::{Call, Stop, error, invalid};
use crate::service::Everything;

/// One thing to ask for: under which key, and how.
pub(crate) struct Want(
    pub(crate) &'static str,
    pub(crate) &'static str,
    pub(crate) Value,
);

impl Want {
    /// A form of one field.
    pub(crate) fn form(key: &'static str, message: &str, field: &str, kind: &str) -> Self {
        let schema =
            json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
        Self::form_of(key, message, &schema)
    }

    pub(crate) fn form_of(key: &'static str, message: &str, schema: &Value) -> Self {
        let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
        Self(key, "elicitation/create", params)
    }

    pub(crate) fn sample(key: &'static str, prompt: &str) -> Self {
        let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
        let params = json!({"messages": [message], "maxTokens": 100});
        Self(key, "sampling/createMessage", params)
    }

    pub(crate) fn roots(key: &'static str) -> Self {
        Self(key, "roots/list", json!({}))
    }

    pub(crate) fn capability(&self) -> &'static str {
        match self.1 {
            "elicitation/create" => "elicitation",
            "sampling/createMessage" => "sampling",
            _ => "roots",
        }
    }
}

impl Everything {
    /// What was asked for, in its order. A modern client that did not bring all of it is asked for all of it, and brings
    /// `state` back with it.
    pub(crate) async fn inputs(
        &self,
        call: &Call,
        wants: &[Want],
        state: Option<Value>,
    ) -> Result<Vec<Value>, Stop> {
        let missing: Map<String, Value> = wants
            .iter()
            .map(Want::capability)
            .filter(|capability| !call.can(capability))
            .map(|capability| (capability.to_owned(), json!({})))
            .collect();
        if !missing.is_empty() {
            if !call.is_modern() {
                return Err(invalid(
                    "the client lacks a capability that this needs",
                    None,
                ));
            }
            let data = json!({"requiredCapabilities": missing});
            let message = "Missing required client capability";
            return Err(error(MISSING_CLIENT_CAPABILITY, message, Some(&data)));
        }
        if !call.is_modern() {
            let mut inputs = Vec::new();
            for Want(_, method, params) in wants {
                inputs.push(ask(call, method, params).await?);
            }
            return Ok(inputs);
        }
        let brought = match call.params.get("inputResponses") {
            None => Some(Vec::new()),
            Some(Value::Object(brought)) => {
                let known = wants.iter().filter_map(|want| brought.get(want.0));
                let known: Vec<Value> = known.cloned().collect();
                known.iter().all(Value::is_object).then_some(known)
            }
            Some(_) => None,
        };
        let brought =
            brought.ok_or_else(|| invalid("inputResponses are not what was asked for", None))?;
        if brought.len() == wants.len() {
            return Ok(brought);
        }
        let requests: Map<String, Value> = wants
            .iter()
            .map(|Want(key, method, params)| {
                let request = json!({"method": method, "params": params});
                ((*key).to_owned(), request)
            })
            .collect();
        let mut result = json!({"resultType": "input_required", "inputRequests": requests});
        if let Some(state) = state {
            result["requestState"] = json!(self.sign(call, &state));
        }
        Err(Stop::Inputs(result))
    }

    /// The state that the client brought back, if it is one that it was given for this very tool or prompt.
    pub(crate) fn state(&self, call: &Call) -> Result<Option<Value>, Stop> {
        let Some(state) = call.params.get("requestState") else {
            return Ok(None);
        };
        let read = || {
            let (text, tag) = state.as_str()?.split_once('.')?;
            let text = URL_SAFE_NO_PAD.decode(text).ok()?;
            let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
            hmac::verify(&self.key, &text, &tag).ok()?;
            let signed: Value = serde_json::from_slice(&text).ok()?;
            (signed["of"] == call.params["name"]).then(|| signed["state"].clone())
        };
        let state =
            read().ok_or_else(|| invalid("the requestState is none that was given", None))?;
        Ok(Some(state))
    }

    fn sign(&self, call: &Call, state: &Value) -> String {
        let signed = json!({"of": call.params["name"], "state": state}).to_string();
        let tag = hmac::sign(&self.key, signed.as_bytes());
        format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(&signed),
            URL_SAFE_NO_PAD.encode(tag)
        )
    }
}

async fn ask(call: &Call, method: &str, params: &Value) -> Result<Value, Stop> {
    let broken = || error(INTERNAL_ERROR, "Internal error", None);
    let params = Json::of(params).map_err(|_| broken())?;
    match call.exchange.ask(method, Some(&params)).await {
        Ok(result) => result.parse().map_err(|_| broken()),
        Err(AskError::Refused(refused)) => {
            let data = json!({"code": refused.code});
            Err(error(INTERNAL_ERROR, "the client refused", Some(&data)))
        }
        Err(_) => Err(error(INTERNAL_ERROR, "the client could not be asked", None)),
    }
}

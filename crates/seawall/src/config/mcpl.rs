//! MCPL policy in the file: which of it asks for MCPL behaviour, and which only takes something away (K8).

use jsonc_parser::ast::Value;

use super::value::Reader;

/// Keys whose policy can ask for something.
const ASKING: [&str; 7] = [
    "allowHostCommands",
    "enabledCapabilities",
    "enabledFeatureSets",
    "channelSubscription",
    "autofetch",
    "toolLifecycle",
    "mcplPolicy",
];

/// Whether a key is MCPL policy.
pub(super) fn is_policy(key: &str) -> bool {
    ASKING.contains(&key)
        || matches!(
            key,
            "disabledCapabilities" | "disabledFeatureSets" | "scopes"
        )
}

/// The key, if its value asks for MCPL behaviour. A default that is repeated asks for nothing.
pub(super) fn asks(reader: Reader<'_>) -> Option<&'static str> {
    let key = ASKING.into_iter().find(|key| *key == reader.field);
    let value = reader.value;
    let asks = match reader.field {
        "allowHostCommands" => reader.boolean()?,
        "enabledCapabilities" | "enabledFeatureSets" => !reader.texts()?.is_empty(),
        "disabledCapabilities" | "disabledFeatureSets" => {
            reader.texts()?;
            false
        }
        "channelSubscription" if value.as_array().is_some() => !reader.texts()?.is_empty(),
        "channelSubscription" => {
            reader.choice(&[("manual", false), ("auto", true)], "\"manual\", \"auto\"")?
        }
        "mcplPolicy" => reader.choice(
            &[("strict", false), ("legacy", true)],
            "\"strict\", \"legacy\"",
        )?,
        "autofetch" => reader.object().is_some(),
        "toolLifecycle" => {
            let switched_on =
                |value: &Value<'_>| value.as_boolean_lit().is_some_and(|literal| literal.value);
            reader
                .object()?
                .properties
                .iter()
                .any(|prop| switched_on(&prop.value))
        }
        _ => {
            reader.object()?;
            false
        }
    };
    key.filter(|_| asks)
}

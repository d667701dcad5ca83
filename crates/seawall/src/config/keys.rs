//! The keys that an entry can have.

/// Keys of Seawall's own, in every shape.
pub(super) const KNOWN: [&str; 46] = [
    "server",
    "command",
    "args",
    "cwd",
    "env",
    "passEnv",
    "inheritEnv",
    "url",
    "headers",
    "bearerTokenEnv",
    "transport",
    "protocol",
    "namePrefix",
    "include",
    "exclude",
    "grant",
    "onConflict",
    "reconnect",
    "reconnectIntervalMs",
    "reconnectMaxIntervalMs",
    "required",
    "catalog",
    "oauth",
    "handshakeTimeoutMs",
    "requestTimeoutMs",
    "maxTotalTimeoutMs",
    "queueCapacity",
    "maxFrameBytes",
    "maxOutboundFrameBytes",
    "maxTools",
    "maxToolNameBytes",
    "maxToolDocumentBytes",
    "maxCatalogPages",
    "maxStderrBytes",
    "maxBufferedBytes",
    "invalidTools",
    "allowHostCommands",
    "enabledCapabilities",
    "disabledCapabilities",
    "enabledFeatureSets",
    "disabledFeatureSets",
    "channelSubscription",
    "autofetch",
    "toolLifecycle",
    "scopes",
    "mcplPolicy",
];

/// What a key of the map shapes means.
pub(super) enum Foreign {
    /// The same as this key of Seawall's.
    Same(&'static str),
    /// Nothing that concerns Seawall: labels, and approvals that it never asks for.
    Nothing,
    /// Something that Seawall does not do; the advice completes "has no effect in Seawall".
    Ignored(&'static str),
}

/// The keys that other hosts document (Claude, Cursor, VS Code, Gemini, Cline, Roo, Windsurf, Copilot, Codex).
pub(super) fn foreign(key: &str) -> Option<Foreign> {
    Some(match key {
        "type" | "transportType" => Foreign::Same("transport"),
        "httpUrl" | "serverUrl" => Foreign::Same("url"),
        "includeTools" | "enabledTools" | "enabled_tools" | "tools" => Foreign::Same("include"),
        "excludeTools" | "disabledTools" | "disabled_tools" => Foreign::Same("exclude"),
        "name" | "description" | "title" | "icon" | "iconPath" | "version" | "gallery" | "dev"
        | "metadata" | "alwaysAllow" | "autoApprove" | "trust" | "$schema" => Foreign::Nothing,
        "timeout" | "timeoutMs" | "initTimeout" | "startup_timeout_sec" | "tool_timeout_sec" => {
            Foreign::Ignored(", as its unit differs between hosts; write \"requestTimeoutMs\"")
        }
        "sandbox" | "sandboxEnabled" => Foreign::Ignored(": the server is not sandboxed"),
        "auth" | "authProviderType" => Foreign::Ignored(""),
        _ => return None,
    })
}

/// Whether a key of other programs holds a token itself (K5).
pub(super) fn is_literal_token(key: &str) -> bool {
    matches!(
        key,
        "token"
            | "bearerToken"
            | "bearer_token"
            | "bearer"
            | "accessToken"
            | "access_token"
            | "authToken"
            | "auth_token"
            | "apiKey"
            | "api_key"
            | "apikey"
    )
}

/// Whether a key means something in a map shape only.
pub(super) fn is_for_maps(key: &str) -> bool {
    matches!(key, "disabled" | "enabled" | "envFile")
        || matches!(foreign(key), Some(Foreign::Same(_)))
}

/// The key, if it means something for a program only.
pub(super) fn stdio_only(key: &str) -> Option<&'static str> {
    ["args", "cwd", "env", "envFile", "passEnv", "inheritEnv"]
        .into_iter()
        .find(|only| *only == key)
}

/// The key, if it means something for a URL only.
pub(super) fn network_only(key: &str) -> Option<&'static str> {
    ["headers", "bearerTokenEnv", "oauth"]
        .into_iter()
        .find(|only| *only == key)
}

/// The known key that is nearest to a written one.
pub(super) fn nearest(written: &str) -> &'static str {
    match written {
        "type" => return "transport",
        "httpUrl" | "serverUrl" => return "url",
        "tools" => return "include",
        _ => {}
    }
    nearest_of(&KNOWN, written)
}

/// The one of `known` that is nearest to a written one.
pub(super) fn nearest_of(known: &[&'static str], written: &str) -> &'static str {
    // Beyond this length nothing is near, and the comparison is quadratic.
    const MAX_COMPARED: usize = 64;
    let start: String = written
        .chars()
        .take(MAX_COMPARED)
        .collect::<String>()
        .to_lowercase();
    let mut best = ("", f64::MIN);
    for known in known.iter().copied() {
        let likeness = strsim::jaro_winkler(&start, &known.to_lowercase());
        if likeness > best.1 {
            best = (known, likeness);
        }
    }
    best.0
}

//! What a request says of itself: on modern revisions each one by itself, on legacy ones what `initialize` said.

use crate::framing::Kind;
use crate::json::Json;
use crate::jsonrpc::{ErrorObject, INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION};
use crate::limits::MAX_REQUESTED_VERSION_BYTES;
use crate::mcp::{LOG_LEVELS, Revision};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const TOKEN: &str = "progressToken";

/// Methods of earlier revisions that 2026-07-28 has no more (its changelog).
const REMOVED: [&str; 5] = [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
];
/// Methods that only revisions without a handshake have.
const MODERN: [&str; 2] = ["server/discover", "subscriptions/listen"];

/// What is known of a request beside its method and its parameters.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RequestMeta {
    /// The revision that it is made under.
    pub revision: Revision,
    /// The client's name and version, unchanged, if it told: for display only.
    pub client_info: Option<Json>,
    /// What the client can be asked for, unchanged: an object.
    pub capabilities: Json,
    /// What progress is reported under, unchanged, if it is wanted.
    pub progress_token: Option<Json>,
    /// The level of the log that is wanted with this request; legacy revisions have it per session.
    pub log_level: Option<&'static str>,
}

/// What a request of a modern revision says of itself, before anything is made of it.
///
/// Source: 2026-07-28, `basic/index`, "Per-request protocol fields".
#[derive(Debug, Clone)]
pub struct Claims {
    version: String,
    client_info: Option<Json>,
    capabilities: Json,
    progress_token: Option<Json>,
    log_level: Option<Json>,
}

impl Claims {
    /// Whether a request is made as the modern revisions make it: its `_meta` tells a protocol version.
    #[must_use]
    pub fn are_in(params: Option<&Json>) -> bool {
        let meta = params.and_then(|params| params.member("_meta"));
        meta.is_some_and(|meta| meta.member(VERSION).is_some())
    }

    /// Reads them out of a request's parameters.
    ///
    /// # Errors
    /// -32602 if a field that every request has to have is missing or no such field, or stands twice.
    pub fn of(params: Option<&Json>) -> Result<Self, ErrorObject> {
        let meta = meta_of(params)?.ok_or_else(|| invalid("the request has no _meta"))?;
        let [
            version,
            client_info,
            capabilities,
            progress_token,
            log_level,
        ] = meta
            .pick([VERSION, CLIENT, CAPABILITIES, TOKEN, LOG_LEVEL])
            .map_err(|_| invalid("a key stands twice in _meta"))?;
        let version = version
            .as_ref()
            .and_then(|version| version.string())
            .ok_or_else(|| invalid("_meta has no io.modelcontextprotocol/protocolVersion"))?
            .into_owned();
        let capabilities = capabilities
            .filter(|capabilities| capabilities.kind() == Kind::Object)
            .ok_or_else(|| invalid("_meta has no io.modelcontextprotocol/clientCapabilities"))?;
        Ok(Self {
            version,
            client_info,
            capabilities,
            progress_token,
            log_level,
        })
    }

    /// The protocol version as it was written.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Takes a request of `method` that claims this.
    ///
    /// # Errors
    /// -32022 with what is supported, for a version that is not served; -32601 for a method that its revision has no
    /// more; -32602 for a log level that there is none of, or a progress token that can be none.
    pub fn accept(self, method: &str) -> Result<RequestMeta, ErrorObject> {
        let revision = self
            .version
            .parse::<Revision>()
            .ok()
            .filter(|revision| !revision.is_legacy())
            .ok_or_else(|| unsupported(&self.version))?;
        if REMOVED.contains(&method) {
            let message = format!("Method not found: MCP {revision} has no {method}");
            return Err(ErrorObject::new(METHOD_NOT_FOUND, message, None));
        }
        let log_level = match &self.log_level {
            None => None,
            Some(level) => Some(
                level
                    .string()
                    .and_then(|level| LOG_LEVELS.into_iter().find(|known| *known == level))
                    .ok_or_else(|| {
                        invalid("_meta has an unknown io.modelcontextprotocol/logLevel")
                    })?,
            ),
        };
        Ok(RequestMeta {
            revision,
            client_info: self.client_info,
            capabilities: self.capabilities,
            progress_token: checked_token(self.progress_token)?,
            log_level,
        })
    }
}

/// What a client said in `initialize`; every request of its session stands under it.
///
/// Source: 2025-11-25, `basic/lifecycle`, "Initialization".
#[derive(Debug, Clone)]
pub(super) struct Introduction {
    pub(super) revision: Revision,
    pub(super) client_info: Option<Json>,
    pub(super) capabilities: Json,
}

impl Introduction {
    /// The revision is the one that was asked for if it is served, else the newest that begins with a handshake.
    pub(super) fn of(params: Option<&Json>) -> Result<Self, ErrorObject> {
        let params = params.ok_or_else(|| invalid("initialize has no params"))?;
        let [version, capabilities, client_info] = params
            .pick(["protocolVersion", "capabilities", "clientInfo"])
            .map_err(|_| invalid("a key stands twice in the params of initialize"))?;
        let version = version.as_ref().and_then(|version| version.string());
        let version = version.ok_or_else(|| invalid("initialize has no protocolVersion"))?;
        let capabilities = capabilities
            .filter(|capabilities| capabilities.kind() == Kind::Object)
            .ok_or_else(|| invalid("initialize has no capabilities"))?;
        let asked = version.parse::<Revision>().ok();
        Ok(Self {
            revision: asked
                .filter(|revision| revision.is_legacy())
                .unwrap_or(Revision::NEWEST_LEGACY),
            client_info,
            capabilities,
        })
    }

    /// What is known of a request of the session.
    pub(super) fn accept(
        &self,
        method: &str,
        params: Option<&Json>,
    ) -> Result<RequestMeta, ErrorObject> {
        if MODERN.contains(&method) {
            return Err(method_not_found());
        }
        let meta = meta_of(params)?;
        let token = match meta.map(|meta| meta.pick([TOKEN])) {
            None => None,
            Some(Ok([token])) => token,
            Some(Err(_)) => return Err(invalid("a key stands twice in _meta")),
        };
        Ok(RequestMeta {
            revision: self.revision,
            client_info: self.client_info.clone(),
            capabilities: self.capabilities.clone(),
            progress_token: checked_token(token)?,
            log_level: None,
        })
    }
}

/// -32601.
pub(super) fn method_not_found() -> ErrorObject {
    ErrorObject::new(METHOD_NOT_FOUND, "Method not found", None)
}

/// -32602, with Seawall's own words.
pub(super) fn invalid(what: &str) -> ErrorObject {
    ErrorObject::new(INVALID_PARAMS, format!("Invalid params: {what}"), None)
}

/// -32022: only revisions without a handshake are named, since no other is reached by a request of this kind.
fn unsupported(requested: &str) -> ErrorObject {
    let mut end = requested.len().min(MAX_REQUESTED_VERSION_BYTES);
    while !requested.is_char_boundary(end) {
        end -= 1;
    }
    let requested = serde_json::Value::from(requested.get(..end).unwrap_or_default());
    let data = format!(
        "{{\"supported\":[\"{}\"],\"requested\":{requested}}}",
        Revision::V2026_07_28
    );
    ErrorObject::new(
        UNSUPPORTED_PROTOCOL_VERSION,
        "Unsupported protocol version",
        Json::check(data).ok(),
    )
}

fn meta_of(params: Option<&Json>) -> Result<Option<Json>, ErrorObject> {
    let Some(params) = params else {
        return Ok(None);
    };
    let [meta] = params
        .pick(["_meta"])
        .map_err(|_| invalid("_meta stands twice"))?;
    Ok(meta.filter(|meta| meta.kind() == Kind::Object))
}

/// A token is a string or an integer (`basic/utilities/progress`).
fn checked_token(token: Option<Json>) -> Result<Option<Json>, ErrorObject> {
    match token {
        Some(token) if crate::jsonrpc::RequestId::of(&token).is_none() => Err(invalid(
            "the progressToken is neither a string nor an integer",
        )),
        token => Ok(token),
    }
}

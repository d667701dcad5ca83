//! Servers behind a URL, in the test's own process: one that speaks a handshake, and one that wants a login first.

use seawall_testkit::{HttpAct, HttpPeer, HttpRequest};
use serde_json::{Value, json};

/// The token that the login gives.
const TOKEN: &str = "access-token-0123456789";

/// A server with the tool `greet`, over Streamable HTTP, which knows no `server/discover`.
pub(crate) fn handshaking() -> HttpPeer {
    HttpPeer::start(|_, request| mcp(request))
}

/// The same, but for whoever comes with a token; and the authorization server that gives it.
pub(crate) fn wanting_login() -> HttpPeer {
    wanting_login_but(|_, _| None)
}

/// The same, but for what `special` answers, which is asked first with each path.
pub(crate) fn wanting_login_but(
    special: impl Fn(&str, &HttpRequest) -> Option<Vec<HttpAct>> + Send + Sync + 'static,
) -> HttpPeer {
    HttpPeer::start(move |_, request| {
        let origin = format!("http://{}", request.header("host").unwrap_or_default());
        let path = request.target.split('?').next().unwrap_or_default();
        if let Some(acts) = special(path, request) {
            return acts;
        }
        match path {
            "/mcp" if request.header("authorization") == Some(&format!("Bearer {TOKEN}")) => {
                mcp(request)
            }
            "/mcp" => {
                let challenge = format!(
                    "www-authenticate: Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\""
                );
                vec![HttpAct::answer(401, &[&challenge], "")]
            }
            "/.well-known/oauth-protected-resource/mcp" => said(&json!({
                "resource": format!("{origin}/mcp"),
                "authorization_servers": [origin],
            })),
            "/.well-known/oauth-authorization-server" => said(&json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": true,
            })),
            "/register" => vec![HttpAct::json(
                201,
                &json!({"client_id": "registered"}).to_string(),
            )],
            "/token" => said(&token(3600, None)),
            _ => vec![HttpAct::answer(404, &[], "")],
        }
    })
}

/// What the authorization server gives.
pub(crate) fn token(expires_in: u64, refresh: Option<&str>) -> Value {
    let mut token = json!({
        "access_token": TOKEN,
        "token_type": "Bearer",
        "expires_in": expires_in,
        "scope": "greet",
    });
    if let Some(refresh) = refresh {
        token["refresh_token"] = json!(refresh);
    }
    token
}

/// A server of 2026-07-28 with these tools.
pub(crate) fn modern(tools: Value) -> HttpPeer {
    HttpPeer::start(move |_, request| {
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let result = match message["method"].as_str().unwrap_or_default() {
            "server/discover" => json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
            }),
            _ => json!({"tools": tools}),
        };
        said(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
    })
}

pub(crate) fn said(value: &Value) -> Vec<HttpAct> {
    vec![HttpAct::json(200, &value.to_string())]
}

fn mcp(request: &HttpRequest) -> Vec<HttpAct> {
    if request.method != "POST" {
        return vec![HttpAct::answer(405, &[], "")];
    }
    let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let Some(id) = message.get("id") else {
        return vec![HttpAct::answer(202, &[], "")];
    };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{
            "name": "greet",
            "description": "Greet somebody.",
            "inputSchema": {"type": "object", "properties": {"who": {"type": "string"}}},
        }]}),
        "tools/call" => json!({"content": [{
            "type": "text",
            "text": format!("hello, {}", message["params"]["arguments"]["who"].as_str().unwrap_or_default()),
        }]}),
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            let reply = json!({"jsonrpc": "2.0", "id": id, "error": error});
            return vec![HttpAct::json(400, &reply.to_string())];
        }
    };
    said(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

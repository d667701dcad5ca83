//! What a server says of itself, as each era wants it said.

use crate::json::Json;
use crate::mcp::Revision;

/// What a server offers.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Its capabilities: an object.
    pub capabilities: Json,
    /// Its name and version: an object.
    pub server_info: Json,
    /// How a model may use it, a JSON string, if it says.
    pub instructions: Option<Json>,
}

impl Offer {
    /// The result of `initialize` (2025-11-25, `basic/lifecycle`, "Initialization"), under the negotiated revision.
    #[must_use]
    pub fn initialize_result(&self, revision: Revision) -> Json {
        let text = format!(
            "{{\"protocolVersion\":\"{revision}\",\"capabilities\":{},\"serverInfo\":{}{}}}",
            self.capabilities.as_str(),
            self.server_info.as_str(),
            self.instructions_member(),
        );
        Json::part_of_checked(text.into())
    }

    /// The result of `server/discover` (2026-07-28, `server/discover`). It may be kept by nobody but who asked, and for no
    /// time, so that what changes is seen.
    #[must_use]
    pub fn discover_result(&self) -> Json {
        let text = format!(
            "{{\"resultType\":\"complete\",\"supportedVersions\":[\"{}\"],\"capabilities\":{}{},\
             \"ttlMs\":0,\"cacheScope\":\"private\",\
             \"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{}}}}}",
            Revision::V2026_07_28,
            self.capabilities.as_str(),
            self.instructions_member(),
            self.server_info.as_str(),
        );
        Json::part_of_checked(text.into())
    }

    fn instructions_member(&self) -> String {
        self.instructions.as_ref().map_or_else(String::new, |text| {
            format!(",\"instructions\":{}", text.as_str())
        })
    }
}

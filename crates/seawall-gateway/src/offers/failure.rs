//! What a client is told of a request that failed: as of a call, and with the resource that it was for.
//!
//! Source: 2026-07-28, `server/resources`, "Error Handling"; 2025-11-25 has a code of its own for a resource that is not there.

use seawall_proto::Json;
use seawall_proto::jsonrpc::{ErrorObject, INTERNAL_ERROR, INVALID_PARAMS};
use seawall_proto::server::RequestMeta;

use super::follow::NotFollowed;
use crate::tools::{RemoteErrors, late, refused, unsent};

/// Of the revisions with a handshake.
const RESOURCE_NOT_FOUND: i64 = -32_002;

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum Failed {
    /// No server has the resource, or the client may not see it.
    NoResource,
    /// The server does not tell of changes of single resources.
    NotTold,
    /// Changes of it cannot be told.
    NotFollowed(NotFollowed),
    /// The host's.
    Host(seawall::Error),
}

impl Failed {
    /// The error for a request that is for no resource.
    pub(super) fn of_request(self, remote: RemoteErrors) -> ErrorObject {
        match self {
            Self::Host(error) | Self::NotFollowed(NotFollowed::Host(error)) => {
                refused(&error, remote)
            }
            Self::NoResource => unsent(
                INVALID_PARAMS,
                "not_found",
                "Resource not found: no connected server offers it, or it cannot be told whose it is; nothing was sent",
            ),
            Self::NotTold => unsent(
                INVALID_PARAMS,
                "not_found",
                "the server does not tell of changes of single resources; nothing was sent",
            ),
            Self::NotFollowed(NotFollowed::Full) => unsent(
                INTERNAL_ERROR,
                "protocol_error",
                "as many of the server's resources are followed as can be; nothing was sent",
            ),
            Self::NotFollowed(NotFollowed::Late) => {
                late("the server did not say in time whether it tells of changes of the resource")
            }
        }
    }

    /// The error for a request that is for a resource, which it names.
    pub(super) fn of_resource(
        self,
        remote: RemoteErrors,
        uri: &Json,
        meta: &RequestMeta,
    ) -> ErrorObject {
        let not_found = match &self {
            Self::NoResource => true,
            Self::Host(error) => error.json_rpc_code() == Some(RESOURCE_NOT_FOUND),
            _ => false,
        };
        let mut error = self.of_request(remote);
        if not_found {
            error.code = match meta.revision.is_legacy() {
                true => RESOURCE_NOT_FOUND,
                false => INVALID_PARAMS,
            };
        }
        let data = error.data.take().unwrap_or_else(Json::empty_object);
        error.data = Some(data.with_first("uri", uri));
        error
    }
}

/// -32602: no such prompt. Its name is the client's text, and not repeated.
pub(super) fn unknown_prompt() -> ErrorObject {
    unsent(
        INVALID_PARAMS,
        "not_found",
        "Unknown prompt: no connected server offers one of this name; nothing was sent",
    )
}

//! Why there is no login for a server.

use std::fmt;

/// Why a server cannot be logged in to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NoLogin {
    Bearer,
    Off,
    NotHttp,
}

impl fmt::Display for NoLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bearer => "its entry names the variable of a token (`bearerTokenEnv`)",
            Self::Off => "its entry brings credentials of its own, or says `\"oauth\": false`",
            Self::NotHttp => "it is not behind an http or https URL",
        })
    }
}

//! Why a request could not be authorised.

use seawall_proto::connection::Obstacle;

/// Why a request could not be authorised. The texts are written here and hold nothing that a server wrote.
///
/// An origin is `scheme://host[:port]`; of a host with a longer name than there is it says that instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// Somebody has to log in, and nobody can be asked here.
    #[error("it wants a login; run `seawall login {server}`")]
    LoginNeeded {
        /// The server's id.
        server: String,
    },
    /// The login is good, and its permissions do not reach: somebody has to be asked for more (step-up).
    #[error(
        "it wants more permissions than its login has; run `seawall login {server}` and grant what is asked for"
    )]
    ScopesNeeded {
        /// The server's id.
        server: String,
    },
    /// The login's permissions do not reach, and asking for them again gives nothing new.
    #[error(
        "it wants permissions that the login was not given; run `seawall login {server}` and grant what is asked for"
    )]
    ScopesRefused {
        /// The server's id.
        server: String,
    },
    /// A token that was just issued for this server is refused by it.
    #[error("it refuses the token that {issuer} just issued for it")]
    TokenRefused {
        /// The origin of the authorization server.
        issuer: String,
    },
    /// The configured client is registered with another authorization server.
    #[error(
        "its authorization server is now {issuer}, but the configured client belongs to another one; check the \
         registration, then run `seawall logout {server}` and `seawall login {server}`"
    )]
    IssuerChanged {
        /// The server's id.
        server: String,
        /// The origin of the authorization server that the server names now.
        issuer: String,
    },
    /// There is no way to become a client of the authorization server.
    #[error("{issuer} registers no client by itself; configure the client id that it gave you")]
    NoRegistration {
        /// The origin of the authorization server.
        issuer: String,
    },
    /// The browser's part of a login failed.
    #[error("the login failed: {0}")]
    Login(LoginFault),
    /// The authorization server answered with an error of OAuth.
    #[error("{origin} refused {what}: {code}")]
    Refused {
        /// The origin that answered.
        origin: String,
        /// What was asked for.
        what: Exchange,
        /// The error that it named.
        code: OAuthErrorCode,
    },
    /// A document or an answer is not what the specification wants; nothing in it was used.
    #[error("{origin} cannot be trusted with a login: {fault}")]
    Unsound {
        /// The origin that it came from.
        origin: String,
        /// What is wrong with it.
        fault: Unsound,
    },
    /// The authorization server or the metadata of a server could not be read.
    #[error("{origin} did not answer {what}")]
    Unreachable {
        /// The origin that was asked.
        origin: String,
        /// What was asked for.
        what: Exchange,
    },
    /// The egress policy does not allow a request of the login.
    #[error("the egress policy does not allow {method} {origin}, which its login needs")]
    Egress {
        /// The request's method.
        method: String,
        /// Where it would have gone.
        origin: String,
    },
    /// Tokens could not be read or kept.
    #[error("the stored login cannot be used: {0}")]
    Store(StoreFault),
    /// The process is ending, so no token is renewed any more.
    #[error("its token is not renewed any more, as the process is ending")]
    Ending,
    /// What was configured cannot be used.
    #[error("the OAuth settings cannot be used: {0}")]
    Settings(SettingsFault),
}

impl AuthError {
    /// The same for whoever advises.
    pub(crate) fn obstacle(&self) -> Obstacle {
        use OAuthErrorCode as Code;
        match self {
            Self::LoginNeeded { .. } | Self::ScopesNeeded { .. } | Self::ScopesRefused { .. } => {
                Obstacle::Login
            }
            Self::Unreachable { .. }
            | Self::Refused {
                code: Code::ServerError,
                ..
            } => Obstacle::AuthorizationServer,
            Self::NoRegistration { .. }
            | Self::Settings(_)
            | Self::Refused {
                code:
                    Code::InvalidClient
                    | Code::UnauthorizedClient
                    | Code::InvalidRedirectUri
                    | Code::InvalidClientMetadata,
                ..
            } => Obstacle::LoginClient,
            Self::Store(_) => Obstacle::LoginStore,
            Self::Egress { .. } => Obstacle::Policy,
            Self::Ending => Obstacle::CredentialsLate,
            Self::TokenRefused { .. }
            | Self::IssuerChanged { .. }
            | Self::Login(_)
            | Self::Refused { .. }
            | Self::Unsound { .. } => Obstacle::Authorization,
        }
    }
}

/// What failed between the browser and the login's listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoginFault {
    /// The user said no.
    #[error("access was not granted")]
    Denied,
    /// Nobody came back from the browser in time.
    #[error("nobody came back from the browser in time")]
    TimedOut,
    /// No browser could be opened.
    #[error("no browser could be opened; use `--no-browser` and open the address yourself")]
    NoBrowser,
    /// No local port could be listened on.
    #[error("no local port could be listened on for the answer")]
    NoListener,
    /// The answer belongs to another login.
    #[error("the answer belongs to another login")]
    State,
    /// The answer names no issuer, or another one (RFC 9207).
    #[error("the answer does not come from the authorization server that was asked")]
    Issuer,
    /// The answer holds neither a code nor an error.
    #[error("the answer holds no authorization code")]
    NoCode,
}

/// What a request of a login is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Exchange {
    /// The server's own metadata (RFC 9728).
    #[error("for the server's metadata")]
    ResourceMetadata,
    /// The authorization server's metadata (RFC 8414).
    #[error("for its metadata")]
    ServerMetadata,
    /// Registering as a client (RFC 7591).
    #[error("to register a client")]
    Registration,
    /// The user's authorization.
    #[error("to authorise")]
    Authorization,
    /// A token.
    #[error("for a token")]
    Token,
    /// A newer token for a refresh token.
    #[error("for a newer token")]
    Refresh,
    /// A grant of the identity provider (RFC 8693).
    #[error("for an identity grant")]
    IdentityGrant,
}

/// The errors that OAuth names; any other is [`OAuthErrorCode::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OAuthErrorCode {
    /// `invalid_request`
    #[error("invalid_request")]
    InvalidRequest,
    /// `invalid_client`
    #[error("invalid_client (check the client id and its secret)")]
    InvalidClient,
    /// `invalid_grant`
    #[error("invalid_grant (what was presented has expired or was used before)")]
    InvalidGrant,
    /// `unauthorized_client`
    #[error("unauthorized_client (the client may not use this grant)")]
    UnauthorizedClient,
    /// `unsupported_grant_type`
    #[error("unsupported_grant_type")]
    UnsupportedGrantType,
    /// `unsupported_response_type`
    #[error("unsupported_response_type")]
    UnsupportedResponseType,
    /// `invalid_scope`
    #[error("invalid_scope (the permissions asked for cannot be granted)")]
    InvalidScope,
    /// `invalid_target`, RFC 8707
    #[error("invalid_target (it does not know this server as a resource)")]
    InvalidTarget,
    /// `access_denied`
    #[error("access_denied")]
    AccessDenied,
    /// `server_error` or `temporarily_unavailable`
    #[error("it has a problem of its own; try again later")]
    ServerError,
    /// `invalid_redirect_uri`, RFC 7591
    #[error("invalid_redirect_uri (it does not accept a local redirect address)")]
    InvalidRedirectUri,
    /// `invalid_client_metadata`, RFC 7591
    #[error("invalid_client_metadata")]
    InvalidClientMetadata,
    /// `use_dpop_nonce` or `invalid_dpop_proof`, RFC 9449
    #[error("its proof of possession was refused")]
    Dpop,
    /// None of these.
    #[error("an error that OAuth does not name")]
    Other,
}

/// What makes a document or an answer unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsound {
    /// It is no JSON object of the kind that is wanted.
    #[error("its answer is not what the specification wants")]
    Malformed,
    /// It is longer than 1 MiB.
    #[error("its answer is too long")]
    TooLong,
    /// The metadata is of another resource than the configured server (`resource`, RFC 9728).
    #[error("its metadata names another server than the one that is configured")]
    ResourceMismatch,
    /// The server's metadata names no authorization server.
    #[error("its metadata names no authorization server")]
    NoAuthorizationServer,
    /// The metadata names another issuer than the one it was fetched for (RFC 8414, section 3.3).
    #[error("its metadata names another issuer")]
    IssuerMismatch,
    /// The authorization server has no metadata.
    #[error("it publishes no metadata")]
    NoMetadata,
    /// PKCE with S256 is not announced.
    #[error("it does not announce PKCE with S256")]
    NoPkce,
    /// An endpoint that is needed is missing.
    #[error("its metadata lacks an endpoint")]
    NoEndpoint,
    /// An address is neither https nor, for a local server, on this machine.
    #[error("it names an address that is neither https nor, for a local server, local")]
    Address,
    /// A DPoP-bound token was wanted, and this is none.
    #[error("it issued no token bound to a key (DPoP)")]
    NotBound,
}

/// Why tokens could not be read or kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreFault {
    /// The platform names no data folder.
    #[error("there is no data folder to keep it in; set HOME or choose a folder")]
    NoFolder,
    /// Others can write in the folder, and so could have put a login of theirs there.
    #[error("others can write in its folder; take that permission away")]
    Folder,
    /// Reading or writing failed.
    #[error("it cannot be read or written")]
    Io,
    /// The keyring refused.
    #[error("the keyring does not give it out")]
    Keyring,
    /// Another process keeps it locked.
    #[error("another process has been using it for too long")]
    Busy,
}

/// What is wrong with the OAuth settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsFault {
    /// The server's URL is neither `http` nor `https`.
    #[error("the server's URL is neither http nor https")]
    ResourceUrl,
    /// A client metadata document's URL is not `https` with a path.
    #[error("the client metadata document's URL is not https with a path")]
    ClientUrl,
    /// A private key is not one in PEM (PKCS #8) of a kind that is supported: P-256, Ed25519, RSA.
    #[error("the private key is no PKCS #8 key in PEM (P-256, Ed25519 or RSA)")]
    PrivateKey,
    /// A scope is none, or there are too many.
    #[error("a scope is one word of visible ASCII characters; give each by itself")]
    Scope,
    /// The assertion cannot be read.
    #[error("the assertion cannot be read")]
    Assertion,
    /// The grant needs a configured client.
    #[error("this grant needs a configured client id")]
    NoClient,
    /// The system gave no random bytes.
    #[error("the system gives no random bytes")]
    Random,
    /// There is no tokio runtime.
    #[error("it needs a running tokio runtime")]
    NoRuntime,
}

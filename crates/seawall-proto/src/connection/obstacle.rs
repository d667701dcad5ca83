//! What stood between a request and its answer.

/// What stood between a request over HTTP and its answer, for whoever advises on it. A status is told beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Obstacle {
    /// The host's name has no address.
    Name,
    /// Nobody listens there.
    Refused,
    /// No connection stood in time.
    Timeout,
    /// The certificate is not trusted.
    Certificate,
    /// TLS failed otherwise.
    Tls,
    /// No connection could be made, or not for a reason that is known.
    Connect,
    /// The host's own policy does not allow it.
    Policy,
    /// It points to where nothing configured may go, or to nowhere.
    Redirect,
    /// Somebody has to log in.
    Login,
    /// A login, or the permissions of one, failed otherwise.
    Authorization,
    /// The authorization server did not answer, or has a problem of its own.
    AuthorizationServer,
    /// The authorization server does not take the configured client, or registers none.
    LoginClient,
    /// The stored login could not be read or written.
    LoginStore,
    /// What authorises the request was not there in time.
    CredentialsLate,
    /// What answered does not speak the protocol.
    NotMcp,
    /// The connection was lost on the way.
    Lost,
}

impl Obstacle {
    /// Whether it stood between Seawall and its credentials: what the server speaks makes no difference to it.
    #[must_use]
    pub fn is_of_credentials(self) -> bool {
        matches!(
            self,
            Self::Login
                | Self::Authorization
                | Self::AuthorizationServer
                | Self::LoginClient
                | Self::LoginStore
                | Self::CredentialsLate
        )
    }
}

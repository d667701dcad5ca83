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
    /// What answered does not speak the protocol.
    NotMcp,
    /// The connection was lost on the way.
    Lost,
}

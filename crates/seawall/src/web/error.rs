//! Why a request could not be authorised.

/// Why a request could not be authorised. The texts are written here and hold nothing that a server wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// Somebody has to log in, and nobody can be asked here.
    #[error("it wants a login; run `seawall login {server}`")]
    LoginNeeded {
        /// The server's id.
        server: String,
    },
}

//! What can be wrong with the section beside the types of its values.

/// Why a `gateway` section cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayFault {
    /// A client's name is none that logs could tell.
    #[error(
        "a client's name has 1 to 64 visible characters without \"/\", and is not \"local\", which is whoever nobody named"
    )]
    ClientName,
    /// A client's token stands in the file.
    #[error(
        "holds a token itself; ${{NAME}} takes it from a variable, and \"tokenSha256\" holds its SHA-256 instead"
    )]
    LiteralToken,
    /// A client's token could be guessed.
    #[error(
        "has fewer than 16 characters, so it could be guessed; `openssl rand -hex 32` makes one"
    )]
    ShortToken,
    /// A client's token cannot be sent.
    #[error("holds a blank or another character that no bearer token has")]
    TokenCharacters,
    /// The text is no SHA-256.
    #[error("must be a SHA-256: 64 hexadecimal digits")]
    NotADigest,
    /// A client has two tokens.
    #[error("\"token\" and \"tokenSha256\" together: keep one of them")]
    TwoTokens,
    /// Two clients have one token.
    #[error("another client has this token, so nobody could tell them apart")]
    SharedToken,
    /// Claims, and nobody who issues them.
    #[error("needs \"auth\", which says whose access tokens are taken")]
    ClaimsWithoutAuth,
    /// An issuer, and no client that comes with its tokens.
    #[error(
        "no client has \"claims\", so nobody could come with an access token; {{}} there is every token of this issuer"
    )]
    AuthWithoutClaims,
    /// An envelope of nothing.
    #[error("must have a pattern; leave it out to trust with everything")]
    EmptyEnvelope,
    /// The text is no pattern of capabilities.
    #[error(
        "not a pattern of the form namespace:operation:resource, where * and ** stand alone between \":\" and \"/\""
    )]
    Pattern,
    /// What is included or excluded is neither a server nor something of one.
    #[error("must be the id of a server, or server/tool")]
    Selector,
    /// What is included or excluded is of a server that is not configured.
    #[error("no entry has the id before the \"/\"")]
    UnknownServer,
    /// The text is no span of time.
    #[error("must be a whole number and a unit of s, m, h or d: \"12h\", \"30d\"")]
    Age,
    /// The text is no host.
    #[error("must be a host's name or address, without a scheme and a port")]
    Host,
    /// The text is no origin.
    #[error(
        "must be an origin: scheme://host, with a port if it is not the scheme's own, and nothing after"
    )]
    Origin,
    /// An address of the issuer could be anybody's.
    #[error(
        "must be an https URL, or http on this machine, without user information, query and fragment"
    )]
    IssuerUrl,
    /// The gateway's own address is none.
    #[error("must be the http or https URL at which clients reach the gateway")]
    Resource,
    /// The audience is no address, so what the gateway's own is has to be said.
    #[error(
        "is missing: \"audience\" is not an http or https URL, so the address at which clients reach the gateway has to be said"
    )]
    ResourceMissing,
}

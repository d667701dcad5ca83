//! What the checks found, for people ([`Display`](fmt::Display)) and for programs (fields, `Serialize`).
//!
//! **Invariant:** a message says names (of fields, variables, servers), never a value of the configuration.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

pub use super::expected::Expected;
use super::gateway::GatewayFault;
use crate::terms::locator::InvalidLocator;
use crate::terms::policy::InvalidPattern;

/// A reason why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub(super) place: Place,
    pub(super) kind: ProblemKind,
}

impl Problem {
    /// Where it is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> &ProblemKind {
        &self.kind
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, self.kind)
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.place
            .serialize_with(serializer, "error", self.kind.code(), &self.kind)
    }
}

/// Something to know about a configuration that is used all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub(super) place: Place,
    pub(super) kind: WarningKind,
}

impl Warning {
    /// Where it is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> &WarningKind {
        &self.kind
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, self.kind)
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.place
            .serialize_with(serializer, "warning", self.kind.code(), &self.kind)
    }
}

/// Every problem of one configuration, in the order of the file; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems(pub(super) Vec<Problem>);

impl Problems {
    /// The problems.
    #[must_use]
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// How a configuration was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Origin {
    /// A builder or another caller's own text. The default.
    #[default]
    Caller,
    /// The `--mcp-config` flag.
    Flag,
    /// The `SEAWALL_MCP_CONFIG` variable.
    Variable,
    /// A file named on the command line.
    Argument,
    /// `seawall.json` in the working directory.
    WorkingDirectory,
    /// `seawall.json` in the platform's directory for configurations.
    ConfigDirectory,
}

impl Origin {
    /// The flag, variable or place, as people know it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Flag => "--mcp-config",
            Self::Variable => "SEAWALL_MCP_CONFIG",
            Self::Argument => "argument",
            Self::WorkingDirectory => "working directory",
            Self::ConfigDirectory => "config directory",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where in a configuration something is. What is not known is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    pub(super) origin: Origin,
    pub(super) path: Option<PathBuf>,
    pub(super) position: Option<(usize, usize)>,
    pub(super) server: Option<String>,
    pub(super) field: Option<String>,
}

impl Place {
    /// How the configuration was named.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.position.map(|(line, _)| line)
    }

    /// The column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.position.map(|(_, column)| column)
    }

    /// The id of the entry; an entry without one is `#<index>`, counted from 0.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The field: `command`, `args[2]`, `env.NAME`.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    fn serialize_with<S: Serializer>(
        &self,
        serializer: S,
        severity: &'static str,
        code: &'static str,
        message: &dyn fmt::Display,
    ) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Finding", 9)?;
        out.serialize_field("severity", severity)?;
        out.serialize_field("code", code)?;
        out.serialize_field("origin", self.origin.as_str())?;
        out.serialize_field(
            "path",
            &self.path.as_ref().map(|path| path.to_string_lossy()),
        )?;
        out.serialize_field("line", &self.line())?;
        out.serialize_field("column", &self.column())?;
        out.serialize_field("server", &self.server)?;
        out.serialize_field("field", &self.field)?;
        out.serialize_field("message", &message.to_string())?;
        out.end()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}", path.display())?;
            if let Some((line, column)) = self.position {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, " ({}): ", self.origin)?;
        } else if matches!(self.origin, Origin::Flag | Origin::Variable) {
            write!(f, "{}: ", self.origin)?;
        }
        if let Some(server) = &self.server {
            write!(f, "server {}: ", Shown(server))?;
        }
        if let Some(field) = &self.field {
            write!(f, "{}: ", Bare(field))?;
        }
        Ok(())
    }
}

macro_rules! findings {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident $({ $($(#[$fdoc:meta])* $field:ident: $type:ty),* $(,)? })? = $code:literal, $message:literal $(, $wrap:ident($($argument:tt)*))?;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* #[error($message $(, $wrap($($argument)*))?)] $variant $({ $($(#[$fdoc])* $field: $type),* })?,)*
        }

        impl $name {
            /// A word for programs, which does not change with the message.
            #[must_use]
            pub const fn code(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $code,)*
                }
            }
        }
    };
}

findings! {
    /// Why a configuration cannot be used.
    ProblemKind {
        /// The file is not there.
        Missing = "missing", "no such file";
        /// The file cannot be read.
        Unreadable { /// What the system said.
            error: std::io::ErrorKind } = "unreadable", "cannot be read: {error}";
        /// The file is larger than any configuration.
        FileTooLarge { /// The most that is read.
            limit: u64 } = "file_too_large", "larger than {limit} bytes";
        /// The file is not UTF-8.
        NotUtf8 = "not_utf8", "not UTF-8 text";
        /// The flag names nothing.
        EmptyPath = "empty_path", "names no file";
        /// The text is not JSON.
        Syntax { /// What is wrong at the place.
            message: String } = "syntax", "not JSON: {message}";
        /// The text is JSON of another shape.
        Shape = "shape", "not a configuration: expected an array of entries with \"server\", or an object with \"mcpServers\" or \"servers\"";
        /// Both maps are there.
        TwoMaps = "two_maps", "\"mcpServers\" and \"servers\" together: keep one of them";
        /// An object has a key twice.
        DuplicateKey { /// The key.
            key: String } = "duplicate_key", "the key {} is there twice", Shown(.key);
        /// A key that no entry has, in the shape that allows no others.
        UnknownKey { /// The key.
            key: String, /// The known key nearest to it.
            nearest: &'static str } = "unknown_key", "unknown key {}; did you mean \"{nearest}\"?", Shown(.key);
        /// A key that belongs in an entry, in `defaults`.
        NotADefault { /// The key.
            key: &'static str } = "not_a_default", "\"{key}\" belongs in an entry, not in \"defaults\"";
        /// A key that an entry must have.
        MissingKey { /// The key.
            key: &'static str } = "missing_key", "\"{key}\" is missing";
        /// A value of another type or out of its range.
        Expected { /// What it had to be.
            expected: Expected } = "invalid_value", "must be {expected}";
        /// The text cannot be passed to a program.
        NulCharacter = "nul_character", "holds a NUL character";
        /// The id breaks the rule for ids.
        ServerId = "server_id", "a server's id must not be empty, \".\" or \"..\" and must not hold \"/\", control or format characters";
        /// The prefix breaks the rule for prefixes.
        NamePrefix = "name_prefix", "parts between \"/\" must not be empty, \".\" or \"..\" and must not hold control or format characters";
        /// The id is another entry's.
        DuplicateServer = "duplicate_server", "another entry has this id";
        /// The prefix is another entry's, or one is nested in the other (H6).
        PrefixesMeet { /// The other entry's id.
            other: String } = "prefixes_meet", "equal to the prefix of server {} or nested with it, so names could meet", Shown(.other);
        /// The name of a variable is none.
        VariableName = "variable_name", "not a variable's name";
        /// The name of a header is none, or its value cannot be sent.
        Header = "header", "not a header that HTTP can carry";
        /// A header that is HTTP's own.
        FramingHeader = "framing_header", "this header is HTTP's own; it says how a message travels";
        /// A variable is not set.
        UnsetVariable { /// The variable.
            name: String } = "unset_variable", "the variable {} is not set", Shown(.name);
        /// A variable is set to nothing.
        EmptyVariable { /// The variable.
            name: String } = "empty_variable", "the variable {} is empty", Shown(.name);
        /// A variable holds what no header can carry.
        VariableValue { /// The variable.
            name: String } = "variable_value", "the variable {} holds a line break or another character that no header can carry", Shown(.name);
        /// A token stands where the name of its variable belongs.
        TokenForName = "token_for_name", "holds what looks like a token; write the name of the variable that holds it";
        /// An input was not given.
        MissingInput { /// The input's id.
            id: String } = "missing_input", "needs the input {}, which only a terminal can ask for", Shown(.id);
        /// A `${…}` that only another host can fill in.
        Substitution { /// What stands before the colon.
            word: String } = "substitution", "\"${{{word}:…}}\" is not known here; known are ${{NAME}}, ${{NAME:-default}}, ${{env:NAME}}, ${{workspaceFolder}} and ${{input:ID}}";
        /// A default that is one more `${…}`.
        NestedDefault { /// The variable that it is for.
            name: String } = "nested_default", "the default of \"${{{name}:-…}}\" holds a ${{…}} itself, which is not filled in";
        /// The `envFile` cannot be read.
        EnvFile { /// What the system said.
            error: std::io::ErrorKind } = "env_file", "cannot be read: {error}";
        /// A line of the `envFile` is not `NAME=value`.
        EnvFileLine { /// The line of that file, from 1.
            line: usize } = "env_file_line", "line {line} of that file is not NAME=value";
        /// Neither a program nor a URL.
        NoEndpoint = "no_endpoint", "needs \"command\" or \"url\"";
        /// A program and a URL, and no word on which.
        TwoEndpoints = "two_endpoints", "\"command\" and \"url\" together: \"transport\" must say which";
        /// The transport needs a key that is not there.
        TransportNeeds { /// The key.
            key: &'static str } = "transport_needs", "this transport needs \"{key}\"";
        /// The transport is not the one of the URL's scheme.
        TransportDisagrees { /// The scheme.
            scheme: &'static str } = "transport_disagrees", "disagrees with the {scheme} scheme of \"url\"";
        /// The text is not an absolute URL.
        Url = "url", "not an absolute URL";
        /// The scheme is none that Seawall dials.
        Scheme = "scheme", "the scheme must be http, https, ws, wss or mcpl";
        /// The text is not an address of the scheme `mcpl`.
        Locator { /// Why not.
            why: InvalidLocator } = "locator", "an mcpl address is refused: {why}";
        /// The URL of an HTTP server holds a user or password.
        UserInfo = "user_info", "user information in the URL is refused; name the variable that holds a token with \"bearerTokenEnv\"";
        /// A token written out, or a credential where none can be used.
        LiteralToken = "literal_token", "there is no key for a token itself; name the variable that holds it with \"bearerTokenEnv\"";
        /// A secret of a login written out.
        LiteralSecret = "literal_secret", "there is no key for a secret itself; name the variable that holds it with \"clientSecretEnv\"";
        /// The address of a client metadata document is none that can be one.
        ClientMetadataUrl = "client_metadata_url", "must be an https URL with a path";
        /// A scope that no request can hold.
        Scope = "scope", "a scope is one word of visible ASCII characters";
        /// A credential of the network on a program.
        CredentialOnStdio = "credential_on_stdio", "a server that is started by \"command\" has no use for it; pass a credential by \"env\" or \"passEnv\"";
        /// A revision that is not known.
        UnknownRevision = "unknown_revision", "not a revision that Seawall speaks: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 or 2026-07-28";
        /// A protocol that its transport cannot carry.
        ProtocolOverTransport { /// The protocol.
            protocol: &'static str, /// The transport.
            transport: &'static str } = "protocol_over_transport", "{protocol} over {transport} is refused";
        /// MCPL policy on a server that is not spoken to by MCPL (K8).
        McplPolicy = "mcpl_policy", "asks for MCPL behaviour; \"protocol\" is not \"mcpl\" here";
        /// A pattern of MCPL policy that is none.
        McplPattern { /// What is wrong.
            fault: InvalidPattern } = "mcpl_pattern", "{fault}";
        /// A pattern that no capability of MCPL matches.
        McplCapability { /// The capability nearest to it.
            nearest: &'static str } = "mcpl_capability", "no capability of MCPL; did you mean \"{nearest}\"?";
        /// A pattern that stands above capabilities, and so grants none of them.
        McplSegments { /// One of them.
            example: &'static str } = "mcpl_segments", "grants nothing: a pattern has as many segments as what it grants, as in \"{example}\"";
        /// The first delay is longer than the longest.
        ReconnectIntervals = "reconnect_intervals", "must be at least \"reconnectIntervalMs\"";
        /// A grant that is not a capability, and so would authorise nothing.
        Capability = "capability", "not a capability of the form namespace:operation:resource, where * and ** stand alone between \"/\" of the resource";
        /// A grant of something that no host lets a flow do.
        HostAction { /// The action nearest to it.
            nearest: &'static str } = "host_action", "not something that a host lets a flow do; did you mean \"{nearest}\"?";
        /// A grant of nothing.
        EmptyGrant = "empty_grant", "must name a capability; leave it out to declare all, or use \"exclude\" to offer less";
        /// The `gateway` section.
        Gateway { /// What is wrong.
            fault: GatewayFault } = "gateway", "{fault}";
        /// A list that would leave no tool.
        EmptyInclude = "empty_include", "must name a tool; leave it out to offer all";
    }
}

findings! {
    /// What is worth knowing of a configuration that is used.
    WarningKind {
        /// A key that Seawall does not know.
        UnknownKey { /// The key.
            key: String } = "unknown_key", "unknown key {}, ignored", Shown(.key);
        /// An id that only other hosts have (K1).
        RenamedServer { /// The id in the file.
            written: String } = "renamed_server", "is {} in the file, which no part of a tool's name can be", Shown(.written);
        /// A key of other hosts without effect here.
        Ignored { /// What to write instead, or why not.
            advice: &'static str } = "ignored", "has no effect in Seawall{advice}";
        /// A key without effect on this kind of server.
        NoEffect { /// The kind of server.
            endpoint: &'static str } = "no_effect", "has no effect on a server reached by {endpoint}";
        /// A credential written out (K5).
        LiteralCredential = "literal_credential", "holds a credential itself; ${{NAME}} would take it from a variable";
        /// A credential that anyone on the way can read (K10).
        CleartextCredential { /// The fields that hold it.
            fields: String } = "cleartext_credential", "sends the credential of {fields} without encryption to another machine";
    }
}

/// A name as a message says it: quoted, control and format characters escaped.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", Bare(self.0))
    }
}

/// The same without quotes, for a path of fields.
struct Bare<'a>(&'a str);

impl fmt::Display for Bare<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_CHARS: usize = 128;
        for character in self.0.chars().take(MAX_CHARS) {
            if character == '"' || character == '\'' {
                write!(f, "{character}")?;
            } else {
                write!(f, "{}", character.escape_debug())?;
            }
        }
        if self.0.chars().nth(MAX_CHARS).is_some() {
            f.write_str("…")?;
        }
        Ok(())
    }
}

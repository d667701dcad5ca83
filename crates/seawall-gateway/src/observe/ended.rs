//! How a call ended, as it is counted.

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With a result.
    Ok,
    /// With a result that says that the tool failed.
    ToolError,
    /// With what the server wants to know before it goes on; the client makes another call for that.
    InputRequired,
    /// The server refused it.
    ErrorResponse,
    /// With a result that cannot be used.
    Answered,
    /// It did not reach the server.
    NotSent,
    /// Nobody knows: it may have been carried out.
    NoResponse,
    /// The gateway did not take it.
    Refused,
    /// Its client cancelled it, or left.
    Cancelled,
}

impl Ended {
    /// All of them, each at the place that its number says.
    pub(crate) const ALL: [Self; 9] = [
        Self::Ok,
        Self::ToolError,
        Self::InputRequired,
        Self::ErrorResponse,
        Self::Answered,
        Self::NotSent,
        Self::NoResponse,
        Self::Refused,
        Self::Cancelled,
    ];

    /// In one word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::InputRequired => "input_required",
            Self::ErrorResponse => "error_response",
            Self::Answered => "answered",
            Self::NotSent => "not_sent",
            Self::NoResponse => "no_response",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing went wrong.
    pub(crate) fn is_good(self) -> bool {
        matches!(self, Self::Ok | Self::InputRequired)
    }
}

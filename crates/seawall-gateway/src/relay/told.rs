//! What a server says of one call, on its way from the host to whoever serves the client's request.

use seawall::LogLevel;
use seawall::inputs::{BoxFuture, Refusal, Relay};
use seawall_proto::Json;
use seawall_proto::jsonrpc::INTERNAL_ERROR;
use seawall_proto::limits::MAX_INPUTS;
use seawall_proto::mcp::ClientCapabilities;
use tokio::sync::{mpsc, oneshot};

/// Lines of the log that wait for a client; past it they are dropped. Fixed.
const MAX_LINES: usize = 48;

/// What a server says.
#[derive(Debug)]
pub(super) enum Told {
    Question(Question),
    /// The parameters of `notifications/message`.
    Line(Json),
}

/// What a server asks. Dropping it refuses.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) method: &'static str,
    pub(super) params: Option<Json>,
    /// Closed once the server does not want it any longer.
    pub(super) answer: oneshot::Sender<Result<Json, Refusal>>,
}

/// Which lines of the log a client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    All,
    From(LogLevel),
    None,
}

/// The relay of one call.
pub(super) struct Teller {
    capabilities: ClientCapabilities,
    party: u64,
    lines: Lines,
    told: mpsc::Sender<Told>,
}

impl Teller {
    /// One, and what comes through it.
    pub(super) fn new(
        capabilities: ClientCapabilities,
        party: u64,
        lines: Lines,
    ) -> (Self, mpsc::Receiver<Told>) {
        let (told, receiver) = mpsc::channel(MAX_INPUTS + MAX_LINES);
        let teller = Self {
            capabilities,
            party,
            lines,
            told,
        };
        (teller, receiver)
    }

    fn wants(&self, line: &Json) -> bool {
        let from = match self.lines {
            Lines::All => return true,
            Lines::None => return false,
            Lines::From(level) => level,
        };
        let level = line.member("level");
        let level = level.as_ref().and_then(Json::string);
        level.and_then(|level| LogLevel::of(&level)) >= Some(from)
    }
}

impl Relay for Teller {
    fn capabilities(&self) -> ClientCapabilities {
        self.capabilities
    }

    fn ask(&self, method: &'static str, params: Option<Json>) -> BoxFuture<Result<Json, Refusal>> {
        let (answer, answered) = oneshot::channel();
        let question = Question {
            method,
            params,
            answer,
        };
        // The connection bounds how many there are; one that finds no room is refused, as is one that nobody waits for.
        let _ = self.told.try_send(Told::Question(question));
        Box::pin(async move { answered.await.unwrap_or_else(|_| Err(unasked())) })
    }

    fn party(&self) -> u64 {
        self.party
    }

    fn log(&self, line: Json) {
        // The rest of the room is for questions.
        if self.told.capacity() > MAX_INPUTS && self.wants(&line) {
            // A client that is gone, or reads slowly, misses lines.
            let _ = self.told.try_send(Told::Line(line));
        }
    }
}

/// Whoever it was to be asked of is gone.
fn unasked() -> Refusal {
    Refusal::new(
        INTERNAL_ERROR,
        "the client could not be asked, or is gone",
        None,
    )
}

//! What a server asks while it works on one call, handed on to whoever the call is made for.

use seawall_proto::Json;
use seawall_proto::jsonrpc::ErrorObject;
use seawall_proto::mcp::ClientCapabilities;

use super::BoxFuture;

/// The error that a server's question is answered with: its code and its text go to the server as they are.
pub type Refusal = ErrorObject;

/// Whom a server's questions about one call go to, in place of the host's own [`Suppliers`](super::Suppliers): a proxy's
/// client, say. Set with [`Carried::relay`](crate::Carried::relay).
///
/// Nothing of a question is checked before it is handed on but that it is one that the relay supplies; nothing of an answer
/// but that it is an object.
///
/// A question names its call on 2026-07-28, and over HTTP, where each call has a stream of its own. Over stdio an earlier
/// revision's does not: there it goes to the call with a relay that is under way, if there is one only, or if all those
/// that are belong to one [`party`](Self::party); else it is refused, and the server told why.
pub trait Relay: Send + Sync {
    /// What it supplies. On 2026-07-28 this is declared with the call, beside what the host supplies; on earlier revisions
    /// everything is declared in the handshake by a host that relays ([`HostBuilder::relays`](crate::HostBuilder::relays)),
    /// and what this lacks is refused.
    fn capabilities(&self) -> ClientCapabilities;

    /// Asks: `method` with the parameters as the server sent them. The answer is the method's result, an object.
    ///
    /// # Cancel safety
    /// The future is dropped when the server withdraws the question, or its session ends.
    fn ask(&self, method: &'static str, params: Option<Json>) -> BoxFuture<Result<Json, Refusal>>;

    /// Who it belongs to: what is asked for one call of a party may be answered by way of another call of it.
    fn party(&self) -> u64;

    /// A line of the server's log that belongs to the call, by the same rules as a question: the parameters of
    /// `notifications/message`, with secrets taken out. Return soon. Default: nothing.
    fn log(&self, _line: Json) {}
}

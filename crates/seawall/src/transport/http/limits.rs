//! What bounds an exchange, besides the size of a frame and the caller's deadline.

use std::time::Duration;

/// At most this many requests are under way at once; the next ones wait in order.
pub(super) const MAX_IN_FLIGHT: usize = 256;
/// At most this many notifications and replies are under way at once; requests never hold them up.
pub(super) const MAX_SIDE_IN_FLIGHT: usize = 64;
/// At most this often a message is sent again after a refusal.
pub(super) const MAX_REFUSALS: u32 = 5;
/// How long a post may lie at a connection that does not begin to read it. Longer than a connection may take to stand.
pub(super) const HANDOVER_PATIENCE: Duration = Duration::from_secs(11);
/// At most this many times in a row a stream is resumed without anything coming of it (T3), unless it takes its time.
pub(super) const MAX_RESUMPTIONS: u32 = 5;
/// The pause before a resumption if the stream named none.
pub(super) const DEFAULT_RETRY: Duration = Duration::from_secs(1);
/// The shortest pause before a resumption, whatever the stream says.
pub(super) const MIN_RETRY: Duration = Duration::from_millis(100);
/// The longest pause before a server's own stream is opened again.
pub(super) const MAX_LISTEN_BACKOFF: Duration = Duration::from_secs(300);
/// The longest that a server may ask to be left alone before its own stream is opened again.
pub(super) const MAX_ASKED_REST: Duration = Duration::from_secs(3_600);
/// A resumption and its stream that took this long do no harm: a server may have its streams polled.
pub(super) const POLITE_POLL: Duration = Duration::from_secs(1);
/// A stream of the server's own that lived this long was a good one: the next pause is a short one again.
pub(super) const GOOD_STREAM: Duration = Duration::from_secs(10);
/// How long a stream may go on after its reply.
pub(super) const GRACE: Duration = Duration::from_millis(250);
/// How long the body of a refusal may take; without it, the status alone is told.
pub(super) const REFUSAL_BODY_TIME: Duration = Duration::from_secs(5);

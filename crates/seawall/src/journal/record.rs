//! The record of one call, from its draft to its end.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use seawall_proto::mcp::ToolResult;
use seawall_proto::{ErrorCode, Json, Outcome};
use sha2::{Digest as _, Sha256};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, oneshot};

use super::{Fault, Journal, MAX_STORED_BYTES, Texts, WhenUnwritable};
use crate::error::Error;
use crate::flows::Flow;
use crate::redact::Redactor;

/// At most so many characters are kept of a flow's name as a caller wrote it, and of a caller's name.
const MAX_NAME_CHARS: usize = 256;

/// What is recorded of a call before it is sent.
#[derive(Debug)]
pub(super) struct NewCall {
    pub(super) began_ms: i64,
    /// The flow, if there is one of that name.
    pub(super) flow: Option<Flow>,
    /// The flow's name, as it was asked for, and the server, where there is none.
    pub(super) name: Box<str>,
    pub(super) server: Box<str>,
    pub(super) caller: Option<Box<str>>,
    /// SHA-256 and size, unless they are no JSON.
    pub(super) arguments: Option<([u8; 32], u64)>,
    pub(super) text: Option<String>,
}

impl NewCall {
    pub(super) fn is_read_only(&self) -> bool {
        self.flow.as_ref().is_some_and(Flow::is_read_only)
    }
}

/// What became of a call.
#[derive(Debug)]
pub(super) struct End {
    pub(super) outcome: Outcome,
    pub(super) code: Option<ErrorCode>,
    pub(super) is_error: Option<bool>,
    pub(super) result_bytes: Option<u64>,
    pub(super) text: Option<String>,
    pub(super) took: Duration,
}

/// What the thread that writes is told.
#[derive(Debug)]
pub(super) enum Job {
    Begin {
        number: u64,
        call: Box<NewCall>,
        /// Who waits for it.
        tell: Option<oneshot::Sender<Result<(), Fault>>>,
    },
    End {
        number: u64,
        end: Box<End>,
    },
    /// A call that was never sent, whole.
    Unsent {
        call: Box<NewCall>,
        end: Box<End>,
    },
    Flush(oneshot::Sender<()>),
}

impl Job {
    /// Whether somebody waits for it.
    pub(super) fn is_awaited(&self) -> bool {
        matches!(self, Self::Begin { tell: Some(_), .. } | Self::Flush(_))
    }

    /// Whether it took room.
    pub(super) fn took_room(&self) -> bool {
        matches!(self, Self::Begin { .. } | Self::Unsent { .. })
    }

    pub(super) fn text_bytes(&self) -> usize {
        let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            Self::Begin { call, .. } => len(&call.text),
            Self::End { end, .. } => len(&end.text),
            Self::Unsent { call, end } => len(&call.text) + len(&end.text),
            Self::Flush(_) => 0,
        }
    }

    fn drop_texts(&mut self) {
        match self {
            Self::Begin { call, .. } => call.text = None,
            Self::End { end, .. } => end.text = None,
            Self::Unsent { call, end } => (call.text, end.text) = (None, None),
            Self::Flush(_) => {}
        }
    }
}

/// One call's record.
///
/// # Drop behavior
/// A call of which no end was told is `no_response`; one that never began, `not_sent`.
pub(crate) struct Record {
    journal: Journal,
    since: Instant,
    stage: Stage,
}

enum Stage {
    /// Nobody knows of it yet; its arguments, if they are to be kept.
    Draft(Box<NewCall>, Option<Json>),
    Begun(u64),
    Over,
}

impl Journal {
    /// A record that is not written yet.
    pub(crate) fn draft(
        &self,
        flow: &str,
        caller: Option<&str>,
        arguments: Option<&Json>,
    ) -> Record {
        let hashed = arguments.map(|json| {
            let bytes = u64::try_from(json.len()).unwrap_or(u64::MAX);
            (Sha256::digest(json.as_bytes()).into(), bytes)
        });
        let call = NewCall {
            began_ms: now_ms(),
            flow: None,
            name: short(flow),
            server: Box::default(),
            caller: caller.map(short),
            arguments: hashed,
            text: None,
        };
        let kept = self.stores().then(|| arguments.cloned()).flatten();
        Record {
            journal: self.clone(),
            since: Instant::now(),
            stage: Stage::Draft(Box::new(call), kept),
        }
    }

    fn stores(&self) -> bool {
        self.0.texts == Texts::Stored
    }

    /// A text as it is kept: redacted, then cut (R2).
    fn kept(&self, text: &str, redactor: &Redactor) -> Option<String> {
        let redacted = redactor.redact(text);
        let mut end = redacted.len().min(MAX_STORED_BYTES);
        while !redacted.is_char_boundary(end) {
            end -= 1;
        }
        redacted.get(..end).map(str::to_owned)
    }

    /// Hands a job to the thread that writes; without its texts, if too many wait already.
    fn send(&self, mut job: Job) -> Result<(), Fault> {
        if !self.takes_text(job.text_bytes()) {
            job.drop_texts();
        }
        self.0.jobs.send(job).map_err(|_| Fault::Io)
    }
}

impl Record {
    /// Whether texts are kept, so that what is secret in them has to be known.
    pub(crate) fn keeps_texts(&self) -> bool {
        self.journal.stores()
    }

    /// The flow that is meant.
    pub(crate) fn is_of(&mut self, flow: &Flow) {
        if let Stage::Draft(call, _) = &mut self.stage {
            call.flow = Some(flow.clone());
        }
    }

    /// Has it written; the call may be sent once the receipt says so.
    pub(crate) fn begin(&mut self, redactor: &Redactor) -> Receipt {
        let Stage::Draft(mut call, kept) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Receipt(Wait::Over(Ok(())));
        };
        let journal = &self.journal;
        call.text = kept.and_then(|json| journal.kept(json.as_str(), redactor));
        call.began_ms = now_ms();
        self.since = Instant::now();
        let number = journal.number();
        self.stage = Stage::Begun(number);
        let policy = journal.0.when_unwritable;
        let waits = policy == WhenUnwritable::RefuseAll || !call.is_read_only();
        let (tell, told) = match waits {
            true => {
                let (tell, told) = oneshot::channel();
                (Some(tell), Some(told))
            }
            false => (None, None),
        };
        let job = Job::Begin { number, call, tell };
        let lenient = policy == WhenUnwritable::Allow;
        let queued = Queued {
            journal: journal.clone(),
            told,
            lenient,
        };
        match Arc::clone(&journal.0.room).try_acquire_owned() {
            Ok(permit) => Receipt(queued.push(permit, job)),
            Err(_) => {
                let room = Box::pin(Arc::clone(&journal.0.room).acquire_owned());
                Receipt(Wait::Room(room, Box::new((job, queued))))
            }
        }
    }

    /// Tells what became of the call.
    pub(crate) fn end(mut self, ended: &Result<ToolResult, Error>, redactor: Option<&Redactor>) {
        let took = self.since.elapsed();
        let end = match ended {
            Ok(result) => End {
                outcome: Outcome::Answered,
                code: None,
                is_error: Some(result.is_error()),
                result_bytes: u64::try_from(result.raw().len()).ok(),
                text: redactor
                    .filter(|_| self.journal.stores())
                    .and_then(|redactor| self.journal.kept(result.raw().as_str(), redactor)),
                took,
            },
            Err(error) => End {
                outcome: error.outcome(),
                code: Some(error.code()),
                is_error: None,
                result_bytes: None,
                text: None,
                took,
            },
        };
        if let (Stage::Draft(call, _), Err(error)) = (&mut self.stage, ended) {
            call.server = error.server().into();
        }
        self.over(end);
    }

    fn over(&mut self, end: End) {
        let end = Box::new(end);
        let job = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Begun(number) => Job::End { number, end },
            Stage::Draft(call, _) => match self.journal.0.room.try_acquire() {
                Ok(permit) => {
                    permit.forget();
                    Job::Unsent { call, end }
                }
                // Whoever is refused faster than that can be written down is not written down.
                Err(_) => {
                    self.journal.0.unrecorded.fetch_add(1, Relaxed);
                    return;
                }
            },
            Stage::Over => return,
        };
        if self.journal.send(job).is_err() {
            self.journal.0.unrecorded.fetch_add(1, Relaxed);
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let outcome = match self.stage {
            Stage::Draft(..) => Outcome::NotSent,
            Stage::Begun(_) => Outcome::NoResponse,
            Stage::Over => return,
        };
        let took = self.since.elapsed();
        self.over(End {
            outcome,
            code: None,
            is_error: None,
            result_bytes: None,
            text: None,
            took,
        });
    }
}

/// Whether the call may be sent: a future that is ready once its record is written, as far as that has to be waited for.
pub(crate) struct Receipt(Wait);

type Room = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

enum Wait {
    /// For room among what waits to be written.
    Room(Room, Box<(Job, Queued)>),
    /// For the file.
    File(oneshot::Receiver<Result<(), Fault>>, bool),
    Over(Result<(), Fault>),
}

/// What follows once there is room.
struct Queued {
    journal: Journal,
    told: Option<oneshot::Receiver<Result<(), Fault>>>,
    /// Whether the call is made all the same.
    lenient: bool,
}

impl Queued {
    fn push(self, permit: OwnedSemaphorePermit, job: Job) -> Wait {
        // The thread that writes gives it back.
        permit.forget();
        let sent = self.journal.send(job);
        match (sent, self.told) {
            (Ok(()), Some(told)) => Wait::File(told, self.lenient),
            (sent, told) => Wait::Over(match told {
                Some(_) if !self.lenient => sent,
                _ => Ok(()),
            }),
        }
    }
}

impl Future for Receipt {
    type Output = Result<(), Fault>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            match &mut self.0 {
                Wait::Room(room, _) => {
                    let permit = ready!(room.as_mut().poll(context));
                    let over = Wait::Over(Err(Fault::Io));
                    let Wait::Room(_, after) = std::mem::replace(&mut self.0, over) else {
                        continue;
                    };
                    if let Ok(permit) = permit {
                        let (job, queued) = *after;
                        self.0 = queued.push(permit, job);
                    }
                }
                Wait::File(told, lenient) => {
                    let told = ready!(Pin::new(told).poll(context));
                    let told = told.unwrap_or(Err(Fault::Io));
                    let told = if *lenient { Ok(()) } else { told };
                    self.0 = Wait::Over(told);
                }
                Wait::Over(told) => return Poll::Ready(*told),
            }
        }
    }
}

pub(super) fn now_ms() -> i64 {
    ms_of(SystemTime::now())
}

/// Milliseconds since 1970.
pub(super) fn ms_of(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn short(name: &str) -> Box<str> {
    match name.char_indices().nth(MAX_NAME_CHARS) {
        Some((end, _)) => name.get(..end).unwrap_or_default().into(),
        None => name.into(),
    }
}

//! A session's list, read again: one reading at a time, and another after it if news came meanwhile (H5).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::command::Answer;
use super::connector::{BoxFuture, Session};
use crate::error::Error;

/// Announced changes are followed no faster than this; a server that announces without end costs no more.
const PACE: Duration = Duration::from_millis(250);
/// After a reading the next one pauses so many times as long as that took: a list that is long, or slow to come, takes at most
/// a quarter of the time.
const REST: u32 = 3;
/// The longest pause, after readings that took long or failed.
const LONGEST_PACE: Duration = Duration::from_secs(60);

/// A session's refreshes.
#[derive(Default)]
pub(crate) struct Refreshes {
    reading: Option<Reading>,
    /// News that no reading holds yet.
    wanted: Option<Wanted>,
    /// Until the next reading that nobody asked for.
    pause: Option<Pin<Box<Sleep>>>,
    /// When the last reading ended, and how long it took.
    last: Option<(Instant, Duration)>,
    /// Failures in a row.
    failures: u32,
}

struct Reading {
    future: BoxFuture<Result<Arc<dyn Session>, Error>>,
    began: Instant,
    answers: Vec<Answer<()>>,
}

struct Wanted {
    haste: Haste,
    answers: Vec<Answer<()>>,
}

/// When a reading begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Haste {
    /// At the pace of announced changes.
    Paced,
    /// As soon as nothing is being read: somebody waits.
    Now,
}

/// A reading that ended, and who asked for it.
pub(crate) struct Read {
    pub(crate) result: Result<Arc<dyn Session>, Error>,
    pub(crate) answers: Vec<Answer<()>>,
}

impl Refreshes {
    /// The server announced a change.
    pub(crate) fn changed(&mut self) {
        self.wanted.get_or_insert_with(|| Wanted {
            haste: Haste::Paced,
            answers: Vec::new(),
        });
    }

    /// Somebody wants to know that the list was read after now.
    pub(crate) fn ask(&mut self, answer: Answer<()>) {
        let wanted = self.wanted.get_or_insert_with(|| Wanted {
            haste: Haste::Now,
            answers: Vec::new(),
        });
        wanted.haste = Haste::Now;
        wanted.answers.push(answer);
    }

    /// Begins what is wanted once nothing is being read; the end of a reading is told.
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
        session: &Arc<dyn Session>,
    ) -> Poll<Read> {
        if self.reading.is_none()
            && self.is_due(context)
            && let Some(wanted) = self.wanted.take()
        {
            self.pause = None;
            self.reading = Some(Reading {
                future: session.refresh(),
                began: Instant::now(),
                answers: wanted.answers,
            });
        }
        let Some(reading) = &mut self.reading else {
            return Poll::Pending;
        };
        let Poll::Ready(result) = reading.future.as_mut().poll(context) else {
            return Poll::Pending;
        };
        let answers = std::mem::take(&mut reading.answers);
        let now = Instant::now();
        self.last = Some((now, now.duration_since(reading.began)));
        self.reading = None;
        match &result {
            Ok(_) => self.failures = 0,
            Err(_) => {
                // What was announced was not seen: once more, later.
                self.failures = self.failures.saturating_add(1);
                self.changed();
            }
        }
        Poll::Ready(Read { result, answers })
    }

    /// Whether what is wanted may begin.
    fn is_due(&mut self, context: &mut Context<'_>) -> bool {
        let haste = self.wanted.as_ref().map(|wanted| wanted.haste);
        let Some((last, took)) = self.last.filter(|_| haste == Some(Haste::Paced)) else {
            return true;
        };
        let pace = PACE
            .saturating_mul(1 << self.failures.min(16))
            .max(took.saturating_mul(REST))
            .min(LONGEST_PACE);
        let pause = self
            .pause
            .get_or_insert_with(|| Box::pin(sleep_until(last + pace)));
        pause.as_mut().poll(context).is_ready()
    }

    /// Everybody who still waits.
    pub(crate) fn into_answers(self) -> impl Iterator<Item = Answer<()>> {
        let reading = self.reading.into_iter().flat_map(|reading| reading.answers);
        let wanted = self.wanted.into_iter().flat_map(|wanted| wanted.answers);
        reading.chain(wanted)
    }
}

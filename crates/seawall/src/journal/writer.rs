//! The thread that writes: what came meanwhile goes into the file at once, in one transaction.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, watch};

use super::record::Job;
use super::store::{Open, Store, Written};
use super::{
    Fault, Health, Inner, Journal, JournalError, JournalOptions, MAX_WAITING, WhenUnwritable,
};

/// So many records go into one transaction.
const MAX_BATCH: usize = 512;
/// So long a record that nobody waits for may wait for others.
const LINGER: Duration = Duration::from_millis(10);
/// How soon what could not be written is tried again, and what was written is tidied up.
const SOON: Duration = Duration::from_secs(1);
/// How often what is too old is looked for.
const SELDOM: Duration = Duration::from_secs(60);
/// After so many records it is looked whether the file is too large, also where there is no pause.
const ROWS_BETWEEN_LOOKS: usize = 1_000;
/// So many records that could not be written are kept to be tried again; the oldest go first.
const MAX_HELD: usize = 16_384;

/// Opens the file and starts the thread.
pub(super) fn start(options: JournalOptions) -> Result<Journal, JournalError> {
    let (store, set_aside) = Store::open(&options)?;
    let (jobs, receiver) = channel();
    let room = Arc::new(Semaphore::new(MAX_WAITING));
    let unrecorded = Arc::new(AtomicU64::new(0));
    let waiting_bytes = Arc::new(AtomicUsize::new(0));
    let (tell, health) = watch::channel(Health {
        set_aside,
        ..Health::default()
    });
    let journal = Journal(Arc::new(Inner {
        jobs,
        room: Arc::clone(&room),
        health,
        unrecorded: Arc::clone(&unrecorded),
        waiting_bytes: Arc::clone(&waiting_bytes),
        numbers: AtomicU64::new(0),
        when_unwritable: options.when_unwritable,
        texts: options.texts,
    }));
    let writer = Writer {
        jobs: receiver,
        room,
        unrecorded,
        waiting_bytes,
        health: tell,
        store: Some(store),
        options,
        open: HashMap::new(),
        held: VecDeque::new(),
        lost: 0,
        rows: 0,
        more: false,
        looked: Instant::now(),
    };
    std::thread::Builder::new()
        .name("journal".to_owned())
        .spawn(move || writer.run())?;
    Ok(journal)
}

struct Writer {
    jobs: Receiver<Job>,
    room: Arc<Semaphore>,
    unrecorded: Arc<AtomicU64>,
    waiting_bytes: Arc<AtomicUsize>,
    health: watch::Sender<Health>,
    /// `None` while it cannot be opened.
    store: Option<Store>,
    options: JournalOptions,
    /// The calls that are under way, by their numbers.
    open: HashMap<u64, Open>,
    /// What could not be written, and is tried again.
    held: VecDeque<Job>,
    lost: u64,
    /// Records written since the file was looked after.
    rows: usize,
    /// Whether there is more to remove.
    more: bool,
    looked: Instant,
}

enum Turn {
    Batch(Vec<Job>),
    Pause,
    Over,
}

impl Writer {
    fn run(mut self) {
        loop {
            match self.gather() {
                Turn::Batch(batch) => self.write(batch),
                Turn::Pause if !self.held.is_empty() => self.write(Vec::new()),
                Turn::Pause => self.look_after(true),
                Turn::Over => break,
            }
            if self.more || self.rows >= ROWS_BETWEEN_LOOKS {
                self.look_after(false);
            }
        }
        if !self.held.is_empty() {
            self.write(Vec::new());
        }
        if let Some(store) = self.store.take() {
            // If it fails, the next run finds what this one left.
            let _ = store.end();
        }
    }

    /// Waits for records, and for more of them if nobody waits for those.
    fn gather(&mut self) -> Turn {
        let pause = match (self.more, self.rows > 0 || !self.held.is_empty()) {
            (true, _) => Duration::ZERO,
            (false, true) => SOON,
            (false, false) => SELDOM,
        };
        let first = match self.jobs.recv_timeout(pause) {
            Ok(job) => job,
            Err(RecvTimeoutError::Timeout) => return Turn::Pause,
            Err(RecvTimeoutError::Disconnected) => return Turn::Over,
        };
        let until = Instant::now() + LINGER;
        let mut is_awaited = first.is_awaited();
        let mut batch = vec![first];
        while batch.len() < MAX_BATCH {
            let next = match is_awaited {
                true => self.jobs.try_recv().ok(),
                false => {
                    let left = until.saturating_duration_since(Instant::now());
                    self.jobs.recv_timeout(left).ok()
                }
            };
            let Some(job) = next else { break };
            is_awaited |= job.is_awaited();
            batch.push(job);
        }
        Turn::Batch(batch)
    }

    /// Writes a batch, and what could not be written before, and tells those who wait.
    fn write(&mut self, batch: Vec<Job>) {
        let came = batch.iter().filter(|job| job.took_room()).count();
        let bytes: usize = batch.iter().map(Job::text_bytes).sum();
        let mut jobs: Vec<Job> = self.held.drain(..).collect();
        jobs.extend(batch);
        match self.attempt(&jobs) {
            Ok(written) => self.written(jobs, &written),
            Err(error) => self.failed(jobs, error.fault),
        }
        // Room is for what has come and is not looked at yet; what is held has a bound of its own.
        self.waiting_bytes.fetch_sub(bytes, Relaxed);
        self.room.add_permits(came);
    }

    fn attempt(&mut self, jobs: &[Job]) -> Result<Written, JournalError> {
        let written = self
            .opened()
            .and_then(|(store, open)| store.write(jobs, open));
        match written {
            Err(error) if error.fault == Fault::Damaged && self.store.is_some() => {
                self.replace()?;
                let (store, open) = self.opened()?;
                store.write(jobs, open)
            }
            written => written,
        }
    }

    /// The file, opened anew if it is no longer where it was.
    fn opened(&mut self) -> Result<(&mut Store, &HashMap<u64, Open>), JournalError> {
        if self.store.as_ref().is_some_and(|store| !store.is_there()) {
            self.store = None;
        }
        let store = match self.store.take() {
            Some(store) => store,
            None => {
                let (mut store, aside) = Store::open(&self.options)?;
                store.adopt(&mut self.open)?;
                self.tell_aside(aside);
                store
            }
        };
        Ok((self.store.insert(store), &self.open))
    }

    /// Sets the damaged file aside and goes on in a new one.
    fn replace(&mut self) -> Result<(), JournalError> {
        if let Some(store) = self.store.take() {
            let (mut store, aside) = store.replace(&self.options)?;
            self.tell_aside(aside);
            store.adopt(&mut self.open)?;
            self.store = Some(store);
        }
        Ok(())
    }

    fn tell_aside(&self, aside: Option<PathBuf>) {
        if aside.is_some() {
            self.health.send_modify(|health| health.set_aside = aside);
        }
    }

    fn written(&mut self, jobs: Vec<Job>, written: &Written) {
        self.rows += jobs.len();
        self.well(None);
        for job in jobs {
            match job {
                Job::Begin { number, call, tell } => {
                    if let Some(row) = written.rows.get(&number).copied() {
                        self.open.insert(number, Open { row, call });
                    }
                    if let Some(tell) = tell {
                        // Whoever waited may have gone; the end tells so.
                        let _ = tell.send(Ok(()));
                    }
                }
                Job::End { number, .. } => {
                    self.open.remove(&number);
                }
                Job::Unsent { .. } => {}
                Job::Flush(tell) => {
                    let _ = tell.send(());
                }
            }
        }
    }

    /// Refuses the calls that cannot be made without a record, and keeps the rest for another time.
    fn failed(&mut self, jobs: Vec<Job>, fault: Fault) {
        // Before anybody is refused for it.
        self.well(Some(fault));
        for job in jobs {
            let held = match job {
                Job::Begin { number, call, tell } => {
                    let refused = tell.is_some_and(|tell| {
                        tell.send(Err(fault)).is_err()
                            || self.options.when_unwritable != WhenUnwritable::Allow
                    });
                    if refused {
                        continue;
                    }
                    let tell = None;
                    Job::Begin { number, call, tell }
                }
                Job::Flush(tell) => {
                    let _ = tell.send(());
                    continue;
                }
                kept => kept,
            };
            if self.held.len() >= MAX_HELD {
                self.held.pop_front();
                self.lost += 1;
            }
            self.held.push_back(held);
        }
        self.well(Some(fault));
    }

    /// Tells how it is, if that is news.
    fn well(&self, failing: Option<Fault>) {
        let lost = self.lost + self.unrecorded.load(Relaxed);
        self.health.send_if_modified(|health| {
            let news = health.failing != failing || health.lost != lost;
            (health.failing, health.lost) = (failing, lost);
            news
        });
    }

    /// Removes some of what is too old or too much; in a pause, tidies up.
    fn look_after(&mut self, is_pause: bool) {
        let due = self.more || self.rows > 0 || self.looked.elapsed() >= SELDOM;
        let Some(store) = self.store.as_mut().filter(|_| due) else {
            return;
        };
        let wrote = std::mem::take(&mut self.rows) > 0;
        self.looked = Instant::now();
        let pruned = store.prune(&self.options);
        let tidied = match is_pause && wrote {
            true => store.tidy(),
            false => Ok(()),
        };
        self.more = matches!(pruned, Ok(true));
        let damaged = |error: &JournalError| error.fault == Fault::Damaged;
        if pruned.is_err_and(|error| damaged(&error)) || tidied.is_err_and(|error| damaged(&error))
        {
            // What cannot be replaced now is found again.
            let _ = self.replace();
        }
    }
}

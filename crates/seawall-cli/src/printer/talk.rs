//! Talk that comes while work goes on: written by a thread of its own, so that a stderr nobody reads holds up nothing.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// Lines that wait to be written; what comes on top of them is counted and dropped.
const MAX_WAITING: usize = 1024;
/// How long the end of the program waits for what is left.
const LAST_WORDS: Duration = Duration::from_millis(500);

#[derive(Default)]
struct Talk {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    dropped: u64,
    writing: bool,
}

static TALK: OnceLock<Talk> = OnceLock::new();

/// Has a text written to stderr, soon, with no end of line of its own; it is never dropped.
pub(super) fn show(text: String) {
    queue(text, usize::MAX);
}

/// Whether anything was said this way yet.
pub(super) fn is_used() -> bool {
    TALK.get().is_some()
}

/// Has a line of the program's own written to stderr, soon; it is never dropped.
pub(super) fn say(line: String) {
    queue(line + "\n", usize::MAX);
}

/// Has a line of a server written to stderr, soon; dropped if too many wait.
pub(super) fn pass_on(line: String) {
    queue(line + "\n", MAX_WAITING);
}

fn queue(line: String, room: usize) {
    let talk = TALK.get_or_init(|| {
        // Without the thread the lines wait for nobody, and the program goes on.
        let started = thread::Builder::new()
            .name("talk".to_owned())
            .spawn(write_on);
        drop(started);
        Talk::default()
    });
    let mut state = talk.lock();
    if state.lines.len() < room {
        state.lines.push_back(line);
        talk.changed.notify_all();
    } else {
        state.dropped += 1;
    }
}

/// Waits for what was said, for a moment.
pub(super) fn finish() {
    if let Some(talk) = TALK.get() {
        let busy = |state: &mut State| state.writing || !state.lines.is_empty();
        // What is not written by then nobody reads.
        drop(
            talk.changed
                .wait_timeout_while(talk.lock(), LAST_WORDS, busy),
        );
    }
}

fn write_on() {
    // The thread was started while the value was made; it is there in a moment.
    let talk = TALK.wait();
    loop {
        let mut state = talk.lock();
        state.writing = false;
        talk.changed.notify_all();
        while state.lines.is_empty() {
            state = talk
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let lines = std::mem::take(&mut state.lines);
        let dropped = std::mem::take(&mut state.dropped);
        state.writing = true;
        drop(state);
        for line in lines {
            // Nobody is left to tell that stderr is gone.
            let _ = write!(io::stderr(), "{line}");
        }
        if dropped > 0 {
            let _ = writeln!(
                io::stderr(),
                "({dropped} lines dropped: they came faster than they were read)"
            );
        }
    }
}

impl Talk {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Lines from stdin, read by a thread of its own: a read of a terminal cannot be taken back.
//!
//! **Invariant:** a line that was begun or ended before a question was asked never answers that question.

use std::io::{self, Read};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use tokio::sync::oneshot;

/// The longest line that is taken, in bytes; a longer one ends the dialogue. A terminal in its usual mode has 4 096.
const MAX_LINE_BYTES: usize = 65_536;

/// Reads stdin while somebody waits for a line.
#[derive(Default)]
pub(crate) struct Reader {
    waiting: Arc<Mutex<Option<Waiting>>>,
    thread: Mutex<Option<mpsc::Sender<()>>>,
}

struct Waiting {
    since: Instant,
    line: oneshot::Sender<Option<String>>,
}

impl Reader {
    /// Forgets what was typed and not read yet: it was not typed in answer to what is asked next.
    pub(super) fn forget(&self) {
        #[cfg(unix)]
        {
            use rustix::termios::{QueueSelector, tcflush};
            // What is no terminal keeps what it holds.
            let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        }
    }

    /// The next line that is typed; `None` at the end of the input.
    ///
    /// # Cancel safety
    /// A line that nobody waits for any longer is forgotten.
    pub(crate) async fn line(&self) -> Option<String> {
        let (sender, line) = oneshot::channel();
        *lock(&self.waiting) = Some(Waiting {
            since: Instant::now(),
            line: sender,
        });
        self.wake()?;
        line.await.ok().flatten()
    }

    /// Has the thread read, starting it if need be; a thread that is reading already will look who waits.
    fn wake(&self) -> Option<()> {
        let mut thread = lock(&self.thread);
        if let Some(wake) = &*thread
            && wake.send(()).is_ok()
        {
            return Some(());
        }
        let (wake, woken) = mpsc::channel();
        wake.send(()).ok()?;
        let waiting = Arc::clone(&self.waiting);
        thread::Builder::new()
            .name("answers".to_owned())
            .spawn(move || read_on(&woken, &waiting))
            .ok()?;
        *thread = Some(wake);
        Some(())
    }
}

fn read_on(woken: &mpsc::Receiver<()>, waiting: &Mutex<Option<Waiting>>) {
    while woken.recv().is_ok() {
        while lock(waiting)
            .as_ref()
            .is_some_and(|waiting| !waiting.line.is_closed())
        {
            let line = read_line(&mut io::stdin());
            let read = Instant::now();
            let ended = line.is_none();
            let taken = lock(waiting).take_if(|waiting| ended || waiting.since <= read);
            if let Some(taken) = taken {
                // Nobody waits for it any longer: it is forgotten.
                let _ = taken.line.send(line);
            }
            if ended {
                break;
            }
        }
    }
}

/// Reads up to the end of a line, byte by byte, so that nothing behind it is taken.
fn read_line(from: &mut impl Read) -> Option<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match from.read(&mut byte) {
            Ok(0) => return None,
            Ok(_) if byte == *b"\n" => break,
            Ok(_) if line.len() < MAX_LINE_BYTES => line.extend(byte),
            Ok(_) => return None,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    // What is not text becomes visible in the review of what is sent.
    Some(String::from_utf8_lossy(&line).into_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

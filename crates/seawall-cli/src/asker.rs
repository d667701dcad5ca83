//! What the checks of a configuration ask of the world: this process's variables and files, and the person at the
//! terminal (K1, `${input:ID}`).
//!
//! **Invariant:** whatever ends a question, a signal too, the terminal is left as it was found.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use seawall::config::{Input, Process, Surroundings};

use crate::failure::{Failure, Undone};
use crate::printer::{Place, visible};

/// Whether a signal ended a question. A process has one terminal, and after that asks nothing more.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Who answers `${input:ID}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// Somebody at a terminal, asked on stderr.
    Terminal,
    /// Nobody: what is asked is a problem of the configuration.
    Nobody,
}

impl Surroundings for Asker {
    fn variable(&self, name: &str) -> Option<String> {
        Process.variable(name)
    }

    fn env_file(&self, path: &Path) -> io::Result<String> {
        Process.env_file(path)
    }

    fn input(&self, input: &Input) -> Option<String> {
        match self {
            Self::Nobody => None,
            Self::Terminal => ask(input),
        }
    }
}

/// To be asked once a configuration was read: what it lacks then is nobody's mistake.
///
/// # Errors
/// [`Failure::Interrupted`] if a signal ended a question.
pub(crate) fn unless_interrupted() -> Result<(), Failure> {
    if INTERRUPTED.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted {
            server: None,
            undone: Undone::Anything,
        });
    }
    Ok(())
}

/// Asks on stderr and reads one line; an empty one is the default, if there is one. `None` if there is no answer.
fn ask(input: &Input) -> Option<String> {
    if INTERRUPTED.load(Ordering::Relaxed) {
        return None;
    }
    let answer = answer(input)?;
    match &input.default {
        Some(default) if answer.is_empty() => Some(default.clone()),
        _ => Some(answer),
    }
}

/// The line that is typed in answer; `None` at the end of the input, and at a signal.
#[cfg(unix)]
fn answer(input: &Input) -> Option<String> {
    use crate::inputs::Reader;
    use crate::interrupt::Interrupts;

    let wait = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .ok()?;
        runtime.block_on(async {
            // Heard before the terminal is touched: from then on nothing ends the program unseen.
            let mut interrupts = Interrupts::listen().ok()?;
            // Before the question: nothing that is typed after it is seen, or lost.
            let hidden = input.password.then(Hidden::begin).transpose().ok()?;
            question(input).ok()?;
            let reader = Reader::default();
            let line = interrupts.unless(reader.line()).await;
            INTERRUPTED.store(line.is_err(), Ordering::Relaxed);
            let answer = line.ok().flatten();
            if answer.is_none() || hidden.is_some() {
                // No Enter was seen.
                let _ = writeln!(io::stderr());
            }
            drop(hidden);
            answer
        })
    };
    // A thread of its own, since this one may be a runtime's.
    std::thread::scope(|scope| scope.spawn(wait).join().ok().flatten())
}

/// The line that is typed in answer.
#[cfg(not(unix))]
fn answer(input: &Input) -> Option<String> {
    question(input).ok()?;
    let terminal = console::Term::stderr();
    let line = if input.password {
        terminal.read_secure_line()
    } else {
        terminal.read_line()
    };
    line.ok()
}

fn question(input: &Input) -> io::Result<()> {
    let what = input.description.as_deref().unwrap_or(&input.id);
    let what = visible(what, Place::Line);
    match input.default.as_deref().filter(|_| !input.password) {
        Some(default) => write!(io::stderr(), "{what} [{}]: ", visible(default, Place::Line)),
        None => write!(io::stderr(), "{what}: "),
    }
}

/// While it exists, the terminal does not show what is typed.
#[cfg(unix)]
struct Hidden {
    before: rustix::termios::Termios,
}

#[cfg(unix)]
impl Hidden {
    fn begin() -> io::Result<Self> {
        use rustix::termios::{
            LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr,
        };
        /// What stands for no key.
        const NO_KEY: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };
        let before = tcgetattr(io::stdin())?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ECHO);
        // Nobody hears these keys, and they would end or stop the program with the terminal as it is now.
        for key in [SpecialCodeIndex::VQUIT, SpecialCodeIndex::VSUSP] {
            modes.special_codes[key] = NO_KEY;
        }
        // What was typed before was shown, so it is no answer.
        tcsetattr(io::stdin(), OptionalActions::Flush, &modes)?;
        Ok(Self { before })
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        // A terminal that is gone shows nothing.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

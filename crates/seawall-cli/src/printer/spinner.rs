//! A sign of life on stderr while something is awaited.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::talk;

/// How often it turns.
const TICK: Duration = Duration::from_millis(100);

/// Shown until it is dropped. On anything but a terminal it is nothing.
pub(crate) struct Spinner(Option<Shown>);

struct Shown {
    bar: ProgressBar,
    id: u64,
    among: Spinners,
}

/// Every spinner that is shown. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Spinners(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    bars: Vec<(u64, ProgressBar)>,
    next: u64,
    hushed: usize,
}

/// While it exists, no spinner is seen.
pub(crate) struct Hushed(Spinners);

impl Spinner {
    pub(crate) fn hidden() -> Self {
        Self(None)
    }

    /// One that does not turn, of any number of lines.
    pub(super) fn still(among: &Spinners) -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Self::among(bar, among, |_| {})
    }

    /// `text` must be visible already.
    pub(crate) fn shown(text: &str, among: &Spinners) -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(text.to_owned());
        Self::among(bar, among, |bar| bar.enable_steady_tick(TICK))
    }

    fn among(bar: ProgressBar, among: &Spinners, begin: impl FnOnce(&ProgressBar)) -> Self {
        let mut state = among.lock();
        let id = state.next;
        state.next += 1;
        state.bars.push((id, bar.clone()));
        if state.hushed == 0 {
            begin(&bar);
        } else {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        drop(state);
        let among = among.clone();
        Self(Some(Shown { bar, id, among }))
    }

    /// Replaces the text; it must be visible already.
    pub(crate) fn say(&self, text: &str) {
        if let Some(shown) = &self.0 {
            shown.bar.set_message(text.to_owned());
        }
    }

    /// Something to tell progress to, while it is shown: how far it is, and how far it goes.
    pub(crate) fn progress(&self) -> Option<impl FnMut(f64, Option<f64>) + Send + 'static> {
        let bar = self.0.as_ref()?.bar.clone();
        let text = bar.message();
        Some(move |progress: f64, total: Option<f64>| {
            let of = total.map_or_else(String::new, |total| format!(" of {total}"));
            bar.set_message(format!("{text}: {progress}{of}"));
        })
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(shown) = &self.0 {
            shown.among.lock().bars.retain(|(id, _)| *id != shown.id);
            shown.bar.finish_and_clear();
        }
    }
}

impl Spinners {
    /// Has none seen until the value is dropped.
    pub(crate) fn hush(&self) -> Hushed {
        let mut state = self.lock();
        state.hushed += 1;
        if state.hushed == 1 {
            for (_, bar) in &state.bars {
                bar.disable_steady_tick();
                bar.finish_and_clear();
                bar.set_draw_target(ProgressDrawTarget::hidden());
            }
        }
        Hushed(self.clone())
    }

    /// Has a line written where the spinner is, and the spinner shown below it.
    pub(super) fn step_aside(&self, write: impl FnOnce()) {
        let shown = self.lock().bars.last().map(|(_, bar)| bar.clone());
        match shown {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hushed {
    fn drop(&mut self) {
        // What was shown meanwhile stands before the spinner does.
        talk::finish();
        let mut state = self.0.lock();
        state.hushed -= 1;
        if state.hushed == 0 {
            for (_, bar) in &state.bars {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.reset();
                bar.enable_steady_tick(TICK);
            }
        }
    }
}

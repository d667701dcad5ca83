//! A sign of life on stderr while something is awaited.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often it turns.
const TICK: Duration = Duration::from_millis(100);

/// Shown until it is dropped. On anything but a terminal it is nothing.
pub(crate) struct Spinner(Option<ProgressBar>);

impl Spinner {
    pub(crate) fn hidden() -> Self {
        Self(None)
    }

    /// `text` must be visible already.
    pub(crate) fn shown(text: &str) -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(text.to_owned());
        bar.enable_steady_tick(TICK);
        Self(Some(bar))
    }

    /// Replaces the text; it must be visible already.
    pub(crate) fn say(&self, text: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(text.to_owned());
        }
    }

    /// Something to tell progress to, while it is shown: how far it is, and how far it goes.
    pub(crate) fn progress(&self) -> Option<impl FnMut(f64, Option<f64>) + Send + 'static> {
        let bar = self.0.clone()?;
        let text = bar.message();
        Some(move |progress: f64, total: Option<f64>| {
            let of = total.map_or_else(String::new, |total| format!(" of {total}"));
            bar.set_message(format!("{text}: {progress}{of}"));
        })
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
